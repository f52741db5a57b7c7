"""Which three of many possible wrong options: near the answer, of different kinds, and such that nothing shows.

Plausible options are made from the answer, so it tends to stand in their middle: the name most like the others, the
commonest length, the best known. Where it is to stand is therefore drawn first, uniformly for each trait that a reader
could go by; of all threes, the one is taken that puts it nearest to there, and among those plausibility decides.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hopwright.synthesis.checks.choices import find_odd_trait

MOST_CANDIDATES = 8
_OFF_TARGET = 1.2
_SAME_KIND = 0.8
_ODD_TRAIT = 8.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may stand among the options, or the answer itself.

    `key`: what its likeness is known by. `closeness`: how plausible it is, the more the better, some points from worst
    to best. `traits`: what may be seen or known of it besides its likeness to the others: length, popularity, …
    """

    text: str
    key: str
    kind: str = ""
    closeness: float = 0.0
    traits: tuple[float, ...] = ()


def choose_three(
    answer: Candidate,
    candidates: Sequence[Candidate],
    likeness: Callable[[str, str], float],
    rng: random.Random,
    fixed: int = 0,
) -> tuple[int, int, int] | None:
    """Choose three of the first eight candidates by their places; None where there are fewer than three.

    The first `fixed` of them are chosen in any case. `likeness` compares two keys.
    """
    pool = candidates[:MOST_CANDIDATES]
    targets = [rng.randrange(4) for _ in range(len(answer.traits) + 1)]
    to_answer = [likeness(answer.key, one.key) for one in pool]
    alike = {
        (one, other): likeness(pool[one].key, pool[other].key)
        for one, other in itertools.combinations(range(len(pool)), 2)
    }
    ranked = []
    for three in itertools.combinations(range(len(pool)), 3):
        if three[:fixed] != tuple(range(fixed)):
            continue
        one, two, last = three
        picked = (pool[one], pool[two], pool[last])
        cost = _SAME_KIND * (3 - len({candidate.kind for candidate in picked}))
        cost -= sum(candidate.closeness for candidate in picked) / 3
        for place, (trait, target) in enumerate(zip(answer.traits, targets, strict=False)):
            cost += _OFF_TARGET * _miss([candidate.traits[place] for candidate in picked], trait, target)
        sums = [
            to_answer[one] + alike[one, two] + alike[one, last],
            to_answer[two] + alike[one, two] + alike[two, last],
            to_answer[last] + alike[one, last] + alike[two, last],
        ]
        cost += _OFF_TARGET * _miss(sums, to_answer[one] + to_answer[two] + to_answer[last], targets[-1])
        ranked.append((cost, three))
    best: tuple[float, tuple[int, int, int]] | None = None
    for cost, three in sorted(ranked):
        if best is not None and cost >= best[0]:
            break
        texts = [pool[place].text for place in three]
        odd = _ODD_TRAIT if find_odd_trait(answer.text, texts) else 0.0
        if best is None or cost + odd < best[0]:
            best = (cost + odd, three)
    return best[1] if best is not None else None


def _miss(others: Sequence[float], own: float, target: int) -> float:
    """How many places the answer stands away from the one that was drawn for it; ties count for either."""
    below = sum(other < own for other in others)
    level = sum(other == own for other in others)
    return max(0, target - below - level, below - target)
