"""Wikidata5M's files in, one indexed store out.

Entities and properties get dense numbers in the order of their ids, so that sorted numbers are sorted ids. Facts are
kept twice, by subject and by object, in compressed sparse rows: one 64-bit word per edge (property, a flag that the
edge is the only one of its property there, and the other end), sorted. Names are kept in file order; an index of the
hashes of their loose keys leads from a name to its entities.
"""

from __future__ import annotations

import concurrent.futures
import os
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hopwright.errors import InputError, StoreError
from hopwright.graph.folding import U8, U64
from hopwright.graph.format import ArrayFile, ArrayWriter, lock_folder
from hopwright.graph.literals import read_literals
from hopwright.graph.parsing import Bad, NameBlock, parse_names, parse_texts, parse_triplets
from hopwright.graph.sources import Corpus, Source, Split, find_corpus, hash_file, read_blocks

ONLY = 1 << 31
"""Flag in an edge's word: no other edge of that property there. The bits above hold the property, those below the end."""
OTHER = ONLY - 1
_LISTED = 1000
_MAX_Q_BITMAP = 1 << 28

U32 = NDArray[np.uint32]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Malformed:
    """One line that was skipped: where it is and what is wrong with it."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did. `reused`: the store was already made from these very files."""

    folder: Path
    counts: dict[str, int]
    lines: dict[str, int]
    malformed: dict[str, int]
    listed: tuple[Malformed, ...]
    bytes: int
    reused: bool = False


@dataclass(slots=True)
class _Ledger:
    """Counts lines, and holds the malformed ones against the limit."""

    limit: float
    lines: dict[str, int] = field(default_factory=dict)
    malformed: dict[str, int] = field(default_factory=dict)
    listed: list[Malformed] = field(default_factory=list)

    def note(self, source: Source, lines: int, bad: Bad) -> int:
        """Add a block's lines; returns the number of the block's first line, from 1."""
        file = source.name
        before = self.lines.get(file, 0)
        self.lines[file] = before + lines
        for line, reason in bad:
            self.add(file, before + line + 1, reason)
        return before + 1

    def add(self, file: str, line: int, reason: str) -> None:
        self.malformed[file] = self.malformed.get(file, 0) + 1
        if len(self.listed) < _LISTED:
            self.listed.append(Malformed(file, line, reason))

    def close(self, source: Source) -> None:
        """Raise InputError when the file has more malformed lines than the limit allows."""
        bad, lines = self.malformed.get(source.name, 0), self.lines.get(source.name, 0)
        if bad > self.limit * lines:
            shown = "; ".join(f"line {m.line}: {m.reason}" for m in self.listed if m.file == source.name)
            raise InputError(
                f"{source.name}: {bad} of {lines} lines are malformed, more than the limit of {self.limit:.2%} "
                f"({_shorten(shown)}); mend the file or raise the limit"
            )


def ingest(
    source: Path,
    store: Path,
    *,
    split: Split = "all",
    max_malformed: float = 0.001,
    force: bool = False,
    progress: Callable[[str], None] | None = None,
) -> IngestReport:
    """Make a graph store in the folder `store` from the corpus files in the folder `source`.

    A store that is there stays in place, whole, until the new one is; one made from the same files is kept unless
    `force`. Malformed lines are skipped and reported, up to `max_malformed` of each file's lines.
    Raises InputError for missing, truncated or malformed input, StoreError when the folder cannot be written.
    """
    if not 0 <= max_malformed <= 1:
        raise InputError(f"max_malformed must be from 0 to 1, not {max_malformed}")
    corpus = find_corpus(Path(source), split)
    store = Path(store)
    tell = progress or _ignore
    try:
        store.mkdir(parents=True, exist_ok=True)
        with lock_folder(store):
            return _ingest(corpus, store, max_malformed, force, tell)
    except OSError as error:
        raise StoreError(f"the store {store} cannot be written: {error.strerror or error}") from None


def _ingest(
    corpus: Corpus, store: Path, limit: float, force: bool, tell: Callable[[str], None]
) -> IngestReport:
    with concurrent.futures.ThreadPoolExecutor(1) as hasher:
        hashing = [hasher.submit(hash_file, path) for path in corpus.paths]
        if not force and (old := _open_old(store)) is not None:
            inputs = [future.result() for future in hashing]
            if old.about["inputs"] == inputs and old.about["max_malformed"] == limit:
                return _report(store, old.about, old.bytes, reused=True)
        writer = ArrayWriter(store)
        try:
            about = _build(corpus, writer, _Ledger(limit), tell)
            about["inputs"] = [future.result() for future in hashing]
            about["max_malformed"] = limit
            tell("writing")
            writer.finish(about)
        finally:
            writer.discard()
    return _report(store, about, (ArrayFile(store)).bytes, reused=False)


def _build(
    corpus: Corpus, writer: ArrayWriter, ledger: _Ledger, tell: Callable[[str], None]
) -> dict[str, Any]:
    tell(f"reading {corpus.entities.name}")
    names = _read_names(corpus.entities, ledger, "Q")
    relations = _read_names(corpus.relations, ledger, "P") if corpus.relations is not None else _Names.empty()
    columns: list[list[U32]] = [[], [], []]
    for source in corpus.triplets:
        tell(f"reading {source.name}")
        for triplets in _parse(source, parse_triplets):
            ledger.note(source, triplets.lines, triplets.bad)
            for column, part in zip(
                columns, (triplets.subjects, triplets.properties, triplets.objects), strict=True
            ):
                column.append(part)
        ledger.close(source)
    literals = None
    if corpus.literals is not None:
        tell(f"reading {corpus.literals.name}")
        literals = read_literals(corpus.literals, ledger.note)
        ledger.close(corpus.literals)
    tell("numbering entities")
    literal_subjects = literals.subjects if literals else np.zeros(0, np.uint32)
    entity_ids = _unique_ids([names.ids, literal_subjects, *columns[0], *columns[2]])
    literal_properties = literals.properties if literals else np.zeros(0, np.uint32)
    property_ids = np.unique(
        np.concatenate([relations.ids, literal_properties, *(np.unique(part) for part in columns[1])])
    ).astype(np.uint32)
    writer.add("entity_id", entity_ids)
    writer.add("property_id", property_ids)
    _add_names(writer, "", names, entity_ids)
    row_bits = _add_index(writer, names)
    name_rows = len(names.lengths)
    del names
    _add_names(writer, "property_", relations, property_ids)
    tell("sorting facts")
    counts = _add_edges(writer, columns, entity_ids, property_ids)
    if literals is not None:
        literals.write(writer, entity_ids, property_ids)
        counts["literals"] = len(literals.subjects)
    else:
        counts["literals"] = 0
    if corpus.texts is not None:
        tell(f"reading {corpus.texts.name}")
        counts["descriptions"] = _add_texts(writer, corpus.texts, ledger, entity_ids)
        ledger.close(corpus.texts)
    else:
        counts["descriptions"] = 0
    counts.update(entities=len(entity_ids), properties=len(property_ids), names=name_rows)
    return {
        "counts": counts,
        "row_bits": row_bits,
        "has_literals": literals is not None,
        "has_descriptions": corpus.texts is not None,
        "lines": ledger.lines,
        "malformed": ledger.malformed,
        "listed": [[m.file, m.line, m.reason] for m in ledger.listed],
    }


@dataclass(slots=True)
class _Names:
    ids: U32
    counts: NDArray[np.int64]
    blob: U8
    lengths: NDArray[np.int64]
    hashes: U64

    @classmethod
    def empty(cls) -> _Names:
        none = np.zeros(0, np.int64)
        return cls(np.zeros(0, np.uint32), none, np.zeros(0, np.uint8), none, np.zeros(0, np.uint64))


def _read_names(source: Source, ledger: _Ledger, letter: str) -> _Names:
    parts: list[NameBlock] = []
    lines: list[NDArray[np.int64]] = []
    parse = parse_names if letter == "Q" else _parse_relations
    for block in _parse(source, parse):
        first = ledger.note(source, block.lines, block.bad)
        parts.append(block)
        lines.append(block.line + first)
    names = _Names(
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.counts for part in parts]),
        np.concatenate([part.blob for part in parts]),
        np.concatenate([part.lengths for part in parts]),
        np.concatenate([part.hashes for part in parts]),
    )
    del parts
    _, kept = np.unique(names.ids, return_index=True)
    if len(kept) < len(names.ids):
        again = np.ones(len(names.ids), bool)
        again[kept] = False
        numbers = np.concatenate(lines)
        for row in np.flatnonzero(again):
            ledger.add(source.name, int(numbers[row]), f"{letter}{names.ids[row]} was named before")
        names = _keep_lines(names, ~again)
    ledger.close(source)
    return names


def _parse_relations(block: bytes) -> NameBlock:
    return parse_names(block, "P")


def _keep_lines(names: _Names, keep: NDArray[np.bool_]) -> _Names:
    rows = np.repeat(keep, names.counts)
    return _Names(
        names.ids[keep],
        names.counts[keep],
        names.blob[np.repeat(rows, names.lengths)],
        names.lengths[rows],
        names.hashes[rows],
    )


def _unique_ids(parts: list[U32]) -> U32:
    top = max((int(part.max()) for part in parts if len(part)), default=0)
    if top >= _MAX_Q_BITMAP:
        return np.unique(np.concatenate(parts)).astype(np.uint32)
    seen = np.zeros(top + 1, bool)
    for part in parts:
        seen[part] = True
    return np.flatnonzero(seen).astype(np.uint32)


def _number(ids: U32, known: U32) -> U32:
    """Dense numbers of ids that are all known."""
    return np.searchsorted(known, ids).astype(np.uint32)


def _add_names(writer: ArrayWriter, prefix: str, names: _Names, known: U32) -> None:
    """`name_first` and `name_count` by dense number; `name_start` by row, one more than rows."""
    dense = _number(names.ids, known)
    first = np.zeros(len(known), np.uint32)
    count = np.zeros(len(known), np.uint16)
    before = np.cumsum(names.counts) - names.counts
    first[dense] = before
    count[dense] = names.counts
    writer.add(f"{prefix}name_first", first)
    writer.add(f"{prefix}name_count", count)
    writer.add(f"{prefix}name_start", _starts(names.lengths))
    writer.add(f"{prefix}name_blob", names.blob)
    if not prefix:
        writer.add("name_entity", np.repeat(dense, names.counts))


def _add_index(writer: ArrayWriter, names: _Names) -> int:
    """Sorted words: the upper bits of a name's hash over the number of its row. Returns the number of row bits."""
    rows = len(names.hashes)
    bits = max(rows, 1).bit_length()
    words = names.hashes
    words >>= np.uint64(bits)
    words <<= np.uint64(bits)
    words |= np.arange(rows, dtype=np.uint64)
    words.sort()
    writer.add("name_index", words)
    return bits


def _add_edges(
    writer: ArrayWriter, columns: list[list[U32]], entity_ids: U32, property_ids: U32
) -> dict[str, int]:
    read = sum(len(part) for part in columns[0])
    entity_bits = len(entity_ids).bit_length()
    property_bits = len(property_ids).bit_length()
    if 2 * entity_bits + property_bits > 64 or entity_bits > 31:
        raise InputError(f"{len(entity_ids)} entities are more than a store holds (2^26)")
    wide = _Ranks(entity_ids)
    narrow = _Ranks(property_ids)
    keys = np.empty(read, np.uint64)
    place = 0
    shift_s, shift_p = np.uint64(entity_bits + property_bits), np.uint64(entity_bits)
    for index in range(len(columns[0])):
        subjects, properties, objects = (column[index] for column in columns)
        part = keys[place : place + len(subjects)]
        np.left_shift(wide.of(subjects), shift_s, out=part)
        part |= narrow.of(properties) << shift_p
        part |= wide.of(objects)
        place += len(subjects)
    del wide
    for column in columns:
        column.clear()
    keys.sort()
    if read and (keys[1:] == keys[:-1]).any():
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    low_e, low_p = np.uint64((1 << entity_bits) - 1), np.uint64((1 << property_bits) - 1)
    properties = ((keys >> shift_p) & low_p).astype(np.uint16)
    subjects = (keys >> shift_s).astype(np.uint32)
    objects = (keys & low_e).astype(np.uint32)
    single = _add_rows(writer, "out", keys, subjects, properties, objects, shift_p, len(entity_ids))
    order = np.argsort(properties, kind="stable").astype(np.uint32)
    writer.add("property_edge", order)
    writer.add("property_start", _starts(np.bincount(properties, minlength=len(property_ids))))
    del order
    _add_paths(writer, subjects, objects, single, len(entity_ids))
    keys = objects.astype(np.uint64)
    keys <<= shift_s
    keys |= properties.astype(np.uint64) << shift_p
    keys |= subjects
    del subjects, properties, objects, single
    keys.sort()
    properties = ((keys >> shift_p) & low_p).astype(np.uint16)
    subjects = (keys & low_e).astype(np.uint32)
    objects = (keys >> shift_s).astype(np.uint32)
    _add_rows(writer, "in", keys, objects, properties, subjects, shift_p, len(entity_ids))
    return {"triplets": len(keys), "duplicates": read - len(keys)}


def _add_rows(
    writer: ArrayWriter,
    name: str,
    keys: U64,
    rows: U32,
    properties: NDArray[np.uint16],
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
    writer.add(f"{name}_start", _starts(np.bincount(rows, minlength=entities)))
    return single


def _add_paths(
    writer: ArrayWriter, subjects: U32, objects: U32, single: NDArray[np.bool_], entities: int
) -> None:
    """Running number of two-step paths by source entity; each step the only one of its property, and no self-loop."""
    usable = single & (subjects != objects)
    steps = np.bincount(subjects[usable], minlength=entities).astype(np.uint32)
    writer.add("step_count", steps)
    paths = np.bincount(subjects[usable], weights=steps[objects[usable]], minlength=entities)
    total = np.zeros(entities + 1, np.uint64)
    np.cumsum(paths.astype(np.uint64), out=total[1:])
    writer.add("path_start", total)


def _add_texts(writer: ArrayWriter, source: Source, ledger: _Ledger, known: U32) -> int:
    blobs: list[U8] = []
    lengths: list[NDArray[np.int64]] = []
    place = np.zeros(len(known), np.uint32)
    rows = 0
    for block in _parse(source, parse_texts):
        ledger.note(source, block.lines, block.bad)
        dense = np.minimum(np.searchsorted(known, block.ids), max(len(known) - 1, 0))
        keep = known[dense] == block.ids
        blobs.append(block.blob[np.repeat(keep, block.lengths)])
        lengths.append(block.lengths[keep])
        count = int(keep.sum())
        place[dense[keep]] = np.arange(rows + 1, rows + count + 1)
        rows += count
    writer.add("text_row", place)
    writer.add("text_start", _starts(np.concatenate(lengths)))
    writer.add("text_blob", np.concatenate(blobs))
    return rows


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


def _starts(lengths: NDArray[Any]) -> NDArray[Any]:
    total = int(lengths.sum())
    starts = np.zeros(len(lengths) + 1, np.uint32 if total < 2**32 else np.uint64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _parse(source: Source, parse: Callable[[bytes], T]) -> Iterator[T]:
    """Parse a file's blocks on all cores, in order, a few ahead."""
    workers = min(os.cpu_count() or 1, 4)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        waiting: deque[concurrent.futures.Future[T]] = deque()
        for block in read_blocks(source):
            waiting.append(pool.submit(parse, block))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _open_old(store: Path) -> ArrayFile | None:
    try:
        return ArrayFile(store)
    except StoreError:
        return None


def _report(store: Path, about: dict[str, Any], size: int, *, reused: bool) -> IngestReport:
    listed = tuple(Malformed(*entry) for entry in about["listed"])
    return IngestReport(store, about["counts"], about["lines"], about["malformed"], listed, size, reused)


def _shorten(text: str, width: int = 200) -> str:
    return text if len(text) <= width else text[: width - 2] + " …"


def _ignore(_: str) -> None:
    pass
