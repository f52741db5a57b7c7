"""What a corpus's folder holds, and its manifest.

    <home>/corpora/<name>/manifest.json           sources, counts, parts and their hashes
    <home>/corpora/<name>/documents-00000.arrow   id, title, text, source, revision, licence, original
    <home>/corpora/<name>/passages-00000.arrow    row of the document, start, end
    <home>/corpora/<name>/left-out-00000.jsonl    what a source held and the corpus does not, with reasons
    <home>/corpora/<name>/index/                  see `hopwright.knowledge.documents.index`

A document's id is the hash of its title and text, a passage's id its document's with its place: `4f…:0-612`. Parts are
Arrow files without compression, which any number of processes map into memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hopwright.errors import StoreError
from hopwright.runs.files import hash_file, write_file

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
ID_BYTES = 16
DOCUMENTS = pa.schema(
    [
        ("id", pa.binary(ID_BYTES)),
        ("title", pa.string()),
        ("text", pa.string()),
        ("source", pa.string()),
        ("revision", pa.string()),
        ("licence", pa.string()),
        ("original", pa.string()),
    ]
)
PASSAGES = pa.schema([("document", pa.int64()), ("start", pa.int32()), ("end", pa.int32())])


class _Saved(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceCounts(_Saved):
    """Documents that a source held: those that came in, and those that were left out, by the reason."""

    found: int = 0
    added: int = 0
    malformed: int = 0
    duplicates: int = 0
    near_duplicates: int = 0
    files_skipped: int = 0
    """Files whose ending says nothing, and what is no file of the source; no other number counts what is in them."""


class SourceEntry(_Saved):
    """One source as it was added: its files with their hashes, how it was read, what came of it."""

    name: str
    sha256: str
    files: dict[str, str]
    settings: dict[str, str | int | float]
    counts: SourceCounts
    left_out: str
    """The file that lists what was left out."""


class Part(_Saved):
    """One file of documents and the one of their passages."""

    documents: str
    documents_sha256: str
    passages: str
    passages_sha256: str
    rows: int
    passage_rows: int


class CorpusManifest(_Saved):
    """All that a corpus says of itself."""

    version: int = FORMAT_VERSION
    sources: list[SourceEntry] = Field(default_factory=list)
    parts: list[Part] = Field(default_factory=list)

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return sum(part.rows for part in self.parts)

    @property
    def passages(self) -> int:
        """How many passages there are."""
        return sum(part.passage_rows for part in self.parts)

    @property
    def content(self) -> str:
        """A hash of everything in the parts, in their order."""
        return _hash_parts(self.parts)

    def count_known(self, content: str) -> int:
        """How many passages a former state of this corpus had, by its hash: a corpus only grows. 0 for others."""
        for number in range(len(self.parts), 0, -1):
            if _hash_parts(self.parts[:number]) == content:
                return sum(part.passage_rows for part in self.parts[:number])
        return 0

    def write(self, folder: Path) -> None:
        """Replace the folder's manifest, whole or not at all."""
        write_file(folder / MANIFEST, (self.model_dump_json(indent=1) + "\n").encode())


def name_command(folder: Path, verb: str) -> str:
    """The command that does something with the corpus in a folder, as a message gives it."""
    return f"`hopwright corpus {verb} --corpus {folder.name}`"


def read_manifest(folder: Path) -> CorpusManifest:
    """The manifest of a corpus. Raises StoreError when there is none, or it is of another version or damaged."""
    try:
        manifest = CorpusManifest.model_validate_json((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise StoreError(f"no corpus in {folder}: {name_command(folder, 'add FILE')} makes one") from None
    except (OSError, ValidationError) as error:
        reason = str(error).splitlines()[0]
        raise StoreError(f"{folder / MANIFEST}: cannot be read ({reason}); remove {folder} and add again") from None
    if manifest.version != FORMAT_VERSION:
        raise StoreError(f"{folder}: of version {manifest.version}, not {FORMAT_VERSION}; remove it and add again")
    return manifest


def verify_parts(folder: Path, manifest: CorpusManifest) -> None:
    """Hold every part against its hash. Raises StoreError naming the first that differs or is gone."""
    for part in manifest.parts:
        for name, sha256 in ((part.documents, part.documents_sha256), (part.passages, part.passages_sha256)):
            if not (folder / name).is_file():
                raise StoreError(f"{folder / name} is gone; remove {folder} and add again")
            if hash_file(folder / name) != sha256:
                raise StoreError(f"{folder / name} is damaged (other bytes); remove {folder} and add again")


def _hash_parts(parts: Sequence[Part]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{part.documents_sha256} {part.passages_sha256}\n".encode())
    return digest.hexdigest()


def hash_document(title: str, text: str) -> bytes:
    """The id of a document, ID_BYTES long: title and text, the title ended by a character that none holds."""
    return hashlib.blake2b(f"{title}\0{text}".encode(), digest_size=ID_BYTES).digest()
