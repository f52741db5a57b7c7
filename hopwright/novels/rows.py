"""The published rows of questions about novels: plain columns, windows by reference."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from hopwright.novels.book_names import BookNames
from hopwright.novels.records import NovelItem
from hopwright.records import ReadSpan

_STRETCH = pa.struct([("start", pa.int64()), ("end", pa.int64())])
_HOP = pa.struct(
    [
        ("index", pa.int32()), ("kind", pa.string()), ("question", pa.string()), ("answer", pa.string()),
        ("answer_type", pa.string()), ("answer_aliases", pa.list_(pa.string())), ("depends_on", pa.list_(pa.int32())),
        ("names", pa.list_(pa.string())), ("chapter", pa.int32()), ("final", pa.bool_()),
        ("paragraphs", pa.list_(_STRETCH)), ("answer_span", _STRETCH),
    ]
)  # fmt: skip
ROW_SCHEMA = pa.schema(
    [
        ("id", pa.string()), ("family", pa.string()), ("book", pa.string()), ("title", pa.string()),
        ("author", pa.string()), ("start", pa.int64()), ("end", pa.int64()), ("sha256", pa.string()),
        ("length", pa.int32()), ("tokens", pa.int32()), ("tokenizer", pa.string()), ("depth", pa.float64()),
        ("distances", pa.list_(pa.int32())), ("question", pa.string()), ("answer", pa.string()),
        ("answer_type", pa.string()), ("answer_aliases", pa.list_(pa.string())), ("hop_count", pa.int32()),
        ("hops", pa.list_(_HOP)), ("twin", pa.string()),
    ]
)  # fmt: skip
"""One question a row. `start` and `end` are characters of the book's text, or of the renamed text of its twin."""


def make_row(item: NovelItem, names: BookNames) -> dict[str, Any]:
    """The published row of an item."""
    window = item.window
    return {
        "id": item.id,
        "family": item.family,
        "book": window.book,
        "title": names.title,
        "author": names.author,
        "start": window.start,
        "end": window.end,
        "sha256": window.sha256,
        "length": window.length,
        "tokens": window.tokens,
        "tokenizer": window.tokenizer,
        "depth": item.depth,
        "distances": list(item.distances),
        "question": item.question,
        "answer": item.answer,
        "answer_type": item.hops[-1].answer_type,
        "answer_aliases": list(item.answer_aliases),
        "hop_count": len(item.hops),
        "hops": [
            {
                "index": hop.index,
                "kind": hop.step,
                "question": hop.question,
                "answer": hop.answer,
                "answer_type": hop.answer_type,
                "answer_aliases": list(hop.answer_aliases),
                "depends_on": list(hop.depends_on),
                "names": [names.find(clue).name for clue in hop.clues],
                "chapter": hop.chapter,
                "final": hop.final,
                "paragraphs": [{"start": one.start, "end": one.end} for one in hop.paragraphs],
                "answer_span": (
                    {"start": hop.derivation.start, "end": hop.derivation.end}
                    if isinstance(hop.derivation, ReadSpan)
                    else None
                ),
            }
            for hop in item.hops
        ],
        "twin": item.twin,
    }
