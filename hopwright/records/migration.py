"""Reads what the version of the records before wrote; all that is known about old shapes is here.

Version 1 (no version stated) → 2: a hop's evidence was one list a kind, and is one list of tagged entries; the anchor
question was a field of the item, and is part of its provenance; integers had several widths, and have one. Files are
not changed: they are migrated whenever they are read. Rows of a release need no migration, as version 2 only adds
fields to them.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from hopwright.errors import InputError
from hopwright.records.base import RECORDS_VERSION
from hopwright.records.evidence import tag_lists
from hopwright.records.model import Item

_ROWS_PER_BATCH = 500
_ADDED: Mapping[str, str | None] = {"marked": "", "own_answer": None, "own_words": "", "judge_score": None}
"""Columns that version 2 was given since, and what a file without them is read as."""
Row = dict[str, Any]


def refuse_later(version: int, what: str) -> None:
    """Raises InputError when `what` holds records of a later version than this program knows."""
    if version > RECORDS_VERSION:
        raise InputError(
            f"{what}: written by a later version of Hopwright (records {version}, here {RECORDS_VERSION}): "
            "update Hopwright to read it"
        )


def migrate_table(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Bring a table of version 1 to the schema of the same records today; one of anything else stays as it is."""
    if {"hops", "anchor"} <= set(table.schema.names):
        wanted = pa.struct(list(schema))
        batches = table.to_batches(_ROWS_PER_BATCH)
        arrays = [pa.array([_fill(migrate_item(row)) for row in batch.to_pylist()], wanted) for batch in batches]
        return pa.Table.from_batches([pa.RecordBatch.from_struct_array(one) for one in arrays], schema)
    known = pa.schema([one for one in schema if one.name not in _ADDED or one.name in table.schema.names])
    if table.schema.names == known.names:
        with contextlib.suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
            return table.cast(known)
    return table


def find_new_columns(found: pa.Schema, schema: pa.Schema) -> tuple[str, ...]:
    """The columns that are all a file lacks, as it was written before they were added; none where more differs."""
    new = tuple(name for name in _ADDED if name in schema.names and name not in found.names)
    rest = pa.schema([one for one in schema if one.name not in new])
    return new if found.remove_metadata().equals(rest) else ()


def add_new_columns(table: pa.Table, schema: pa.Schema, new: Sequence[str], columns: Sequence[str] = ()) -> pa.Table:
    """State the new columns, empty; `columns`, where there are any, are all that is wanted."""
    for name in new:
        table = table.append_column(name, pa.array([_ADDED[name]] * table.num_rows, schema.field(name).type))
    return table.select(list(columns) or schema.names)


def migrate_item(row: Row) -> Row:
    """Bring one item, as JSON or as a row of a table, from version 1 to today's shape."""
    provenance = {**(row.get("provenance") or {}), "anchor": row.get("anchor")}
    hops = [{**hop, "evidence": tag_lists(hop.get("evidence") or {})} for hop in row["hops"]]
    kept = {name: value for name, value in row.items() if name != "anchor"}
    return {**kept, "hops": hops, "provenance": provenance}


def _fill(row: Row) -> Row:
    """State the fields that are new, as a table has no defaults."""
    sources = [{**source, "snapshot": "", "pins_ids": False} for source in row["provenance"].get("sources") or ()]
    return {
        **row,
        "question_parts": [],
        "marked": "",
        "hops": [{**hop, "question_parts": []} for hop in row["hops"]],
        "provenance": {**row["provenance"], "sources": sources},
    }


def parse_item(text: str) -> Item:
    """Read an item from JSON of this version or the one before. Raises ValidationError for anything else."""
    try:
        return Item.model_validate_json(text)
    except ValidationError:
        try:
            row = json.loads(text)
            return Item.model_validate(migrate_item(row))
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
        raise
