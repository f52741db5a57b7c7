"""How probable each bearer of a name is, and that the name means somebody whom the graph does not hold.

A logistic choice model: every candidate has a score, and so has the outcome that nobody in the graph is meant. Where a
text describes what bears the name, the outcome that it does not tell which of several is meant has one, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TOLD: dict[str, float] = {
    "class_words": -0.35,
    "degree": 1.24,
    "degree_in_text": 0.03,
    "description": 2.47,
    "fact": 5.0,
    "found": 0.88,
    "kind_asked": 1.07,
    "kind_told": -0.12,
    "label": 0.93,
    "lead": 1.07,
    "mentions": 4.33,
    "misfit_told": -0.67,
    "noun_asked": 2.0,
    "noun_told": -1.05,
    "only": 3.27,
    "other_asked": -1.5,
    "other_told": -3.44,
    "own_words": 1.37,
    "silent": -1.83,
    "size": -1.0,
    "unclassed_told": 0.02,
    "years": 1.5,
}
"""Log-odds per unit of each feature where the text says what bears the name.

`bench/linking.py --fit` prints all tables: fitted on half of the questions of 2WikiMultihopQA, linked to a store that
holds one in eight of the entities they mean, on the homonyms of that store's facts, and on the same homonyms without
the entity that is meant. What few of these names have stays near the value by hand that the fit begins with.
"""
NEITHER = 3.4
"""Score of the outcome that the text does not tell which of several entities is meant."""
UNTOLD: dict[str, float] = {
    "class_words": 0.05,
    "degree": 0.83,
    "description": 1.51,
    "fact": 2.99,
    "found": 1.58,
    "kind_asked": 0.61,
    "label": 1.95,
    "lead": 0.4,
    "mentions": 3.56,
    "noun_asked": 1.05,
    "only": 1.19,
    "other_asked": -1.38,
    "own_words": 0.19,
    "silent": 0.23,
    "size": -0.86,
    "years": 0.75,
}
"""As `TOLD`, where the text does not say what bears the name."""
NAMED: dict[str, float] = {
    "alias_former": -4.51,
    "alias_initials": 0.14,
    "alias_part": -0.3,
    "alias_person": -1.5,
    "alias_same": 1.05,
    "alias_unlike": 0.19,
    "alias_whole": -1.9,
    "degree_group": 0.61,
    "degree_person": 1.29,
    "degree_place": -0.99,
    "degree_work": -0.56,
    "hidden_group": 0.16,
    "hidden_person": 1.46,
    "hidden_place": -0.13,
    "hidden_work": -0.79,
    "inexact": -3.19,
    "is_group": 0.77,
    "is_person": 1.23,
    "is_place": 0.44,
    "is_work": 0.3,
    "kind_said": 0.8,
    "longer": -6.19,
    "loose": -3.17,
    "misfit_said": -1.78,
    "noun_said": 2.21,
    "other_fact": -3.0,
    "other_said": -0.04,
    "other_year_said": -5.02,
    "stripped": -2.23,
    "typical": 0.66,
    "values": 2.75,
    "words_group": 0.48,
    "words_other": -2.76,
    "words_person": 1.18,
    "words_place": -0.28,
    "words_said": 0.8,
    "words_work": 0.91,
    "year_said": 3.06,
}
"""Added to both: what the name itself, and the words beside it, say of a candidate."""
ABSENT: dict[str, float] = {
    "always": 2.61,
    "asked": -0.55,
    "several": 2.41,
}
"""Score of the outcome that nobody in the graph is meant, per unit of what is known without any candidate."""


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
