"""The progress of a run over all its worker processes, as each of them reports it in the store."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping

from hopwright.llm.budget import read_spending
from hopwright.llm.progress import Snapshot
from hopwright.llm.store import Statement, Store
from hopwright.llm.types import TokenUsage

_ALIVE_S = 5.0
_SUMS = ("total", "done", "answered", "cached", "failed", "sent", "retries", "refusals", "repairs", "fallbacks")


def report_statement(run: str, worker: str, at: float, snapshot: Snapshot) -> Statement:
    """What is written for one worker's progress; its earlier report goes."""
    return (
        "INSERT OR REPLACE INTO reports VALUES (?, ?, ?, ?)",
        (run, worker, at, json.dumps(snapshot.to_dict(), ensure_ascii=False)),
    )


def read_reports(store: Store, run: str) -> dict[str, tuple[float, Snapshot]]:
    """Each worker's last report and its moment, the workers of earlier starts included."""
    found = {}
    for worker, at, text in store.read("SELECT id, at, snapshot FROM reports WHERE run = ?", (run,)):
        values = json.loads(text)
        found[worker] = (at, Snapshot(**{**values, "usage": TokenUsage(**values["usage"])}))
    return found


def gather_progress(
    store: Store, run: str, *, since: Mapping[str, Snapshot], began: float, limit: float | None, growth: float = 1.0,
) -> Snapshot:  # fmt: skip
    """The progress of all workers of a run since the reports `since`, which were read at `began` (time.time()).

    `growth` is by how much the work will outgrow what the workers have been given so far. The dollars are the whole
    run's, as the ledger has them; `projected_usd` adds what the rest will cost if it costs what this part did.
    """
    now = time.time()
    sums = Counter[str]()
    failures = Counter[str]()
    usage = TokenUsage()
    rate, in_flight, spent_here = 0.0, 0, 0.0
    for worker, (at, snapshot) in read_reports(store, run).items():
        before = since.get(worker)
        if before is None and at < began:
            continue
        for name in _SUMS:
            sums[name] += getattr(snapshot, name) - (getattr(before, name) if before else 0)
        failures.update(snapshot.failures)
        failures.subtract(before.failures if before else {})
        usage = usage + snapshot.usage - (before.usage if before else TokenUsage())
        if at > now - _ALIVE_S:
            rate += snapshot.rate
            in_flight += snapshot.in_flight
        spent_here += snapshot.billed_usd - (before.billed_usd if before else 0.0)
    money = read_spending(store, run, limit)
    total = max(sums["done"], round(sums["total"] * growth))
    left = total - sums["done"]
    paid = sums["answered"] + sums["failed"]
    # What came from the cache will go on coming from there.
    ahead = left * (spent_here / sums["done"]) if sums["done"] and paid else 0.0
    return Snapshot(
        **{name: sums[name] for name in _SUMS if name != "total"}, total=total,
        failures={kind: count for kind, count in failures.items() if count > 0}, in_flight=in_flight, rate=rate,
        seconds=max(0.0, now - began), usage=usage, spent_usd=money.spent, possible_usd=money.possible,
        projected_usd=money.spent + ahead, budget_usd=limit, eta_s=left / rate if rate > 0 else None,
        billed_usd=spent_here,
    )  # fmt: skip
