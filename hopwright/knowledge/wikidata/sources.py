"""Finding and reading the corpus files: plain, `.gz`, `.xz`, or members of tar archives."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import queue
import tarfile
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, cast

from hopwright.errors import InputError
from hopwright.foreign import DAMAGED_HEADERS, LONGEST_LINE, open_file, show

Split = Literal["all", "transductive", "inductive"]
ROLES = {
    "entities": "wikidata5m_entity.txt",
    "relations": "wikidata5m_relation.txt",
    "texts": "wikidata5m_text.txt",
    "literals": "attribute_literals.tsv",
}
ALL_TRIPLETS = "wikidata5m_all_triplet.txt"
_PACKED = ("", ".gz", ".xz")
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz")
_BLOCK = 2 << 20
_TOO_LONG = f"a line of more than {LONGEST_LINE >> 20} MiB".encode()
_BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, tarfile.TarError)


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One corpus file: where it lies, and its name inside the archive if it is a member of one."""

    path: Path
    member: str = ""

    @property
    def name(self) -> str:
        """How messages name it."""
        return f"{self.path}:{self.member}" if self.member else str(self.path)


@dataclass(frozen=True, slots=True)
class CorpusFiles:
    """The files that one store is made from."""

    triplets: tuple[CorpusFile, ...]
    entities: CorpusFile
    relations: CorpusFile | None
    texts: CorpusFile | None
    literals: CorpusFile | None

    @property
    def paths(self) -> tuple[Path, ...]:
        """The distinct files on disk, in order of use."""
        rest = (self.entities, self.relations, self.texts, self.literals)
        return tuple(dict.fromkeys(s.path for s in (*self.triplets, *rest) if s is not None))


def find_corpus(folder: Path, split: Split = "all") -> CorpusFiles:
    """Find Wikidata5M's files in a folder, by their published names.

    `all` takes the file of all triplets, else the transductive split; a split's train, valid and test files
    are joined. Relations, texts and literals may be missing. Raises InputError naming the file that is not
    there.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; it should hold {ALL_TRIPLETS} and {ROLES['entities']}")
    members = _list_members(folder)
    found = {role: _find(folder, name, members) for role, name in ROLES.items()}
    triplets = _find_triplets(folder, split, members)
    if not triplets:
        wanted = ALL_TRIPLETS if split == "all" else f"wikidata5m_{split}_train.txt"
        raise InputError(f"no {wanted} in {folder} (plain, .gz, .xz or inside a .tar.gz)")
    entities = found["entities"]
    if entities is None:
        raise InputError(f"no {ROLES['entities']} in {folder} (plain, .gz, .xz or inside a .tar.gz)")
    return CorpusFiles(triplets, entities, found["relations"], found["texts"], found["literals"])


def hash_file(path: Path) -> dict[str, str | int]:
    """Name, size and SHA-256 of a file as it lies on disk."""
    digest = hashlib.sha256()
    size = 0
    try:
        with open_file(path) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                size += len(block)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    return {"name": path.name, "bytes": size, "sha256": digest.hexdigest()}


def read_blocks(source: CorpusFile) -> Iterator[bytes]:
    """Yield the file's bytes in blocks of whole lines, each ending in a newline; read ahead in a thread.

    Raises InputError when the file is missing, empty or a truncated or damaged archive.
    """
    blocks: queue.Queue[bytes | BaseException | None] = queue.Queue(maxsize=4)
    stop = threading.Event()
    thread = threading.Thread(target=_fill, args=(source, blocks, stop), daemon=True)
    thread.start()
    try:
        while (block := blocks.get()) is not None:
            if isinstance(block, BaseException):
                raise block
            yield block
    finally:
        stop.set()
        while thread.is_alive():
            with suppress(queue.Empty):
                blocks.get(timeout=0.01)


def _fill(source: CorpusFile, blocks: queue.Queue[bytes | BaseException | None], stop: threading.Event) -> None:
    try:
        for block in _cut_lines(source):
            blocks.put(block)
            if stop.is_set():
                return
        blocks.put(None)
    except BaseException as error:
        blocks.put(error)


def _cut_lines(source: CorpusFile) -> Iterator[bytes]:
    """Blocks of whole lines. A line past the limit becomes a short malformed one, which whoever parses it counts."""
    rest: list[bytes] = []
    waiting = 0
    empty = True
    try:
        with _open(source) as file:
            while block := file.read(_BLOCK):
                if empty and block.startswith(b"\xef\xbb\xbf"):
                    block = block[3:]
                empty = False
                cut = block.rfind(b"\n") + 1
                if not cut:
                    waiting += len(block)
                    rest = [_TOO_LONG] if waiting > LONGEST_LINE else [*rest, block]
                    continue
                if waiting > LONGEST_LINE:
                    block = block[block.index(b"\n") :]
                    cut = block.rfind(b"\n") + 1
                lines = b"".join([*rest, block[:cut]])
                rest, waiting = [block[cut:]], len(block) - cut
                if b"\r\n" in lines:
                    lines = lines.replace(b"\r\n", b"\n")
                yield lines
    except _BROKEN as error:
        raise InputError(f"{source.name} is truncated or damaged ({error}); get it again") from None
    except OSError as error:
        raise InputError(f"{source.name} cannot be read: {error.strerror or error}") from None
    if empty:
        raise InputError(f"{source.name} is empty; get it again")
    if last := b"".join(rest):
        yield last.rstrip(b"\r") + b"\n"


@contextmanager
def _open(source: CorpusFile) -> Iterator[IO[bytes]]:
    if not source.member:
        with _unpack(source.path) as file:
            yield file
        return
    with _unpack(source.path) as packed:
        archive = tarfile.open(fileobj=packed, mode="r|")  # noqa: SIM115 — closed with its stream
        for entry in archive:
            if entry.name == source.member and entry.isfile():
                opened = archive.extractfile(entry)
                assert opened is not None
                yield opened
        while packed.read(_BLOCK):  # to the end, where the archive's own check sum stands
            pass


@contextmanager
def _unpack(path: Path) -> Iterator[IO[bytes]]:
    with open_file(path) as file:
        if path.suffix in (".gz", ".tgz"):
            if path.stat().st_size == 0:
                raise EOFError("no bytes")
            with gzip.open(file) as unpacked:
                yield cast(IO[bytes], unpacked)
        elif path.suffix == ".xz":
            with lzma.open(file) as unpacked:
                yield cast(IO[bytes], unpacked)
        else:
            yield file


def _find(folder: Path, name: str, members: dict[str, CorpusFile]) -> CorpusFile | None:
    for ending in _PACKED:
        if (path := folder / f"{name}{ending}").is_file():
            return CorpusFile(path)
    return members.get(name)


def _find_triplets(folder: Path, split: Split, members: dict[str, CorpusFile]) -> tuple[CorpusFile, ...]:
    if split == "all":
        whole = _find(folder, ALL_TRIPLETS, members)
        if whole is not None:
            return (whole,)
        split = "transductive"
    parts = [_find(folder, f"wikidata5m_{split}_{part}.txt", members) for part in ("train", "valid", "test")]
    return tuple(part for part in parts if part is not None)


def _list_members(folder: Path) -> dict[str, CorpusFile]:
    members: dict[str, CorpusFile] = {}
    for path in sorted(folder.iterdir()):
        if not path.name.endswith(_ARCHIVES) or not path.is_file():
            continue
        seen: set[str] = set()
        try:
            with _unpack(path) as packed, tarfile.open(fileobj=packed, mode="r|") as archive:
                for entry in archive:
                    if not entry.isfile():
                        continue
                    member = CorpusFile(path, entry.name)
                    if members.setdefault(Path(entry.name).name, member) == member and entry.name in seen:
                        raise InputError(f"{path} holds {show(entry.name)} twice; which one is meant is not known")
                    seen.add(entry.name)
        except (*_BROKEN, *DAMAGED_HEADERS) as error:
            raise InputError(f"{path} is truncated or damaged ({error}); get it again") from None
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    return members
