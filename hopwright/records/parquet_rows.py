"""Rows of Parquet files that others wrote, in memory that depends on the file's size and not on what it unpacks to.

A few hundred bytes of Parquet may stand for a text of a gigabyte, for a text that is in a million rows, or for a list
of a billion entries. What the file says of itself is looked at first. Then texts stay in their dictionary until they
are known to be short together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hopwright.foreign import LONGEST_LINE, check_file

_BATCH = 1024
_MOST_AT_ONCE = 256 << 20
"""Bytes that the lists of the rows which are unpacked at once may take, were all entries the longest."""
_RATIO = 100
"""So many times its packed size is what a column may take, past the size of one longest row: texts pack to a third."""
_MOST_VALUES = 1 << 24
"""Entries that the lists of one row group may hold together in a column."""
_MOST_REPEATED = 1 << 32
"""Bytes that the lists of one row group may unpack to where an entry takes less than a bit."""
_REPEATING = "DELTA_BYTE_ARRAY"
"""States a text by what it shares with the text before, and thus long ones in no bytes."""


class ParquetError(ValueError):
    """What is no Parquet, is damaged, or unpacks to more than its size lets expect; its text is one line."""


def read_parquet_rows(path: Path, columns: Sequence[str] = ()) -> Iterator[dict[str, Any] | None]:
    """Every row as a dict of its columns, or of some of them; None for one of more than `LONGEST_LINE` bytes.

    Raises ParquetError, also between two rows, and OSError for what cannot be read.
    """
    check_file(path)
    try:
        with pq.ParquetFile(path, memory_map=True) as file:
            _check_sizes(file.metadata, path.stat().st_size)
            texts, rows = _list_text_columns(file.metadata), _count_rows(file.metadata)
        with pq.ParquetFile(path, memory_map=True, read_dictionary=texts) as file:
            for batch in file.iter_batches(rows, columns=list(columns) or None):
                yield from _unpack(batch)
    except OSError as error:
        if error.errno is not None:
            raise
        raise ParquetError(_take_line(error)) from None
    except (pa.ArrowException, ValueError) as error:
        raise ParquetError(_take_line(error)) from None


def _check_sizes(metadata: pq.FileMetaData, size: int) -> None:
    """Raises ParquetError where a file says that it holds more than its bytes could tell of rows that differ."""
    if metadata.num_rows > size:
        raise ParquetError(f"{metadata.num_rows:,} rows in {size:,} bytes, which cannot all differ")
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in range(metadata.num_columns):
            column = group.column(place)
            name = column.path_in_schema
            unpacked, packed = column.total_uncompressed_size, min(column.total_compressed_size, size)
            if unpacked > LONGEST_LINE + _RATIO * packed:
                raise ParquetError(f"{packed:,} bytes of the column {name} unpack to {unpacked:,}, and are not read")
            lists = metadata.schema.column(place).max_repetition_level > 0
            repeated = column.num_values > 8 * packed and column.num_values * unpacked > _MOST_REPEATED
            if lists and (repeated or column.num_values > _MOST_VALUES):
                raise ParquetError(
                    f"the {column.num_values:,} entries in {packed:,} bytes of the column {name} are not read"
                )
            if _REPEATING in column.encodings:
                raise ParquetError(f"the column {name} is written as {_REPEATING}, which is not read")


def _list_text_columns(metadata: pq.FileMetaData) -> list[str]:
    """The columns of texts that are no part of a list or an object, in which Arrow reads no dictionaries."""
    leaves = (metadata.schema.column(place) for place in range(metadata.num_columns))
    return [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY" and leaf.path == leaf.name]


def _count_rows(metadata: pq.FileMetaData) -> int:
    """Rows that are unpacked at once: fewer where lists could repeat a long text."""
    most = _BATCH
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        columns = [group.column(place) for place in range(metadata.num_columns)]
        nested = [one for one in columns if "." in one.path_in_schema and one.physical_type == "BYTE_ARRAY"]
        for one in nested:
            # Every entry may be the longest text that there could be.
            most = min(most, _MOST_AT_ONCE * group.num_rows // max(1, one.num_values * one.total_uncompressed_size))
    return max(1, most)


def _unpack(batch: pa.RecordBatch) -> Iterator[dict[str, Any] | None]:
    """The rows of a batch, at once where they are short together and else one by one."""
    if sum(map(_measure, batch.columns)) <= LONGEST_LINE:
        yield from batch.to_pylist()
        return
    for place in range(batch.num_rows):
        row = batch.slice(place, 1)
        yield row.to_pylist()[0] if sum(map(_measure, row.columns)) <= LONGEST_LINE else None


def _measure(array: pa.Array) -> int:
    """Bytes of an array's values, with a text counted as often as it stands in it."""
    if isinstance(array, pa.DictionaryArray):
        lengths = pc.take(pc.binary_length(array.dictionary), array.indices)
        return 8 * len(array) + (pc.sum(lengths).as_py() or 0)
    return int(array.nbytes)


def _take_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
