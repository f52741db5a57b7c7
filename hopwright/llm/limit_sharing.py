"""Rate limits shared by the processes of a machine: each takes its part, and a refusal of one slows all.

With its signs of life a process also reports how far it is, for whoever shows the progress of the run.

Every few seconds a worker process says in the store which models it asks, and counts who else does. Limits and
concurrency are divided by that number; a burst of refusals, and the pause that a server demanded, are passed on
to the others. A killed process is forgotten when its last sign of life is too old.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import sqlite3
import time

from hopwright.errors import RunError
from hopwright.llm.client import Client
from hopwright.llm.dispatcher import ModelDispatcher
from hopwright.llm.reports import report_statement
from hopwright.llm.store import Statement, ignore_result

_BEAT_S = 1.0
_FORGET_S = 10.0


class LimitSharing:
    """Keeps one process's part of every lane's limits up to date while it runs."""

    def __init__(self, client: Client, beat_s: float = _BEAT_S) -> None:
        self._client = client
        self._beat_s = beat_s
        self._id = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._told: dict[str, int] = {}
        self._heard: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None
        self._reported = (0, 0, 0)

    def start(self) -> None:
        """Begin; needs a running event loop."""
        self._task = asyncio.create_task(self._send_heartbeats())

    async def stop(self) -> None:
        """Say goodbye, so that the others take over this part at once."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        with contextlib.suppress(RunError):
            await self._client.store.write([
                ("DELETE FROM workers WHERE id = ?", (self._id,)), *self._report(time.time()),
            ])  # fmt: skip

    async def report(self) -> None:
        """Have this process's progress on the disk now."""
        with contextlib.suppress(RunError):
            await self._client.store.write(self._report(time.time()))

    async def beat(self) -> None:
        """Tell and hear once."""
        dispatchers = self._client.dispatchers()
        now, monotonic = time.time(), time.monotonic()
        if told := self._report(now):
            self._client.store.submit(told, ignore_result)
        if not dispatchers:
            return
        report = {}
        for dispatcher in dispatchers:
            name = str(dispatcher.target)
            pause = max(0.0, dispatcher.gate.paused_until - monotonic)
            cut = dispatcher.gate.refusal_bursts > self._told.get(name, 0)
            report[name] = now + pause if cut else None
            self._told[name] = dispatcher.gate.refusal_bursts
        heard = await asyncio.to_thread(self._client.store.transact, _Heartbeat(self._id, report, now))
        for dispatcher in dispatchers:
            workers, cut_by, cut_at, until = heard[str(dispatcher.target)]
            dispatcher.gate.share(workers)
            self._apply_remote_cut(dispatcher, cut_by, cut_at, until)

    def _report(self, now: float) -> list[Statement]:
        """What is written of this process's progress; nothing where nothing moved."""
        snapshot = self._client.snapshot()
        # Not their sum: that is the same before and after the answers to what was sent.
        moved = (snapshot.done, snapshot.sent, snapshot.in_flight)
        if moved == self._reported:
            return []
        self._reported = moved
        return [report_statement(self._client.run, self._id, now, snapshot)]

    def _apply_remote_cut(self, dispatcher: ModelDispatcher, cut_by: str, cut_at: float, until: float) -> None:
        name, now = str(dispatcher.target), time.time()
        # A cut of the future was told before the clock was set back: it is heard of once, like any other.
        if cut_at == self._heard.get(name) or (name not in self._heard and cut_at <= now - _FORGET_S):
            return
        self._heard[name] = cut_at
        if cut_by != self._id:
            # Never longer than the server has demanded, whatever has become of the clock since.
            dispatcher.gate.apply_remote_refusal(max(0.0, min(until - now, until - cut_at)))

    async def _send_heartbeats(self) -> None:
        while True:
            # Sharing is a courtesy among processes: a store that is busy for a moment must not end the run.
            with contextlib.suppress(RunError, sqlite3.Error):
                await self.beat()
            await asyncio.sleep(self._beat_s)


class _Heartbeat:
    """One exchange with the store: a sign of life per lane, this process's cuts, and what the others said."""

    def __init__(self, id: str, report: dict[str, float | None], now: float) -> None:
        self._id, self._report, self._now = id, report, now

    def __call__(self, connection: sqlite3.Connection) -> dict[str, tuple[int, str, float, float]]:
        heard = {}
        # Where the clock was set back, the beats of the dead lie in the future.
        alive = (self._now - _FORGET_S, self._now + _FORGET_S)
        connection.execute("DELETE FROM workers WHERE beat NOT BETWEEN ? AND ?", alive)
        for dispatcher, until in self._report.items():
            connection.execute("INSERT OR REPLACE INTO workers VALUES (?, ?, ?)", (dispatcher, self._id, self._now))
            if until is not None:
                connection.execute(
                    "INSERT OR REPLACE INTO cuts VALUES (?, ?, ?, ?)", (dispatcher, self._id, self._now, until)
                )
            (workers,) = connection.execute("SELECT count(*) FROM workers WHERE lane = ?", (dispatcher,)).fetchone()
            cut = connection.execute("SELECT by, at, until FROM cuts WHERE lane = ?", (dispatcher,)).fetchone()
            heard[dispatcher] = (workers, *(cut or ("", 0.0, 0.0)))
        return heard
