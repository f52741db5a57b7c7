"""The store's arrays, built from parsed columns.

Entities and properties get dense numbers in the order of their ids, so that sorted numbers are sorted ids.
Facts are kept twice, by subject and by object, in compressed sparse rows: one 64-bit word per edge
(property, a flag that the edge is the only one of its property there, and the other end), sorted. Names are
kept in file order; an index of the hashes of their loose keys leads from a name to its entities.
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopwright.errors import InputError
from hopwright.knowledge.wikidata.format import ArrayWriter
from hopwright.text.folding import U8, U64

ONLY = 1 << 31
"""Flag in an edge's word: no other edge of that property there. The bits above hold the property, those
below the end.
"""
OTHER = ONLY - 1
_MAX_Q_BITMAP = 1 << 28
_CHUNK = 1 << 17

U16 = NDArray[np.uint16]
U32 = NDArray[np.uint32]


@dataclass(slots=True)
class NameColumns:
    """The names of a file: per line an id and a count of names, per name its length and the hash of its
    key.
    """

    ids: U32
    counts: NDArray[np.int64]
    blob: U8
    lengths: U32
    hashes: U64

    @classmethod
    def empty(cls) -> NameColumns:
        none = np.zeros(0, np.int64)
        ids = np.zeros(0, np.uint32)
        return cls(ids, none, np.zeros(0, np.uint8), ids, np.zeros(0, np.uint64))


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


class EdgeColumns:
    """The facts as read and those that follow from them, packed into words that sort by subject, property and object.

    `implied`: property ids p and q such that (a, p, b) says (b, q, a), and 1 where that holds only of a b of which no
    q is recorded, else 0; a q that the corpus does not know is left out. Empties `columns` on the way, to hold less in
    memory. Raises InputError for more entities than fit.
    """

    def __init__(
        self,
        columns: list[list[U32]],
        entity_ids: U32,
        property_ids: U32,
        implied: Sequence[Sequence[int]] = (),
    ) -> None:
        keys, self.packing = _pack(columns, entity_ids, property_ids)
        self.read = len(keys)
        self.properties = len(property_ids)
        keys.sort()
        if self.read and (keys[1:] == keys[:-1]).any():
            keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
        self.recorded = len(keys)
        self.keys, self.derived = self._add_implied(keys, property_ids, implied)

    def _add_implied(
        self, keys: U64, property_ids: U32, implied: Sequence[Sequence[int]]
    ) -> tuple[U64, NDArray[np.uint8]]:
        """All facts, and for each of them whether it is but derived from another."""
        place = {int(id): number for number, id in enumerate(property_ids)}
        known = [pair for pair in implied if pair[0] in place and pair[1] in place]
        shift = np.uint64(self.packing.entity_bits)
        if not known:
            return keys, np.zeros(len(keys), np.uint8)
        telling = np.zeros(len(place), bool)
        telling[[place[one] for pair in known for one in pair[:2]]] = True
        some, properties = self._pick(keys, telling)
        parts = []
        for one, other, first_only in known:
            upper, _, lower = self.packing.split(some[properties == place[one]])
            apart = upper != lower
            if first_only:
                apart &= ~np.isin(lower, self.packing.split(some[properties == place[other]])[0])
            top = shift + np.uint64(self.packing.property_bits)
            parts.append((lower[apart] << top) | (np.uint64(place[other]) << shift) | upper[apart])
        more = np.unique(np.concatenate(parts))
        place_of = np.searchsorted(keys, more)
        new = keys[np.minimum(place_of, len(keys) - 1)] != more
        place_of, more = place_of[new], more[new]
        derived = np.insert(np.zeros(len(keys), np.uint8), place_of, 1)
        return np.insert(keys, place_of, more), derived

    def _pick(self, keys: U64, telling: NDArray[np.bool_]) -> tuple[U64, U16]:
        """The words of the properties that tell, and those properties."""
        words, numbers = [], []
        for first in range(0, len(keys), _CHUNK):
            part = keys[first : first + _CHUNK]
            properties = self.packing.split(part)[1].astype(np.uint16)
            chosen = telling[properties]
            words.append(part[chosen])
            numbers.append(properties[chosen])
        return np.concatenate([keys[:0], *words]), np.concatenate([np.zeros(0, np.uint16), *numbers])

    def turned(self) -> tuple[U64, NDArray[np.uint8]]:
        """The words that sort by object, property and subject, and for each of them whether it is derived."""
        keys = self.keys.copy()
        self.packing.turn(keys)
        if not self.derived.any():
            keys.sort()
            return keys, self.derived
        if 2 * self.packing.entity_bits + self.packing.property_bits < 64:  # the flag sorts with its word
            keys <<= np.uint64(1)
            keys |= self.derived
            keys.sort()
            derived = (keys & np.uint64(1)).astype(np.uint8)
            keys >>= np.uint64(1)
            return keys, derived
        order = np.argsort(keys)
        return keys[order], self.derived[order]


def add_edges(writer: ArrayWriter, edges: EdgeColumns) -> dict[str, int]:
    """Write the facts in both directions, by property, and the counts of paths; returns how many there are."""
    # numpy's sorts let go of the interpreter: they run beside the writing.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        turned = pool.submit(edges.turned)
        out = _Rows(edges.packing, edges.keys)
        ordered = pool.submit(_order_by_property, out.properties)
        writer.add("out_edge", out.words)
        writer.add("out_start", running_starts(out.sizes))
        writer.add("out_derived", edges.derived)
        paths = running_starts(out.count_paths(), np.uint64)
        writer.add("property_edge", ordered.result())
        del ordered
        writer.add("property_start", running_starts(np.bincount(out.properties, minlength=edges.properties)))
        writer.add("step_count", out.steps)
        writer.add("path_start", paths)
        out_sizes = out.sizes
        del out, paths
        turned_keys, turned_derived = turned.result()
        into = _Rows(edges.packing, turned_keys)
        del turned, turned_keys
    writer.add("in_edge", into.words)
    writer.add("in_start", running_starts(into.sizes))
    writer.add("in_derived", turned_derived)
    recorded = [
        np.bincount(np.repeat(np.arange(len(sizes)), sizes)[derived == 0], minlength=len(sizes))
        for sizes, derived in ((out_sizes, edges.derived), (into.sizes, turned_derived))
    ]
    writer.add("degree", (recorded[0] + recorded[1]).astype(np.uint32))
    return {
        "triplets": edges.recorded,
        "duplicates": edges.read - edges.recorded,
        "derived": len(edges.keys) - edges.recorded,
    }


def _order_by_property(properties: U16) -> U32:
    """The edges' places by property and then place: words of both are sorted many times faster than places are."""
    words = properties.astype(np.uint64)
    words <<= np.uint64(32)
    words |= np.arange(len(words), dtype=np.uint64)
    words.sort()
    return words.astype(np.uint32)


def running_starts(lengths: NDArray[Any], dtype: type | None = None) -> NDArray[Any]:
    """Where each of the stretches of these lengths starts, and where the last ends; 32 bits where they do."""
    if dtype is None:
        dtype = np.uint32 if int(lengths.sum()) < 2**32 else np.uint64
    starts: NDArray[Any] = np.zeros(len(lengths) + 1, dtype)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _number(ids: U32, known: U32) -> U32:
    """Dense numbers of ids that are all known."""
    return np.searchsorted(known, ids).astype(np.uint32)


@dataclass(frozen=True, slots=True)
class _Packing:
    """How a fact lies in a sortable word: one end, the property, the other end, from the top."""

    entities: int
    entity_bits: int
    property_bits: int

    def split(self, keys: U64) -> tuple[U64, U64, U64]:
        """Upper end, property, lower end of every word."""
        shift = np.uint64(self.entity_bits)
        low = np.uint64((1 << self.entity_bits) - 1)
        middle = np.uint64((1 << self.property_bits) - 1)
        return keys >> np.uint64(self.entity_bits + self.property_bits), (keys >> shift) & middle, keys & low

    def turn(self, keys: U64) -> None:
        """Swap the ends, in place."""
        top, shift = np.uint64(self.entity_bits + self.property_bits), np.uint64(self.entity_bits)
        for first in range(0, len(keys), _CHUNK):
            part = keys[first : first + _CHUNK]
            upper, properties, lower = self.split(part)
            part[:] = (lower << top) | (properties << shift) | upper


def _pack(columns: list[list[U32]], entity_ids: U32, property_ids: U32) -> tuple[U64, _Packing]:
    packing = _Packing(len(entity_ids), len(entity_ids).bit_length(), len(property_ids).bit_length())
    if 2 * packing.entity_bits + packing.property_bits > 64 or packing.entity_bits > 31:
        raise InputError(f"{len(entity_ids)} entities are more than a store holds (2^26)")
    wide, narrow = _Ranks(entity_ids), _Ranks(property_ids)
    top, shift = np.uint64(packing.entity_bits + packing.property_bits), np.uint64(packing.entity_bits)
    keys: U64 = np.empty(sum(len(part) for part in columns[0]), np.uint64)
    place = 0
    for subjects, properties, objects in zip(*columns, strict=True):
        part = keys[place : place + len(subjects)]
        np.left_shift(wide.of(subjects), top, out=part)
        part |= narrow.of(properties) << shift
        part |= wide.of(objects)
        place += len(subjects)
    for column in columns:
        column.clear()
    return keys, packing


class _Rows:
    """The edges of one direction from sorted words, worked through in pieces that fit a processor's cache."""

    def __init__(self, packing: _Packing, keys: U64) -> None:
        self.words: U64 = np.empty(len(keys), np.uint64)
        self.properties: U16 = np.empty(len(keys), np.uint16)
        self.sizes: U32 = np.zeros(packing.entities, np.uint32)
        self.steps: U32 = np.zeros(packing.entities, np.uint32)
        """Per entity, its edges that are the only ones of their property and no self-loops."""
        self._packing = packing
        self._keys = keys
        shift = np.uint64(packing.entity_bits)
        for first in range(0, len(keys), _CHUNK):
            last = min(first + _CHUNK, len(keys))
            upper, properties, lower = packing.split(keys[first:last])
            group = keys[max(first - 1, 0) : last + 1] >> shift
            apart = np.ones(last - first + 1, bool)  # between each edge and the one before it
            apart[int(first == 0) : last - first + int(last < len(keys))] = group[1:] != group[:-1]
            single = apart[1:] & apart[:-1]
            words = properties << np.uint64(32)
            words |= lower
            words |= single.astype(np.uint64) << np.uint64(31)
            self.words[first:last] = words
            self.properties[first:last] = properties
            base = int(upper[0])
            rows = (upper - upper[0]).astype(np.int64)
            counts = np.bincount(rows)
            self.sizes[base : base + len(counts)] += counts.astype(np.uint32)
            counts = np.bincount(rows[single & (upper != lower)], minlength=1)
            self.steps[base : base + len(counts)] += counts.astype(np.uint32)

    def count_paths(self) -> NDArray[np.uint64]:
        """Per entity, the two-step paths that start there, each step one of `steps`."""
        paths = np.zeros(len(self.sizes), np.uint64)
        for first in range(0, len(self.words), _CHUNK):
            words = self.words[first : first + _CHUNK]
            upper, _, lower = self._packing.split(self._keys[first : first + _CHUNK])
            usable = ((words & np.uint64(ONLY)) != 0) & (upper != lower)
            base = int(upper[0])
            rows = (upper[usable] - upper[0]).astype(np.int64)
            counts = np.bincount(rows, weights=self.steps[lower[usable]], minlength=1)
            paths[base : base + len(counts)] += counts.astype(np.uint64)
        return paths


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
