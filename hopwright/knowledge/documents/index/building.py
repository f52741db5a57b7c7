"""Making the shards of an index, each in a process of its own; those that are whole are kept."""

from __future__ import annotations

import concurrent.futures
import gc
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopwright.errors import InputError
from hopwright.knowledge.documents.index.analysis import (
    FIELD,
    ROW,
    make_schema,
    register,
    require_tantivy,
)
from hopwright.knowledge.documents.index.format import (
    FOLDER,
    MANIFEST,
    SHARD_MANIFEST,
    IndexManifest,
    ShardManifest,
    ShardPart,
    hash_files,
    name_shards,
)
from hopwright.knowledge.documents.index.terms import TermCutter
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.runs.files import clear_leftovers, explain_os_errors, hold_lock, remove_tree
from hopwright.runs.spawning import ApartContext
from hopwright.settings.corpus import CorpusIndexParameters

_SHARD_PASSAGES = 250_000
_TOGETHER = 4
"""Shards that one process makes in one pass over the corpus, at most."""
_PASSES = 4
"""Passes of each process, as long as it makes no more shards together than that."""
_WRITER_BYTES, _LEAST_WRITER_BYTES = 96_000_000, 48_000_000
"""What tantivy gathers before it writes: in one process, and in one shard of it at least."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What came of indexing, all in the part of the shards that was wanted. `made` are new, the others were whole."""

    folder: Path
    passages: int
    terms: int
    shards: int
    made: int
    bytes: int


def build_index(
    corpus: Path, parameters: CorpusIndexParameters, progress: Callable[[str], None] | None = None
) -> IndexReport:
    """Index the corpus in a folder, in its subfolder `index`; an index that is there serves until the new one is whole.

    A killed call, made again, keeps the shards that are whole. Raises InputError for a corpus without passages, and
    where the extra is not installed; StoreError where the corpus is missing; RunError when another process indexes it.
    """
    require_tantivy()
    store = CorpusStore.open(corpus)
    if not len(store):
        raise InputError(f"{corpus}: no passages in it")
    wanted_part = ShardPart.read(parameters.part)
    shards = parameters.shards or max(-(-len(store) // _SHARD_PASSAGES), wanted_part.of)
    folder = corpus / FOLDER
    names = name_shards(store.manifest.content, parameters.language, shards)
    part = wanted_part.choose(shards)
    with hold_lock(folder / ".lock", f"the index of {corpus.name}"):
        clear_leftovers(folder)
        wanted = [number for number in part if not (folder / names[number] / SHARD_MANIFEST).is_file()]
        tell = progress or (lambda line: None)
        tell(f"{len(part) - len(wanted)} of {len(part)} shards")
        if wanted:
            _make_shards(corpus, folder, names, wanted, len(part), parameters, tell)
        manifest = IndexManifest(corpus=store.manifest.content, language=parameters.language, shards=names)
        manifest.write(folder / MANIFEST)
        for path in folder.glob("shard-*"):
            if path.name not in names:
                remove_tree(path)
    made = [ShardManifest.read(folder / names[number] / SHARD_MANIFEST) for number in part]
    size = sum(path.stat().st_size for number in part for path in (folder / names[number]).iterdir())
    passages, terms = (sum(getattr(one, field) for one in made) for field in ("passages", "terms"))
    return IndexReport(folder, passages, terms, len(part), len(wanted), size)


def _make_shards(
    corpus: Path,
    folder: Path,
    names: list[str],
    wanted: list[int],
    every: int,
    parameters: CorpusIndexParameters,
    tell: Callable[[str], None],
) -> None:
    groups = group_shards(wanted, parameters.workers or os.cpu_count() or 1)
    orders = [(corpus, {number: folder / names[number] for number in group}, len(names)) for group in groups]
    done = every - len(wanted)
    workers = min(len(groups), parameters.workers or os.cpu_count() or 1)
    if workers == 1:
        for order, group in zip(orders, groups, strict=True):
            make_shards(*order, parameters.language)
            done += len(group)
            tell(f"{done} of {every} shards")
        return
    with concurrent.futures.ProcessPoolExecutor(workers, ApartContext(), _prepare_worker) as pool:
        work = {pool.submit(make_shards, *order, parameters.language): len(order[1]) for order in orders}
        for future in concurrent.futures.as_completed(work):
            future.result()
            done += work[future]
            tell(f"{done} of {every} shards")


def _prepare_worker() -> None:
    """Have Arrow use an allocator that keeps less of what is freed, and Python look for no cycles: none are made."""
    pa.set_memory_pool(pa.system_memory_pool())
    gc.disable()


def group_shards(wanted: Sequence[int], workers: int) -> list[list[int]]:
    """The shards that are made together, in one pass over the corpus: as equal groups as can be, as many for every
    worker, and of four at most. What a pass reads grows with the corpus, and so does the number of shards: one after
    the other they would take time by its square. Few of them are made singly, which takes less memory and keeps more
    after a kill."""
    size = min(_TOGETHER, -(-len(wanted) // (_PASSES * workers)))
    rounds = -(-len(wanted) // (size * workers))
    number = min(len(wanted), rounds * workers)
    return [list(wanted[place::number]) for place in range(number)]


def make_shards(corpus: Path, folders: Mapping[int, Path], shards: int, language: str) -> None:
    """Make some of the shards of an index, by their numbers: each of the passages whose hash, modulo the shards, is
    its number.

    The folders appear whole. Terms are cut here and only counted by tantivy, because the exact number of all terms
    is what makes shards comparable (`searching`), and tantivy does not tell it.
    """
    import tantivy

    store = CorpusStore.open(corpus)
    numbers = (store.hashes % np.uint64(shards)).astype(np.uint16)
    cutter = TermCutter(language)
    with explain_os_errors(corpus / FOLDER):
        made = {number: _NewShard(folder, len(folders)) for number, folder in folders.items()}
        writers = {number: shard.writer for number, shard in made.items()}
        for rows, contents in store.read_contents(np.isin(numbers, list(folders))):
            terms, counts = cutter.cut(contents)
            whose = numbers[rows]
            for number, shard in made.items():
                shard.count(counts[whose == number])
            for row, text, number in zip(rows.tolist(), terms, whose.tolist(), strict=True):
                writers[number].add_document(tantivy.Document(**{FIELD: text, ROW: row}))
        del writers
        for shard in made.values():
            shard.finish()


class _NewShard:
    """A shard that is being written aside by its `writer`; `together` are made at once, and share the memory."""

    def __init__(self, folder: Path, together: int) -> None:
        import tantivy

        self._folder = folder
        self._aside = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
        self._passages = self._terms = 0
        self._aside.mkdir(parents=True)
        index = tantivy.Index(make_schema(), path=str(self._aside))
        register(index)
        self.writer = index.writer(max(_LEAST_WRITER_BYTES, _WRITER_BYTES // together), 1)

    def count(self, terms: NDArray[np.int64]) -> None:
        """Count passages that are added, by the number of terms of each."""
        self._passages += len(terms)
        self._terms += int(terms.sum())

    def finish(self) -> None:
        """Write everything, and put the folder in its place."""
        self.writer.commit()
        self.writer.wait_merging_threads()
        del self.writer
        manifest = ShardManifest(passages=self._passages, terms=self._terms, files=hash_files(self._aside))
        manifest.write(self._aside / SHARD_MANIFEST)
        self._aside.replace(self._folder)
