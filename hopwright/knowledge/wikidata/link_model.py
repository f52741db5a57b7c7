"""How probable each bearer of a name is, and that the name means somebody whom the graph does not hold.

A logistic choice model: every candidate has a score, and so has the outcome that nobody in the graph is meant. Where a
text describes what bears the name, the outcome that it does not tell which of several is meant has one, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TOLD: dict[str, float] = {
    "class_words": -0.15,
    "degree": 1.3,
    "degree_in_text": 0.09,
    "description": 2.3,
    "fact": 5.0,
    "found": 0.9,
    "kind_asked": 1.0,
    "kind_told": -0.35,
    "label": 0.99,
    "lead": 1.11,
    "mentions": 4.35,
    "misfit_told": -0.5,
    "noun_asked": 2.0,
    "noun_told": -1.12,
    "only": 3.37,
    "other_asked": -1.5,
    "other_told": -3.42,
    "own_words": 1.45,
    "silent": -1.81,
    "size": -1.06,
    "unclassed_told": 0.13,
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
    "class_words": 0.23,
    "degree": 1.18,
    "description": 1.6,
    "fact": 2.96,
    "found": 0.95,
    "kind_asked": 0.76,
    "label": 1.96,
    "lead": 0.51,
    "mentions": 3.97,
    "noun_asked": 1.15,
    "only": 1.27,
    "other_asked": -1.56,
    "own_words": -0.07,
    "silent": 0.35,
    "size": -1.11,
    "years": 0.75,
}
"""As `TOLD`, where the text does not say what bears the name."""
NAMED: dict[str, float] = {
    "alias_former": -4.59,
    "alias_initials": 0.14,
    "alias_part": -0.65,
    "alias_same": 0.87,
    "alias_unlike": 0.04,
    "alias_untypical": -0.04,
    "alias_whole": -2.08,
    "degree_group": 0.74,
    "degree_person": 1.86,
    "degree_place": -1.19,
    "degree_work": -0.59,
    "hidden_group": 0.23,
    "hidden_person": 2.18,
    "hidden_place": -0.08,
    "hidden_work": -0.88,
    "inexact": -3.1,
    "is_group": 0.86,
    "is_person": 0.25,
    "is_place": 0.4,
    "is_work": 0.13,
    "kind_said": 0.32,
    "longer": -4.52,
    "loose": -3.13,
    "misfit_said": -2.15,
    "noun_said": 2.25,
    "other_fact": -3.18,
    "other_said": -0.09,
    "other_year_said": -4.9,
    "stripped": -2.5,
    "typical": 0.65,
    "values": 2.2,
    "values_many": 1.57,
    "words_group": 0.49,
    "words_person": 1.58,
    "words_place": -0.32,
    "words_said": 1.58,
    "words_work": 0.97,
    "year_said": 3.02,
}
"""Added to both: what the name itself, and the words beside it, say of a candidate."""
ABSENT: dict[str, float] = {
    "always": 2.69,
    "asked": -1.2,
    "several": 2.62,
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
