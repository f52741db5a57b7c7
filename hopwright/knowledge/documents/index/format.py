"""What an index's folder holds, and its manifests.

<corpus>/index/manifest.json                the corpus's hash, the language, the shards
<corpus>/index/shard-000-<key>/             one tantivy index
<corpus>/index/shard-000-<key>/shard.json   its counts and the hashes of its files: written last
<corpus>/index/dense/                       vectors, see `vectors`
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from hopwright.errors import InputError, StoreError
from hopwright.knowledge.documents.format import name_command
from hopwright.runs.files import hash_file, write_file

INDEX_VERSION = 2
FOLDER, MANIFEST, SHARD_MANIFEST = "index", "manifest.json", "shard.json"
_M = TypeVar("_M", bound="SavedManifest")


def tell_rebuild(path: Path, option: str = "") -> str:
    """What makes an index again, given its folder or what is below it."""
    index = next(place for place in (path, *path.parents) if place.name == FOLDER)
    return f"{name_command(index.parent, 'index')} makes it again{option}"


class SavedManifest(BaseModel):
    """A manifest on disk."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises StoreError when it is not there or damaged."""
        try:
            return cls.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            reason = "no such file" if isinstance(error, FileNotFoundError) else str(error).splitlines()[0]
            raise StoreError(f"{path}: cannot be read ({reason}); {tell_rebuild(path)}") from None

    def write(self, path: Path) -> None:
        """Replace the manifest, whole or not at all."""
        write_file(path, (self.model_dump_json(indent=1) + "\n").encode())


class ShardManifest(SavedManifest):
    """One shard: how many passages and terms are in it, and the SHA-256 of each of its files."""

    passages: int
    terms: int
    files: dict[str, str]


class IndexManifest(SavedManifest):
    """An index: of which state of which corpus, for which language, in which shards."""

    version: int = INDEX_VERSION
    corpus: str
    language: str
    shards: list[str]


@dataclass(frozen=True, slots=True)
class ShardPart:
    """The shards that one of several machines has: every `of`-th, beginning with its number, which counts from 1."""

    number: int = 1
    of: int = 1

    @classmethod
    def read(cls, text: str) -> Self:
        """From `2/3`. Raises InputError for numbers that make no part."""
        number, of = map(int, text.split("/"))
        if not 1 <= number <= of:
            raise InputError(f"part {text}: the first number is at least 1 and at most the second")
        return cls(number, of)

    def choose(self, shards: int) -> range:
        """The numbers of its shards. Raises InputError where there are fewer shards than parts."""
        if shards < self.of:
            least = f"index with --shards {self.of} or more"
            raise InputError(f"{shards} shards are too few for {self.of} machines: {least}")
        return range(self.number - 1, shards, self.of)


WHOLE = ShardPart()


def name_shards(content: str, language: str, shards: int) -> list[str]:
    """The folders of an index's shards: another corpus, language or number of shards gives other names."""
    key = hashlib.sha256(f"{INDEX_VERSION} {content} {language} {shards}".encode()).hexdigest()[:12]
    return [f"shard-{number:03}-{key}" for number in range(shards)]


def hash_files(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file that a shard's searches read; tantivy's locks and the manifest are left out."""
    names = sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))
    return {name: hash_file(folder / name) for name in names if name != SHARD_MANIFEST}


def verify_shard(folder: Path) -> None:
    """Hold a shard's files against their hashes. Raises StoreError naming the first that differs."""
    held = ShardManifest.read(folder / SHARD_MANIFEST).files
    found = hash_files(folder)
    for name in sorted(held.keys() | found.keys()):
        if held.get(name) != found.get(name):
            raise StoreError(f"{folder / name} is damaged, gone or not of this index; {tell_rebuild(folder)}")
