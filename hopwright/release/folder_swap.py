"""Putting a whole folder in place at once, so that no reader and no kill ever sees half of one."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from hopwright.errors import RunError
from hopwright.runs.files import sync

_EXCHANGE = 2
_AT_FDCWD = -100


@contextlib.contextmanager
def open_staging_folder(folder: Path) -> Iterator[Path]:
    """An empty folder beside `folder` to write into, held by this process alone, gone when the block ends.

    What a killed process left there is removed first. Raises RunError when another process holds it.
    """
    aside = folder.parent / f".{folder.name}.partial"
    aside.mkdir(parents=True, exist_ok=True)
    handle = os.open(aside, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(handle), aside.stat()):  # put in place since it was opened
                raise BlockingIOError
        except (BlockingIOError, FileNotFoundError):
            raise RunError(f"{folder} is being written by another process; wait until it is done") from None
        for child in aside.iterdir():
            _remove(child)
        try:
            yield aside
        finally:
            _remove(aside)
    finally:
        os.close(handle)


def replace_folder(new: Path, folder: Path) -> None:
    """Make `new` the folder of that name; what was there before is removed afterwards.

    On Linux the two are exchanged in one step. Elsewhere the old one is moved aside first: a kill in between
    leaves no folder of that name, never half of one.
    """
    sync_tree(new)
    if not folder.exists():
        new.rename(folder)
    elif not _exchange(new, folder):
        old = folder.parent / f".{folder.name}.old"
        _remove(old)
        folder.rename(old)
        new.rename(folder)
        _remove(old)
    sync(folder.parent)


def sync_tree(folder: Path) -> None:
    """Flush every file and folder below `folder`, and itself, to the disk."""
    for root, _, names in os.walk(folder, topdown=False):
        for name in names:
            sync(Path(root, name))
        sync(Path(root))


def _exchange(one: Path, other: Path) -> bool:
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    return bool(call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE) == 0)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
