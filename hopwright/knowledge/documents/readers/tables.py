"""Files of rows: JSON lines, one JSON array, tab-separated values, Parquet. All are read in a stream."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import IO

from hopwright.errors import InputError
from hopwright.foreign import LONGEST_LINE, JsonError, load_json, read_array, read_lines
from hopwright.knowledge.documents.readers.files import SourceFile
from hopwright.knowledge.documents.readers.rows import MalformedRow, RawDocument, read_row
from hopwright.records.parquet_rows import ParquetError, read_parquet_rows

_LONGEST_FIELD = 1 << 27
_RATIO = 100
_TOO_LONG = f"it is longer than {LONGEST_LINE >> 20} MiB"
_NO_ARRAY = "not a JSON array"
Rows = Iterator[RawDocument | MalformedRow]


def read_json_lines(file: SourceFile) -> Rows:
    """One JSON object a line; empty lines are passed over. Raises InputError when the file ends within a line."""
    with file.open() as data:
        for number, line in _number_lines(data):
            place = f"line {number}"
            if line is None:
                yield MalformedRow(place, _TOO_LONG)
                continue
            if not line.strip():
                continue
            try:
                row = load_json(line, halves=True)
            except JsonError as error:
                if not line.endswith(b"\n"):
                    raise InputError(f"{file.name} ends in the middle of line {number}; get it again") from None
                yield MalformedRow(place, _explain(error))
                continue
            yield from read_row(row, place)


def read_json_array(file: SourceFile) -> Rows:
    """One JSON array of objects. Raises InputError naming the entry after which the file is no JSON any more."""
    number = 0
    with file.open() as data:
        try:
            for row in read_array(data):
                number += 1
                yield from read_row(row, f"entry {number}")
        except JsonError as error:
            if not number and str(error) == _NO_ARRAY:
                raise InputError(f"{file.name}: no JSON array of objects") from None
            raise InputError(f"{file.name}: no JSON after entry {number} ({error}); get it again") from None
    if not number:
        raise InputError(f"{file.name}: no JSON array of objects")


def read_tab_separated(file: SourceFile) -> Rows:
    """Rows of tab-separated fields below a line of their names, as DPR's psgs_w100.tsv (`id`, `text`, `title`).

    Fields may be quoted as CSV does. Raises InputError when no column holds a text.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    names: list[str] = []
    with file.open() as data:
        for number, line in _number_lines(data):
            place = f"line {number}"
            if line is None:
                yield MalformedRow(place, _TOO_LONG)
                continue
            try:
                fields = next(csv.reader([line.decode("utf-8").rstrip("\r\n")], delimiter="\t"), [])
            except (UnicodeDecodeError, csv.Error) as error:
                yield MalformedRow(place, _explain(error))
                continue
            if not names:
                names = [name.strip().lower() for name in fields]
                if not {"text", "contents", "passage"} & set(names):
                    raise InputError(f"{file.name}: its first line should name the columns (id, text, title)")
            elif len(fields) != len(names):
                yield MalformedRow(place, f"{len(fields)} fields, not {len(names)}")
            else:
                yield from read_row(dict(zip(names, fields, strict=True)), place)


def read_parquet(file: SourceFile) -> Rows:
    """Rows of a Parquet file, batch by batch. Raises InputError when it is truncated or no Parquet, or where the same
    long text is in row after row: kept as so many documents it would take a thousand times the file's size.
    """
    if file.member:
        raise InputError(f"{file.name}: unpack the archive first; Parquet is not read from within one")
    number = 0
    try:
        left = LONGEST_LINE + _RATIO * file.path.stat().st_size
        for number, row in enumerate(read_parquet_rows(file.path), start=1):
            left -= sum(len(value) for value in (row or {}).values() if isinstance(value, str))
            if left < 0:
                raise ParquetError(f"its rows hold over {_RATIO} times its size")
            if row is None:
                yield MalformedRow(f"row {number}", _TOO_LONG)
            else:
                yield from read_row(row, f"row {number}")
    except (ParquetError, OSError) as error:
        raise InputError(f"{file.name}: truncated or no Parquet after row {number} ({error}); get it again") from None


def _number_lines(data: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    for number, line in read_lines(data, ends=True):
        yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 and line else line


def _explain(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError) or str(error) == "not UTF-8":
        return "not UTF-8"
    return f"cannot be parsed: {str(error).splitlines()[0]}"
