"""Literals of the corpus: numbers, dates, coordinates and texts, by entity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopwright.knowledge.wikidata.format import ArrayWriter
from hopwright.knowledge.wikidata.parsing import Bad
from hopwright.knowledge.wikidata.sources import CorpusFile, read_blocks

DATATYPES = ("decimal", "dateTime", "double", "string")
U32 = NDArray[np.uint32]


@dataclass(slots=True)
class LiteralColumns:
    """The literals of a file, one entry per well-formed line."""

    subjects: U32
    properties: U32
    units: list[str]
    values: list[str]
    types: list[int]
    labels: dict[int, str]
    """Labels of properties, as this file gives them."""

    def write(self, writer: ArrayWriter, entity_ids: U32, property_ids: U32) -> None:
        """Write the literals sorted by subject, property, value and unit, each once."""
        subjects = np.searchsorted(entity_ids, self.subjects)
        properties = np.searchsorted(property_ids, self.properties)
        rows = sorted(
            set(zip(subjects.tolist(), properties.tolist(), self.values, self.units, self.types, strict=True))
        )
        units = {unit: number for number, unit in enumerate(sorted(set(self.units)))}
        per_entity = np.bincount([row[0] for row in rows], minlength=len(entity_ids))
        held = np.array([row[1] for row in rows], np.uint16)
        writer.add("literal_start", _starts(per_entity))
        writer.add("literal_property", held)
        writer.add("literal_type", np.array([row[4] for row in rows], np.uint8))
        writer.add("literal_unit", np.array([units[row[3]] for row in rows], np.uint32))
        _write_texts(writer, "literal_value", [row[2] for row in rows])
        _write_texts(writer, "unit", list(units))
        writer.add("literal_by_property", np.argsort(held, kind="stable").astype(np.uint32))
        writer.add("literal_property_start", _starts(np.bincount(held, minlength=len(property_ids))))
        known = property_ids.tolist()
        _write_texts(writer, "literal_label", [self.labels.get(number, "") for number in known])


def read_literals(source: CorpusFile, note: Callable[[CorpusFile, int, Bad], int]) -> LiteralColumns:
    """Read lines of `Q…⇥P…⇥label⇥unit⇥value⇥type`; `note` gets every block's line count and malformed lines.

    The type is an XSD name, bare, prefixed or as an IRI; types of whole and decimal numbers count as
    `decimal`.
    """
    subjects: list[int] = []
    properties: list[int] = []
    columns = LiteralColumns(np.zeros(0, np.uint32), np.zeros(0, np.uint32), [], [], [], {})
    for block in read_blocks(source):
        bad: Bad = []
        lines = block[:-1].split(b"\n")
        for number, line in enumerate(lines):
            try:
                fields = line.decode().split("\t")
            except UnicodeDecodeError:
                bad.append((number, "bad UTF-8"))
                continue
            if (reason := _find_fault(fields)) is not None:
                bad.append((number, reason))
                continue
            property = int(fields[1][1:])
            subjects.append(int(fields[0][1:]))
            properties.append(property)
            columns.labels.setdefault(property, fields[2].strip())
            columns.units.append(fields[3])
            columns.values.append(fields[4])
            columns.types.append(_TYPES[_bare(fields[5])])
        note(source, len(lines), bad)
    columns.subjects = np.array(subjects, np.uint32)
    columns.properties = np.array(properties, np.uint32)
    return columns


_TYPES = {name: number for number, name in enumerate(DATATYPES)} | {
    "integer": 0, "int": 0, "long": 0, "nonNegativeInteger": 0, "date": 1, "float": 2, "langString": 3,
}  # fmt: skip


def _bare(datatype: str) -> str:
    return datatype.strip().strip("<>").rpartition("#")[2].rpartition(":")[2]


def _find_fault(fields: list[str]) -> str | None:
    if len(fields) != 6:
        return f"{len(fields)} columns, not 6"
    for column, letter in ((0, "Q"), (1, "P")):
        digits = fields[column][1:]
        if fields[column][:1] != letter or not (digits.isascii() and digits.isdigit() and len(digits) <= 10):
            return f"no {letter}-id in column {column + 1}"
        if not 0 < int(digits) < 2**32 or digits[0] == "0":
            return f"no {letter}-id in column {column + 1}"
    if not fields[4].strip():
        return "empty value"
    if _bare(fields[5]) not in _TYPES:
        return f"unknown type {fields[5]!r}"
    return None


def _write_texts(writer: ArrayWriter, name: str, texts: list[str]) -> None:
    encoded = [text.encode() for text in texts]
    writer.add(f"{name}_start", _starts(np.fromiter(map(len, encoded), np.int64, len(encoded))))
    writer.add(f"{name}_blob", np.frombuffer(b"".join(encoded), np.uint8))


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.uint32]:
    starts = np.zeros(len(lengths) + 1, np.uint32)
    np.cumsum(lengths, out=starts[1:])
    return starts
