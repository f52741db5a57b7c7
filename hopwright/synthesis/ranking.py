"""Which three of many possible wrong options: near the answer, of different kinds, and such that nothing shows.

Plausible options are made from the answer, so it tends to stand in their middle: the name most like the others, the
number from which the others are a step away, the commonest length. Where it is to stand is therefore drawn first,
uniformly for each trait that a reader could go by; of all threes, the one is taken that puts it nearest to there, and
among those plausibility decides.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hopwright.records import DistractorKind
from hopwright.synthesis.checks.choices import find_odd_trait

MOST_CANDIDATES = 10
_OFF_TARGET = 1.5
_FIRM = 6.0
_SAME_KIND = 0.7
_ODD_TRAIT = 8.0


@dataclass(frozen=True, slots=True)
class Candidate:
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
    answer: Candidate,
    candidates: Sequence[Candidate],
    likenesses: Sequence[Callable[[str, str], float]],
    rng: random.Random,
    *,
    fixed: int = 0,
    firm: int = 0,
) -> tuple[int, int, int] | None:
    """Choose three of the first ten candidates by their places; None where there are fewer than three.

    The first `fixed` of them are chosen in any case. `likenesses` compare two keys; how much an option is like the
    other three is a trait of it, once for each. The first `firm` traits go before everything else.
    """
    pool = candidates[:MOST_CANDIDATES]
    size = len(pool)
    targets = [rng.randrange(4) for _ in range(len(answer.traits) + len(likenesses))]
    costs = [
        [_miss(packed & 3, packed >> 2, target) * (_FIRM if place < firm else _OFF_TARGET) for packed in range(16)]
        for place, target in enumerate(targets)
    ]
    # Per candidate and trait: whether it lies below the answer (1) or level with it (4); sums of three fit in 16.
    stands = [
        [
            (one.traits[place] < own) + 4 * (one.traits[place] == own)  # type: ignore[operator]
            for place, own in enumerate(answer.traits)
        ]
        for one in pool
    ]
    pairs = [
        (
            [like(answer.key, one.key) for one in pool],
            [[like(pool[i].key, pool[j].key) if i < j else 0.0 for j in range(size)] for i in range(size)],
        )
        for like in likenesses
    ]
    ranked = []
    for three in itertools.combinations(range(size), 3):
        if three[:fixed] != tuple(range(fixed)):
            continue
        i, j, k = three
        cost = _SAME_KIND * (3 - len({pool[i].kind, pool[j].kind, pool[k].kind}))
        cost -= (pool[i].closeness + pool[j].closeness + pool[k].closeness) / 3
        place = 0
        for one, two, last in zip(stands[i], stands[j], stands[k], strict=True):
            cost += costs[place][one + two + last]
            place += 1
        for to_answer, between in pairs:
            own = to_answer[i] + to_answer[j] + to_answer[k]
            ij, ik, jk = between[i][j], between[i][k], between[j][k]
            sums = (to_answer[i] + ij + ik, to_answer[j] + ij + jk, to_answer[k] + ik + jk)
            cost += costs[place][sum(other < own for other in sums) + 4 * sum(other == own for other in sums)]
            place += 1
        ranked.append((cost, three))
    best: tuple[float, tuple[int, int, int]] | None = None
    for cost, three in sorted(ranked):
        if best is not None and cost >= best[0]:
            break
        odd = _ODD_TRAIT if find_odd_trait(answer.text, [pool[place].text for place in three]) else 0.0
        if best is None or cost + odd < best[0]:
            best = (cost + odd, three)
    return best[1] if best is not None else None


def _miss(below: int, level: int, target: int) -> int:
    """How many places the answer stands away from the one that was drawn for it; ties count for either."""
    return max(0, target - below - level, below - target)
