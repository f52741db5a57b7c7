"""The gate before one model: every request of every worker passes it, in order, when the limits allow."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from hopwright.llm.limits import AdaptiveLimit, Headroom, Meter
from hopwright.llm.types import TokenUsage

METERS = ("requests", "tokens", "input", "output")


@dataclass(frozen=True, slots=True)
class ExpectedTokens:
    """What a request is expected to take from each meter."""

    input: int
    output: int

    def of(self, meter: str) -> float:
        """The amount that counts for that meter."""
        if meter == "requests":
            return 1.0
        if meter == "input":
            return float(self.input)
        return float(self.output if meter == "output" else self.input + self.output)


@dataclass(slots=True)
class Permit:
    """The right to send one request; given back exactly once."""

    epoch: int
    amounts: ExpectedTokens
    entries: list[tuple[str, list[float] | None]] = field(default_factory=list)
    open: bool = True


class RateLimiter:
    """Concurrency, per-minute limits and pauses of one provider and model.

    All methods belong to one event loop. A pause that a server demanded holds for every request, to the
    letter: nothing is sent before it ends.
    """

    def __init__(self, limit: AdaptiveLimit, per_minute: Mapping[str, float | None]) -> None:
        self.limit = limit
        self.meters = {name: Meter(per_minute.get(name)) for name in METERS}
        self._metered = any(per_minute.get(name) is not None for name in METERS)
        self.paused_until = 0.0
        self.refusal_bursts = 0
        self._ceiling = limit.ceiling
        self._per_minute = dict(per_minute)
        self._waiting: deque[tuple[asyncio.Future[Permit], ExpectedTokens]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def waiting(self) -> int:
        """How many requests stand before the gate."""
        return len(self._waiting)

    async def enter(self, amounts: ExpectedTokens, again: bool = False) -> Permit:
        """Wait for the right to send; `again` puts a retried request before those not yet sent."""
        now = time.monotonic()
        if not self._waiting and self._delay(amounts, now) == 0.0:
            return self._grant(amounts, now)
        future: asyncio.Future[Permit] = asyncio.get_running_loop().create_future()
        entry = (future, amounts)
        if again:
            self._waiting.appendleft(entry)
        else:
            self._waiting.append(entry)
        self._pump()
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.leave(future.result(), None)
            elif entry in self._waiting:
                self._waiting.remove(entry)
            raise

    def succeed(self, permit: Permit) -> None:
        """The server answered: the limit may grow."""
        self.limit.answer(permit.epoch, time.monotonic())

    def refuse(self, permit: Permit, retry_after_s: float) -> bool:
        """The server refused for its limits: cut once per burst, and send nothing for so many seconds."""
        now = time.monotonic()
        self.pause(now + retry_after_s)
        first = self.limit.refuse(permit.epoch, now)
        self.refusal_bursts += first
        return first

    def apply_remote_refusal(self, pause_s: float) -> None:
        """Another process was refused: pause and cut here as well."""
        now = time.monotonic()
        self.pause(now + pause_s)
        self.limit.adopt_cut(now)

    def share(self, workers: int) -> None:
        """Keep to one part in so many of the limits; the others are other processes'."""
        workers = max(1, workers)
        self.limit.ceiling = max(1, self._ceiling // workers)
        for name, meter in self.meters.items():
            limit = self._per_minute.get(name)
            meter.limit = None if limit is None else limit / workers
        if self._waiting:
            self._pump()

    def pause(self, until: float) -> None:
        """Send nothing before `until` (monotonic)."""
        self.paused_until = max(self.paused_until, until)

    def learn(self, headroom: Mapping[str, Headroom]) -> None:
        """Take over what a response's headers say is left."""
        now = time.monotonic()
        for name, room in headroom.items():
            self.meters[name].learn(room, now)
            self._metered = True

    def leave(self, permit: Permit, usage: TokenUsage | None) -> None:
        """Give the permit back; `usage` is what was really used, None where that is not known."""
        if not permit.open:
            return
        permit.open = False
        self.limit.finish()
        for name, entry in permit.entries:
            taken = permit.amounts.of(name)
            actual = taken if usage is None else ExpectedTokens(usage.input, usage.output).of(name)
            self.meters[name].settle(entry, taken, actual)
        if self._waiting:
            self._pump()

    def abort(self, error: Exception) -> None:
        """Let nobody wait any longer: every request before the gate fails with this error."""
        waiting, self._waiting = self._waiting, deque()
        for future, _ in waiting:
            if not future.done():
                future.set_exception(error)

    def _delay(self, amounts: ExpectedTokens, now: float) -> float:
        """Seconds until a request may go; infinite where only a returned permit helps."""
        if not self.limit.free:
            return float("inf")
        delay = max(0.0, self.paused_until - now)
        if self._metered:
            delay = max(delay, *(self.meters[name].delay(amounts.of(name), now) for name in METERS))
        return delay

    def _grant(self, amounts: ExpectedTokens, now: float) -> Permit:
        permit = Permit(self.limit.send(), amounts)
        if self._metered:
            permit.entries = [(name, self.meters[name].take(amounts.of(name), now)) for name in METERS]
        return permit

    def _pump(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._waiting:
            future, amounts = self._waiting[0]
            if future.done():
                self._waiting.popleft()
                continue
            now = time.monotonic()
            delay = self._delay(amounts, now)
            if delay == 0.0:
                self._waiting.popleft()
                future.set_result(self._grant(amounts, now))
            else:
                if delay != float("inf"):
                    self._timer = asyncio.get_running_loop().call_later(delay, self._pump)
                return
