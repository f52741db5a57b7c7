"""The store's arrays, built from parsed columns.

Entities and properties get dense numbers in the order of their ids, so that sorted numbers are sorted ids.
Facts are kept twice, by subject and by object, in compressed sparse rows: one 64-bit word per edge
(property, a flag that the edge is the only one of its property there, and the other end), sorted. Names are
kept in file order; an index of the hashes of their loose keys leads from a name to its entities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopwright.errors import InputError
from hopwright.graph.folding import U8, U64
from hopwright.graph.format import ArrayWriter

ONLY = 1 << 31
"""Flag in an edge's word: no other edge of that property there. The bits above hold the property, those
below the end.
"""
OTHER = ONLY - 1
_MAX_Q_BITMAP = 1 << 28

U16 = NDArray[np.uint16]
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]


@dataclass(slots=True)
class NameColumns:
    """The names of a file: per line an id and a count of names, per name its length and the hash of its
    key.
    """

    ids: U32
    counts: NDArray[np.int64]
    blob: U8
    lengths: NDArray[np.int64]
    hashes: U64

    @classmethod
    def empty(cls) -> NameColumns:
        none = np.zeros(0, np.int64)
        return cls(np.zeros(0, np.uint32), none, np.zeros(0, np.uint8), none, np.zeros(0, np.uint64))


def keep_lines(names: NameColumns, keep: NDArray[np.bool_]) -> NameColumns:
    """The names of the chosen lines only."""
    rows = np.repeat(keep, names.counts)
    return NameColumns(
        names.ids[keep],
        names.counts[keep],
        names.blob[np.repeat(rows, names.lengths)],
        names.lengths[rows],
        names.hashes[rows],
    )


def unique_ids(parts: list[U32]) -> U32:
    """All ids that occur, ascending, each once."""
    top = max((int(part.max()) for part in parts if len(part)), default=0)
    if top >= _MAX_Q_BITMAP:
        return np.unique(np.concatenate(parts)).astype(np.uint32)
    seen = np.zeros(top + 1, bool)
    for part in parts:
        seen[part] = True
    return np.flatnonzero(seen).astype(np.uint32)


def add_names(writer: ArrayWriter, prefix: str, names: NameColumns, known: U32) -> None:
    """Write `name_first` and `name_count` by dense number, and `name_start` by row, one more than rows.

    A separator ends every name in the blob.
    """
    dense = _number(names.ids, known)
    first = np.zeros(len(known), np.uint32)
    count = np.zeros(len(known), np.uint16)
    before = np.cumsum(names.counts) - names.counts
    first[dense] = before
    count[dense] = names.counts
    writer.add(f"{prefix}name_first", first)
    writer.add(f"{prefix}name_count", count)
    writer.add(f"{prefix}name_start", running_starts(names.lengths))
    writer.add(f"{prefix}name_blob", names.blob)
    if not prefix:
        writer.add("name_entity", np.repeat(dense, names.counts))


def add_index(writer: ArrayWriter, names: NameColumns) -> int:
    """Sorted words: the upper bits of a name's hash over the number of its row. Returns the number of row
    bits.
    """
    rows = len(names.hashes)
    bits = max(rows, 1).bit_length()
    words = names.hashes
    words >>= np.uint64(bits)
    words <<= np.uint64(bits)
    words |= np.arange(rows, dtype=np.uint64)
    words.sort()
    writer.add("name_index", words)
    return bits


def add_edges(writer: ArrayWriter, columns: list[list[U32]], entity_ids: U32, property_ids: U32) -> dict[str, int]:
    """Write the facts in both directions, by property, and the counts of paths; returns how many there are.

    Empties `columns` on the way, to hold less in memory. Raises InputError for more entities than fit.
    """
    read = sum(len(part) for part in columns[0])
    entity_bits = len(entity_ids).bit_length()
    property_bits = len(property_ids).bit_length()
    if 2 * entity_bits + property_bits > 64 or entity_bits > 31:
        raise InputError(f"{len(entity_ids)} entities are more than a store holds (2^26)")
    wide = _Ranks(entity_ids)
    narrow = _Ranks(property_ids)
    keys: U64 = np.empty(read, np.uint64)
    place = 0
    shift_s, shift_p = np.uint64(entity_bits + property_bits), np.uint64(entity_bits)
    for index in range(len(columns[0])):
        size = len(columns[0][index])
        part = keys[place : place + size]
        np.left_shift(wide.of(columns[0][index]), shift_s, out=part)
        part |= narrow.of(columns[1][index]) << shift_p
        part |= wide.of(columns[2][index])
        place += size
    del wide
    for column in columns:
        column.clear()
    keys.sort()
    if read and (keys[1:] == keys[:-1]).any():
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    low_e, low_p = np.uint64((1 << entity_bits) - 1), np.uint64((1 << property_bits) - 1)
    properties: U16 = ((keys >> shift_p) & low_p).astype(np.uint16)
    subjects: U32 = (keys >> shift_s).astype(np.uint32)
    objects: U32 = (keys & low_e).astype(np.uint32)
    single = _add_rows(writer, "out", keys, subjects, properties, objects, shift_p, len(entity_ids))
    order = np.argsort(properties, kind="stable").astype(np.uint32)
    writer.add("property_edge", order)
    writer.add("property_start", running_starts(np.bincount(properties, minlength=len(property_ids))))
    del order
    _add_paths(writer, subjects, objects, single, len(entity_ids))
    np.left_shift(objects, shift_s, out=keys, dtype=np.uint64)
    keys |= properties.astype(np.uint64) << shift_p
    keys |= subjects
    del subjects, properties, objects, single
    keys.sort()
    properties = ((keys >> shift_p) & low_p).astype(np.uint16)
    subjects = (keys & low_e).astype(np.uint32)
    objects = (keys >> shift_s).astype(np.uint32)
    _add_rows(writer, "in", keys, objects, properties, subjects, shift_p, len(entity_ids))
    return {"triplets": len(keys), "duplicates": read - len(keys)}


def running_starts(lengths: NDArray[Any]) -> NDArray[Any]:
    """Where each of the stretches of these lengths starts, and where the last ends."""
    total = int(lengths.sum())
    starts = np.zeros(len(lengths) + 1, np.uint32 if total < 2**32 else np.uint64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _number(ids: U32, known: U32) -> U32:
    """Dense numbers of ids that are all known."""
    return np.searchsorted(known, ids).astype(np.uint32)


def _add_rows(
    writer: ArrayWriter,
    name: str,
    keys: U64,
    rows: U32,
    properties: U16,
    others: U32,
    shift: np.uint64,
    entities: int,
) -> NDArray[np.bool_]:
    """Write one direction's rows; returns which edges are the only ones of their property in their row."""
    group = keys >> shift
    single = np.ones(len(keys), bool)
    same = group[1:] == group[:-1]
    single[1:] &= ~same
    single[:-1] &= ~same
    del group, same
    words = properties.astype(np.uint64)
    words <<= np.uint64(32)
    words |= others
    words[single] |= np.uint64(ONLY)
    writer.add(f"{name}_edge", words)
    writer.add(f"{name}_start", running_starts(np.bincount(rows, minlength=entities)))
    return single


def _add_paths(writer: ArrayWriter, subjects: U32, objects: U32, single: NDArray[np.bool_], entities: int) -> None:
    """Running number of two-step paths by source entity; each step the only one of its property, and no
    self-loop.
    """
    usable = single & (subjects != objects)
    steps = np.bincount(subjects[usable], minlength=entities).astype(np.uint32)
    writer.add("step_count", steps)
    paths = np.bincount(subjects[usable], weights=steps[objects[usable]], minlength=entities)
    total = np.zeros(entities + 1, np.uint64)
    np.cumsum(paths.astype(np.uint64), out=total[1:])
    writer.add("path_start", total)


class _Ranks:
    """Dense numbers by table look-up where ids are small enough, else by search."""

    def __init__(self, known: U32) -> None:
        self._known = known
        top = int(known[-1]) if len(known) else 0
        self._table: U32 | None = None
        if top < _MAX_Q_BITMAP:
            self._table = np.zeros(top + 1, np.uint32)
            self._table[known] = np.arange(len(known), dtype=np.uint32)

    def of(self, ids: U32) -> U64:
        if self._table is not None:
            return self._table[ids].astype(np.uint64)
        return np.searchsorted(self._known, ids).astype(np.uint64)
