"""From one row of a data set to the documents in it, whatever the file that held it.

The layouts are those in which the data sets circulate: `{title, text}` and BEIR's `{_id, title, text}`;
`{id, contents}` with the title in quotes on its first line, as FlashRAG and Search-R1 write wiki18; BrowseComp-Plus's
`{docid, text, url}`; MuSiQue's paragraphs; the contexts of HotpotQA and 2WikiMultihopQA, and HotpotQA's dump of
Wikipedia's introductions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

_IDS = ("id", "_id", "docid", "doc_id", "passage_id")
_TEXTS = ("text", "contents", "paragraph_text", "passage", "content")
_SOURCES = ("url", "source")
_HEAD = re.compile(r'\A"?(?P<title>[^\n]*?)"?\n(?P<text>.*)\Z', re.DOTALL)


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A text as a reader found it: `place` is where in its file, `original` its id there. What is not said is empty."""

    title: str
    text: str
    place: str
    original: str = ""
    source: str = ""
    licence: str = ""
    revision: str = ""


@dataclass(frozen=True, slots=True)
class MalformedRow:
    """A row of which nothing can be used: where it is, and what is wrong with it."""

    place: str
    reason: str


class RowError(ValueError):
    """A row is not of any layout that is known; its text says why."""


def read_row(row: object, place: str) -> Iterator[RawDocument | MalformedRow]:
    """The documents of one row, or what is wrong with it: a row counts once, the paragraphs in it one by one."""
    try:
        if not isinstance(row, Mapping):
            raise RowError(f"an object is wanted, not {_name_kind(row)}")
        if "paragraphs" in row:
            yield from _read_each(row["paragraphs"], place)
        elif "context" in row:
            yield from _read_each(list(_pair_context(row["context"])), place)
        else:
            yield _read_passage(row, place)
    except RowError as error:
        yield MalformedRow(place, str(error))


def check_text(document: RawDocument) -> RawDocument | MalformedRow:
    """Refuse a text without words, or with characters that files cannot hold (halves of surrogate pairs)."""
    if not any(character.isalnum() for character in document.text):
        return MalformedRow(document.place, "the text has no words")
    try:
        for text in (document.title, document.text, document.source, document.original):
            text.encode()
        (document.licence + document.revision).encode()
    except UnicodeEncodeError:
        return MalformedRow(document.place, "the text has half a surrogate pair in it")
    return document


def _read_each(rows: object, place: str) -> Iterator[RawDocument | MalformedRow]:
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise RowError(f"its paragraphs should be a list, not {_name_kind(rows)}")
    for number, row in enumerate(rows, start=1):
        where = f"{place}, paragraph {number}"
        if not isinstance(row, Mapping):
            yield MalformedRow(where, f"an object is wanted, not {_name_kind(row)}")
            continue
        try:
            # A paragraph's number within its question is no id of the paragraph.
            yield replace(_read_passage(row, where), original="")
        except RowError as error:
            yield MalformedRow(where, str(error))


def _pair_context(context: object) -> Iterator[dict[str, object]]:
    """Titles and sentences, as pairs (HotpotQA's JSON) or as two lists side by side (its Parquet)."""
    if isinstance(context, Mapping):
        titles, sentences = context.get("title"), context.get("sentences", context.get("content"))
        if not isinstance(titles, Sequence) or not isinstance(sentences, Sequence) or len(titles) != len(sentences):
            raise RowError("its context should hold as many titles as lists of sentences")
        context = list(zip(titles, sentences, strict=True))
    if not isinstance(context, Sequence) or isinstance(context, str):
        raise RowError(f"its context should be a list, not {_name_kind(context)}")
    for pair in context:
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise RowError("its context should be pairs of a title and sentences")
        yield {"title": pair[0], "text": pair[1]}


def _read_passage(row: Mapping[str, Any], place: str) -> RawDocument:
    field = next((name for name in _TEXTS if row.get(name) is not None), None)
    if field is None:
        raise RowError(f"none of the fields {', '.join(_TEXTS)}")
    text = _join(row[field], field)
    title = row.get("title") or ""
    if not isinstance(title, str):
        raise RowError(f"title: a text is wanted, not {_name_kind(title)}")
    if not title and field == "contents" and (head := _HEAD.match(text)):
        title, text = head["title"], head["text"]
    return RawDocument(
        title=title.strip(),
        text=text.strip(),
        place=place,
        original=_name_value(row, _IDS),
        source=_name_value(row, _SOURCES),
        licence=_name_value(row, ("licence", "license")),
        revision=_name_value(row, ("revision", "revid", "timestamp")),
    )


def _join(value: object, field: str) -> str:
    """One text of a text, of its sentences, or of its paragraphs' sentences."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Sequence):
        raise RowError(f"{field}: a text is wanted, not {_name_kind(value)}")
    parts = [_join(part, field) for part in value]
    if parts and not isinstance(value[0], str):
        return "\n\n".join(part.strip() for part in parts if part.strip())
    # HotpotQA's sentences begin with their space, those of 2WikiMultihopQA do not.
    return "".join(part if place == 0 or part[:1].isspace() else f" {part}" for place, part in enumerate(parts))


def _name_value(row: Mapping[str, Any], names: Sequence[str]) -> str:
    for name in names:
        value = row.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return str(value).strip()
    return ""


def _name_kind(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return kinds.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)
