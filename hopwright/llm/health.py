"""How a model and a run are doing: when an answer is overdue, when a model is down, when a run is hopeless."""

from __future__ import annotations

from collections import Counter, deque

from hopwright.llm.config import BreakerSettings, RetrySettings

_ENOUGH = 100
_OVERDUE = 10.0


class Latencies:
    """The last answers' latencies, for telling a stalled connection from a slow answer."""

    def __init__(self, retry: RetrySettings) -> None:
        self._retry = retry
        self._recent: deque[float] = deque(maxlen=500)
        self._overdue: float | None = None
        self._since = 0

    def add(self, latency_s: float) -> None:
        """Count one answer."""
        self._recent.append(latency_s)
        self._since += 1
        if len(self._recent) >= _ENOUGH and (self._overdue is None or self._since >= _ENOUGH):
            self._since = 0
            slow = sorted(self._recent)[int(len(self._recent) * 0.99)]
            self._overdue = max(self._retry.stall_floor_s, _OVERDUE * slow)

    def timeout(self, tried: int) -> float:
        """Seconds to wait for an answer.

        A first try that takes ten times as long as the slowest hundredth of the others is taken for stalled; after
        that the full time-out holds, so that an answer that is merely long gets it.
        """
        if tried == 0 and self._overdue is not None:
            return min(self._retry.timeout_s, self._overdue)
        return self._retry.timeout_s


class ModelHealth:
    """Whether one model answers at all. Refusals for its limits do not count: they are answers."""

    def __init__(self, settings: BreakerSettings) -> None:
        self._settings = settings
        self._recent: deque[bool] = deque(maxlen=settings.window)
        self._failed = 0
        self._probing = False
        self._failing_since: float | None = None
        self._failed_last = 0.0
        self.down_until = 0.0
        self.last_error = ""

    def count(self, ok: bool, now: float, error: str = "", *, last_try: bool = False) -> None:
        """Count one call; `last_try` is that of a request that has failed as often as it may."""
        if len(self._recent) == self._recent.maxlen:
            self._failed -= not self._recent[0]
        self._recent.append(ok)
        self._failed += not ok
        if ok:
            self.down_until, self._probing = 0.0, False
            if self._failed < self._settings.calls_failing * len(self._recent):
                self._failing_since = None
            return
        # A failure long ago and one now are two, not one that lasts.
        if self._failing_since is None or now - self._failed_last > self._settings.failing_for_s:
            self._failing_since = now
        self._failed_last = now
        self.last_error = error
        # Many calls in flight may stumble in one moment, which is no outage yet.
        lasting = last_try or now - self._failing_since >= self._settings.failing_for_s
        many = lasting and len(self._recent) >= self._settings.minimum
        # After a pause the next call is the probe: it alone decides.
        if self._probing or (many and self._failed >= self._settings.calls_failing * len(self._recent)):
            self.put_down(now, error)

    def put_down(self, now: float, error: str, seconds: float | None = None) -> None:
        """Ask this model nothing for a while."""
        self.last_error = error
        self.down_until = now + (self._settings.down_s if seconds is None else seconds)
        self._probing = True
        self._recent.clear()
        self._failed = 0
        self._failing_since = None

    def is_down(self, now: float) -> bool:
        """Whether to ask another model instead."""
        return now < self.down_until


class RunHealth:
    """Whether so many rows end without an answer that going on would only burn money."""

    def __init__(self, settings: BreakerSettings) -> None:
        self._settings = settings
        self._recent: deque[str] = deque(maxlen=settings.window)

    def count(self, failure: str) -> str | None:
        """Count one row: the kind of its failure, or empty. Returns why the run must stop, if it must."""
        self._recent.append(failure)
        if not failure:
            return None
        failed = Counter(kind for kind in self._recent if kind)
        total = len(self._recent)
        if total < self._settings.minimum or failed.total() < self._settings.rows_failing * total:
            return None
        kinds = ", ".join(f"{count} {kind}" for kind, count in failed.most_common(3))
        return f"{failed.total()} of the last {total} requests ended without an answer ({kinds})"
