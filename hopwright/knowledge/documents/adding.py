"""Reading a source into a corpus: in a stream, without what is there already, whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from hopwright.errors import InputError
from hopwright.knowledge.documents.chunking import cut_passages
from hopwright.knowledge.documents.duplicates import NearDuplicateIndex, SortedRuns
from hopwright.knowledge.documents.format import (
    ID_BYTES,
    MANIFEST,
    CorpusManifest,
    SourceCounts,
    SourceEntry,
    hash_document,
    read_manifest,
)
from hopwright.knowledge.documents.parts import PartWriter
from hopwright.knowledge.documents.readers import (
    MalformedRow,
    RawDocument,
    SkippedFile,
    SourceFile,
    list_source_files,
    read_documents,
)
from hopwright.knowledge.documents.readers.select import find_format
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.runs.files import clear_leftovers, explain_os_errors, hash_file, hold_lock
from hopwright.settings.corpus import CorpusAddParameters

_BATCH, _BATCH_CHARACTERS = 8192, 1 << 25
Found = tuple[SourceFile, RawDocument | MalformedRow]


@dataclass(frozen=True, slots=True)
class AddReport:
    """What came of adding a source. `reused`: this very source was already added in this way."""

    folder: Path
    counts: SourceCounts
    left_out: Path
    documents: int
    passages: int
    reused: bool = False


@dataclass(frozen=True, slots=True)
class _Kept:
    """A document that comes in: its id, what it is, and where its passages are."""

    id: bytes
    file: str
    raw: RawDocument
    passages: list[tuple[int, int]]


def add_source(
    source: Path, folder: Path, parameters: CorpusAddParameters, progress: Callable[[str], None] | None = None
) -> AddReport:
    """Add the documents of a file or folder to the corpus in `folder`, which is made if it is not there.

    A document that is there already, exactly or nearly, is left out and counted, a malformed row is, too. A killed
    call leaves the corpus as it was. Raises InputError for a source that is missing, damaged, or has more malformed
    rows than is put up with; RunError when another process adds to the same corpus.
    """
    files, skipped = list_source_files(source)
    readable = [file for file in files if find_format(file, parameters.format)]
    if not readable:
        raise InputError(f"{source}: no file of a known ending; name the format with --format")
    nameless = [file for file in files if not find_format(file, parameters.format)]
    skipped += [SkippedFile(file.name, "its ending says nothing") for file in nameless]
    hashes = {str(path): hash_file(path) for path in dict.fromkeys(file.path for file in readable)}
    settings = _describe(parameters)
    key = hashlib.sha256(json.dumps([sorted(hashes.values()), settings]).encode()).hexdigest()
    with hold_lock(folder / ".lock", f"the corpus {folder.name}"):
        clear_leftovers(folder)
        manifest = read_manifest(folder) if (folder / MANIFEST).exists() else CorpusManifest()
        for entry in manifest.sources:
            if entry.sha256 == key:
                return _report(folder, manifest, entry, reused=True)
        adding = _Adding(folder, manifest, parameters, progress or (lambda line: None))
        counts = adding.run(readable, skipped)
        entry = SourceEntry(
            name=str(source), sha256=key, files=hashes, settings=settings, counts=counts, left_out=adding.left_out.name
        )
        if manifest.sources and not adding.parts:
            return _report(folder, manifest, entry)  # it brings nothing, so the corpus does not come from it
        manifest = CorpusManifest(sources=[*manifest.sources, entry], parts=[*manifest.parts, *adding.parts])
        manifest.write(folder)
        return _report(folder, manifest, entry)


class _Adding:
    """One source on its way in."""

    def __init__(
        self, folder: Path, manifest: CorpusManifest, parameters: CorpusAddParameters, progress: Callable[[str], None]
    ) -> None:
        self._parameters = parameters
        self._progress = progress
        self._store = CorpusStore(folder, manifest)
        self._writer = PartWriter(folder, len(manifest.parts), manifest.documents, parameters)
        self._seen = SortedRuns(f"S{ID_BYTES}")
        self._near: NearDuplicateIndex | None = None
        self.left_out = folder / f"left-out-{len(manifest.sources):05}.jsonl"
        self.parts = self._writer.parts
        self._counts = dict.fromkeys(SourceCounts.model_fields, 0)

    def run(self, files: list[SourceFile], skipped: list[SkippedFile]) -> SourceCounts:
        """Write the parts; returns the counts."""
        self._restore()
        rows = _read_all(files, self._parameters)
        aside = self.left_out.with_name(f".{self.left_out.name}.tmp")
        with explain_os_errors(aside), aside.open("w", encoding="utf-8") as log:
            for one in skipped:
                self._leave_out(log, "files_skipped", one.name, "the file", one.reason)
            for batch in _take_batches(rows):
                self._add_batch(batch, log)
                self._progress(f"{self._counts['found']:,} documents read")
            self._refuse_malformed(log)
            if not self._counts["found"]:
                raise InputError(f"{files[0].name}: no documents in it")
            self._writer.close()
            aside.replace(self.left_out)
        counts = SourceCounts.model_validate(self._counts)
        lost = counts.malformed + counts.duplicates + counts.near_duplicates
        assert counts.found == counts.added + lost, counts
        return counts

    def _restore(self) -> None:
        """Remember what the corpus holds already."""
        ids = self._store.ids.view(f"S{ID_BYTES}")
        self._seen.add(ids, np.arange(len(ids), dtype=np.int64))
        if not self._parameters.near_duplicates:
            return
        self._near = NearDuplicateIndex(self._parameters.near_duplicates, self._read)
        for first in range(0, len(ids), _BATCH):
            held = self._store.documents(first, min(first + _BATCH, len(ids)))
            self._near.restore([_name_text(one.title, one.text) for one in held], first)

    def _read(self, row: int) -> str:
        before = len(self._store.ids)
        if row >= before:
            return _name_text(*self._writer.read(row - before))
        document = self._store.document(row)
        return _name_text(document.title, document.text)

    def _add_batch(self, batch: list[Found], log: IO[str]) -> None:
        self._counts["found"] += len(batch)
        fresh: list[tuple[SourceFile, RawDocument, bytes]] = []
        for file, row in batch:
            if isinstance(row, MalformedRow):
                self._leave_out(log, "malformed", file.name, row.place, row.reason)
            else:
                fresh.append((file, row, hash_document(row.title, row.text)))
        fresh = self._drop_repeated(fresh, log)
        near: list[tuple[int, float] | None] = [None] * len(fresh)
        if self._near is not None:
            near = self._near.sift([_name_text(raw.title, raw.text) for _, raw, _ in fresh], self._writer.next_row)
        kept, repeating = [], []
        for (file, raw, id), like in zip(fresh, near, strict=True):
            if like is None:
                kept.append(_Kept(id, file.name, raw, cut_passages(raw.text, self._parameters.passage_words)))
            else:
                repeating.append((file, raw, like))
        for one in kept:
            self._writer.add(one.id, one.raw, one.file, one.passages)
        for file, raw, (twin, share) in repeating:
            reason = f"{share:.0%} of its shingles are those of {self._find_id(twin).hex()}"
            self._leave_out(log, "near_duplicates", file.name, raw.place, reason)
        self._counts["added"] += len(kept)
        self._writer.flush_full()

    def _drop_repeated(
        self, rows: list[tuple[SourceFile, RawDocument, bytes]], log: IO[str]
    ) -> list[tuple[SourceFile, RawDocument, bytes]]:
        """Those that neither the corpus nor an earlier one of the batch repeats exactly."""
        ids = np.array([id for _, _, id in rows], dtype=f"S{ID_BYTES}")
        known = self._seen.find(ids) >= 0
        kept, here = [], set[bytes]()
        for (file, raw, id), there in zip(rows, known.tolist(), strict=True):
            if there or id in here:
                self._leave_out(log, "duplicates", file.name, raw.place, f"the same title and text as {id.hex()}")
            else:
                here.add(id)
                kept.append((file, raw, id))
        self._seen.add(np.array([id for _, _, id in kept], dtype=f"S{ID_BYTES}"), np.zeros(len(kept), dtype=np.int64))
        return kept

    def _find_id(self, row: int) -> bytes:
        before = len(self._store.ids)
        return bytes(self._store.ids[row]) if row < before else self._writer.read_id(row - before)

    def _leave_out(self, log: IO[str], why: str, file: str, place: str, reason: str) -> None:
        self._counts[why] += 1
        log.write(json.dumps({"file": file, "place": place, "why": why, "reason": reason}) + "\n")

    def _refuse_malformed(self, log: IO[str]) -> None:
        bad, found = self._counts["malformed"], self._counts["found"]
        if bad > self._parameters.max_malformed * found:
            log.flush()
            raise InputError(
                f"{bad} of {found} documents are malformed, over the limit of {self._parameters.max_malformed:.2%} "
                f"({_find_malformed(Path(log.name))}); mend the source or raise --max-malformed"
            )


def list_left_out(path: Path, most: int) -> Iterator[str]:
    """The first of what was left out of a corpus, a line each."""
    with path.open(encoding="utf-8") as lines:
        for line in islice(lines, most):
            entry = json.loads(line)
            yield f"{entry['file']}, {entry['place']}: {entry['reason']}"


def _read_all(files: list[SourceFile], parameters: CorpusAddParameters) -> Iterator[Found]:
    for file in files:
        for row in read_documents(file, parameters.format):
            yield file, row


def _take_batches(rows: Iterator[Found]) -> Iterator[list[Found]]:
    """The rows in batches of so many, or of so much text."""
    batch, characters = list[Found](), 0
    for found in rows:
        batch.append(found)
        characters += len(found[1].text) if isinstance(found[1], RawDocument) else 0
        if len(batch) >= _BATCH or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _describe(parameters: CorpusAddParameters) -> dict[str, str | int | float]:
    """What decides what comes of a source; the limit of malformed rows only decides whether anything does."""
    return parameters.model_dump(exclude={"corpus", "max_malformed"})


def _name_text(title: str, text: str) -> str:
    return f"{title}\n{text}"


def _find_malformed(log: Path) -> str:
    """The first malformed row of a list of what was left out."""
    with log.open(encoding="utf-8") as lines:
        entries = (json.loads(line) for line in lines)
        first = next(entry for entry in entries if entry["why"] == "malformed")
    return f"{first['file']}, {first['place']}: {first['reason']}"


def _report(folder: Path, manifest: CorpusManifest, entry: SourceEntry, *, reused: bool = False) -> AddReport:
    left_out = folder / entry.left_out
    return AddReport(folder, entry.counts, left_out, manifest.documents, manifest.passages, reused=reused)
