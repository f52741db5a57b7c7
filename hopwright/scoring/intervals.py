"""Intervals of 95 %: Wilson's for shares, and percentile intervals over seeded resamples of clusters.

A cluster is what is drawn together, such as all answers about one item. A resample is a row of weights (how often it
holds each cluster), so that every statistic made of sums is worked out on all resamples at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

DRAWS = 1000
COVERAGE = 0.95
_MOST_WEIGHTS = 4_000_000
"""Weights that are held at once: 32 MB."""


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """A figure with its interval; None where it is not defined."""

    value: float | None
    low: float | None = None
    high: float | None = None


class MeanEstimate(NamedTuple):
    """A mean with its interval."""

    mean: float
    low: float
    high: float


class Resamples:
    """Draws of clusters with replacement; the rows of a cluster are drawn together. The same seed, the same draws."""

    def __init__(self, clusters: ArrayLike, draws: int, seed: int | Sequence[int]) -> None:
        _, self._position = np.unique(np.asarray(clusters), return_inverse=True)
        self._size = int(self._position.max()) + 1
        self._draws = draws
        self._seed = seed
        self._weights = list(self._draw()) if self._size * draws <= _MOST_WEIGHTS else None

    def total(self, each: NDArray[np.float64] | NDArray[np.int64]) -> Floats:
        """Rows × columns to draws × columns: the sums over each resample's rows."""
        summed = np.zeros((self._size, each.shape[1]))
        np.add.at(summed, self._position, each)
        return np.concatenate([weights @ summed for weights in self._weights or self._draw()])

    def _draw(self) -> Iterator[Floats]:
        """Blocks of draws × clusters: how often each resample holds a cluster."""
        rng = np.random.default_rng(self._seed)
        step = max(1, _MOST_WEIGHTS // self._size)
        for first in range(0, self._draws, step):
            count = min(step, self._draws - first)
            yield rng.multinomial(self._size, np.full(self._size, 1 / self._size), size=count).astype(np.float64)


def resample_ratio(sums: Floats, counts: Floats, seed: int | Sequence[int], draws: int = DRAWS) -> tuple[float, float]:
    """The interval of sum(sums) / sum(counts), one number of each per cluster; NaN where nothing was counted."""
    if not len(sums) or not counts.sum():
        return float("nan"), float("nan")
    drawn = Resamples(np.arange(len(sums)), draws, seed).total(np.column_stack([sums, counts]))
    drawn = drawn[drawn[:, 1] > 0]
    return find_percentiles(drawn[:, 0] / drawn[:, 1])


def resample_mean(values: Sequence[float], *, seed: int, key: str = "", draws: int = DRAWS) -> MeanEstimate:
    """The mean of values with its interval, to four digits; all zero where there are no values.

    Different keys give different draws of one seed.
    """
    if not values:
        return MeanEstimate(0.0, 0.0, 0.0)
    seeds = list(f"{seed}:bootstrap:{key}".encode())
    low, high = resample_ratio(np.asarray(values, np.float64), np.ones(len(values)), seeds, draws)
    return MeanEstimate(round(sum(values) / len(values), 4), round(low, 4), round(high, 4))


def find_percentiles(values: Floats) -> tuple[float, float]:
    """The bounds between which 95 % of the values lie."""
    margin = 100 * (1 - COVERAGE) / 2
    low, high = np.percentile(values, [margin, 100 - margin])
    return float(low), float(high)


def find_share(hits: int, trials: int) -> IntervalEstimate:
    """A share with Wilson's interval (1927, without continuity correction)."""
    from scipy import stats  # takes a second

    if not trials:
        return IntervalEstimate(None)
    bounds = stats.binomtest(hits, trials).proportion_ci(COVERAGE, "wilson")
    return IntervalEstimate(hits / trials, float(bounds.low), float(bounds.high))
