"""Fits the weights of the model that links names (`linking.py --fit`)."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hopwright.knowledge.wikidata import link_model

Tables = dict[str, dict[str, float]]
Floats = NDArray[np.float64]

_SHRINK = 0.5
"""Penalty per squared difference of a weight from where the fit begins."""
_BEGIN: Tables = {
    "TOLD": {
        "class_words": 0.7, "degree": 0.7, "degree_in_text": -0.5, "description": 2.1, "fact": 5.0, "kind_asked": 1.0,
        "label": 1.0, "lead": 1.25, "mentions": 2.2, "misfit_told": -1.3, "noun_asked": 2.0, "only": 3.5,
        "other_asked": -1.5, "other_told": -4.9, "own_words": 1.3, "silent": -1.1, "size": -1.7,
        "unclassed_told": -0.2, "years": 1.5,
    },
    "UNTOLD": {
        "class_words": 0.35, "degree": 2.15, "description": 1.05, "fact": 2.5, "kind_asked": 0.5, "label": 0.5,
        "lead": 0.62, "mentions": 1.1, "noun_asked": 1.0, "only": 1.75, "other_asked": -0.75, "own_words": 0.65,
        "silent": -0.55, "size": -0.85, "years": 0.75,
    },
    "NAMED": {
        "alias_former": -3.0, "alias_person": -1.5, "alias_whole": -3.0, "inexact": -2.0, "kind_said": 1.0,
        "longer": -6.0, "loose": -2.0, "misfit_said": -2.0, "noun_said": 2.0, "other_year_said": -4.0,
        "stripped": -1.0, "words_other": -1.0, "year_said": 2.0,
    },
}  # fmt: skip
"""Where the fit begins: the weights of homonyms alone, and by hand those of what few of the names have."""
_OF_THE_NAME = (
    "said", "alias", "loose", "stripped", "inexact", "longer", "values", "typical", "other_fact", "words_other",
    *(f"{what}_{family}" for what in ("words", "degree", "hidden") for family in ("person", "place", "group", "work")),
    "is_",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FitCase:
    """One choice to fit: features of each candidate, of the name alone, and the right one (-1: none of them)."""

    candidates: Sequence[Mapping[str, float]]
    alone: Mapping[str, float]
    told: bool
    right: int
    weight: float


def fit(cases: Sequence[FitCase]) -> Tables:
    """Weights by table, near those that the fit begins from: a logistic choice among a name's outcomes."""
    places = list_weights(cases)
    begin = np.array([_BEGIN.get(table, {}).get(key, 0.0) for table, key in places])
    prepared = [prepare(case, places) for case in cases]
    matrix = sparse.csr_matrix(sparse.vstack([sparse.csr_matrix(one[0]) for one in prepared]))
    fixed = np.concatenate([one[1] for one in prepared])
    sizes = np.array([len(one[1]) for one in prepared])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    right = starts + np.array([one[2] for one in prepared])
    weights = np.array([case.weight for case in cases])
    done = minimize(
        loss, begin, args=(begin, matrix, fixed, starts, sizes, right, weights), jac=True, method="L-BFGS-B",
        options={"maxiter": 500},
    )  # fmt: skip
    result: Tables = {}
    for (table, key), place in places.items():
        result.setdefault(table, {})[key] = round(float(done.x[place]), 2)
    return result


def pick_best(case: FitCase, tables: Tables) -> tuple[float, bool]:
    """Probability of the best candidate by these weights, and whether it is the right one."""
    places = {pair: place for place, pair in enumerate((table, key) for table, keys in tables.items() for key in keys)}
    weights = np.array([tables[table][key] for table, key in places])
    matrix, fixed, right = prepare(case, places)
    scores = matrix @ weights + fixed
    worths = np.exp(scores - scores.max())
    best = int(scores[: len(case.candidates)].argmax())
    return float(worths[best] / worths.sum()), best == right


def list_weights(cases: Sequence[FitCase]) -> dict[tuple[str, str], int]:
    """The weights to be fitted, by table and feature."""
    keys = sorted({key for case in cases for one in case.candidates for key in one})
    shared = [key for key in keys if any(part in key for part in _OF_THE_NAME)]
    own = [key for key in keys if key not in shared]
    untold = [key for key in own if "told" not in key and not key.endswith("in_text")]
    alone = sorted({key for case in cases for key in case.alone})
    tables = {"TOLD": own, "UNTOLD": untold, "NAMED": shared, "ABSENT": alone}
    return {pair: place for place, pair in enumerate((table, key) for table, keys in tables.items() for key in keys)}


def prepare(case: FitCase, places: Mapping[tuple[str, str], int]) -> tuple[Floats, Floats, int]:
    """Features as a matrix whose last row is the outcome that nobody is meant, fixed scores, and the right row.

    In a text that tells, another row stands for the outcome that it leaves open which one.
    """
    count = len(case.candidates)
    rows = count + 1 + (case.told and count > 1)
    matrix, fixed = np.zeros((rows, len(places))), np.zeros(rows)
    for row, features in enumerate(case.candidates):
        for key, value in features.items():
            for table in ("TOLD" if case.told else "UNTOLD", "NAMED"):
                if (table, key) in places:
                    matrix[row, places[table, key]] = value
    for key, value in case.alone.items():
        matrix[count, places["ABSENT", key]] = value
    if rows > count + 1:
        fixed[count + 1] = link_model.NEITHER
    return matrix, fixed, case.right if case.right >= 0 else count


def loss(
    weights: Floats, begin: Floats, matrix: Any, fixed: Floats, starts: NDArray[Any], sizes: NDArray[Any],
    right: NDArray[Any], each: Floats,
) -> tuple[float, Floats]:  # fmt: skip
    """Negative log-likelihood with the penalty, and its gradient; the rows of a case follow one another."""
    away = weights - begin
    scores = matrix @ weights + fixed
    worths = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), sizes))
    chances = worths / np.repeat(np.add.reduceat(worths, starts), sizes)
    value = _SHRINK * float(away @ away) - float(each @ np.log(chances[right] + 1e-12))
    slopes = chances * np.repeat(each, sizes)
    slopes[right] -= each
    return value, 2 * _SHRINK * away + matrix.T @ slopes
