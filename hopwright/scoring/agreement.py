"""Agreement of raters: Krippendorff's alpha, Cohen's and Fleiss' kappa, percent agreement, bootstrap intervals.

Alpha comes from `krippendorff`; what it does not offer, intervals, is worked out here on all resamples at once. The
sum over units that alpha is made of (Krippendorff, Content Analysis, 4th edition, section 12.3) is linear in the units,
so a resample is a weighting of it; so are Fleiss' kappa (1971) and percent agreement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hopwright.scoring.intervals import DRAWS, Floats, IntervalEstimate, Resamples, find_percentiles

Level = Literal["nominal", "ordinal"]
Counts = NDArray[np.int64]
"""Units × values: how many raters gave a unit that value. Units with fewer than two ratings say nothing."""


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
    resample = Resamples(labels, draws, seed)
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
    """Fleiss' kappa; None where raters per unit differ, are fewer than two, or no two values differ."""
    raters = counts.sum(axis=1)
    if not len(counts) or raters.min() != raters.max() or raters[0] < 2 or np.count_nonzero(counts.sum(axis=0)) < 2:
        return None
    return float(_form_fleiss(_list_fleiss_terms(counts).sum(axis=0, keepdims=True))[0])


def find_cohen(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Cohen's kappa of two raters' values, unit by unit; None where both give one and the same value throughout."""
    if not pairs:
        return None
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    observed = sum(one == other for one, other in pairs) / len(pairs)
    expected = sum(first[value] * second[value] for value in first) / len(pairs) ** 2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def list_pairs(counts: Counts) -> NDArray[np.int64]:
    """Unit → pairs of ratings that are equal, at most one value apart, and all of them (units × 3)."""
    raters = counts.sum(axis=1)
    equal = (counts * (counts - 1)).sum(axis=1) // 2
    near = equal + (counts[:, 1:] * counts[:, :-1]).sum(axis=1)
    return np.stack([equal, near, raters * (raters - 1) // 2], axis=1)


def _list_coincidences(counts: Counts) -> Floats:
    """Unit → its coincidence matrix: ordered pairs of its ratings, over the number of ratings less one."""
    outer = (counts[:, :, None] * counts[:, None, :]).astype(np.float64)
    diagonal = np.arange(counts.shape[1])
    outer[:, diagonal, diagonal] -= counts
    result: Floats = outer / (counts.sum(axis=1) - 1)[:, None, None]
    return result


def _resample_alpha(counts: Counts, level: Level, resample: Resamples) -> Floats:
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
        result: Floats = 1 - (margins.sum(axis=1) - 1) * observed / expected
    return result


def _resample_fleiss(counts: Counts, resample: Resamples) -> Floats:
    raters = counts.sum(axis=1)
    return _form_fleiss(resample.total(_list_fleiss_terms(counts))) if raters.min() == raters.max() else np.empty(0)


def _list_fleiss_terms(counts: Counts) -> Floats:
    """Unit → 1, the share of its pairs of raters that agree, and its counts: what Fleiss' kappa sums up."""
    raters = counts.sum(axis=1)
    agreed = (counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))
    return np.column_stack([np.ones(len(counts)), agreed, counts])


def _form_fleiss(sums: Floats) -> Floats:
    """Draws × summed terms to the kappa of each draw; not finite where nothing varies."""
    totals = sums[:, 2:]
    observed = sums[:, 1] / sums[:, 0]
    expected = ((totals / totals.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = (observed - expected) / (1 - expected)
    return result


def _resample_share(pairs: NDArray[np.int64], resample: Resamples) -> Floats:
    drawn = resample.total(pairs)
    result: Floats = drawn[:, 0] / drawn[:, 2]
    return result


def _share(pairs: NDArray[np.int64], which: int) -> float:
    return float(pairs[which] / pairs[2])


def _enclose(value: float | None, resampled: Floats) -> IntervalEstimate:
    """The value with the percentiles of its resamples; resamples in which nothing varies are left out."""
    usable = resampled[np.isfinite(resampled)]
    if value is None or not len(usable):
        return IntervalEstimate(value)
    return IntervalEstimate(value, *find_percentiles(usable))


def _keep_number(value: float) -> float | None:
    return value if np.isfinite(value) else None
