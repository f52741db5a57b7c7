"""How probable each bearer of a name is, and that the name means somebody whom the graph does not hold.

A logistic choice model: every candidate has a score, and so has the outcome that nobody in the graph is meant. Where a
text describes what bears the name, the outcome that it does not tell which of several is meant has one, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TOLD: dict[str, float] = {
    "class_words": 0.21,
    "degree": 1.12,
    "degree_in_text": -0.09,
    "description": 2.57,
    "fact": 5.0,
    "found": 1.05,
    "kind_asked": 1.0,
    "kind_told": -0.39,
    "label": 1.25,
    "lead": 1.02,
    "mentions": 4.27,
    "misfit_told": -0.36,
    "noun_asked": 2.0,
    "noun_told": -1.31,
    "only": 3.11,
    "other_asked": -1.5,
    "other_told": -3.37,
    "own_words": 1.33,
    "silent": -1.82,
    "size": -1.07,
    "unclassed_told": -0.02,
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
    "class_words": 0.98,
    "degree": 0.62,
    "description": 2.2,
    "fact": 3.05,
    "found": 0.94,
    "kind_asked": 0.26,
    "label": 2.19,
    "lead": 0.23,
    "mentions": 4.15,
    "noun_asked": -0.01,
    "only": 0.86,
    "other_asked": -1.66,
    "own_words": -0.5,
    "silent": 0.5,
    "size": -1.04,
    "years": 0.75,
}
"""As `TOLD`, where the text does not say what bears the name."""
NAMED: dict[str, float] = {
    "alias_initials": 0.22,
    "alias_part": -1.09,
    "alias_same": 1.26,
    "alias_unlike": -0.34,
    "alias_untypical": -0.29,
    "degree_asked": -0.32,
    "is_group": 1.47,
    "is_person": 1.65,
    "is_place": -0.36,
    "is_work": -0.34,
    "kind_said": 0.62,
    "loose": -2.06,
    "misfit_said": -1.01,
    "noun_said": -0.05,
    "other_fact": -2.76,
    "other_said": -0.4,
    "other_year_said": -2.49,
    "stripped": -2.37,
    "typical": 0.58,
    "values": 2.59,
    "words_said": 2.04,
    "year_said": 2.25,
}
"""Added to both: what the name itself, and the words beside it, say of a candidate."""
ABSENT: dict[str, float] = {
    "always": 2.79,
    "asked": -1.58,
    "many_words": -1.63,
    "one_word": 0.1,
    "several": 2.26,
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
