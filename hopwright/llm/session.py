"""One client for all threads of a process: tasks that run side by side share its limits, its budget and its cache.

A run has many workers (Prefect tasks in threads); each asks the session of its run, and the session's one event
loop does the asking. Across processes the budget and the rate limits are shared through the store.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from multiprocessing.util import Finalize
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from hopwright.llm.batch import BatchProgress, BatchRunner
from hopwright.llm.client import Client
from hopwright.llm.config import LlmSettings
from hopwright.llm.limit_sharing import LimitSharing
from hopwright.llm.progress import Snapshot
from hopwright.llm.store import Store
from hopwright.llm.types import Outcome, Request

T = TypeVar("T")


class Session:
    """A client on an event loop of its own; every method may be called from any thread.

    `store_path` is shared by all runs of a home; `run` names the run whose budget this is. Raises what Client raises.
    """

    def __init__(
        self, settings: LlmSettings, store_path: Path, *, run: str = "", budget_usd: float | None = None,
        **options: Any,
    ) -> None:  # fmt: skip
        self.store = Store(store_path)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="llm-session", daemon=True)
        self._thread.start()
        self._closed = False
        try:
            self.client: Client = self._call(self._make(settings, run, budget_usd, options))
        except BaseException:
            self._end_loop()
            self.store.close()
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def complete(self, request: Request) -> Outcome:
        """The answer to one request."""
        return self._call(self.client.complete(request))

    def submit(self, request: Request) -> Future[Outcome]:
        """The answer to one request when it comes, for callers whose next request rests on it."""
        self.client.progress.total += 1
        return self._submit(self.client.complete(request))

    def complete_all(self, requests: Iterable[Request]) -> list[Outcome]:
        """The outcomes in the order of the requests."""
        return self._call(self.client.complete_all(requests))

    def complete_batch(
        self, requests: Iterable[Request], poll_s: float = 60.0, report: Callable[[BatchProgress], None] | None = None
    ) -> list[Outcome]:
        """As `complete_all`, through the providers' batch interfaces at half price; this may take a day."""
        return self._call(BatchRunner(self.client, poll_s=poll_s, report=report).complete_all(requests))

    def stream(self, requests: Iterable[Request]) -> Iterator[tuple[int, Outcome]]:
        """The outcomes as they come, each with its request's position.

        The requests are drawn in the session's thread. An error that ends the run is raised after what was in flight.
        """
        queue: SimpleQueue[tuple[int, Outcome] | None] = SimpleQueue()
        future = self._submit(_pump(self.client, requests, queue))
        try:
            while (entry := queue.get()) is not None:
                yield entry
            future.result()
        finally:
            future.cancel()

    def snapshot(self) -> Snapshot:
        """How the run is doing."""
        return self._call(_take(self.client))

    def report(self) -> None:
        """Have how the run is doing on the disk, for whoever shows it."""
        self._call(self._sharing.report())

    def close(self) -> None:
        """End the client and its thread."""
        if not self._closed:
            self._closed = True
            try:
                self._call(self._end_client())
            finally:
                self._end_loop()
                self.store.close()

    async def _make(self, settings: LlmSettings, run: str, budget_usd: float | None, options: dict[str, Any]) -> Client:
        client = Client(settings, self.store, run=run, budget_usd=budget_usd, **options)
        self._sharing = LimitSharing(client)
        self._sharing.start()
        return client

    async def _end_client(self) -> None:
        await self._sharing.stop()
        await self.client.close()

    def _submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        future = self._submit(coroutine)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _end_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _pump(client: Client, requests: Iterable[Request], queue: SimpleQueue[tuple[int, Outcome] | None]) -> None:
    try:
        async for entry in client.stream(requests):
            queue.put(entry)
    finally:
        queue.put(None)


async def _take(client: Client) -> Snapshot:
    return client.snapshot()


_SESSIONS: dict[tuple[Path, str], tuple[Session, LlmSettings, float | None]] = {}
_LOCK = threading.Lock()


def open_session(settings: LlmSettings, store_path: Path, *, run: str, budget_usd: float | None = None) -> Session:
    """The session of a run in this process, made at the first call: every worker of the run gets the same one.

    Other settings or another budget end the session that there was. It ends with the process, so that what is left of
    its part of the budget goes back.
    """
    with _LOCK:
        if not _SESSIONS:
            # Not atexit: worker processes of a pool do not run those in time.
            Finalize(None, close_sessions, exitpriority=10)
        key = (store_path.resolve(), run)
        found = _SESSIONS.get(key)
        if found is not None:
            if found[1:] == (settings, budget_usd):
                return found[0]
            del _SESSIONS[key]
            found[0].close()
        session = Session(settings, store_path, run=run, budget_usd=budget_usd)
        _SESSIONS[key] = (session, settings, budget_usd)
        return session


def report_sessions() -> None:
    """Have the progress of every session of this process on the disk."""
    with _LOCK:
        for session, *_ in _SESSIONS.values():
            session.report()


def count_outcomes() -> tuple[int, int]:
    """How many answers the sessions of this process were given, from the store or not, and requests without a use."""
    with _LOCK:
        made = [session.client.progress for session, *_ in _SESSIONS.values()]
    return sum(one.answers for one in made), sum(one.unanswered for one in made)


def close_session(store_path: Path, run: str) -> None:
    """End the session of a run, if this process has one."""
    with _LOCK:
        found = _SESSIONS.pop((store_path.resolve(), run), None)
    if found is not None:
        found[0].close()


def close_sessions() -> None:
    """End every session of this process."""
    with _LOCK:
        sessions = [session for session, *_ in _SESSIONS.values()]
        _SESSIONS.clear()
    for session in sessions:
        session.close()
