"""The Parquet rendering of the records: one explicit, nested Arrow schema each, and both ways across.

A derivation is one struct whose `op` says which of the nullable fields apply; options are a struct of A–D.
A field that is absent is null, never an empty string. The bytes of a file depend on its rows and on the
version of pyarrow alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import ValidationError

from hopwright.errors import InputError
from hopwright.records.model import Anchor, Item, Record, Rejected
from hopwright.records.review import Review

_R = TypeVar("_R", bound=Record)
ItemKey = Literal["id", "twin"]

_TEXT = pa.string()
_INT = pa.int64()


def _struct(*text: str, **others: pa.DataType) -> pa.DataType:
    return pa.struct([*((name, _TEXT) for name in text), *others.items()])


_TEXTS = pa.list_(_TEXT)
_OPTIONS = _struct("A", "B", "C", "D")
_TRIPLETS = pa.list_(_struct("subject", "property", "object", "subject_label", "property_label", "object_label"))
_LITERALS = pa.list_(_struct("subject", "property", "value", "unit", "datatype", "subject_label", "property_label"))
DERIVATION = pa.struct(
    [
        ("op", _TEXT),
        ("subject", _TEXT),
        ("property", _TEXT),
        ("value", _TEXT),
        ("constraints", pa.list_(_struct("property", "value"))),
        ("expression", _TEXT),
        ("kind", _TEXT),
    ]
)
_CLAIM = _struct(
    "id", "statement", "phrase", "value", "unit", "source_title", "source_url",
    names=_TEXTS, author=_TEXT, model=_TEXT, model_version=_TEXT, request_key=_TEXT,
)  # fmt: skip
EVIDENCE = pa.struct(
    [
        ("triplets", _TRIPLETS),
        ("literals", _LITERALS),
        ("passages", pa.list_(_struct("title", "text", supporting=pa.bool_()))),
        ("wikipedia_url", _TEXT),
        ("claims", pa.list_(_CLAIM)),
    ]
)
_HOP = pa.struct(
    [
        ("index", pa.int8()),
        ("question", _TEXT),
        ("answer", _TEXT),
        ("answer_type", _TEXT),
        ("answer_id", _TEXT),
        ("answer_aliases", _TEXTS),
        ("unit", _TEXT),
        ("domain", _TEXT),
        ("domain_reason", _TEXT),
        ("depends_on", pa.list_(pa.int8())),
        ("derivation", DERIVATION),
        ("distractors", pa.list_(_struct("text", "kind", "id"))),
        ("options", _OPTIONS),
        ("label", _TEXT),
        ("evidence", EVIDENCE),
        ("verify", _TEXT),
    ]
)
_ANCHOR = pa.struct(
    [
        ("question_id", _TEXT),
        ("answer", _TEXT),
        ("entity", _TEXT),
        ("hops", pa.list_(pa.struct([("index", pa.int8()), ("single_hop_id", _TEXT)]))),
    ]
)
_PROVENANCE = pa.struct(
    [
        ("generator", _TEXT),
        ("model", _TEXT),
        ("model_version", _TEXT),
        ("prompt", _TEXT),
        ("prompt_version", _TEXT),
        ("seed", _INT),
        ("request_keys", _TEXTS),
        ("input_tokens", _INT),
        ("output_tokens", _INT),
        ("cost_usd", pa.float64()),
        ("back_translation", _TEXT),
        ("sources", pa.list_(_struct("name", "licence"))),
    ]
)

ITEM_SCHEMA = pa.schema(
    [
        ("id", _TEXT),
        ("topology", _TEXT),
        ("hops", pa.list_(_HOP)),
        ("question", _TEXT),
        ("answer", _TEXT),
        ("answer_aliases", _TEXTS),
        ("options", _OPTIONS),
        ("label", _TEXT),
        ("variant", _TEXT),
        ("twin", _TEXT),
        ("world", pa.list_(_struct("original", "surrogate", "id"))),
        ("anchor", _ANCHOR),
        ("checks", pa.list_(_struct("name", "outcome", "reason"))),
        (
            "votes",
            pa.list_(
                pa.struct(
                    [
                        ("model", _TEXT),
                        ("option", _TEXT),
                        ("probabilities", pa.list_(pa.float64())),
                        ("right", pa.bool_()),
                    ]
                )
            ),
        ),
        ("provenance", _PROVENANCE),
    ]
)
ANCHOR_SCHEMA = pa.schema(
    [
        ("question_id", _TEXT),
        ("question", _TEXT),
        ("answer", _TEXT),
        ("sub_questions", _TEXTS),
        ("sub_answers", _TEXTS),
        ("sub_ids", _TEXTS),
        ("entity", _TEXT),
        ("entity_label", _TEXT),
        ("triplets", _TRIPLETS),
        ("literals", _LITERALS),
    ]
)
REVIEW_SCHEMA = pa.schema(
    [
        ("item_id", _TEXT),
        ("kind", _TEXT),
        ("of", _TEXT),
        ("hop", pa.int8()),
        ("item_hash", _TEXT),
        ("annotator", _TEXT),
        ("project", _INT),
        ("task", _INT),
        ("annotation", _INT),
        ("created", _TEXT),
        ("updated", _TEXT),
        ("seconds", pa.float64()),
        ("skipped", pa.bool_()),
        ("verdict", _TEXT),
        ("scores", pa.list_(_struct("criterion", value=pa.int8()))),
        ("errors", _TEXTS),
        ("corrections", pa.list_(_struct("field", "text"))),
        ("computation", _TEXT),
        ("source_url", _TEXT),
        ("comment", _TEXT),
    ]
)
REJECTED_SCHEMA = pa.schema([("key", _TEXT), ("check", _TEXT), ("reason", _TEXT), ("row", _TEXT)])


def items_to_table(items: Iterable[Item]) -> pa.Table:
    """Items as a table of `ITEM_SCHEMA`."""
    return _to_table(items, ITEM_SCHEMA)


def table_to_items(table: pa.Table) -> list[Item]:
    """Validated items of a table. Raises InputError naming the row and the field that is wrong."""
    return _from_table(table, Item)


def list_claimed(table: pa.Table) -> list[int]:
    """The rows of a table of items that rest on a claim, in ascending order; reads one column, and no texts."""
    hops = table.column("hops").combine_chunks()
    counts = pc.fill_null(pc.list_value_length(pc.struct_field(pc.list_flatten(hops), ["evidence", "claims"])), 0)
    rows = pc.list_parent_indices(hops).filter(pc.greater(counts, 0))
    return sorted(set(rows.to_pylist()))


def anchors_to_table(anchors: Iterable[Anchor]) -> pa.Table:
    """Anchors as a table of `ANCHOR_SCHEMA`."""
    return _to_table(anchors, ANCHOR_SCHEMA)


def reviews_to_table(reviews: Iterable[Review]) -> pa.Table:
    """Reviews as a table of `REVIEW_SCHEMA`."""
    return _to_table(reviews, REVIEW_SCHEMA)


def rejected_to_table(rejected: Iterable[Rejected]) -> pa.Table:
    """Rejected rows as a table of `REJECTED_SCHEMA`."""
    return _to_table(rejected, REJECTED_SCHEMA)


def table_to_rejected(table: pa.Table) -> list[Rejected]:
    """Validated rejected rows of a table. Raises InputError naming the row and the field that is wrong."""
    return _from_table(table, Rejected)


def encode_parquet(table: pa.Table, metadata: Mapping[str, str] | None = None) -> bytes:
    """A table as the bytes of a Parquet file, the same bytes for the same rows.

    `metadata` goes into the file's key-value metadata; it must hold nothing that differs between two runs.
    """
    table = table.replace_schema_metadata(dict(metadata) if metadata else None).combine_chunks()
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        compression_level=3,
        use_dictionary=True,
        write_statistics=True,
        row_group_size=max(1, table.num_rows),
    )
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def read_parquet(path: Path, schema: pa.Schema | None = None, columns: Sequence[str] = ()) -> pa.Table:
    """Read a Parquet file, or some of its columns, and hold it to `schema` when one is given.

    Raises InputError when the file is missing, truncated or of another schema.
    """
    try:
        with pq.ParquetFile(path) as file:
            found = file.schema_arrow
            table = file.read(list(columns) or None)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise InputError(f"{path}: not a readable Parquet file ({_first_line(error)})") from None
    if schema is not None and not found.remove_metadata().equals(schema):
        missing = [name for name in schema.names if name not in found.names]
        what = f"it lacks {', '.join(missing)}" if missing else "its columns have other types"
        raise InputError(f"{path}: not a file of this kind or version of Hopwright: {what}")
    return table


def read_items(path: Path, only: Collection[str] | None = None, by: ItemKey = "id") -> list[Item]:
    """Items of one Parquet file, validated: all, or those whose id, or whose twin's, is named.

    Raises InputError naming the file.
    """
    return _read(path, ITEM_SCHEMA, Item, None if only is None else (by, only))


def read_columns(path: Path, *names: str) -> list[tuple[Any, ...]]:
    """Some columns of a Parquet file of items, a tuple per row, not validated. Raises InputError naming the file."""
    table = read_parquet(path, ITEM_SCHEMA, names)
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def read_anchors(path: Path) -> list[Anchor]:
    """Anchors of one Parquet file, validated. Raises InputError naming the file."""
    return _read(path, ANCHOR_SCHEMA, Anchor)


def read_reviews(path: Path) -> list[Review]:
    """Reviews of one Parquet file, validated. Raises InputError naming the file."""
    return _read(path, REVIEW_SCHEMA, Review)


def read_rejected(path: Path) -> list[Rejected]:
    """Rejected rows of one Parquet file, validated. Raises InputError naming the file."""
    return _read(path, REJECTED_SCHEMA, Rejected)


def _read(path: Path, schema: pa.Schema, model: type[_R], only: tuple[str, Collection[str]] | None = None) -> list[_R]:
    table = read_parquet(path, schema)
    if only is not None:
        # Making a record costs a hundred times what finding its row does.
        column, wanted = only
        table = table.filter(pc.is_in(table.column(column), pa.array(sorted(wanted), _TEXT)))
    try:
        return _from_table(table, model)
    except InputError as error:
        raise InputError(f"{path}, {error}") from None


def _to_table(records: Iterable[Record], schema: pa.Schema) -> pa.Table:
    rows = [record.model_dump(mode="json") for record in records]
    return pa.Table.from_struct_array(pa.array(rows, type=pa.struct(list(schema)))).cast(schema)


# A raw quotation mark in JSON text is always a delimiter: neither pattern can match inside a string's content.
_NULL_FIELD = re.compile(r',"\w+":null')
_NULL_FIRST_FIELD = re.compile(r'\{"\w+":null,?')


def _from_table(table: pa.Table, model: type[_R]) -> list[_R]:
    """Rows → JSON → nulls dropped, so that the fields of other derivations vanish → validated."""
    import polars as pl

    frame = pl.DataFrame(pl.from_arrow(table))
    if frame.height == 0:
        return []
    lines = frame.select(pl.struct(pl.all()).struct.json_encode()).to_series().to_list()
    records: list[_R] = []
    for number, line in enumerate(lines):
        text = _NULL_FIRST_FIELD.sub("{", _NULL_FIELD.sub("", line))
        try:
            records.append(model.model_validate_json(text))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InputError(f"row {number}: {where}: {first['msg']}") from None
    return records


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
