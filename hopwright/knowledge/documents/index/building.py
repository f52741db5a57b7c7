"""Making the shards of an index, each in a process of its own; those that are whole are kept."""

from __future__ import annotations

import concurrent.futures
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

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
_WRITER_BYTES = 96_000_000


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
    workers = max(1, min(len(wanted), parameters.workers or os.cpu_count() or 1))
    orders = [(corpus, folder / names[number], number, len(names), parameters.language) for number in wanted]
    if workers == 1:
        for done, order in enumerate(orders, start=every - len(wanted) + 1):
            make_shard(*order)
            tell(f"{done} of {every} shards")
        return
    with concurrent.futures.ProcessPoolExecutor(workers, ApartContext()) as pool:
        work = [pool.submit(make_shard, *order) for order in orders]
        for done, future in enumerate(concurrent.futures.as_completed(work), start=every - len(wanted) + 1):
            future.result()
            tell(f"{done} of {every} shards")


def make_shard(corpus: Path, folder: Path, number: int, shards: int, language: str) -> None:
    """Make one shard of an index: of the passages whose hash, modulo the shards, is its number.

    The folder appears whole. Terms are cut here and only counted by tantivy, because the exact number of all terms
    is what makes shards comparable (`searching`), and tantivy does not tell it.
    """
    import tantivy

    store = CorpusStore.open(corpus)
    chosen = store.hashes % np.uint64(shards) == np.uint64(number)
    aside = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    cutter = TermCutter(language)
    total = 0
    with explain_os_errors(folder):
        aside.mkdir(parents=True)
        index = tantivy.Index(make_schema(), path=str(aside))
        register(index)
        writer = index.writer(_WRITER_BYTES, 1)
        for rows, contents in store.read_contents(chosen):
            terms, counts = cutter.cut(contents)
            total += int(counts.sum())
            for row, text in zip(rows, terms, strict=True):
                writer.add_document(tantivy.Document(**{FIELD: text, ROW: row}))
        writer.commit()
        writer.wait_merging_threads()
        del writer, index
        ShardManifest(passages=int(chosen.sum()), terms=total, files=hash_files(aside)).write(aside / SHARD_MANIFEST)
        aside.replace(folder)
