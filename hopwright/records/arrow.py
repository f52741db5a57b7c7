"""The Parquet rendering of the records: one nested Arrow schema each, derived from its model, and both ways across.

A field that is absent is null, never an empty string. The bytes of a file depend on its rows and on the version of
pyarrow alone. Files of the version of the records before are read as if they had been written today.
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
from hopwright.foreign import show_invalid
from hopwright.records.base import RECORDS_VERSION, Record
from hopwright.records.documents import Document
from hopwright.records.migration import add_new_columns, find_new_columns, migrate_table, refuse_later
from hopwright.records.model import Anchor, Item, Rejected
from hopwright.records.review import Review
from hopwright.records.schema import derive_schema

_R = TypeVar("_R", bound=Record)
ItemKey = Literal["id", "twin"]
VERSION_KEY = b"hopwright.records"
"""Names the version of the records in a Parquet file's metadata; files before version 2 do not state theirs."""

ITEM_SCHEMA = derive_schema(Item)
ANCHOR_SCHEMA = derive_schema(Anchor)
DOCUMENT_SCHEMA = derive_schema(Document)
REVIEW_SCHEMA = derive_schema(Review)
REJECTED_SCHEMA = derive_schema(Rejected)


def items_to_table(items: Iterable[Item]) -> pa.Table:
    """Items as a table of `ITEM_SCHEMA`."""
    return _to_table(items, ITEM_SCHEMA)


def table_to_items(table: pa.Table) -> list[Item]:
    """Validated items of a table. Raises InputError naming the row and the field that is wrong."""
    return _from_table(table, Item)


def list_claimed(table: pa.Table) -> list[int]:
    """The rows of a table of items that rest on a claim, in ascending order; reads one column, and no texts."""
    hops = table.column("hops").combine_chunks()
    entries = pc.struct_field(pc.list_flatten(hops), ["evidence", "entries"])
    claimed = pc.equal(pc.struct_field(pc.list_flatten(entries), ["kind"]), "claim")
    rows = pc.list_parent_indices(hops).take(pc.list_parent_indices(entries).filter(claimed))
    return sorted(set(rows.to_pylist()))


def anchors_to_table(anchors: Iterable[Anchor]) -> pa.Table:
    """Anchors as a table of `ANCHOR_SCHEMA`."""
    return _to_table(anchors, ANCHOR_SCHEMA)


def documents_to_table(documents: Iterable[Document]) -> pa.Table:
    """Documents as a table of `DOCUMENT_SCHEMA`."""
    return _to_table(documents, DOCUMENT_SCHEMA)


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

    `metadata` goes into the file's key-value metadata, beside the version of the records; it must hold nothing that
    differs between two runs.
    """
    stated = {VERSION_KEY.decode(): str(RECORDS_VERSION), **(metadata or {})}
    table = table.replace_schema_metadata(stated).combine_chunks()
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

    Records of the version before are migrated. Raises InputError when the file is missing, truncated, of another
    schema or of a later version.
    """
    try:
        with pq.ParquetFile(path) as file:
            found = file.schema_arrow
            version = int((found.metadata or {}).get(VERSION_KEY, 1))
            outdated = schema is not None and version < RECORDS_VERSION and not _fits(found, schema)
            known = [name for name in columns if name in found.names]
            table = file.read(None if outdated else known or None)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (ValueError, pa.ArrowNotImplementedError, OSError) as error:
        raise InputError(f"{path}: not a readable Parquet file ({_first_line(error)})") from None
    refuse_later(version, str(path))
    if schema is not None and outdated:
        table = migrate_table(table, schema)
        found = table.schema
        table = table.select(list(columns)) if columns and _fits(found, schema) else table
    if schema is not None and (new := find_new_columns(found, schema)):
        table = add_new_columns(table, schema, new, columns)
        found = schema
    if schema is not None and not _fits(found, schema):
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


def read_derivations(path: Path) -> list[list[dict[str, Any]]]:
    """The derivations of every item's hops in a Parquet file, not validated. Raises InputError naming the file."""
    return _read_of_hops(path, "derivation")


def read_hop_answers(path: Path) -> list[list[str]]:
    """The answers of every item's hops in a Parquet file, not validated. Raises InputError naming the file."""
    return _read_of_hops(path, "answer")


def read_hop_domains(path: Path) -> list[list[str]]:
    """The domains of every item's hops in a Parquet file, not validated. Raises InputError naming the file."""
    return _read_of_hops(path, "domain")


def _read_of_hops(path: Path, name: str) -> list[list[Any]]:
    hops = read_parquet(path, ITEM_SCHEMA, ("hops",)).column("hops").combine_chunks()
    values = iter(hops.flatten().field(name).to_pylist())
    return [[next(values) for _ in range(size)] for size in hops.value_lengths().to_pylist()]


def read_anchors(path: Path) -> list[Anchor]:
    """Anchors of one Parquet file, validated. Raises InputError naming the file."""
    return _read(path, ANCHOR_SCHEMA, Anchor)


def read_documents(path: Path) -> list[Document]:
    """Documents of one Parquet file, validated. Raises InputError naming the file."""
    return _read(path, DOCUMENT_SCHEMA, Document)


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
        table = table.filter(pc.is_in(table.column(column), pa.array(sorted(wanted), pa.string())))
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
            raise InputError(f"row {number}: {show_invalid(error)}") from None
    return records


def _fits(found: pa.Schema, schema: pa.Schema) -> bool:
    return bool(found.remove_metadata().equals(schema))


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
