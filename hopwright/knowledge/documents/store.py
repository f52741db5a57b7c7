"""A corpus on disk: documents and the passages in them, on memory-mapped Arrow files."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hopwright.errors import InputError, StoreError
from hopwright.knowledge.documents.format import (
    DOCUMENTS,
    ID_BYTES,
    PASSAGES,
    CorpusManifest,
    read_manifest,
    verify_parts,
)
from hopwright.records import Document, Span
from hopwright.text.folding import U64

_PASSAGE_ID = re.compile(rf"(?P<document>[0-9a-f]{{{2 * ID_BYTES}}})(?::(?P<start>\d+)-(?P<end>\d+))?")
_BATCH = 8_192
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class CorpusText:
    """A passage as it is read: `row` is its number in the corpus, `start` and `end` are characters of its document."""

    id: str
    row: int
    title: str
    text: str
    document: str
    start: int
    end: int

    @property
    def contents(self) -> str:
        """Title and text in one, as retrievers index and answer them: the title in quotes on a line of its own."""
        return join_contents(self.title, self.text)


_QUOTE, _UNQUOTE = '"', '"\n'


def join_contents(title: str, text: str) -> str:
    """What a retriever knows of a passage, as CorpusText.contents says."""
    return f"{_QUOTE}{title}{_UNQUOTE}{text}"


class CorpusStore:
    """A corpus that is open for reading. It does not change while it is open, though another process may add to it."""

    def __init__(self, folder: Path, manifest: CorpusManifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self._documents = _map_tables([folder / part.documents for part in manifest.parts], DOCUMENTS)
        self._passages = _map_tables([folder / part.passages for part in manifest.parts], PASSAGES)

    @classmethod
    def open(cls, folder: Path, *, verify: bool = False) -> CorpusStore:
        """Open the corpus of a folder; `verify` holds every part against its hash first.

        Raises StoreError when there is none, or it is damaged or of another version.
        """
        manifest = read_manifest(folder)
        if verify:
            verify_parts(folder, manifest)
        return cls(folder, manifest)

    def __len__(self) -> int:
        """How many passages there are."""
        return int(self._passages.num_rows)

    def passage(self, row: int) -> CorpusText:
        """The passage of a row."""
        return next(self.passages([row]))

    def passages(self, rows: Sequence[int] | NDArray[np.int64]) -> Iterator[CorpusText]:
        """The passages of some rows, in the order of the rows."""
        taken = np.asarray(rows, dtype=np.int64)
        starts, ends = self.places[1][taken].tolist(), self.places[2][taken].tolist()
        columns = [self._documents.column(name) for name in ("id", "title", "text")]
        known = -1
        id = title = text = ""
        for row, document, start, end in zip(taken.tolist(), self.places[0][taken].tolist(), starts, ends, strict=True):
            if document != known:
                raw, title, text = (column[document].as_py() for column in columns)
                id, known = raw.hex(), document
            yield CorpusText(f"{id}:{start}-{end}", row, title, text[start:end], id, start, end)

    def read_contents(self, chosen: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.int64], pa.LargeStringArray]]:
        """The rows and contents (see CorpusText) of the chosen passages, in order, at least 8,192 at a time.

        It reads the files instead of mapping them, so that a pass over all of them leaves nothing in memory.
        """
        documents, starts, ends = self.places
        held: list[tuple[NDArray[np.int64], pa.LargeStringArray]] = []
        for first, titles, texts in self._read_texts():
            low, high = np.searchsorted(documents, [first, first + len(titles)])
            rows = low + np.flatnonzero(chosen[low:high])
            for block in np.split(rows, range(_BATCH, len(rows), _BATCH)):
                which = documents[block] - first
                cut = _cut_texts(texts, which, starts[block], ends[block])
                held.append((block, _join_columns(titles.take(pa.array(which)), cut)))
                if sum(len(contents) for _, contents in held) >= _BATCH:
                    yield _concatenate(held)
                    held = []
        if held:
            yield _concatenate(held)

    def _read_texts(self) -> Iterator[tuple[int, pa.StringArray, pa.StringArray]]:
        """The titles and texts of all documents in batches, each with the row of its first."""
        first = 0
        options = pa.ipc.IpcReadOptions(included_fields=[DOCUMENTS.get_field_index(one) for one in ("title", "text")])
        for part in self.manifest.parts:
            with pa.OSFile(str(self.folder / part.documents)) as file:
                reader = pa.ipc.open_file(file, options=options)
                for number in range(reader.num_record_batches):
                    titles, texts = reader.get_batch(number).columns
                    yield first, titles, texts
                    first += len(titles)

    def passages_at(self, document: str, start: int, end: int) -> list[CorpusText]:
        """The passages of a document that hold any of its characters `start` up to `end`; none of an unknown one."""
        row = self._find_row(bytes.fromhex(document))
        documents, starts, ends = self.places
        if row < 0:
            return []
        return list(self.passages(np.flatnonzero((documents == row) & (starts < end) & (ends > start))))

    def documents(self, first: int = 0, stop: int | None = None) -> Iterator[Document]:
        """The documents of rows `first` up to `stop`, in the corpus's order."""
        for row in range(first, self._documents.num_rows if stop is None else stop):
            yield self.document(row)

    def document(self, row: int) -> Document:
        """The document of a row, with its licence and its revision."""
        values = {name: self._documents.column(name)[row].as_py() for name in DOCUMENTS.names}
        values["id"] = values["id"].hex()
        del values["original"]
        return Document.model_validate(values)

    def original(self, row: int) -> str:
        """What the source calls the document of a row; empty where it calls it nothing."""
        return str(self._documents.column("original")[row].as_py())

    def find(self, id: str) -> tuple[Document, Span | None, str]:
        """The document, the place in it and the source's own id that an id stands for.

        `id` is a document's, a passage's, or what the source calls a document. Raises InputError when there is none.
        """
        match = _PASSAGE_ID.fullmatch(id)
        row = self._find_row(bytes.fromhex(match["document"])) if match else -1
        if row < 0 and (match is None or match["start"] is None):
            row = int(pc.index(self._documents.column("original"), id).as_py())
            match = None
        if row < 0:
            raise InputError(f"{self.folder}: nothing in this corpus has the id {id!r}")
        document = self.document(row)
        if match is None or match["start"] is None:
            return document, None, self.original(row)
        try:
            return document, document.cite(int(match["start"]), int(match["end"])), self.original(row)
        except ValueError as error:
            raise InputError(str(error)) from None

    @functools.cached_property
    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """The passages' documents (rows), starts and ends (characters): three arrays as long as there are passages."""
        document, start, end = (self._passages.column(name).to_numpy() for name in PASSAGES.names)
        return document, start, end

    @property
    def hashes(self) -> U64:
        """A hash of each passage's id, which says in which shard of an index it is."""
        documents, starts, _ = self.places
        blocks = [block.view("<u8")[::2] for block in self._list_ids()]
        keys = np.concatenate(blocks) if blocks else np.empty(0, dtype=np.uint64)
        with np.errstate(over="ignore"):
            mixed = keys[documents] ^ ((starts.astype(np.uint64) + np.uint64(1)) * _SPREAD)
            mixed = (mixed ^ (mixed >> np.uint64(31))) * _SPREAD
            hashes: U64 = mixed ^ (mixed >> np.uint64(29))
        return hashes

    @functools.cached_property
    def ids(self) -> NDArray[np.void]:
        """The documents' ids, as bytes; an array of ID_BYTES each."""
        blocks = self._list_ids()
        return np.concatenate(blocks) if blocks else np.empty(0, dtype=f"V{ID_BYTES}")

    def _list_ids(self) -> list[NDArray[np.void]]:
        return [
            np.frombuffer(chunk.buffers()[1], dtype=f"V{ID_BYTES}", count=len(chunk), offset=chunk.offset * ID_BYTES)
            for chunk in self._documents.column("id").chunks
        ]

    def _find_row(self, id: bytes) -> int:
        halves = self.ids.view("<u8").reshape(-1, 2)
        wanted = np.frombuffer(id, dtype="<u8")
        found = np.flatnonzero((halves[:, 0] == wanted[0]) & (halves[:, 1] == wanted[1]))
        return int(found[0]) if len(found) else -1


def _cut_texts(
    texts: pa.StringArray, which: NDArray[np.int64], starts: NDArray[np.int32], ends: NDArray[np.int32]
) -> pa.StringArray:
    """The characters from and to of some texts by their numbers; in most corpora a passage is a document."""
    if not starts.any():
        whole = texts.take(pa.array(which))
        if np.array_equal(pc.utf8_length(whole).to_numpy(), ends):
            return whole
    wanted, place = np.unique(which, return_inverse=True)
    read = texts.take(pa.array(wanted)).to_pylist()
    places = zip(place.tolist(), starts.tolist(), ends.tolist(), strict=True)
    return pa.array([read[one][start:end] for one, start, end in places], pa.string())


def _join_columns(titles: pa.StringArray, texts: pa.StringArray) -> pa.LargeStringArray:
    """See join_contents."""
    return pc.binary_join_element_wise(_QUOTE, titles, _UNQUOTE, texts, "").cast(pa.large_string())


def _concatenate(
    held: Sequence[tuple[NDArray[np.int64], pa.LargeStringArray]],
) -> tuple[NDArray[np.int64], pa.LargeStringArray]:
    rows, contents = zip(*held, strict=True)
    return np.concatenate(rows), pa.concat_arrays(contents)


def _map_tables(paths: Sequence[Path], schema: pa.Schema) -> pa.Table:
    tables = []
    for path in paths:
        try:
            tables.append(pa.ipc.open_file(pa.memory_map(str(path))).read_all())
        except (pa.ArrowInvalid, OSError) as error:
            reason = str(error).splitlines()[0]
            raise StoreError(f"{path} is gone or damaged ({reason}); remove its folder and add again") from None
    return pa.concat_tables(tables) if tables else schema.empty_table()
