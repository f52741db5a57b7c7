"""Writing the parts of a corpus: some ten thousand documents a file, each written aside, synced and renamed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from hopwright.knowledge.documents.format import DOCUMENTS, PASSAGES, Part
from hopwright.knowledge.documents.readers import RawDocument
from hopwright.runs.files import explain_os_errors, hash_file, sync
from hopwright.settings.corpus import CorpusAddParameters

_PART_ROWS = 1 << 17
_PART_CHARACTERS = 1 << 26
_BATCH = 8192


class PartWriter:
    """Collects documents and their passages, and writes a part when there are enough."""

    def __init__(self, folder: Path, number: int, first_row: int, parameters: CorpusAddParameters) -> None:
        """`number` is that of the next part, `first_row` the number of documents that the corpus holds."""
        self.parts: list[Part] = []
        self._folder = folder
        self._number = number
        self._first_row = first_row
        self._parameters = parameters
        self._written: list[tuple[int, pa.Table]] = []
        self._written_rows = 0
        self._clear()

    @property
    def next_row(self) -> int:
        """The row that the next document of the corpus gets."""
        return self._first_row + self._written_rows + len(self._documents)

    def add(self, id: bytes, raw: RawDocument, file: str, passages: Sequence[tuple[int, int]]) -> None:
        """Take a document with the places of its passages."""
        row = self.next_row
        self._documents.append(
            (
                id,
                raw.title,
                raw.text,
                raw.source or file,
                raw.revision or self._parameters.revision,
                raw.licence or self._parameters.licence,
                raw.original,
            )
        )
        self._passages += [(row, start, end) for start, end in passages]
        self._characters += len(raw.text)

    def read(self, row: int) -> tuple[str, str]:
        """Title and text of a document that this writer took, counted from its first."""
        if row >= self._written_rows:
            _, title, text, *_ = self._documents[row - self._written_rows]
            return title, text
        first, table = next(part for part in reversed(self._written) if part[0] <= row)
        return table.column("title")[row - first].as_py(), table.column("text")[row - first].as_py()

    def read_id(self, row: int) -> bytes:
        """The id of a document that this writer took, counted from its first."""
        if row >= self._written_rows:
            return self._documents[row - self._written_rows][0]
        first, table = next(part for part in reversed(self._written) if part[0] <= row)
        return bytes(table.column("id")[row - first].as_py())

    def flush_full(self) -> None:
        """Write a part if enough has come together."""
        if len(self._documents) >= _PART_ROWS or self._characters >= _PART_CHARACTERS:
            self._flush()

    def close(self) -> None:
        """Write what is left."""
        if self._documents:
            self._flush()

    def _flush(self) -> None:
        documents, passages = (self._folder / f"{kind}-{self._number:05}.arrow" for kind in ("documents", "passages"))
        _write(documents, DOCUMENTS, self._documents)
        _write(passages, PASSAGES, self._passages)
        self.parts.append(
            Part(
                documents=documents.name,
                documents_sha256=hash_file(documents),
                passages=passages.name,
                passages_sha256=hash_file(passages),
                rows=len(self._documents),
                passage_rows=len(self._passages),
            )
        )
        self._written.append((self._written_rows, pa.ipc.open_file(pa.memory_map(str(documents))).read_all()))
        self._written_rows += len(self._documents)
        self._number += 1
        self._clear()

    def _clear(self) -> None:
        self._documents: list[tuple[bytes, str, str, str, str, str, str]] = []
        self._passages: list[tuple[int, int, int]] = []
        self._characters = 0


def _write(path: Path, schema: pa.Schema, rows: Sequence[tuple[Any, ...]]) -> None:
    aside = path.with_name(f".{path.name}.tmp")
    with explain_os_errors(path):
        with pa.OSFile(str(aside), "wb") as file, pa.ipc.new_file(file, schema) as writer:
            for first in range(0, len(rows), _BATCH):
                columns = zip(*rows[first : first + _BATCH], strict=True)
                arrays = [pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)]
                writer.write_batch(pa.record_batch(arrays, schema=schema))
        sync(aside)
        os.replace(aside, path)  # noqa: PTH105 — as runs.files does it
        sync(path.parent)
