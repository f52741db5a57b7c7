"""The store on disk: one file of raw little-endian arrays, memory-mapped, with a footer that describes them.

    head (64 bytes)   magic, format version, place and length and digest of the footer
    arrays            each aligned to 64 bytes
    footer            JSON: arrays (type, place, length, SHA-256), counts, hashes of inputs, skipped lines

One file, so that a new store replaces the old one by a single rename, and those who have the old one open
keep it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import mmap
import os
import struct
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from hopwright.errors import StoreError

FORMAT_VERSION = 3
STORE_FILE = "graph.hwg"
_MAGIC = b"HWGRAPH\n"
_HEAD = struct.Struct("<8sI4xQQ32s")
_ALIGN = 64
_SMALL = 32 << 20
"""A store up to this size is verified whole whenever it is opened: that takes some 20 ms."""
_CODES: dict[str, Literal["B", "H", "I", "Q"]] = {"u1": "B", "u2": "H", "u4": "I", "u8": "Q"}


class ArrayWriter:
    """Writes arrays one after the other into an unfinished file beside the store's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        handle, name = tempfile.mkstemp(prefix=".ingest-", suffix=".part", dir=folder)
        self.path = Path(name)
        self._file: BinaryIO = os.fdopen(handle, "wb")
        self._file.write(b"\0" * _ALIGN)
        self._arrays: dict[str, dict[str, Any]] = {}

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Append one array; it may not change afterwards. Raises OSError when the disk is full."""
        data = np.ascontiguousarray(array)
        kind = data.dtype.str.lstrip("<|")
        if kind not in _CODES:
            raise ValueError(f"array {name}: type {data.dtype} is not stored")
        self._pad()
        entry = {"type": kind, "offset": self._file.tell(), "length": len(data)}
        self._arrays[name] = entry
        hashing = threading.Thread(target=_put_digest, args=(entry, data), daemon=True)
        hashing.start()
        self._file.write(data.data)
        self._file.flush()
        hashing.join()

    def finish(self, about: dict[str, Any]) -> None:
        """Write the footer and the head, flush to disk, and put the file in the store's place in one step."""
        self._pad()
        place = self._file.tell()
        footer = json.dumps({**about, "arrays": self._arrays}, ensure_ascii=False, sort_keys=True).encode()
        self._file.write(footer)
        self._file.seek(0)
        self._file.write(_HEAD.pack(_MAGIC, FORMAT_VERSION, place, len(footer), hashlib.sha256(footer).digest()))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self.path.chmod(0o644)
        self.path.replace(self._folder / STORE_FILE)
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def discard(self) -> None:
        """Drop the unfinished file, if it is still there."""
        self._file.close()
        self.path.unlink(missing_ok=True)

    def _pad(self) -> None:
        self._file.write(b"\0" * (-self._file.tell() % _ALIGN))


class ArrayFile:
    """A finished store, mapped into memory. Raises StoreError when it is missing, foreign, of another
    version or damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.path = Path(folder) / STORE_FILE
        try:
            with self.path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                head = file.read(_HEAD.size)
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else None
        except (FileNotFoundError, NotADirectoryError):
            raise StoreError(
                f"no graph store in {folder}; make one with: hopwright graph ingest SOURCE --store {folder}"
            ) from None
        except OSError as error:
            raise StoreError(f"{self.path} cannot be read: {error.strerror}") from None
        if self._map is None or len(head) < _HEAD.size or head[:8] != _MAGIC:
            raise StoreError(f"{self.path} is not a graph store; {_redo(folder)}")
        _, version, place, length, digest = _HEAD.unpack(head)
        if version != FORMAT_VERSION:
            raise StoreError(f"{self.path} has format version {version}, not {FORMAT_VERSION}; {_redo(folder)}")
        if place + length != size:
            raise StoreError(f"{self.path} is damaged: {size} bytes, not {place + length}; {_redo(folder)}")
        footer = self._map[place : place + length]
        if hashlib.sha256(footer).digest() != digest:
            raise StoreError(f"{self.path} is damaged: its footer has changed; {_redo(folder)}")
        self.about: dict[str, Any] = json.loads(footer)
        self._arrays: dict[str, dict[str, Any]] = self.about.pop("arrays")
        self._folder = folder
        self.bytes = size
        if size <= _SMALL:
            self.verify()

    def array(self, name: str) -> NDArray[Any]:
        """The array as numpy sees it, read-only, on the mapped pages."""
        entry = self._arrays[name]
        dtype = np.dtype(f"<{entry['type']}")
        if not entry["length"]:
            return np.zeros(0, dtype)
        assert self._map is not None
        return np.frombuffer(self._map, dtype, entry["length"], entry["offset"])

    def view(self, name: str) -> memoryview[int]:
        """The array as a memoryview of Python integers: faster than numpy one element at a time, and
        `bisect` takes it.
        """
        entry = self._arrays[name]
        assert self._map is not None
        width = int(entry["type"][1])
        whole = memoryview(self._map)[entry["offset"] : entry["offset"] + entry["length"] * width]
        return whole.cast(_CODES[entry["type"]])

    def verify(self) -> None:
        """Hash every array again. Raises StoreError naming the first that has changed."""
        for name in self._arrays:
            entry = dict(self._arrays[name])
            _put_digest(entry, self.array(name))
            if entry["sha256"] != self._arrays[name]["sha256"]:
                raise StoreError(f"{self.path} is damaged: array {name} has changed; {_redo(self._folder)}")


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Let one ingest at a time work in a folder; clears what a killed one left. Raises StoreError when
    another runs.
    """
    with (folder / ".ingest.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StoreError(f"another ingest is writing to {folder}; wait for it to end") from None
        for left in folder.glob(".ingest-*.part"):
            left.unlink(missing_ok=True)
        yield


def _put_digest(entry: dict[str, Any], data: NDArray[Any]) -> None:
    entry["sha256"] = hashlib.sha256(data.data if len(data) else b"").hexdigest()


def _redo(folder: Path) -> str:
    return f"make it again with: hopwright graph ingest SOURCE --store {folder}"
