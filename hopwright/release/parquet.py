"""The release's Parquet: the rows of the published format under one explicit, nested Arrow schema."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hopwright.records.arrow import DERIVATION, EVIDENCE

_ROWS_PER_GROUP = 500


def _struct(**fields: pa.DataType) -> pa.StructType:
    return pa.struct([pa.field(name, kind) for name, kind in fields.items()])


_TEXT = pa.string()
_TEXTS = pa.list_(_TEXT)
_OPTIONS = _struct(A=_TEXT, B=_TEXT, C=_TEXT, D=_TEXT)
_HOP = _struct(
    question=_TEXT,
    answer=_TEXT,
    multiple_choice_options=_OPTIONS,
    correct_answer_label=_TEXT,
    index=pa.int32(),
    answer_type=_TEXT,
    answer_id=_TEXT,
    answer_aliases=_TEXTS,
    unit=_TEXT,
    domain=_TEXT,
    domain_reason=_TEXT,
    depends_on=pa.list_(pa.int32()),
    derivation=DERIVATION,
    distractors=pa.list_(_struct(text=_TEXT, kind=_TEXT, id=_TEXT)),
    evidence=EVIDENCE,
    verify=_TEXT,
)
_PROVENANCE = _struct(
    generator=_TEXT,
    model=_TEXT,
    model_version=_TEXT,
    prompt=_TEXT,
    prompt_version=_TEXT,
    seed=pa.int64(),
    request_keys=_TEXTS,
    input_tokens=pa.int64(),
    output_tokens=pa.int64(),
    cost_usd=pa.float64(),
    back_translation=_TEXT,
    sources=pa.list_(_struct(name=_TEXT, licence=_TEXT)),
)
RELEASE_SCHEMA: pa.Schema = pa.schema(
    {
        "id": _TEXT,
        "single_hop": pa.list_(_HOP),
        "multi_hop_question": _TEXT,
        "multi_hop_answer": _TEXT,
        "multiple_choice_options": _OPTIONS,
        "correct_answer_label": _TEXT,
        "motif_type": _TEXT,
        "topology": _TEXT,
        "answer_aliases": _TEXTS,
        "variant": _TEXT,
        "twin": _TEXT,
        "world": pa.list_(_struct(original=_TEXT, surrogate=_TEXT, id=_TEXT)),
        "anchor": _struct(
            question_id=_TEXT, answer=_TEXT, entity=_TEXT, hops=pa.list_(_struct(index=pa.int8(), single_hop_id=_TEXT))
        ),
        "checks": pa.list_(_struct(name=_TEXT, outcome=_TEXT, reason=_TEXT)),
        "votes": pa.list_(_struct(model=_TEXT, option=_TEXT, probabilities=pa.list_(pa.float64()), right=pa.bool_())),
        "provenance": _PROVENANCE,
    }
)
"""One column per field of a release row, in the same order."""


def write_parquet(rows: Iterable[dict[str, Any]], path: Path) -> int:
    """Write release rows, a group at a time; returns their number. Same rows, same bytes.

    Raises OSError when the place cannot be written.
    """
    count = 0
    with pq.ParquetWriter(path, RELEASE_SCHEMA, compression="zstd") as writer:
        remaining = iter(rows)
        while group := list(islice(remaining, _ROWS_PER_GROUP)):
            writer.write_table(pa.Table.from_pylist(group, schema=RELEASE_SCHEMA))
            count += len(group)
    return count
