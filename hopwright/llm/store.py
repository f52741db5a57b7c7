"""The durable store: every paid answer, every thrown-away one, and what was spent, in one SQLite file.

One writer thread per process commits what has gathered in a few milliseconds as one transaction (group
commit), synced to the disk, so that a few hundred answers cost one sync. An answer counts as delivered only after
its commit; a reader never waits for the writer (WAL).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import re
import sqlite3
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from hopwright.errors import RunError
from hopwright.llm.types import Failure, Request, Response, Sampling

Statement = tuple[str, Sequence[Any]]
Done = Callable[[BaseException | None], None]

_VERSION = 3
SPEND = "UPDATE leases SET spent = spent + ? WHERE id = ?"
_VALUES = re.compile(r"(INSERT .*?VALUES )(\([^()]*\))(.*)", re.DOTALL)
_MOST_ROWS = 512
_LONG = 4096
_SAMPLING = tuple(name.name for name in fields(Sampling))
_SCHEMA = """
CREATE TABLE IF NOT EXISTS responses (
    key BLOB PRIMARY KEY, provider TEXT NOT NULL, model TEXT NOT NULL, created REAL NOT NULL, cost REAL NOT NULL,
    request NOT NULL, response TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS detours (asked BLOB PRIMARY KEY, answered BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS conversations (
    key BLOB PRIMARY KEY, provider TEXT NOT NULL, model TEXT NOT NULL, created REAL NOT NULL, run TEXT NOT NULL,
    said TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS exchanges (
    item TEXT NOT NULL, key BLOB NOT NULL, run TEXT NOT NULL, at REAL NOT NULL, prompt TEXT NOT NULL,
    version TEXT NOT NULL, request, failure TEXT, PRIMARY KEY (item, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS leases (
    id INTEGER PRIMARY KEY, run TEXT NOT NULL, granted REAL NOT NULL, spent REAL NOT NULL DEFAULT 0,
    possible REAL NOT NULL DEFAULT 0, open INTEGER NOT NULL DEFAULT 1);
CREATE INDEX IF NOT EXISTS leases_by_run ON leases (run);
CREATE TABLE IF NOT EXISTS batches (
    token TEXT PRIMARY KEY, run TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, state TEXT NOT NULL,
    created REAL NOT NULL, file TEXT NOT NULL DEFAULT '', remote TEXT NOT NULL DEFAULT '',
    round INTEGER NOT NULL, lease INTEGER NOT NULL, reserved REAL NOT NULL, detail TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS batch_rows (
    token TEXT NOT NULL, key BLOB NOT NULL, state TEXT NOT NULL,
    detail TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (token, key)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS batch_rows_by_key ON batch_rows (key);
CREATE TABLE IF NOT EXISTS workers (lane TEXT NOT NULL, id TEXT NOT NULL, beat REAL NOT NULL,
    PRIMARY KEY (lane, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reports (run TEXT NOT NULL, id TEXT NOT NULL, at REAL NOT NULL, snapshot TEXT NOT NULL,
    PRIMARY KEY (run, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cuts (lane TEXT PRIMARY KEY, by TEXT NOT NULL, at REAL NOT NULL, until REAL NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What the cache holds: answers per model, their cost when they were paid for, and bytes on disk."""

    answers: int
    cost_usd: float
    bytes: int
    failures: int
    by_model: tuple[tuple[str, int, float], ...]
    oldest: float | None
    newest: float | None

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


class Store:
    """The SQLite file at `path`, made where it is missing. Any number of threads and processes may share it.

    Raises RunError where the file cannot be made, is damaged, or is of another version.
    """

    def __init__(self, path: Path, gather_s: float = 0.003) -> None:
        self.path = path
        self._gather_s = gather_s
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _keep_private(path)
            self._reader = self._open()
            version = self._reader.execute("PRAGMA user_version").fetchone()[0]
            if version > _VERSION:
                raise RunError(f"{path} was made by a newer version of Hopwright (format {version}); move it away")
            if version < _VERSION:
                # Later versions have only added tables.
                self._reader.executescript(_SCHEMA + f"PRAGMA user_version = {_VERSION};")
        except (OSError, sqlite3.Error) as error:
            raise RunError(
                f"the answer cache {path} cannot be used: {error}; move it away or make it writable"
            ) from error
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[tuple[Iterable[Statement], Done] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_loop, name="llm-store", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Commit what is waiting and close the file."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()
            with self._lock:
                self._reader.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of one query."""
        with self._lock:
            return self._reader.execute(sql, parameters).fetchall()

    def get(self, key: str) -> str | None:
        """The cached response as JSON, or None."""
        rows = self.read("SELECT response FROM responses WHERE key = ?", (bytes.fromhex(key),))
        return str(rows[0][0]) if rows else None

    def get_detour(self, key: str) -> str | None:
        """The response of the fall-back model that once answered in this request's place, or None."""
        rows = self.read(
            "SELECT response FROM detours JOIN responses ON responses.key = answered WHERE asked = ?",
            (bytes.fromhex(key),),
        )
        return str(rows[0][0]) if rows else None

    def submit(self, statements: Iterable[Statement], done: Done) -> None:
        """Queue one atomic write; `done` is called in the writer thread after the commit, or with the error.

        The statements are drawn in the writer thread, so a generator may do its costly work there.
        """
        self._queue.put((statements, done))

    async def write(self, statements: Iterable[Statement]) -> None:
        """Write atomically and return once it is on the disk. Raises RunError where that fails."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self.submit(statements, _FutureDone(loop, future))
        await future

    def write_now(self, statements: Iterable[Statement]) -> None:
        """As `write`, for callers without an event loop."""
        event = _EventDone()
        self.submit(statements, event)
        event.wait()

    def transact(self, work: Callable[[sqlite3.Connection], Any]) -> Any:
        """Run `work` alone in a transaction that no other process can interleave, and return what it returns."""
        connection = self._open()
        try:
            connection.execute("BEGIN IMMEDIATE")
            result = work(connection)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise RunError(f"{self.path} cannot be written: {error}") from error
        finally:
            connection.close()
        return result

    def stats(self) -> CacheStats:
        """What is in the cache."""
        models = self.read(
            "SELECT provider || '/' || model, count(*), total(cost) FROM responses GROUP BY 1 ORDER BY 2 DESC, 1"
        )
        (oldest, newest), *_ = self.read("SELECT min(created), max(created) FROM responses")
        ((failures,),) = self.read("SELECT count(*) FROM exchanges WHERE failure IS NOT NULL")
        size = sum(file.stat().st_size for file in self.path.parent.glob(self.path.name + "*"))
        return CacheStats(
            answers=sum(row[1] for row in models), cost_usd=sum(row[2] for row in models), bytes=size,
            failures=failures, by_model=tuple((row[0], row[1], row[2]) for row in models), oldest=oldest, newest=newest,
        )  # fmt: skip

    def prune(
        self, older_than_days: float | None = None, provider: str = "", model: str = "", *, failed: bool = False
    ) -> tuple[int, int]:
        """Remove what meets every given condition; returns how many answers, and requests without one, that are.

        A request without an answer may then be asked again in the run in which it failed; `failed` removes nothing
        else. Without any condition everything goes. What it cost stays in the ledger.
        """
        where, parameters = ["1"], list[Any]()
        if older_than_days is not None:
            where.append("created < ?")
            parameters.append(time.time() - older_than_days * 86400)
        for column, value in (("provider", provider), ("model", model)):
            if value:
                where.append(f"{column} = ?")
                parameters.append(value)
        tables = ("conversations",) if failed else ("conversations", "responses")
        removed = self.transact(_Prune(tables, " AND ".join(where), parameters))
        connection = self._open()
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        return removed.get("responses", 0), removed["conversations"]

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=60, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA mmap_size = 268435456")
        return connection

    def _write_loop(self) -> None:
        connection = self._open()
        stopping = False
        while not stopping:
            jobs = [self._queue.get()]
            if jobs[0] is not None:
                # Waiting a moment turns hundreds of syncs into one; it is short against any model's latency.
                time.sleep(self._gather_s)
            while not self._queue.empty():
                jobs.append(self._queue.get())
            stopping = None in jobs
            self._commit(connection, [job for job in jobs if job is not None])
        connection.close()

    def _commit(self, connection: sqlite3.Connection, jobs: list[tuple[Iterable[Statement], Done]]) -> None:
        if not jobs:
            return
        error: BaseException | None = None
        try:
            merged = merge_statements(statement for statements, _ in jobs for statement in statements)
            connection.execute("BEGIN IMMEDIATE")
            for sql, parameters in merged:
                connection.execute(sql, parameters)
            connection.execute("COMMIT")
        except Exception as caught:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            error = RunError(f"{self.path} cannot be written: {caught}; free some space and run the same command again")
        _FutureDone.resolve_all([done for _, done in jobs if isinstance(done, _FutureDone)], error)
        for _, done in jobs:
            if not isinstance(done, _FutureDone):
                done(error)


@contextlib.contextmanager
def consult_store(path: Path) -> Iterator[Store]:
    """The store at `path`, to look things up in; where there is none, an empty one of which nothing stays."""
    if path.exists():
        with Store(path) as store:
            yield store
        return
    with tempfile.TemporaryDirectory(prefix="hopwright-") as folder, Store(Path(folder) / path.name) as store:
        yield store


def _keep_private(path: Path) -> None:
    """Make the file its owner's alone: prompts and answers are in it. SQLite gives its other files the same mode."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    status = path.stat()
    if status.st_mode & 0o077 and status.st_uid == os.geteuid():
        path.chmod(0o600)


class _Prune:
    def __init__(self, tables: Sequence[str], condition: str, parameters: list[Any]) -> None:
        self._tables, self._condition, self._parameters = tables, condition, parameters

    def __call__(self, connection: sqlite3.Connection) -> dict[str, int]:
        removed = {
            table: connection.execute(f"DELETE FROM {table} WHERE {self._condition}", self._parameters).rowcount
            for table in self._tables
        }
        connection.execute("DELETE FROM detours WHERE answered NOT IN (SELECT key FROM responses)")
        connection.execute("DELETE FROM exchanges WHERE failure IS NULL AND key NOT IN (SELECT key FROM responses)")
        return removed


class _FutureDone:
    """Wakes a coroutine; all those of one commit and loop are woken by a single call into the loop."""

    __slots__ = ("future", "loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, future: asyncio.Future[None]) -> None:
        self.loop, self.future = loop, future

    def __call__(self, error: BaseException | None) -> None:
        self.resolve_all([self], error)

    @staticmethod
    def resolve_all(waiting: list[_FutureDone], error: BaseException | None) -> None:
        by_loop: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
        for done in waiting:
            by_loop.setdefault(done.loop, []).append(done.future)
        for loop, futures in by_loop.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(_resolve, futures, error)


def _resolve(futures: list[asyncio.Future[None]], error: BaseException | None) -> None:
    for future in futures:
        if future.done():
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)


class _EventDone:
    def __init__(self) -> None:
        self._event = threading.Event()
        self._error: BaseException | None = None

    def __call__(self, error: BaseException | None) -> None:
        self._error = error
        self._event.set()

    def wait(self) -> None:
        self._event.wait()
        if self._error is not None:
            raise self._error


def merge_statements(statements: Iterable[Statement]) -> list[Statement]:
    """The same writes in fewer statements: rows for one table go in together, and sums are added up.

    Every statement makes this thread wait for the interpreter's lock, up to five milliseconds each time while the event
    loop is busy; a commit of twenty answers would take a tenth of a second. Statements of different
    text keep their order only where the later ones are neither inserts nor sums.
    """
    merged: list[Statement] = []
    rows: dict[str, list[Sequence[Any]]] = {}
    for sql, parameters in statements:
        if sql == SPEND or sql.startswith("INSERT"):
            rows.setdefault(sql, []).append(parameters)
            continue
        merged += _join_rows(rows)
        rows = {}
        merged.append((sql, parameters))
    return merged + _join_rows(rows)


def _join_rows(rows: dict[str, list[Sequence[Any]]]) -> list[Statement]:
    joined: list[Statement] = []
    for sql, group in rows.items():
        if sql == SPEND:
            sums: dict[Any, float] = {}
            for amount, lease in group:
                sums[lease] = sums.get(lease, 0.0) + amount
            joined += [(SPEND, (amount, lease)) for lease, amount in sums.items()]
            continue
        found = _VALUES.fullmatch(sql)
        if found is None or len(group) == 1:
            joined += [(sql, parameters) for parameters in group]
            continue
        head, row, tail = found.groups()
        for start in range(0, len(group), _MOST_ROWS):
            part = group[start : start + _MOST_ROWS]
            values = ", ".join([row] * len(part))
            joined.append((head + values + tail, [value for parameters in part for value in parameters]))
    return joined


def ignore_result(_: BaseException | None) -> None:
    """A `Done` for writes whose loss costs nothing."""


def pack_request(request: Request) -> str | bytes:
    """The request as it stands in a transcript; long ones are compressed."""
    sampling = request.sampling
    text = json.dumps(
        {
            "messages": [message.describe() for message in request.messages],
            "schema": request.schema.__name__ if request.schema else None,
            "choices": request.choices,
            **({"tools": [tool.name for tool in request.tools]} if request.tools else {}),
            "sampling": {name: getattr(sampling, name) for name in _SAMPLING if getattr(sampling, name)},
        },
        ensure_ascii=False,
    )
    if len(text) < _LONG:
        # JSON may hold lone surrogates, which SQLite's text may not.
        return text if text.isprintable() else json.dumps(json.loads(text))
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def unpack_request(packed: str | bytes) -> dict[str, Any]:
    """What `pack_request` wrote."""
    record: dict[str, Any] = json.loads(packed if isinstance(packed, str) else zlib.decompress(packed))
    return record


def response_statements(request: Request, response: Response, run: str, asked: str) -> Iterable[Statement]:
    """What is written for a new answer. `asked` is the key of the request's first model."""
    key = bytes.fromhex(response.key)
    yield (
        "INSERT OR REPLACE INTO responses VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            key,
            response.provider,
            response.model,
            time.time(),
            response.cost_usd,
            pack_request(request),
            response.to_json(),
        ),
    )
    if asked != response.key:
        yield "INSERT OR REPLACE INTO detours VALUES (?, ?)", (bytes.fromhex(asked), key)
    yield from link_statements(request, response.key, run)


def link_statements(request: Request, key: str, run: str) -> Iterable[Statement]:
    """What ties an item to an answer, so that the item's transcript can be found."""
    if request.item:
        yield (
            "INSERT INTO exchanges VALUES (?, ?, ?, ?, ?, ?, NULL, NULL) ON CONFLICT DO UPDATE SET failure = NULL, "
            "request = NULL WHERE failure IS NOT NULL",
            (request.item, bytes.fromhex(key), run, time.time(), request.prompt, request.prompt_version),
        )


def failure_statements(request: Request, failure: Failure, run: str) -> Iterable[Statement]:
    """What is written for a failure: its transcript, never an answer."""
    yield (
        "INSERT OR REPLACE INTO exchanges VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            request.item, bytes.fromhex(failure.key), run, time.time(), request.prompt, request.prompt_version,
            pack_request(request), json.dumps(asdict(failure), ensure_ascii=False),
        ),
    )  # fmt: skip
