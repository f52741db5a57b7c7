"""How probable each bearer of a name is, and that the name means somebody whom the graph does not hold.

A logistic choice model: every candidate has a score, and so has the outcome that nobody in the graph is meant. Where a
text describes what bears the name, the outcome that it does not tell which of several is meant has one, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TOLD: dict[str, float] = {
    "class_words": -0.36,
    "degree": 1.25,
    "degree_in_text": 0.04,
    "description": 2.52,
    "fact": 5.0,
    "found": 0.83,
    "kind_asked": 1.08,
    "kind_told": -0.08,
    "label": 1.05,
    "lead": 1.06,
    "mentions": 4.34,
    "misfit_told": -0.7,
    "noun_asked": 2.0,
    "noun_told": -1.08,
    "only": 3.24,
    "other_asked": -1.5,
    "other_told": -3.44,
    "own_words": 1.37,
    "silent": -1.88,
    "size": -1.04,
    "unclassed_told": 0.02,
    "years": 1.5,
}
"""Log-odds per unit of each feature where the text says what bears the name.

`bench/linking.py --fit` prints all tables: fitted on half of the questions of 2WikiMultihopQA, linked to a store that
holds one in eight of the entities they mean, on the homonyms of that store's facts, and on the same homonyms without
the entity that is meant. `fact` and `noun_asked` were set by hand and found no case that speaks against them.
"""
NEITHER = 3.4
"""Score of the outcome that the text does not tell which of several entities is meant."""
UNTOLD: dict[str, float] = {
    "class_words": 0.06,
    "degree": 0.84,
    "description": 1.56,
    "fact": 3.0,
    "found": 1.54,
    "kind_asked": 0.62,
    "label": 2.08,
    "lead": 0.36,
    "mentions": 3.53,
    "noun_asked": 1.07,
    "only": 1.22,
    "other_asked": -1.41,
    "own_words": 0.23,
    "silent": 0.2,
    "size": -0.9,
    "years": 0.75,
}
"""As `TOLD`, where the text does not say what bears the name."""
NAMED: dict[str, float] = {
    "alias_former": -4.42,
    "alias_initials": 0.13,
    "alias_part": -0.56,
    "alias_same": 1.1,
    "alias_unlike": 0.06,
    "alias_whole": -1.82,
    "degree_group": 0.64,
    "degree_person": 1.15,
    "degree_place": -0.97,
    "degree_work": -0.55,
    "hidden_group": 0.15,
    "hidden_person": 1.56,
    "hidden_place": -0.11,
    "hidden_work": -0.77,
    "inexact": -3.19,
    "is_group": 0.83,
    "is_person": 1.02,
    "is_place": 0.43,
    "is_work": 0.29,
    "kind_said": 0.78,
    "longer": -6.16,
    "loose": -3.23,
    "misfit_said": -1.79,
    "noun_said": 2.2,
    "other_fact": -3.05,
    "other_said": -0.04,
    "other_year_said": -5.01,
    "stripped": -2.26,
    "typical": 0.67,
    "values": 2.83,
    "words_group": 0.44,
    "words_other": -2.73,
    "words_person": 1.67,
    "words_place": -0.32,
    "words_said": 0.82,
    "words_work": 0.91,
    "year_said": 3.06,
}
"""Added to both: what the name itself, and the words beside it, say of a candidate."""
ABSENT: dict[str, float] = {
    "always": 2.66,
    "asked": -0.56,
    "several": 2.35,
}
"""Score of the outcome that nobody in the graph is meant, per unit of what is known of the name alone."""


@dataclass(frozen=True, slots=True)
class LinkChances:
    """Probabilities of the candidates in their order, and that none of them is meant; the rest is undecided."""

    candidates: tuple[float, ...]
    absent: float


def weigh(features: Mapping[str, float], *, told: bool) -> float:
    """Score of a candidate, in log-odds. `told`: the text says what bears the name."""
    weights = TOLD if told else UNTOLD
    return sum((weights.get(key, 0.0) + NAMED.get(key, 0.0)) * value for key, value in features.items())


def find_chances(scores: Sequence[float], name: Mapping[str, float], *, told: bool) -> LinkChances:
    """Turn the candidates' scores and the name's own features into probabilities."""
    absent = sum(ABSENT.get(key, 0.0) * value for key, value in name.items())
    rivals = [*scores, absent]
    if told and len(scores) > 1:
        rivals.append(NEITHER)
    most = max(rivals)
    worths = [math.exp(one - most) for one in rivals]
    total = sum(worths)
    return LinkChances(tuple(worth / total for worth in worths[: len(scores)]), worths[len(scores)] / total)
