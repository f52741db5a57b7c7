"""How far voters agree beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def measure_fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float | None:
    """Fleiss' kappa (1971) of items that were each rated by the same number of raters; None where it is undefined.

    1 is perfect agreement, 0 what chance would give. Undefined without items, with one rater, or when all ratings are
    one and the same.
    """
    raters = {len(row) for row in ratings}
    if len(raters) != 1 or (count := raters.pop()) < 2:
        return None
    totals: Counter[Hashable] = Counter()
    agreed = 0.0
    for row in ratings:
        counts = Counter(row)
        totals.update(counts)
        agreed += (sum(number * number for number in counts.values()) - count) / (count * (count - 1))
    observed = agreed / len(ratings)
    expected = sum((number / totals.total()) ** 2 for number in totals.values())
    return None if expected == 1 else (observed - expected) / (1 - expected)


def measure_cohen_kappa(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Cohen's kappa of two raters; None where it is undefined, as for Fleiss'."""
    if not pairs:
        return None
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    observed = sum(one == other for one, other in pairs) / len(pairs)
    expected = sum(first[option] * second[option] for option in first) / len(pairs) ** 2
    return None if expected == 1 else (observed - expected) / (1 - expected)
