"""The published rows of picture questions: plain columns, embedded pictures, and the record that they come from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from hopwright.records import ImagePart, Item, ReadRegion, TextPart
from hopwright.scoring.typed_answers import TypedAnswer, list_accepted

COMPARISON, BRIDGING = "comparison", "bridging"
_IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
_HOP = pa.struct(
    [
        ("index", pa.int32()), ("question", pa.string()), ("images", pa.list_(pa.int32())), ("answer", pa.string()),
        ("answer_type", pa.string()), ("unit", pa.string()), ("answer_aliases", pa.list_(pa.string())),
        ("entity", pa.string()), ("depends_on", pa.list_(pa.int32())), ("options", pa.list_(pa.string())),
        ("label", pa.string()), ("domain", pa.string()),
    ]
)  # fmt: skip
ROW_SCHEMA = pa.schema(
    [
        ("id", pa.string()), ("images", pa.list_(_IMAGE)), ("question", pa.string()), ("answer", pa.string()),
        ("answer_type", pa.string()), ("unit", pa.string()), ("answer_aliases", pa.list_(pa.string())),
        ("answer_eval", pa.list_(pa.string())), ("options", pa.list_(pa.string())), ("label", pa.string()),
        ("kind", pa.string()), ("depth", pa.int32()), ("topology", pa.string()), ("entities", pa.list_(pa.string())),
        ("hops", pa.list_(_HOP)), ("twin", pa.string()),
    ]
)  # fmt: skip
"""One question a row; `images` are in the order in which the question means them, `hops[].images` count into it."""


def make_row(item: Item, read_png: Callable[[str], bytes]) -> dict[str, Any]:
    """The published row of an item."""
    media = list_media(item)
    return {
        "id": item.id,
        "images": [{"bytes": read_png(one), "path": f"{one}.png"} for one in media],
        "question": read_text(item.question_parts),
        "answer": item.answer,
        "answer_type": item.hops[-1].answer_type,
        "unit": item.hops[-1].unit,
        "answer_aliases": list(item.answer_aliases),
        "answer_eval": list(list_accepted(read_typed(item))),
        "options": list(item.options.values()),
        "label": item.label,
        "kind": name_kind(item),
        "depth": len(item.hops),
        "topology": item.topology,
        "entities": [hop.answer_id or "" for hop in item.hops if isinstance(hop.derivation, ReadRegion)],
        "hops": [
            {
                "index": hop.index,
                "question": read_text(hop.question_parts) or hop.question,
                "images": [hop.index - 1] if hop.question_parts else [],
                "answer": hop.answer,
                "answer_type": hop.answer_type,
                "unit": hop.unit,
                "answer_aliases": list(hop.answer_aliases),
                "entity": hop.answer_id,
                "depends_on": list(hop.depends_on),
                "options": list(hop.options.values()),
                "label": hop.label,
                "domain": hop.domain,
            }
            for hop in item.hops
        ],
        "twin": item.twin,
    }


def read_typed(item: Item) -> TypedAnswer:
    """The item's answer as it is scored."""
    last = item.hops[-1]
    return TypedAnswer(item.answer, last.answer_type, last.unit, item.answer_aliases)


def list_media(item: Item) -> tuple[str, ...]:
    """The SHA-256s of the pictures that a question shows, in order."""
    return tuple(part.media for part in item.question_parts if isinstance(part, ImagePart))


def read_text(parts: Sequence[ImagePart | TextPart]) -> str:
    """The words of a question of parts."""
    return "".join(part.text for part in parts if isinstance(part, TextPart)).strip()


def name_kind(item: Item) -> str:
    """`bridging` from one picture, `comparison` of several."""
    return BRIDGING if len(list_media(item)) == 1 else COMPARISON


def write_features(schema: pa.Schema) -> dict[bytes, bytes]:
    """The metadata by which `datasets` knows the columns' features, the pictures among them."""
    features = {field.name: _name_feature(field.type) for field in schema}
    return {b"huggingface": json.dumps({"info": {"features": features}}).encode()}


def _name_feature(type: pa.DataType) -> Any:
    if type == _IMAGE:
        return {"_type": "Image"}
    if pa.types.is_list(type):
        return {"feature": _name_feature(type.value_type), "_type": "List"}
    if pa.types.is_struct(type):
        return {field.name: _name_feature(field.type) for field in type}
    return {"dtype": str(type), "_type": "Value"}


def count_by(rows: Sequence[Mapping[str, Any]], *names: str) -> dict[tuple[Any, ...], int]:
    """How many rows have each combination of values, in order."""
    counts: dict[tuple[Any, ...], int] = {}
    for row in rows:
        key = tuple(row[name] for name in names)
        counts[key] = counts.get(key, 0) + 1
    return dict(sorted(counts.items()))
