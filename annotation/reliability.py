"""Reliability of judgements: Krippendorff's alpha, Fleiss' kappa, percent agreement, bootstrap intervals.

The coefficients themselves come from `krippendorff` and `statsmodels`; what they do not offer, intervals, is worked
out here on all resamples at once. The sum over units that alpha is made of (Krippendorff, Content Analysis, 4th
edition, section 12.3) is linear in the units, so a resample is a weighting of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Level = Literal["nominal", "ordinal"]
Counts = NDArray[np.int64]
"""Units × values: how many raters gave a unit that value. Units with fewer than two ratings say nothing."""

DRAWS = 1000
COVERAGE = 0.95


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """A coefficient with its interval; None where it is not defined (nobody disagrees on anything that varies)."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Reliability:
    """What the ratings of one criterion say. `units` counts those rated at least twice, `ratings` theirs.

    `fleiss` is None unless all units have equally many ratings; `within_one` (share of pairs at most one point apart)
    is None for nominal values.
    """

    units: int
    ratings: int
    alpha: IntervalEstimate
    fleiss: IntervalEstimate
    percent: IntervalEstimate
    within_one: float | None


def count_values(rows: Sequence[Sequence[int]], values: int) -> Counts:
    """Ratings of each unit, as codes 0 to values - 1, to counts."""
    counts = np.zeros((len(rows), values), np.int64)
    for unit, codes in enumerate(rows):
        for code in codes:
            counts[unit, code] += 1
    return counts


def measure(
    counts: Counts, level: Level, clusters: Sequence[int] | None = None, *, seed: int = 0, draws: int = DRAWS
) -> Reliability:
    """Every coefficient of a table of counts.

    `clusters` names for each unit what it is resampled with: the hops of one item stand or fall together. The values
    are ordered when `level` is ordinal. Same input and seed, same result.
    """
    rated = counts.sum(axis=1) >= 2
    counts = counts[rated]
    labels = np.arange(len(counts)) if clusters is None else np.asarray(clusters)[rated]
    if not len(counts):
        nothing = IntervalEstimate(None)
        return Reliability(0, 0, nothing, nothing, nothing, None)
    resample = _Resample(labels, draws, seed)
    pairs = list_pairs(counts)
    return Reliability(
        units=len(counts),
        ratings=int(counts.sum()),
        alpha=_enclose(find_alpha(counts, level), _resample_alpha(counts, level, resample)),
        fleiss=_enclose(find_fleiss(counts), _resample_fleiss(counts, resample)),
        percent=_enclose(_share(pairs.sum(axis=0), 0), _resample_share(pairs, resample)),
        within_one=_share(pairs.sum(axis=0), 1) if level == "ordinal" else None,
    )


def find_alpha(counts: Counts, level: Level) -> float | None:
    """Krippendorff's alpha; None where no two values differ."""
    import krippendorff

    counts = counts[counts.sum(axis=1) >= 2]
    if np.count_nonzero(counts.sum(axis=0)) < 2:
        return None
    found = krippendorff.alpha(
        value_counts=counts, value_domain=np.arange(counts.shape[1], dtype=float), level_of_measurement=level
    )
    return _keep_number(float(found))


def find_fleiss(counts: Counts) -> float | None:
    """Fleiss' kappa; None where raters per unit differ or no two values differ."""
    from statsmodels.stats.inter_rater import fleiss_kappa

    raters = counts.sum(axis=1)
    if not len(counts) or raters.min() != raters.max() or raters[0] < 2 or np.count_nonzero(counts.sum(axis=0)) < 2:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _keep_number(float(fleiss_kappa(counts)))


def find_cohen(table: NDArray[np.int64]) -> float | None:
    """Cohen's kappa of a square table of two raters; None where one of them never varies."""
    from statsmodels.stats.inter_rater import cohens_kappa

    if table.sum() == 0 or np.count_nonzero(table.sum(axis=0)) < 2 or np.count_nonzero(table.sum(axis=1)) < 2:
        return None
    return _keep_number(float(cohens_kappa(table, return_results=False)))


def find_interval(hits: int, trials: int) -> IntervalEstimate:
    """A share with Wilson's interval."""
    from statsmodels.stats.proportion import proportion_confint

    if not trials:
        return IntervalEstimate(None)
    low, high = proportion_confint(hits, trials, alpha=1 - COVERAGE, method="wilson")
    return IntervalEstimate(hits / trials, max(0.0, float(low)), min(1.0, float(high)))


def list_pairs(counts: Counts) -> NDArray[np.int64]:
    """Unit → pairs of ratings that are equal, at most one value apart, and all of them (units × 3)."""
    raters = counts.sum(axis=1)
    equal = (counts * (counts - 1)).sum(axis=1) // 2
    near = equal + (counts[:, 1:] * counts[:, :-1]).sum(axis=1)
    return np.stack([equal, near, raters * (raters - 1) // 2], axis=1)


class _Resample:
    """Draws of clusters with replacement; the units of a cluster are drawn together."""

    def __init__(self, clusters: NDArray[np.int64], draws: int, seed: int) -> None:
        _, self._position = np.unique(clusters, return_inverse=True)
        self._size = int(self._position.max()) + 1
        # Draws × clusters: how often each resample holds a cluster.
        self._weights = (
            np.random.default_rng(seed)
            .multinomial(self._size, np.full(self._size, 1 / self._size), size=draws)
            .astype(np.float64)
        )

    def total(self, each: NDArray[np.float64]) -> NDArray[np.float64]:
        """Units × columns to draws × columns: the sums over each resample's units."""
        summed = np.zeros((self._size, each.shape[1]))
        np.add.at(summed, self._position, each)
        result: NDArray[np.float64] = self._weights @ summed
        return result


def _list_coincidences(counts: Counts) -> NDArray[np.float64]:
    """Unit → its coincidence matrix: ordered pairs of its ratings, over the number of ratings less one."""
    outer = (counts[:, :, None] * counts[:, None, :]).astype(np.float64)
    diagonal = np.arange(counts.shape[1])
    outer[:, diagonal, diagonal] -= counts
    result: NDArray[np.float64] = outer / (counts.sum(axis=1) - 1)[:, None, None]
    return result


def _resample_alpha(counts: Counts, level: Level, resample: _Resample) -> NDArray[np.float64]:
    values = counts.shape[1]
    coincidences = resample.total(_list_coincidences(counts).reshape(len(counts), -1)).reshape(-1, values, values)
    margins = coincidences.sum(axis=2)
    if level == "nominal":
        distance = np.broadcast_to(1 - np.eye(values), coincidences.shape)
    else:  # the ratings between two values, those of the two themselves by half
        rank = margins.cumsum(axis=1) - margins / 2
        distance = (rank[:, :, None] - rank[:, None, :]) ** 2
    observed = (coincidences * distance).sum(axis=(1, 2))
    expected = (margins[:, :, None] * margins[:, None, :] * distance).sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        result: NDArray[np.float64] = 1 - (margins.sum(axis=1) - 1) * observed / expected
    return result


def _resample_fleiss(counts: Counts, resample: _Resample) -> NDArray[np.float64]:
    raters = counts.sum(axis=1)
    if raters.min() != raters.max():
        return np.empty(0)
    agreed = (counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))
    drawn = resample.total(np.column_stack([np.ones(len(counts)), agreed, counts]))
    size = drawn[:, 0]
    observed = drawn[:, 1] / size
    expected = ((drawn[:, 2:] / (size * raters[0])[:, None]) ** 2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        result: NDArray[np.float64] = (observed - expected) / (1 - expected)
    return result


def _resample_share(pairs: NDArray[np.int64], resample: _Resample) -> NDArray[np.float64]:
    drawn = resample.total(pairs.astype(np.float64))
    result: NDArray[np.float64] = drawn[:, 0] / drawn[:, 2]
    return result


def _share(pairs: NDArray[np.int64], which: int) -> float:
    return float(pairs[which] / pairs[2])


def _enclose(value: float | None, resampled: NDArray[np.float64]) -> IntervalEstimate:
    """The value with the percentiles of its resamples; resamples in which nothing varies are left out."""
    usable = resampled[np.isfinite(resampled)]
    if value is None or not len(usable):
        return IntervalEstimate(value)
    margin = 100 * (1 - COVERAGE) / 2
    low, high = np.percentile(usable, [margin, 100 - margin])
    return IntervalEstimate(value, float(low), float(high))


def _keep_number(value: float) -> float | None:
    return value if np.isfinite(value) else None
