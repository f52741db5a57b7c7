"""Scores of one answer against the gold one, each as its paper defines it.

Exact match and token F1 are SQuAD's (Rajpurkar et al. 2016) with the best of all gold aliases; the tolerance for years
and numbers is MMhops' (its section on evaluation); joint scores are CofCA's (appendix B).
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import prod

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_NUMBER = r"[-+−]?\d[\d,  ]*(?:\.\d+)?|[-+−]?\.\d+"
_RANGE = re.compile(rf"^\D{{0,12}}?({_NUMBER})\s*(?:-|–|—|to|and)\s*({_NUMBER})\D*$")
_ANY_NUMBER = re.compile(_NUMBER)
_YEAR = re.compile(r"(?<!\d)(?<!\d[,.])(\d{3,4})(?!\d|[,.]\d)\s*(BCE?|B\.C\.)?", re.IGNORECASE)
NUMBER_MARGIN = Decimal("0.1")
YEAR_MARGIN = 1
LEAST_OVERLAP = Decimal("0.5")


Range = tuple[Decimal, Decimal]
"""A lowest and a highest number."""


@dataclass(frozen=True, slots=True)
class TextScore:
    """Exact match (0 or 1) and token precision, recall and F1 (0 to 1)."""

    em: float
    precision: float
    recall: float
    f1: float


def normalise(text: str) -> str:
    """SQuAD's normalisation: lower case, no punctuation, no articles, single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def score_text(given: str, golds: Iterable[str]) -> TextScore:
    """The scores against the gold answer that fits best: by F1, then by exact match. Raises ValueError without any."""
    return max((_score_one(given, gold) for gold in golds), key=lambda score: (score.em, score.f1))


def is_close(given: str, gold: str, kind: str) -> bool:
    """MMhops' tolerance for `date` and `number` answers; False for any other kind.

    A year may be off by one. A number may be off by 0.1; a range must overlap a gold range by half (intersection over
    union), and a number must lie in it. A range never counts as right for a single gold number.
    """
    if kind == "date":
        ours, theirs = read_year(given), read_year(gold)
        return ours is not None and theirs is not None and abs(ours - theirs) <= YEAR_MARGIN
    if kind != "number":
        return False
    ours_range, gold_range = read_range(given), read_range(gold)
    if ours_range is None or gold_range is None:
        return False
    if gold_range[0] == gold_range[1]:
        return ours_range[0] == ours_range[1] and abs(ours_range[0] - gold_range[0]) <= NUMBER_MARGIN
    if ours_range[0] == ours_range[1]:
        return gold_range[0] <= ours_range[0] <= gold_range[1]
    return overlap(ours_range, gold_range) >= LEAST_OVERLAP


def overlap(one: Range, other: Range) -> Decimal:
    """Intersection over union of two intervals, 0 to 1."""
    shared = min(one[1], other[1]) - max(one[0], other[0])
    whole = max(one[1], other[1]) - min(one[0], other[0])
    return max(shared, Decimal(0)) / whole if whole > 0 else Decimal(one == other)


def read_year(text: str) -> int | None:
    """The one year in a text; None where there is none or more than one. Years before Christ are negative."""
    found = {-int(year) if era else int(year) for year, era in _YEAR.findall(text)}
    return found.pop() if len(found) == 1 else None


def read_range(text: str) -> Range | None:
    """The number in a text as (number, number), or a range as (low, high); None for anything else."""
    text = text.strip()
    if match := _RANGE.match(text):
        low, high = _to_number(match.group(1)), _to_number(match.group(2))
        return (low, high) if low <= high else None
    numbers = _ANY_NUMBER.findall(text)
    if len(numbers) != 1:
        return None
    return _to_number(numbers[0]), _to_number(numbers[0])


def joint(scores: Sequence[TextScore]) -> tuple[float, float]:
    """Joint exact match and joint F1 over a chain: all its sub-answers and the final answer (CofCA, appendix B).

    Precisions and recalls are multiplied, and F1 is taken of the products.
    """
    precision, recall = prod(score.precision for score in scores), prod(score.recall for score in scores)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
    return float(prod(score.em for score in scores)), f1


def _score_one(given: str, gold: str) -> TextScore:
    ours, theirs = normalise(given), normalise(gold)
    em = float(ours == theirs)
    given_tokens, gold_tokens = ours.split(), theirs.split()
    if not given_tokens or not gold_tokens:
        # Where either has no token left, both must have none (as in SQuAD 2.0).
        return TextScore(em, em, em, em)
    common = sum((Counter(given_tokens) & Counter(gold_tokens)).values())
    if not common:
        return TextScore(em, 0.0, 0.0, 0.0)
    precision, recall = common / len(given_tokens), common / len(gold_tokens)
    return TextScore(em, precision, recall, 2 * precision * recall / (precision + recall))


def _to_number(text: str) -> Decimal:
    return Decimal(re.sub(r"[,  ]", "", text).replace("−", "-"))
