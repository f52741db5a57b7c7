"""A folder in shared or object storage, reached through fsspec: `s3://bucket/folder`, `file:///mnt/share`, …

fsspec is imported when storage is used: who works on local disk only does not wait for it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hopwright.errors import HopwrightError, InputError, ServiceError
from hopwright.runs.files import copy_file, create_file, explain_os_errors, write_file

_MARK = ".part"


class Storage:
    """Files by name (`filter/part-00000.parquet`) below one address. What is put is there whole or not at all.

    Every method raises ServiceError, one line, when the storage cannot be reached or refuses.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._fs, self._root = _connect(self.url)
        # Object stores put a file whole or not at all; in a folder, what writes run folders does that.
        self._is_folder = "file" in self._fs.protocol

    def list(self, below: str = "") -> list[str]:
        """The names of all files below a folder, in order."""
        with self._explain():
            self._fs.invalidate_cache()
            found = self._fs.find(self._locate(below))
        names = [str(path)[len(self._root) + 1 :] for path in found]
        return sorted(name for name in names if not Path(name).name.startswith("."))

    def read(self, name: str) -> bytes | None:
        """A file's bytes; None where there is no such file."""
        with self._explain():
            try:
                return bytes(self._fs.cat_file(self._locate(name)))
            except FileNotFoundError:
                return None

    def write(self, name: str, data: bytes) -> None:
        """Write a small file."""
        with self._explain():
            if self._is_folder:
                write_file(Path(self._locate(name)), data)
            else:
                self._fs.pipe_file(self._locate(name), data)

    def put(self, path: Path, name: str) -> None:
        """Copy a local file there."""
        with self._explain():
            if self._is_folder:
                copy_file(path, Path(self._locate(name)))
            else:
                self._fs.put_file(str(path), self._locate(name))

    def put_below(self, folder: Path, name: str) -> None:
        """Copy a local folder that never changes there; what is there already is not copied again."""
        there = set(self.list(name))
        for path in sorted(folder.rglob("*")):
            below = f"{name}/{path.relative_to(folder)}"
            if path.is_file() and below not in there:
                self.put(path, below)

    def fetch(self, name: str, path: Path) -> None:
        """Copy a file from there, whole or not at all. Raises RunError when it cannot be written here."""
        aside = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}{_MARK}")
        with explain_os_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self._explain():
                self._fs.get_file(self._locate(name), str(aside))
            with explain_os_errors(path):
                aside.replace(path)
        finally:
            with contextlib.suppress(OSError):
                aside.unlink(missing_ok=True)

    def remove(self, below: str) -> None:
        """Remove a file, or a folder and all below it, if it is there; the whole storage for an empty name."""
        with self._explain(), contextlib.suppress(FileNotFoundError):
            self._fs.invalidate_cache()
            self._fs.rm(self._locate(below), recursive=True)

    def create(self, name: str, data: bytes) -> bool:
        """Write a file that must not be there yet; returns whether it was not."""
        with self._explain():
            if self._is_folder:
                return create_file(Path(self._locate(name)), data)
            try:
                self._fs.pipe_file(self._locate(name), data, mode="create")
            except FileExistsError:
                return False
        return True

    def seconds_between(self, earlier: str, later: str) -> float:
        """How much later a file was written than another, by the storage's own clock; 0 where one is gone."""
        with self._explain():
            self._fs.invalidate_cache()
            try:
                times = [self._fs.modified(self._locate(name)) for name in (earlier, later)]
            except FileNotFoundError:
                return 0.0
        return float((times[1] - times[0]).total_seconds())

    def _locate(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    @contextlib.contextmanager
    def _explain(self) -> Iterator[None]:
        try:
            yield
        except (FileNotFoundError, FileExistsError, HopwrightError):
            raise
        except Exception as error:
            # Each file system raises what its own client raises.
            said = " ".join(str(error).split())[:300] or type(error).__name__
            raise ServiceError(
                f"storage {self.url}: {said}; what is finished stays, and the same command continues"
            ) from None


@functools.lru_cache(maxsize=16)
def open_storage(url: str) -> Storage:
    """The storage at an address, one connection a process. Raises InputError when the address cannot be used."""
    return Storage(url)


def _connect(url: str) -> tuple[Any, str]:
    import fsspec

    try:
        fs, root = fsspec.core.url_to_fs(url)
    except ImportError as error:
        raise InputError(f"storage {url}: {error}; `pip install '.[s3]'` installs what s3:// needs") from None
    except ValueError as error:
        raise InputError(f"storage {url}: {error}") from None
    return fs, str(root).rstrip("/")
