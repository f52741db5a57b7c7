"""Whether what reads something takes about as long as the thing is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

_RUNS = 4
_TRIES = 4
_SHORT_S = 0.004
"""Below this, a machine's other work says more than the code's."""


def expect_linear(make: Callable[[int], Any], read: Callable[[Any], object], size: int) -> None:
    """Twice as much takes less than three times as long; what is quadratic takes four times.

    The shortest of some runs of processor time counts, and a machine that has other work gets further tries.
    """
    single, double = make(size), make(2 * size)
    ratios = []
    for _ in range(_TRIES):
        short, long = _measure(read, single), _measure(read, double)
        if long < max(3 * short, _SHORT_S):
            return
        ratios.append(long / short)
    raise AssertionError(f"twice as much takes {', '.join(f'{ratio:.1f}' for ratio in ratios)} times as long")


def _measure(read: Callable[[Any], object], value: Any) -> float:
    """Seconds of processor time."""
    times = []
    for _ in range(_RUNS):
        start = time.process_time()
        read(value)
        times.append(time.process_time() - start)
    return min(times)
