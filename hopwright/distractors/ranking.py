"""Which three of many possible wrong options: near the answer, of different kinds, and such that nothing shows.

Plausible options are made from the answer, so it tends to stand in their middle: the name most like the others, the
number from which the others are a step away, the commonest length. Where it is to stand is therefore drawn first,
uniformly for each trait that a reader could go by; of all threes, the one is taken that puts it nearest to there, and
among those plausibility decides.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwright.checks.choices import find_odd_trait
from hopwright.checks.guessing import FORM_MARKS, count_digit_edits, encode_form
from hopwright.records import DistractorKind

MOST_CANDIDATES = 10
_OFF_TARGET = 1.5
_SAME_KIND = 1.0
_ODD_TRAIT = 12.0
_EDITED = 6.0
_OTHER_FORM = 1.5
_LEVEL = 1e-9
_Ints = npt.NDArray[np.intp]
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OptionCandidate:
    """A text that may stand among the options, or the answer itself.

    `key`: what its likeness is known by. `closeness`: how plausible it is, the more the better, some points from worst
    to best. `traits`: what may be seen or known of it besides its likeness to the others: length, popularity, …
    """

    text: str
    key: str
    kind: DistractorKind = "sibling"
    closeness: float = 0.0
    traits: tuple[float | str, ...] = ()


def choose_three(
    answer: OptionCandidate,
    candidates: Sequence[OptionCandidate],
    likenesses: Sequence[Callable[[str, str], float]],
    rng: random.Random,
    *,
    fixed: int = 0,
    targets: Sequence[int] = (),
    weights: Sequence[float] = (),
    most_siblings: int = 3,
) -> tuple[int, int, int] | None:
    """Choose three of the first ten candidates by their places; None where there are fewer than three.

    The first `fixed` of them are chosen in any case. `likenesses` compare two keys. `targets`: where the answer shall
    stand (0–3, the number of options below it) by each trait, by how much it has the others' form, and by how much it
    is like them, once for each likeness; drawn where they are not given. `weights`: what it costs to stand one place
    away from there, in points of closeness. `most_siblings`: how many may be merely of the answer's sort; None is
    returned where no three of the candidates keep to that.
    """
    pool = candidates[:MOST_CANDIDATES]
    if len(pool) < 3:
        return None
    stand = [*targets] or [rng.randrange(4) for _ in range(len(answer.traits) + 1 + len(likenesses))]
    prices = [_PRICES[target] for target in stand]
    prices = [price * weight for price, weight in zip(prices, weights or [_OFF_TARGET] * len(prices), strict=True)]
    one, two, last = threes = _list_threes(len(pool), fixed)
    if most_siblings < 3:
        merely = np.array([candidate.kind == "sibling" for candidate in pool], dtype=np.intp)
        kept = merely[one] + merely[two] + merely[last] <= most_siblings
        if not kept.any():
            return None
        one, two, last = threes = (one[kept], two[kept], last[kept])
    cost = _SAME_KIND * (3 - _count_kinds(pool, threes))
    closeness = np.array([candidate.closeness for candidate in pool])
    cost -= (closeness[one] + closeness[two] + closeness[last]) / 3
    forms = np.array([encode_form(candidate.text) for candidate in (answer, *pool)])
    shared = (forms[:, None, :] == forms[None, :, :]).sum(axis=2)
    alien = FORM_MARKS - shared[0, 1:]
    cost += _OTHER_FORM * (alien[one] + alien[two] + alien[last])
    for place, own in enumerate(answer.traits):
        # Whether a candidate lies below the answer (1) or level with it (4): sums of three fit in 16.
        stands = np.array([(c.traits[place] < own) + 4 * (c.traits[place] == own) for c in pool])  # type: ignore[operator]
        cost += prices[place][stands[one] + stands[two] + stands[last]]
    keys = [candidate.key for candidate in pool]
    size = len(keys)
    likeness = np.zeros((1 + len(likenesses), 1 + size, size))  # the answer's row first, then the candidates'
    likeness[0] = shared[:, 1:]
    for place, like in enumerate(likenesses, start=1):
        likeness[place, 0] = [like(answer.key, other) for other in keys]
        for i in range(size - 1):
            likeness[place, 1 + i, i + 1 :] = [like(keys[i], other) for other in keys[i + 1 :]]
    stands = _stand_by_likeness(likeness[:, 0], likeness[:, 1:], threes)
    for price, stand_by in zip(prices[len(answer.traits) :], stands, strict=True):
        cost += price[stand_by]
    best: tuple[float, int] | None = None
    for row in np.argsort(cost, kind="stable"):
        if best is not None and cost[row] >= best[0]:
            break
        odd = find_odd_trait(answer.text, [pool[place].text for place in (one[row], two[row], last[row])])
        four = (answer.text, *(pool[place].text for place in (one[row], two[row], last[row])))
        price = float(cost[row]) + _ODD_TRAIT * bool(odd) + _EDITED * count_digit_edits(four)
        if best is None or price < best[0]:
            best = (price, int(row))
    assert best is not None
    return int(one[best[1]]), int(two[best[1]]), int(last[best[1]])


@functools.cache
def _list_threes(size: int, fixed: int) -> tuple[_Ints, _Ints, _Ints]:
    """All threes of so many places that hold the first `fixed`, as three columns in ascending order."""
    start = tuple(range(fixed))
    threes = [three for three in itertools.combinations(range(size), 3) if three[:fixed] == start]
    one, two, last = np.array(threes, dtype=np.intp).T
    return one, two, last


def _count_kinds(pool: Sequence[OptionCandidate], threes: tuple[_Ints, _Ints, _Ints]) -> _Floats:
    codes = {kind: code for code, kind in enumerate(dict.fromkeys(candidate.kind for candidate in pool))}
    one, two, last = (np.array([codes[candidate.kind] for candidate in pool])[column] for column in threes)
    kinds: _Floats = 1.0 + (two != one) + ((last != one) & (last != two))
    return kinds


def _stand_by_likeness(
    to_answer: npt.NDArray[Any], between: npt.NDArray[Any], threes: tuple[_Ints, _Ints, _Ints]
) -> _Ints:
    """How the answer stands among each three by how much it is like the rest: below (1 each), level (4 each).

    to_answer: for each kind of likeness, that of each candidate to the answer; between: of candidate i to candidate j,
    for i < j.
    """
    one, two, last = threes
    first, second, third = to_answer[:, one], to_answer[:, two], to_answer[:, last]
    own = first + second + third
    ij, ik, jk = between[:, one, two], between[:, one, last], between[:, two, last]
    stands = np.zeros(own.shape, dtype=np.intp)
    for rival in (first + ij + ik, second + ij + jk, third + ik + jk):
        level = np.abs(rival - own) < _LEVEL
        stands += ((rival < own) & ~level) + 4 * level
    return stands


def _miss(below: int, level: int, target: int) -> int:
    """How many places the answer stands away from the one that was drawn for it; ties count for either."""
    return max(0, target - below - level, below - target)


_PRICES = np.array([[float(_miss(packed & 3, packed >> 2, target)) for packed in range(16)] for target in range(4)])
"""Target → how the answer stands (those below it + 4 × those level with it) → places off."""
