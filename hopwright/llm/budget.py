"""A budget that is never exceeded: what is in flight counts at the most it can cost.

The rule: spent + possibly spent + reserved ≤ limit, at every moment. A request is sent only with a reservation of
the most it can cost; its answer replaces that by the bill. A request whose answer never arrived may have been billed,
so its reservation stays as "possibly spent". What a process may reserve it first leases in the store, durably: a
killed process leaves its lease behind, and what it did not settle counts as possibly spent, so several
workers, and a run continued after a kill, keep within the same limit.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from dataclasses import dataclass

from hopwright.errors import BudgetError
from hopwright.llm.store import SPEND, Statement, Store

_EPSILON = 1e-12
_SHARE = 1 / 64
"""Part of the limit that is leased at a time: what a killed process can leave unsettled beyond what was in flight."""


@dataclass(frozen=True, slots=True)
class Spending:
    """Dollars of a run: `spent` was billed, `possible` may have been, `reserved` is in flight."""

    limit: float | None
    spent: float
    possible: float
    reserved: float


class Budget:
    """The money of one run in one process. All methods belong to one event loop.

    `limit` None counts without limiting.
    """

    def __init__(self, limit: float | None, store: Store | None = None, run: str = "") -> None:
        self.limit = limit
        self.spent = 0.0
        self.possible = 0.0
        self.reserved = 0.0
        self._open = 0
        self._granted = 0.0 if store is not None else (limit or 0.0)
        self._store = store
        self._run = run
        self._lease = 0
        self._before = Spending(limit, 0.0, 0.0, 0.0)
        self._waiting: deque[asyncio.Future[None]] = deque()
        if store is not None:
            self._before = read_spending(store, run, limit)
            self._lease = int(store.transact(_OpenLease(run)))

    @property
    def lease(self) -> int:
        """The row of the store's ledger that this process settles into."""
        return self._lease

    def spending(self) -> Spending:
        """What the run spent so far, earlier and other processes' part as of this one's start included."""
        before = self._before
        return Spending(
            self.limit, before.spent + self.spent, before.possible + self.possible, before.reserved + self.reserved
        )

    async def reserve(self, worst: float) -> None:
        """Set aside the most that a request can cost.

        Waits while requests in flight may still come out cheaper. Raises BudgetError once nothing in
        flight could make room.
        """
        while not self.try_reserve(worst):
            if not self._open:
                raise self.explain(worst)
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await future

    def try_reserve(self, worst: float) -> bool:
        """As `reserve`, without waiting: False where there is no room now."""
        if self.limit is not None and worst > 0 and not self._fits(worst):
            return False
        self._open += 1
        self.reserved += worst
        return True

    def settle(self, worst: float, cost: float) -> None:
        """A reserved request was answered and billed with `cost`."""
        self._return(worst)
        self.spent += cost

    def release(self, worst: float) -> None:
        """A reserved request was not billed."""
        self._return(worst)

    def doubt(self, worst: float) -> None:
        """A reserved request may have been billed, but no answer came to tell how much."""
        self._return(worst)
        self.possible += worst

    def book(self, cost: float) -> None:
        """Count what was billed for a request that another process, or an earlier run, had reserved."""
        self.spent += cost

    def settle_statement(self, cost: float) -> list[Statement]:
        """What is written, together with the answer, when a request was billed."""
        if self._store is None or cost == 0:
            return []
        return [(SPEND, (cost, self._lease))]

    def explain(self, worst: float) -> BudgetError:
        """Return the error that stops the run before a request that may cost so much."""
        now = self.spending()
        possible = f" (and at most {now.possible:.4f} for requests whose answer was lost)" if now.possible else ""
        fact = (
            f"stopped before the budget of {self.limit:.2f} dollars is exceeded: {now.spent:.4f} spent{possible}, "
            f"and the next request may cost up to {worst:.4f}"
        )
        return BudgetError(f"{fact}; run the same command with a higher budget to continue", fact)

    def abort(self, error: Exception) -> None:
        """Let nobody wait for room any longer."""
        waiting, self._waiting = self._waiting, deque()
        for future in waiting:
            if not future.done():
                future.set_exception(error)

    def close(self) -> None:
        """Give back what was leased and not used."""
        if self._store is not None and self._lease:
            self._store.write_now([
                ("UPDATE leases SET open = 0, possible = ? WHERE id = ?", (self.possible + self.reserved, self._lease)),
            ])  # fmt: skip
            self._lease = 0

    def _return(self, worst: float) -> None:
        self._open -= 1
        self.reserved = max(0.0, self.reserved - worst) if self._open else 0.0
        waiting, self._waiting = self._waiting, deque()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def _fits(self, worst: float) -> bool:
        assert self.limit is not None
        needed = self.spent + self.possible + self.reserved + worst
        if needed <= self._granted + _EPSILON:
            return True
        if self._store is None:
            return False
        wish = max(needed - self._granted, self.limit * _SHARE)
        self._granted += float(
            self._store.transact(_Extend(self._run, self._lease, self.limit, wish, needed - self._granted))
        )
        return needed <= self._granted + _EPSILON


def read_spending(store: Store, run: str, limit: float | None = None) -> Spending:
    """What the run's processes, finished, killed and running, have spent, may have spent and hold."""
    rows = store.read("SELECT granted, spent, possible, open FROM leases WHERE run = ?", (run,))
    return Spending(
        limit,
        spent=sum(row[1] for row in rows),
        possible=sum(row[2] for row in rows if not row[3]),
        reserved=sum(max(0.0, row[0] - row[1]) for row in rows if row[3]),
    )


class _OpenLease:
    def __init__(self, run: str) -> None:
        self._run = run

    def __call__(self, connection: sqlite3.Connection) -> int | None:
        return connection.execute("INSERT INTO leases (run, granted) VALUES (?, 0)", (self._run,)).lastrowid


class _Extend:
    """Grants as much of a wish as the limit leaves over all leases of the run, or nothing if less than needed."""

    def __init__(self, run: str, lease: int, limit: float, wish: float, needed: float) -> None:
        self._run, self._lease, self._limit, self._wish, self._needed = run, lease, limit, wish, needed

    def __call__(self, connection: sqlite3.Connection) -> float:
        rows = connection.execute("SELECT granted, spent, possible, open FROM leases WHERE run = ?", (self._run,))
        # An open lease counts in full: whoever holds it, or was killed holding it, may have used it all.
        taken = sum(max(row[0], row[1]) if row[3] else row[1] + row[2] for row in rows)
        grant = min(self._wish, self._limit - taken)
        if grant + _EPSILON < self._needed or grant <= 0:
            return 0.0
        connection.execute("UPDATE leases SET granted = granted + ? WHERE id = ?", (grant, self._lease))
        return float(grant)
