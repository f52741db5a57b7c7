"""Writing files so that a kill, a full disk or a second process leaves nothing half-written."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from hopwright.errors import InputError, RunError
from hopwright.foreign import open_file

_MARK = ".tmp"
_LOOK_S = 0.2
_LEFTOVERS = (f".*{_MARK}", ".*.part", ".*.partial")
"""What Hopwright's writers call what is not whole yet."""


class _ExistsError(Exception):
    """A file that must not be there yet is there."""


def write_file(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: aside in the same folder, fsync, rename, fsync the folder.

    Raises RunError when the disk is full or the folder cannot be written.
    """
    with _write_aside(path) as file:
        file.write(data)


def copy_file(source: Path, path: Path) -> None:
    """Copy a file whole or not at all, as `write_file` writes one."""
    with _write_aside(path) as file, source.open("rb") as data:
        shutil.copyfileobj(data, file)


def create_file(path: Path, data: bytes) -> bool:
    """Write a file that must not be there yet, whole or not at all; returns whether it was not there.

    On file systems without hard links a kill may leave it empty. Raises RunError as `write_file` does.
    """
    try:
        with _write_aside(path, _link) as file:
            file.write(data)
    except _ExistsError:
        return False
    return True


def clear_leftovers(folder: Path) -> int:
    """Remove what a killed process left half-written below `folder`; returns how many entries that were."""
    leftovers = sorted(path for pattern in _LEFTOVERS for path in folder.rglob(pattern))
    with explain_os_errors(folder):
        for path in leftovers:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
    return len(leftovers)


def remove_tree(folder: Path) -> None:
    """Remove a folder and all below it, if it is there: at once, so that a kill leaves all of it or a leftover.

    Raises RunError when that is not allowed.
    """
    if folder.exists():
        aside = folder.with_name(f".{folder.name}.{os.getpid()}{_MARK}")
        with explain_os_errors(folder):
            folder.replace(aside)
            shutil.rmtree(aside)


def write_json_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Rows as JSON lines, in UTF-8."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def hash_file(path: Path) -> str:
    """SHA-256 of a file, in hex. Raises InputError when it cannot be read."""
    try:
        with open_file(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


@contextlib.contextmanager
def hold_lock(path: Path, what: str, patience_s: float = 0.0) -> Iterator[None]:
    """Hold an exclusive lock while the block runs; the kernel drops it when the process dies, however that is.

    Raises RunError naming the holder when another process has it, and still has it after so many seconds.
    """
    handle = _open_lock(path)
    try:
        while True:
            if not _wait_for_lock(handle, patience_s):
                holder = os.pread(handle, 32, 0).decode(errors="replace").strip()
                raise RunError(
                    f"{what} is being written by another process (pid {holder or 'unknown'}); "
                    "wait for it to end, or use another run name"
                ) from None
            if _is_at(handle, path):
                break
            os.close(handle)
            handle = _open_lock(path)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def share_lock(path: Path) -> Iterator[None]:
    """Hold a lock together with others who share it; whoever holds it alone is waited for."""
    handle = _open_lock(path)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        while not _is_at(handle, path):
            os.close(handle)
            handle = _open_lock(path)
            fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


def remove_lock(path: Path) -> None:
    """Remove the file of a lock that nobody holds, or this process alone: who waits for it makes another one."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if _wait_for_lock(handle, 0.0):
            path.unlink(missing_ok=True)
    finally:
        os.close(handle)


@contextlib.contextmanager
def explain_os_errors(path: Path) -> Iterator[None]:
    """Turn what the operating system says about writing `path` into one line that says what to do."""
    try:
        yield
    except OSError as error:
        raise RunError(_explain(error, path)) from None


def _open_lock(path: Path) -> int:
    with explain_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)


def _is_at(handle: int, path: Path) -> bool:
    """Whether a lock is still that of the file there: its holder may have removed it before this one got it."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _wait_for_lock(handle: int, patience_s: float) -> bool:
    deadline = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_LOOK_S)


@contextlib.contextmanager
def _write_aside(path: Path, place: Callable[[Path, Path], object] = Path.replace) -> Iterator[BinaryIO]:
    # The thread is named too: two shards of one process may fetch the same file.
    aside = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}{_MARK}")
    with explain_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with aside.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            place(aside, path)
        finally:
            with contextlib.suppress(OSError):
                aside.unlink(missing_ok=True)
        sync(path.parent)


def _link(aside: Path, path: Path) -> None:
    try:
        try:
            os.link(aside, path)
        except FileExistsError:
            raise
        except OSError:
            # A file system without hard links.
            with path.open("xb") as file:
                file.write(aside.read_bytes())
    except FileExistsError:
        raise _ExistsError from None


def _explain(error: OSError, path: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"disk full while writing {path}: free some space and run the same command again, it continues"
    if error.errno == errno.EFBIG:
        return f"file too large while writing {path}: raise the file size limit and run the same command again"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"cannot write {path} ({error.strerror}): make it writable, or set HOPWRIGHT_HOME to another folder"
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return f"cannot write {path} ({error.strerror}): a file stands where a folder should be"
    return f"cannot write {path} ({error.strerror or type(error).__name__})"


def sync(path: Path) -> None:
    """Have a file or a folder written to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
