"""Wikidata5M's files in, one indexed store out.

Files are read in blocks of lines, parsed on all cores; what is malformed is counted, listed and held against
a limit. The store replaces the one before it only when it is whole (`format`); what is in it: `layout`.
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
from hopwright.knowledge.wikidata.format import ArrayFile, ArrayWriter, lock_folder
from hopwright.knowledge.wikidata.layout import (
    U32,
    EdgeColumns,
    NameColumns,
    add_edges,
    add_index,
    add_names,
    keep_lines,
    running_starts,
    unique_ids,
)
from hopwright.knowledge.wikidata.literals import read_literals
from hopwright.knowledge.wikidata.parsing import Bad, NameBlock, parse_names, parse_texts, parse_triplets
from hopwright.knowledge.wikidata.sources import CorpusFile, CorpusFiles, Split, find_corpus, hash_file, read_blocks
from hopwright.knowledge.wikidata.trust import FIRST_ONLY, list_implications
from hopwright.text.folding import U8

_LISTED = 1000


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MalformedLine:
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
    listed: tuple[MalformedLine, ...]
    bytes: int
    reused: bool = False


@dataclass(slots=True)
class _LineCounter:
    """Counts lines, and holds the malformed ones against the limit."""

    limit: float
    lines: dict[str, int] = field(default_factory=dict)
    malformed: dict[str, int] = field(default_factory=dict)
    listed: list[MalformedLine] = field(default_factory=list)

    def note(self, source: CorpusFile, lines: int, bad: Bad) -> int:
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
            self.listed.append(MalformedLine(file, line, reason))

    def close(self, source: CorpusFile) -> None:
        """Raise InputError when the file has more malformed lines than the limit allows."""
        bad, lines = self.malformed.get(source.name, 0), self.lines.get(source.name, 0)
        if bad > self.limit * lines:
            shown = "; ".join(f"line {m.line}: {m.reason}" for m in self.listed if m.file == source.name)
            raise InputError(
                f"{source.name}: {bad} of {lines} lines are malformed, over the limit of {self.limit:.2%} "
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

    A store that is there stays in place, whole, until the new one is; one made from the same files is kept
    unless `force`. Malformed lines are skipped and reported, up to `max_malformed` of each file's lines.
    Raises InputError for missing, truncated or malformed input, StoreError when the folder cannot be
    written.
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


def _ingest(corpus: CorpusFiles, store: Path, limit: float, force: bool, tell: Callable[[str], None]) -> IngestReport:
    with concurrent.futures.ThreadPoolExecutor(1) as hasher:
        hashing = [hasher.submit(hash_file, path) for path in corpus.paths]
        if not force and (old := _open_old(store)) is not None:
            inputs = [future.result() for future in hashing]
            if (old.about["inputs"], old.about["max_malformed"], old.about["implied"]) == (inputs, limit, _implied()):
                return _report(store, old.about, old.bytes, reused=True)
        writer = ArrayWriter(store)
        try:
            about = _build(corpus, writer, _LineCounter(limit), tell)
            about["inputs"] = [future.result() for future in hashing]
            about["max_malformed"] = limit
            about["implied"] = _implied()
            tell("writing")
            writer.finish(about)
        finally:
            writer.discard()
    return _report(store, about, (ArrayFile(store)).bytes, reused=False)


def _build(
    corpus: CorpusFiles, writer: ArrayWriter, ledger: _LineCounter, tell: Callable[[str], None]
) -> dict[str, Any]:
    tell(f"reading {corpus.entities.name}")
    names = _read_names(corpus.entities, ledger, "Q")
    relations = _read_names(corpus.relations, ledger, "P") if corpus.relations is not None else NameColumns.empty()
    columns: list[list[U32]] = [[], [], []]
    for source in corpus.triplets:
        tell(f"reading {source.name}")
        for triplets in _parse(source, parse_triplets):
            ledger.note(source, triplets.lines, triplets.bad)
            for column, part in zip(columns, (triplets.subjects, triplets.properties, triplets.objects), strict=True):
                column.append(part)
        ledger.close(source)
    literals = None
    if corpus.literals is not None:
        tell(f"reading {corpus.literals.name}")
        literals = read_literals(corpus.literals, ledger.note)
        ledger.close(corpus.literals)
    tell("numbering entities")
    literal_subjects = literals.subjects if literals else np.zeros(0, np.uint32)
    entity_ids = unique_ids([names.ids, literal_subjects, *columns[0], *columns[2]])
    literal_properties = literals.properties if literals else np.zeros(0, np.uint32)
    property_ids = np.unique(
        np.concatenate([relations.ids, literal_properties, *(np.unique(part) for part in columns[1])])
    ).astype(np.uint32)
    writer.add("entity_id", entity_ids)
    writer.add("property_id", property_ids)
    tell("sorting names and facts")
    with concurrent.futures.ThreadPoolExecutor(1) as sorter:
        sorting = sorter.submit(EdgeColumns, columns, entity_ids, property_ids, _implied())
        add_names(writer, "", names, entity_ids)
        row_bits = add_index(writer, names)
        name_rows = len(names.lengths)
        del names
        add_names(writer, "property_", relations, property_ids)
        edges = sorting.result()
    del sorting
    counts = add_edges(writer, edges)
    del edges
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


def _read_names(source: CorpusFile, ledger: _LineCounter, letter: str) -> NameColumns:
    columns: tuple[list[NDArray[Any]], ...] = ([], [], [], [], [])
    lines: list[NDArray[np.int64]] = []
    parse = parse_names if letter == "Q" else _parse_relations
    for block in _parse(source, parse):
        first = ledger.note(source, block.lines, block.bad)
        parts: tuple[NDArray[Any], ...] = (block.ids, block.counts, block.blob, block.lengths, block.hashes)
        for column, part in zip(columns, parts, strict=True):
            column.append(part)
        lines.append(block.line + first)
    names = NameColumns(*map(_join, columns))
    _, kept = np.unique(names.ids, return_index=True)
    if len(kept) < len(names.ids):
        again = np.ones(len(names.ids), bool)
        again[kept] = False
        numbers = np.concatenate(lines)
        for row in np.flatnonzero(again):
            ledger.add(source.name, int(numbers[row]), f"{letter}{names.ids[row]} was named before")
        names = keep_lines(names, ~again)
    ledger.close(source)
    return names


def _join(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """One array of the parts, which are let go: all columns in parts and whole at once would be the most memory."""
    whole: NDArray[Any] = np.concatenate(parts)
    parts.clear()
    return whole


def _parse_relations(block: bytes) -> NameBlock:
    return parse_names(block, "P")


def _add_texts(writer: ArrayWriter, source: CorpusFile, ledger: _LineCounter, known: U32) -> int:
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
    writer.add("text_start", running_starts(np.concatenate(lengths)))
    writer.add("text_blob", np.concatenate(blobs))
    return rows


def _parse(source: CorpusFile, parse: Callable[[bytes], T]) -> Iterator[T]:
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


def _implied() -> list[list[int]]:
    """The numbers of the properties of which facts say the same the other way round, as `EdgeColumns` takes them."""
    return [[int(one[1:]), int(other[1:]), int((one, other) in FIRST_ONLY)] for one, other in list_implications()]


def _open_old(store: Path) -> ArrayFile | None:
    try:
        return ArrayFile(store)
    except StoreError:
        return None


def _report(store: Path, about: dict[str, Any], size: int, *, reused: bool) -> IngestReport:
    listed = tuple(MalformedLine(*entry) for entry in about["listed"])
    return IngestReport(store, about["counts"], about["lines"], about["malformed"], listed, size, reused)


def _shorten(text: str, width: int = 200) -> str:
    return text if len(text) <= width else text[: width - 2] + " …"


def _ignore(_: str) -> None:
    pass
