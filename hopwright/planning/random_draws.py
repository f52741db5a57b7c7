"""Draws that a plan makes by the thousand: what `random` gives for the same, without its checks of the arguments."""

from __future__ import annotations

import itertools
import random
from bisect import bisect
from collections.abc import Iterable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def draw(rng: random.Random, options: Sequence[_T]) -> _T:
    """One of the options, all alike; the one that `rng.choice` would take. They must not be empty."""
    size = len(options)
    bits = size.bit_length()
    while (place := rng.getrandbits(bits)) >= size:
        pass
    return options[place]


def draw_by_cumulative_weights(rng: random.Random, options: Sequence[_T], reached: Sequence[float]) -> _T:
    """One of the options by cumulative weights; the one that `rng.choices` would take."""
    return options[bisect(reached, rng.random() * reached[-1], 0, len(options) - 1)]


def draw_several(rng: random.Random, options: Sequence[_T], reached: Sequence[float], count: int) -> list[_T]:
    """So many of the options by cumulative weights, each anew; those that `rng.choices` would take."""
    total, last, uniform = reached[-1], len(options) - 1, rng.random
    return [options[bisect(reached, uniform() * total, 0, last)] for _ in range(count)]


def draw_by_weights(rng: random.Random, options: Sequence[_T], weights: Iterable[float]) -> _T:
    """One of the options by weight; the one that `rng.choices` would take."""
    return draw_by_cumulative_weights(rng, options, list(itertools.accumulate(weights)))
