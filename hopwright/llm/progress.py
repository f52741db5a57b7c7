"""How a run is doing, in numbers and in a few lines of Markdown."""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import asdict, dataclass
from typing import Any

from hopwright.llm.types import TokenUsage

_RECENT_S = 30.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One moment of a run. `total` is 0 where the number of requests is not known.

    `rate` is finished requests per second over the last half minute; `spent_usd` is the whole run's, `billed_usd` the
    part of it that these requests cost; `projected_usd` what the run will come to if the rest costs what these did;
    `eta_s` is None before anything finished.
    """

    total: int
    done: int
    answered: int
    cached: int
    failed: int
    failures: dict[str, int]
    sent: int
    retries: int
    refusals: int
    repairs: int
    fallbacks: int
    in_flight: int
    rate: float
    seconds: float
    usage: TokenUsage
    spent_usd: float
    possible_usd: float
    projected_usd: float
    budget_usd: float | None
    eta_s: float | None
    billed_usd: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


class Progress:
    """Counts as the client works."""

    def __init__(self) -> None:
        self.total = 0
        self.counts: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.usage = TokenUsage()
        self.answers = self.unanswered = 0
        """What models said, found in the store or not: the same however often a run was stopped."""
        self._started = time.monotonic()
        self._recent: deque[float] = deque(maxlen=20_000)

    def finish(self, kind: str) -> None:
        """One request is done: `answered`, `cached` or `failed`."""
        self.counts[kind] += 1
        self._recent.append(time.monotonic())

    def fail(self, kind: str) -> None:
        """One request is done without an answer; `kind` is its failure's."""
        self.finish("failed")
        self.failures[kind] += 1

    def take(self, spent: float, possible: float, billed: float, budget: float | None, in_flight: int) -> Snapshot:
        """The figures of this moment; money and requests in flight are counted elsewhere."""
        counts, now = self.counts, time.monotonic()
        done = counts["answered"] + counts["cached"] + counts["failed"]
        paid = counts["answered"] + counts["failed"]
        span = min(_RECENT_S, max(1e-9, now - self._started))
        rate = sum(1 for moment in self._recent if moment > now - span) / span
        left = max(0, self.total - done)
        return Snapshot(
            total=self.total, done=done, answered=counts["answered"], cached=counts["cached"], failed=counts["failed"],
            failures=dict(self.failures), sent=counts["sent"], retries=counts["retries"], refusals=counts["refusals"],
            repairs=counts["repairs"], fallbacks=counts["fallbacks"], in_flight=in_flight, rate=rate,
            seconds=now - self._started, usage=self.usage, spent_usd=spent, possible_usd=possible,
            projected_usd=spent + (billed / done * left if paid else 0.0), budget_usd=budget,
            eta_s=left / rate if rate > 0 else None, billed_usd=billed,
        )  # fmt: skip


def render_progress(now: Snapshot) -> str:
    """A Markdown table for an artifact or a terminal."""
    percent = f" ({100 * now.done / now.total:.0f} %)" if now.total else ""
    total = f" of {now.total:,}" if now.total else ""
    success = 100 * (now.answered + now.cached) / now.done if now.done else 0.0
    failures = ", ".join(f"{count} {kind}" for kind, count in sorted(now.failures.items())) or "none"
    budget = f" of {now.budget_usd:,.2f}" if now.budget_usd is not None else ""
    eta = f", about {write_seconds(now.eta_s)} left" if now.eta_s is not None and now.total else ""
    rows = [
        ("Done", f"{now.done:,}{total}{percent}{eta}"),
        ("Rate", f"{now.rate:,.1f} requests/s, {now.in_flight} in flight"),
        ("Success", f"{success:.1f} % (without an answer: {failures})"),
        ("From the cache", f"{now.cached:,}"),
        (
            "Sent",
            f"{now.sent:,} ({now.retries} retries, {now.refusals} rate-limited, {now.repairs} sent back for repair)",
        ),
        ("Fall-backs", f"{now.fallbacks:,}"),
        ("Tokens", f"{now.usage.input:,} in ({now.usage.cached:,} cached), {now.usage.output:,} out"),
        ("Dollars", f"{now.spent_usd:,.4f}{budget} spent, {now.projected_usd:,.4f} projected"),
    ]
    if now.possible_usd:
        rows.append(("Possibly spent", f"{now.possible_usd:,.4f} dollars for requests whose answer was lost"))
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def write_seconds(seconds: float) -> str:
    """A span of time in words: 2 h 5 min, 3 min 1 s, 12 s."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
