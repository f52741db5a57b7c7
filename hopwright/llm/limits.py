"""How much may be asked of one model at once: the arithmetic, free of clocks and event loops.

`AdaptiveLimit` finds the concurrency that a server bears; `Meter` keeps a per-minute quantity under what was
configured and under what the server's headers say is left.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

WINDOW_S = 60.0


class AdaptiveLimit:
    """Additive growth, one cut per burst of refusals.

    Until the first refusal the limit grows by one per answer, so it doubles per round trip from `start`.
    A burst of refusals (of requests sent before the cut) cuts it once: to what the server did bear, never below a
    quarter. The level that was refused is then left alone for `hold_s`, longer each time it is met again, and
    after that the limit grows by one per round trip.
    """

    def __init__(self, start: int, ceiling: int, hold_s: float = 15.0) -> None:
        self.ceiling = ceiling
        self.limit = float(max(1, min(start, ceiling)))
        self.in_flight = 0
        self.cuts = 0
        self._full = False
        self._hold_s = hold_s
        self._hold_until = 0.0
        self._next_hold_s = hold_s
        self._before = 0
        self._refused = 0

    @property
    def free(self) -> bool:
        """Whether one more may be sent now."""
        return self.in_flight < min(int(self.limit), self.ceiling)

    def send(self) -> int:
        """Count one more in flight; the epoch returned goes with the request."""
        self.in_flight += 1
        self._full = self._full or self.in_flight >= int(self.limit)
        return self.cuts

    def finish(self) -> None:
        """Count one less in flight, whatever came of it."""
        self.in_flight -= 1

    def answer(self, epoch: int, now: float) -> None:
        """An answer came for a request of that epoch; called before `finish`."""
        if self.in_flight < self.limit / 2:
            # A limit that is not used is no evidence that more would be borne.
            self._full = False
        if epoch != self.cuts or not self._full or now < self._hold_until:
            return
        growth = 1.0 if self.cuts == 0 else 1.0 / self.limit
        self.limit = min(float(self.ceiling), self.limit + growth)

    def refuse(self, epoch: int, now: float) -> bool:
        """A refusal came for a request of that epoch; called before `finish`. True for the first of a burst."""
        first = epoch == self.cuts
        if first:
            self.cuts += 1
            self._before, self._refused = self.in_flight, 0
            self._next_hold_s = self._hold_s if now > self._hold_until + self._next_hold_s else self._next_hold_s * 2
            self._hold_until = now + min(self._next_hold_s, 20 * self._hold_s)
        # Refusals of an older epoch belong to the burst that was cut for.
        self._refused += 1
        self.limit = float(max(1, self._before // 4, min(self._before - self._refused, int(self.limit))))
        return first

    def adopt_cut(self, now: float) -> None:
        """Another worker of the run was refused: cut here too, once."""
        self.cuts += 1
        self.limit = max(1.0, self.limit / 2)
        self._hold_until = now + self._hold_s


@dataclass(frozen=True, slots=True)
class Headroom:
    """What a response's headers say of one quantity: the limit, what is left of it, and when it is full again."""

    limit: float
    remaining: float
    reset_s: float


class Meter:
    """One quantity per minute.

    The sum over any 60 s never exceeds `limit`; one request larger than the limit goes alone. What the
    headers said is left is counted down by every send and refills as the server said it would.
    """

    def __init__(self, limit: float | None = None) -> None:
        self.limit = limit
        self._recent: deque[list[float]] = deque()
        self._sum = 0.0
        self._headroom: Headroom | None = None
        self._heard_at = 0.0
        self._taken_since = 0.0
        self._pending = 0.0

    def delay(self, amount: float, now: float) -> float:
        """Seconds until `amount` may be sent; 0: now."""
        return max(self._window_delay(amount, now), self._headroom_delay(amount, now))

    def take(self, amount: float, now: float) -> list[float] | None:
        """Count `amount` as sent now; the entry returned is for `settle`."""
        self._pending += amount
        self._taken_since += amount
        if self.limit is None:
            return None
        entry = [now, amount]
        self._recent.append(entry)
        self._sum += amount
        return entry

    def settle(self, entry: list[float] | None, taken: float, actual: float) -> None:
        """Replace the estimate `taken` by what it turned out to be."""
        self._pending = max(0.0, self._pending - taken)
        if entry is not None and entry[0] >= 0:
            self._sum += actual - entry[1]
            entry[1] = actual

    def learn(self, headroom: Headroom, now: float) -> None:
        """Take over what the server says. What is in flight is counted as not yet known to it."""
        self._headroom = headroom
        self._heard_at = now
        self._taken_since = self._pending

    def _window_delay(self, amount: float, now: float) -> float:
        if self.limit is None:
            return 0.0
        recent = self._recent
        while recent and recent[0][0] <= now - WINDOW_S:
            entry = recent.popleft()
            self._sum -= entry[1]
            entry[0] = -1.0
        if not recent or self._sum + amount <= self.limit:
            return 0.0
        excess, until = self._sum + amount - self.limit, now
        for moment, part in recent:
            excess -= part
            until = moment + WINDOW_S
            if excess <= 1e-9:
                break
        return max(until - now, 1e-3)

    def _headroom_delay(self, amount: float, now: float) -> float:
        known = self._headroom
        if known is None or known.limit <= 0:
            return 0.0
        since = now - self._heard_at
        if since >= max(known.reset_s, 0.0):
            available = known.limit
        else:
            available = known.remaining + (known.limit - known.remaining) * since / known.reset_s
        available -= self._taken_since
        # What refills in fractions of a token never adds up exactly.
        if available >= amount - 1e-9 * known.limit or (self._pending <= 0 and since >= known.reset_s):
            return 0.0
        if known.reset_s <= 0:
            return 0.0
        missing, rate = amount - available, (known.limit - known.remaining) / known.reset_s
        if since >= known.reset_s:  # all is back; what is under way has to come back as well
            return max(1e-3, min(missing / max(rate, known.limit / WINDOW_S / 10), 1.0))
        left = known.reset_s - since
        return max(1e-3, min(missing / rate, left) if rate > 0 else left)
