"""Answers of SPARQL endpoints on disk, so that nothing is asked for twice, not even after a kill."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
import zlib
from pathlib import Path

from hopwright.errors import InputError, RunError

_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    key BLOB PRIMARY KEY, endpoint TEXT NOT NULL, query TEXT NOT NULL, body BLOB NOT NULL, fetched REAL NOT NULL
) WITHOUT ROWID
"""


class AnswerCache:
    """Answers by endpoint and query text. Each one is committed as it comes in; many processes may share a file.

    Raises InputError when the file is no such cache, RunError when it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
            self._prepare()
        except sqlite3.DatabaseError as error:
            raise self._explain(error) from None
        except OSError as error:
            raise RunError(f"the cache {path} cannot be opened: {error.strerror or error}") from None

    def get(self, endpoint: str, query: str, max_age_s: float | None = None) -> bytes | None:
        """The stored answer, if there is one and it is no older than `max_age_s` seconds."""
        with self._lock:
            try:
                row = self._base.execute(
                    "SELECT body, fetched FROM answers WHERE key = ?", (_key(endpoint, query),)
                ).fetchone()
            except sqlite3.DatabaseError as error:
                raise self._explain(error) from None
        if row is None or (max_age_s is not None and time.time() - row[1] > max_age_s):
            return None
        try:
            return zlib.decompress(row[0])
        except zlib.error:
            return None

    def put(self, endpoint: str, query: str, body: bytes) -> None:
        """Store an answer and commit it."""
        row = (_key(endpoint, query), endpoint, query, zlib.compress(body), time.time())
        with self._lock:
            try:
                self._base.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", row)
            except sqlite3.DatabaseError as error:
                raise self._explain(error) from None

    def __len__(self) -> int:
        with self._lock:
            return int(self._base.execute("SELECT count(*) FROM answers").fetchone()[0])

    def close(self) -> None:
        """Close the file; what was put stays."""
        self._base.close()

    def _prepare(self) -> None:
        self._base.execute("PRAGMA journal_mode = WAL")
        # In WAL mode this survives the death of the process; only a power cut may cost the last answers.
        self._base.execute("PRAGMA synchronous = NORMAL")
        version = self._base.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise InputError(
                f"the cache {self.path} is of version {version}, not {_VERSION}; delete it or name another file"
            )
        self._base.execute(_SCHEMA)
        self._base.execute(f"PRAGMA user_version = {_VERSION}")

    def _explain(self, error: sqlite3.DatabaseError) -> InputError | RunError:
        if isinstance(error, sqlite3.OperationalError):
            return RunError(f"the cache {self.path} cannot be used: {error}; free the disk or name another file")
        return InputError(f"{self.path} is not a cache of answers ({error}); delete it or name another file")


def _key(endpoint: str, query: str) -> bytes:
    return hashlib.sha256(f"{endpoint}\0{query}".encode()).digest()
