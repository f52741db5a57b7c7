"""The release's Parquet: the rows of the published format under one nested Arrow schema, derived from the records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hopwright.records import RECORDS_VERSION, Hop, Item
from hopwright.records.arrow import VERSION_KEY
from hopwright.records.evidence import EVIDENCE_LISTS
from hopwright.records.schema import derive_schema, derive_type
from hopwright.release.format import HOP_FIELDS, ITEM_FIELDS

_ROWS_PER_GROUP = 500


def _derive_release_schema() -> pa.Schema:
    """Rename the fields of the records as `release.format` does; the same parts stand apart: evidence, the anchor."""
    hop = _list_types(derive_type(Hop))
    lists = {name: pa.list_(derive_type(kind)) for kind, name in EVIDENCE_LISTS.items()}
    hop["evidence"] = pa.struct({**lists, "wikipedia_url": pa.string()})
    item = _list_types(derive_schema(Item))
    provenance = _list_types(item["provenance"])
    item["anchor"] = provenance.pop("anchor")
    item["provenance"] = pa.struct(provenance)
    item["hops"] = pa.list_(pa.struct(_rename(hop, HOP_FIELDS)))
    return pa.schema(_rename(item, ITEM_FIELDS))


def _list_types(fields: Iterable[pa.Field]) -> dict[str, pa.DataType]:
    return {field.name: field.type for field in fields}


def _rename(types: Mapping[str, pa.DataType], names: Mapping[str, str]) -> dict[str, pa.DataType]:
    return {published: types[ours] for published, ours in names.items()}


RELEASE_SCHEMA: pa.Schema = _derive_release_schema()
"""One column per field of a release row, in the same order."""


def write_parquet(rows: Iterable[dict[str, Any]], path: Path) -> int:
    """Write release rows, a group at a time; returns their number. Same rows, same bytes.

    Raises OSError when the place cannot be written.
    """
    count = 0
    schema = RELEASE_SCHEMA.with_metadata({VERSION_KEY: str(RECORDS_VERSION)})
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        remaining = iter(rows)
        while group := list(islice(remaining, _ROWS_PER_GROUP)):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))
            count += len(group)
    return count
