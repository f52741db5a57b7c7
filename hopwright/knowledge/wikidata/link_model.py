"""How probable each bearer of a name is, and that the name means somebody whom the graph does not hold.

A logistic choice model: every candidate has a score, and so has the outcome that nobody in the graph is meant. Where a
text describes what bears the name, the outcome that it does not tell which of several is meant has one, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TOLD: dict[str, float] = {
    "class_words": -0.33,
    "degree": 1.17,
    "degree_in_text": -0.04,
    "description": 2.46,
    "fact": 5.0,
    "found": 1.04,
    "kind_asked": 1.06,
    "kind_told": -0.13,
    "label": 0.93,
    "lead": 1.11,
    "mentions": 4.37,
    "misfit_told": -0.67,
    "noun_asked": 2.0,
    "noun_told": -1.04,
    "only": 3.33,
    "other_asked": -1.5,
    "other_told": -3.42,
    "own_words": 1.39,
    "silent": -1.78,
    "size": -0.98,
    "unclassed_told": 0.06,
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
    "class_words": 0.34,
    "degree": 1.59,
    "description": 1.69,
    "fact": 3.09,
    "found": 1.5,
    "kind_asked": 0.5,
    "label": 1.68,
    "lead": 0.37,
    "mentions": 3.34,
    "noun_asked": 1.58,
    "only": 0.93,
    "other_asked": -1.64,
    "own_words": 0.74,
    "silent": 0.15,
    "size": -1.19,
    "years": 0.75,
}
"""As `TOLD`, where the text does not say what bears the name."""
NAMED: dict[str, float] = {
    "alias_former": -5.12,
    "alias_initials": 0.56,
    "alias_part": 0.35,
    "alias_person": -1.87,
    "alias_same": 1.01,
    "alias_unlike": -0.49,
    "alias_whole": -2.46,
    "degree_group": 0.73,
    "degree_person": 1.17,
    "degree_place": -0.5,
    "degree_work": -0.68,
    "hidden_group": 0.2,
    "hidden_person": 1.62,
    "hidden_place": -0.23,
    "hidden_work": -0.69,
    "inexact": -3.15,
    "is_group": 0.92,
    "is_person": 1.4,
    "is_place": -0.16,
    "is_work": 0.4,
    "kind_said": 0.68,
    "longer": -6.24,
    "loose": -3.13,
    "misfit_said": -1.94,
    "noun_said": 2.32,
    "other_fact": -2.86,
    "other_said": -0.02,
    "other_year_said": -5.11,
    "stripped": -2.3,
    "typical": 0.64,
    "values": 1.35,
    "words_group": 0.89,
    "words_other": -2.61,
    "words_person": 1.39,
    "words_place": -0.27,
    "words_said": 0.94,
    "words_work": 0.87,
    "year_said": 3.25,
}
"""Added to both: what the name itself, and the words beside it, say of a candidate."""
ABSENT: dict[str, float] = {
    "always": 2.81,
    "asked": -0.88,
    "several": 1.95,
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
