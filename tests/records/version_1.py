"""Items and reviews as version 1 of the records wrote them: plain rows under the schema of then."""

from __future__ import annotations

import json

import pyarrow as pa

from hopwright.records import Item
from hopwright.release.format import to_release

TEXT, TEXTS = pa.string(), pa.list_(pa.string())


def _struct(*text: str, **others: pa.DataType) -> pa.StructType:
    return pa.struct([*((name, TEXT) for name in text), *others.items()])


_OPTIONS = _struct("A", "B", "C", "D")
_CLAIM = _struct(
    "id", "statement", "phrase", "value", "unit", "source_title", "source_url",
    names=TEXTS, author=TEXT, model=TEXT, model_version=TEXT, request_key=TEXT,
)  # fmt: skip
_EVIDENCE = pa.struct({
    "triplets": pa.list_(
        _struct("subject", "property", "object", "subject_label", "property_label", "object_label")
    ),
    "literals": pa.list_(
        _struct("subject", "property", "value", "unit", "datatype", "subject_label", "property_label")
    ),
    "passages": pa.list_(_struct("title", "text", supporting=pa.bool_())),
    "wikipedia_url": TEXT,
    "claims": pa.list_(_CLAIM),
})  # fmt: skip
_DERIVATION = _struct(
    "op", "subject", "property", "value",
    constraints=pa.list_(_struct("property", "value")), expression=TEXT, kind=TEXT,
)  # fmt: skip
_HOP = pa.struct({
    "index": pa.int8(), "question": TEXT, "answer": TEXT, "answer_type": TEXT, "answer_id": TEXT,
    "answer_aliases": TEXTS, "unit": TEXT, "domain": TEXT, "domain_reason": TEXT, "depends_on": pa.list_(pa.int8()),
    "derivation": _DERIVATION, "distractors": pa.list_(_struct("text", "kind", "id")), "options": _OPTIONS,
    "label": TEXT, "evidence": _EVIDENCE, "verify": TEXT,
})  # fmt: skip
_ANCHOR_HOP = pa.struct({"index": pa.int8(), "single_hop_id": TEXT})
_ANCHOR = _struct("question_id", "answer", "entity", hops=pa.list_(_ANCHOR_HOP))
_PROVENANCE = pa.struct({
    "generator": TEXT, "model": TEXT, "model_version": TEXT, "prompt": TEXT, "prompt_version": TEXT,
    "seed": pa.int64(), "request_keys": TEXTS, "input_tokens": pa.int64(), "output_tokens": pa.int64(),
    "cost_usd": pa.float64(), "back_translation": TEXT, "sources": pa.list_(_struct("name", "licence")),
})  # fmt: skip
_VOTE = _struct("model", "option", probabilities=pa.list_(pa.float64()), right=pa.bool_())
ITEM_SCHEMA = pa.schema({
    "id": TEXT, "topology": TEXT, "hops": pa.list_(_HOP), "question": TEXT, "answer": TEXT, "answer_aliases": TEXTS,
    "options": _OPTIONS, "label": TEXT, "variant": TEXT, "twin": TEXT,
    "world": pa.list_(_struct("original", "surrogate", "id")), "anchor": _ANCHOR,
    "checks": pa.list_(_struct("name", "outcome", "reason")), "votes": pa.list_(_VOTE), "provenance": _PROVENANCE,
})  # fmt: skip
REVIEW_SCHEMA = pa.schema({
    "item_id": TEXT, "kind": TEXT, "of": TEXT, "hop": pa.int8(), "item_hash": TEXT, "annotator": TEXT,
    "project": pa.int64(), "task": pa.int64(), "annotation": pa.int64(), "created": TEXT, "updated": TEXT,
    "seconds": pa.float64(), "skipped": pa.bool_(), "verdict": TEXT,
    "scores": pa.list_(_struct("criterion", value=pa.int8())), "errors": TEXTS,
    "corrections": pa.list_(_struct("field", "text")), "computation": TEXT, "source_url": TEXT, "comment": TEXT,
})  # fmt: skip


def write_old_item(item: Item) -> dict:
    """An item as version 1 dumped it; only for items that version 1 could hold."""
    row = to_old_release(item)
    names = {"single_hop": "hops", "multi_hop_question": "question", "multi_hop_answer": "answer",
             "multiple_choice_options": "options", "correct_answer_label": "label"}  # fmt: skip
    old = {names.get(name, name): value for name, value in row.items() if name != "motif_type"}
    old["hops"] = [{names.get(name, name): value for name, value in hop.items()} for hop in old["hops"]]
    for hop in old["hops"]:
        hop["derivation"] = {name: value for name, value in hop["derivation"].items() if value is not None}
        if not hop["evidence"]["claims"]:
            del hop["evidence"]["claims"]
    return old


def to_old_release(item: Item) -> dict:
    """A row of a release as version 1 wrote it."""
    row = json.loads(json.dumps(to_release(item)))
    del row["question_parts"]
    row["provenance"]["sources"] = [
        {name: source[name] for name in ("name", "licence")} for source in row["provenance"]["sources"]
    ]
    for hop in row["single_hop"]:
        del hop["question_parts"], hop["evidence"]["spans"], hop["evidence"]["regions"]
        hop["derivation"] = {name: hop["derivation"][name] for name in [field.name for field in _DERIVATION]}
    return row
