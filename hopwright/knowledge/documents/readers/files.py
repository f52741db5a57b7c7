"""The files of a source: plain, compressed, or members of archives; damaged ones are refused."""

from __future__ import annotations

import bz2
import contextlib
import functools
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from hopwright.errors import InputError
from hopwright.foreign import (
    DAMAGED_HEADERS,
    PackingError,
    check_file,
    check_packing,
    open_file,
    open_member,
    show,
)

_PACKED: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
_TARS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
_BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile)
_BLOCK = 1 << 20
_LONGEST_HEADER = 16 << 20


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file, and its name inside the archive if it is a member of one."""

    path: Path
    member: str = ""

    @property
    def name(self) -> str:
        """How messages name it."""
        return f"{self.path}:{self.member}" if self.member else str(self.path)

    @property
    def ending(self) -> str:
        """The ending that tells the format, in lower case: that of `a.jsonl.gz` is `.jsonl`."""
        name = PurePosixPath(self.member) if self.member else PurePosixPath(self.path.name)
        while name.suffix.lower() in _PACKED:
            name = name.with_suffix("")
        return name.suffix.lower()

    @contextlib.contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the file for reading its bytes, unpacked.

        Raises InputError, also in the middle of reading, when it cannot be read or is truncated or damaged. Whoever
        reads on to the end has had its check sum verified.
        """
        with explain_damage(self.name), contextlib.ExitStack() as stack:
            if self.member:
                file = stack.enter_context(_open_archive(self.path, self.path.stat().st_mtime_ns).open(self.member))
            else:
                file = stack.enter_context(open_file(self.path))
                _refuse_empty(self.path)
            yield _unpack(file, self.member or self.path.name)


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """Something in a source that is not read as a file, and why."""

    name: str
    reason: str


def list_source_files(source: Path) -> tuple[list[SourceFile], list[SkippedFile]]:
    """List the files of a source in a fixed order: itself, or all below a folder; an archive's members in its order.

    Hidden files are not looked at. What else is no file of the folder is listed as skipped: pipes, sockets, devices,
    and links that lead to a folder, nowhere, or out of the source. Raises InputError when there is no file, or for an
    archive that is truncated or damaged.
    """
    if not source.exists():
        raise InputError(f"{source}: no such file or folder")
    paths, skipped = _walk(source) if source.is_dir() else ([source], [])
    if not paths:
        why = f" that is read: {skipped[0].name} is skipped, {skipped[0].reason}" if skipped else ""
        raise InputError(f"{source}: no file in it{why}")
    files: list[SourceFile] = []
    for path in paths:
        members, others = _list_members(path)
        files += members
        skipped += others
    return files, skipped


@contextlib.contextmanager
def explain_damage(name: str) -> Iterator[None]:
    """Turn what decompressors and the operating system say into one line."""
    try:
        yield
    except PackingError as error:
        raise InputError(f"{name}: {error}") from None
    except _BROKEN as error:
        raise InputError(f"{name} is truncated or damaged ({error}); get it again") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from None


class _Archive:
    """An archive that stays open: read in its own order, a packed one is unpacked once and not for each member."""

    def __init__(self, path: Path) -> None:
        with _name_damage():
            self._zip = zipfile.ZipFile(path) if path.suffix.lower() == ".zip" else None
            self._tar = None if self._zip else _open_tar(path)
            self._entries = {entry.name: entry for entry in self._tar or ()}

    def open(self, member: str) -> IO[bytes]:
        if self._tar is None:
            assert self._zip is not None
            return open_member(self._zip, member)
        opened = self._tar.extractfile(self._entries[member])
        assert opened is not None
        return io.BufferedReader(_Pieces(opened), _BLOCK)


@contextlib.contextmanager
def _name_damage() -> Iterator[None]:
    """Turn what the headers of a damaged archive make Python raise into the error of an archive."""
    try:
        yield
    except DAMAGED_HEADERS as error:
        raise tarfile.ReadError(f"a damaged header: {show(error, 100)}") from None


class _Pieces(io.RawIOBase):
    """A member of a tar, read piece by piece however much is wanted at once: `_ShortReads` refuses longer reads."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(min(len(buffer), _BLOCK))
        buffer[: len(data)] = data
        return len(data)


@functools.lru_cache(maxsize=1)
def _open_archive(path: Path, _changed: int) -> _Archive:
    return _Archive(path)


class _ShortReads(io.BufferedReader):
    """Bytes of an archive; a header that would be read at once, however long it says that it is, is refused."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size > _LONGEST_HEADER:
            raise tarfile.ReadError(f"a header of more than {_LONGEST_HEADER >> 20} MiB")
        return super().read(size)


def _open_tar(path: Path) -> tarfile.TarFile:
    """A tar, packed or not; it is closed with the last reference to it."""
    file = open_file(path)
    unpacked = _unpack(file, path.name.lower().replace(".tgz", ".tar.gz"))
    return tarfile.open(fileobj=_ShortReads(cast(Any, unpacked)), mode="r:")


def _walk(folder: Path) -> tuple[list[Path], list[SkippedFile]]:
    """The files below a folder, sorted, and what is neither a file nor a folder."""
    files, skipped = list[Path](), list[SkippedFile]()
    inside = folder.resolve()
    for path in sorted(folder.rglob("*")):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if reason := _refuse(path, inside):
            skipped.append(SkippedFile(str(path), reason))
        elif not path.is_dir():
            files.append(path)
    return files, skipped


def _refuse(path: Path, inside: Path) -> str:
    """Why something below a folder is not read; empty for files and folders of its own."""
    try:
        if path.is_symlink():
            # Whoever packed the folder decides where its links lead.
            if not path.resolve(strict=True).is_relative_to(inside):
                return "a link that leads out of the folder"
            if path.is_dir():
                return "a link to a folder"
        if not path.is_dir():
            check_file(path)
    except FileNotFoundError:
        return "a link that leads nowhere"
    except (OSError, RuntimeError) as error:  # before Python 3.13, links in a ring are a RuntimeError
        return str(getattr(error, "strerror", "")) or "a link that leads in a ring"
    return ""


def _list_members(path: Path) -> tuple[list[SourceFile], list[SkippedFile]]:
    """The files of an archive, and what else it holds but folders; for any other file, itself."""
    others: list[SkippedFile] = []
    lower = path.name.lower()
    if lower.endswith(".zip"):
        with explain_damage(str(path)), open_file(path) as file, _name_damage(), zipfile.ZipFile(file) as archive:
            members = [entry for entry in archive.infolist() if not entry.is_dir()]
            for entry in members:
                check_packing(entry)
            names = [entry.filename for entry in members]
    elif lower.endswith(_TARS):
        with explain_damage(str(path)), _name_damage(), _open_tar(path) as tar:
            # Listing reads all of it, so that a truncated archive is noticed before anything is added.
            every = list(tar)
            entries = [entry for entry in every if entry.isfile()]
            others = [
                SkippedFile(f"{path}:{entry.name}", "a link or a device in an archive")
                for entry in every
                if not entry.isfile() and not entry.isdir()
            ]
        if holes := next((entry.name for entry in entries if entry.issparse()), ""):
            raise InputError(f"{path}: {holes} has holes, whose length nothing bounds; pack it without --sparse")
        names = [entry.name for entry in entries]
        _read_through(path)
    else:
        return [SourceFile(path)], []
    shown = [name for name in names if not any(part.startswith((".", "__MACOSX")) for part in name.split("/"))]
    return [SourceFile(path, name) for name in shown], others


def _read_through(path: Path) -> None:
    """Read a packed file to its end, where its check sum stands; tarfile stops at the archive's own end."""
    with explain_damage(str(path)), open_file(path) as file:
        unpacked = _unpack(file, path.name.lower().replace(".tgz", ".tar.gz"))
        while unpacked.read(_BLOCK):
            pass


def _unpack(file: IO[bytes], name: str) -> IO[bytes]:
    opener = _PACKED.get(PurePosixPath(name).suffix.lower())
    return cast(IO[bytes], opener(file)) if opener else file


def _refuse_empty(path: Path) -> None:
    if path.stat().st_size == 0:
        raise EOFError("no bytes")
