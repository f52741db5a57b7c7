"""Guessing an answer from the options alone: solvers that see four options, and of the question only its words.

None of them may do better than chance on a release. Every solver gives one score per option; ties share the guess, so a
solver with nothing to go by scores exactly one in four. The last one is trained: a conditional logit over all the
features of form at once, fitted on one half of the items and scored on the other, both ways round.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from hopwright.errors import InputError
from hopwright.records import LABELS, AnswerType, Label
from hopwright.records.values import parse
from hopwright.text.matching import fold, read_number

CHANCE = 0.25
FORM_MARKS = 10
"""Marks of form that `share_form` compares."""
_TRAINED = "trained on form"
_RIDGE, _ROUNDS = 10.0, 8
_FEWEST_TRAINED, _MOST_TRAINED = 200, 20_000
Scores = Sequence[float]
_Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Guess:
    """One multiple-choice question as a guesser sees it; `right` is the place (0–3) of the answer."""

    question: str
    options: tuple[str, str, str, str]
    answer_type: AnswerType
    right: int


def view_options(question: str, options: dict[Label, str], label: Label, answer_type: AnswerType) -> Guess:
    """Make a guess of a question and its options A–D."""
    a, b, c, d = (options[letter] for letter in LABELS)
    return Guess(question, (a, b, c, d), answer_type, LABELS.index(label))


@dataclass(frozen=True, slots=True)
class GuessScore:
    """How one solver did. `tried`: the questions that it had anything to say about; accuracies lie between 0 and 1."""

    solver: str
    tried: int
    accuracy: float
    bound: float
    """Chance plus three standard errors: what a guesser without knowledge stays below 999 times in 1,000."""

    @property
    def guessable(self) -> bool:
        """Whether the solver does better than chance and sampling error explain."""
        return self.accuracy > self.bound


class GuessTally:
    """Adds up, question by question, how the solvers do."""

    def __init__(self) -> None:
        self._hits = dict.fromkeys(SOLVERS, 0)  # in twelfths, so that the order of the questions plays no part
        self._tried = dict.fromkeys(SOLVERS, 0)
        self._samples: list[tuple[bytes, int, list[Scores]]] = []

    def add(self, guess: Guess) -> None:
        """Let every solver guess once."""
        columns = []
        for name, solver in SOLVERS.items():
            scores = solver(guess)
            columns.append(scores)
            best = max(scores)
            chosen = [place for place, score in enumerate(scores) if score == best]
            if len(chosen) < 4:
                self._tried[name] += 1
                self._hits[name] += (guess.right in chosen) * 12 // len(chosen)
        key = hashlib.blake2b("\0".join((guess.question, *guess.options)).encode(), digest_size=12).digest()
        self._samples.append((key, guess.right, [_standardise(column) for column in columns[::2]]))
        if len(self._samples) == 2 * _MOST_TRAINED:
            self._samples = self._draw_samples()

    def scores(self) -> tuple[GuessScore, ...]:
        """Every solver's score, in the registry's order, the trained one last; none without questions."""
        found = [
            GuessScore(name, tried, self._hits[name] / 12 / tried, chance_bound(tried))
            for name, tried in self._tried.items()
            if tried
        ]
        samples = self._draw_samples()
        if len(samples) >= _FEWEST_TRAINED:
            right = np.array([right for _, right, _ in samples])
            accuracy = _train_and_test(np.array([features for _, _, features in samples]), right)
            found.append(GuessScore(_TRAINED, len(samples), accuracy, chance_bound(len(samples))))
        return tuple(found)

    def _draw_samples(self) -> list[tuple[bytes, int, list[Scores]]]:
        """What the trained solver sees: the same questions whatever the order in which they came."""
        return sorted(self._samples)[:_MOST_TRAINED]


def chance_bound(tried: int) -> float:
    """Chance plus three standard errors of so many guesses."""
    return CHANCE + 3 * math.sqrt(CHANCE * (1 - CHANCE) / tried)


# ---------------------------------------------------------------- likeness of two texts or numbers


def overlap(one: str, other: str) -> float:
    """Dice's coefficient of two texts' pieces of three letters, 0–1."""
    mine, theirs = pieces(one), pieces(other)
    return 2 * len(mine & theirs) / (len(mine) + len(theirs))


@functools.lru_cache(maxsize=65_536)
def pieces(text: str) -> frozenset[str]:
    """The pieces of three letters of a folded text, its ends marked."""
    padded = f"  {fold(text)} "
    return frozenset(padded[place : place + 3] for place in range(len(padded) - 2))


def kinship(one: float, other: float) -> float:
    """How much one number looks like made from the other: near, and a round step away."""
    gap = abs(one - other)
    return 0.5 * (len(f"{gap:.6g}".rstrip("0").rstrip(".")) == 1) - 0.25 * math.log1p(gap)


def differs_in_one_digit(one: str, other: str) -> bool:
    """Whether two numbers from a thousand on, written with separators, differ in a single digit."""
    if "," not in one or len(one) != len(other):
        return False
    return sum(mine != theirs for mine, theirs in zip(one, other, strict=True)) == 1


def count_digit_edits(options: Sequence[str]) -> int:
    """How many pairs of four numbers differ in a single digit."""
    return sum(differs_in_one_digit(one, other) for one, other in itertools.combinations(options, 2))


@functools.lru_cache(maxsize=131_072)
def share_form(one: str, other: str) -> float:
    """How many of ten marks of form two texts share: comma, brackets, digits, capital, number of words, …"""
    return float(sum(mine == theirs for mine, theirs in zip(encode_form(one), encode_form(other), strict=True)))


@functools.lru_cache(maxsize=65_536)
def encode_form(text: str) -> tuple[int, ...]:
    """The ten marks of form of a text, as numbers."""
    is_number = read_number(text) is not None
    return (
        "," in text, "(" in text, "-" in text, "." in text, "'" in text or "’" in text, text[:1].isupper(),
        any(character.isdigit() for character in text), not text.isascii(), is_number,
        len(text) if is_number else 0,
    )  # fmt: skip


def find_centrality(values: Sequence[str], likeness: Callable[[str, str], float]) -> list[float]:
    """How alike each text is to all the others."""
    return [sum(likeness(one, other) for place, other in enumerate(values) if place != own)
            for own, one in enumerate(values)]  # fmt: skip


# ---------------------------------------------------------------- the solvers


def _by_length(guess: Guess) -> Scores:
    return [len(text) for text in guess.options]


def _by_words(guess: Guess) -> Scores:
    return [len(text.split()) for text in guess.options]


def _by_capitals(guess: Guess) -> Scores:
    return [sum(character.isupper() for character in text) for text in guess.options]


def _by_size(guess: Guess) -> Scores:
    return _read_values(guess) or _NOTHING


def _by_middle(guess: Guess) -> Scores:
    values = _read_values(guess)
    if not values:
        return _NOTHING
    ordered = sorted(values)
    return [float(ordered[1] <= value <= ordered[2]) for value in values]


def _by_kinship(guess: Guess) -> Scores:
    """The number from which the others look made."""
    values = _read_values(guess)
    if not values:
        return _NOTHING
    return [sum(kinship(one, other) for other in values if other != one) for one in values]


def _by_likeness(guess: Guess) -> Scores:
    """The name that is most like the other names."""
    return _NOTHING if _read_values(guess) else find_centrality(guess.options, overlap)


def _by_roundness(guess: Guess) -> Scores:
    if guess.answer_type != "number":
        return _NOTHING
    digits = [text.replace(",", "").rstrip(".") for text in guess.options]
    return [len(text) - len(text.rstrip("0")) + 0.5 * text.endswith("5") for text in digits]


def _by_common_form(guess: Guess) -> Scores:
    """How many others share an option's marks: comma, brackets, hyphen, digits, point, capital, number of words."""
    return find_centrality(guess.options, share_form)


def _by_question(guess: Guess) -> Scores:
    """Whether the question states the option, or words of it."""
    asked = set(fold(guess.question).split())
    plain = f" {fold(guess.question)} "
    return [2.0 * (f" {fold(text)} " in plain) + len(asked & set(_WORDY.findall(fold(text)))) for text in guess.options]


def _by_digit(guess: Guess) -> Scores:
    """Small leading digits first (Benford)."""
    if guess.answer_type != "number":
        return _NOTHING
    first = [next((character for character in text if character in "123456789"), "9") for text in guess.options]
    return [-float(one) for one in first]


def _by_alphabet(guess: Guess) -> Scores:
    folded = [fold(text) for text in guess.options]
    return [float(sorted(folded).index(text)) for text in folded]


def _by_letter(guess: Guess) -> Scores:
    return [0.0, 1.0, 2.0, 3.0]


_NOTHING: Scores = (0.0, 0.0, 0.0, 0.0)
_WORDY = re.compile(r"\b[^\W\d_]{4,}\b")
_PAIRS: dict[str, tuple[str, Callable[[Guess], Scores]]] = {
    "longest": ("shortest", _by_length),
    "most words": ("fewest words", _by_words),
    "most capitals": ("fewest capitals", _by_capitals),
    "largest": ("smallest", _by_size),
    "middle number": ("outer number", _by_middle),
    "number the others are made from": ("number least like the others", _by_kinship),
    "name most like the others": ("name least like the others", _by_likeness),
    "roundest number": ("least round number", _by_roundness),
    "commonest form": ("odd one out", _by_common_form),
    "stated in the question": ("not stated in the question", _by_question),
    "smallest first digit": ("largest first digit", _by_digit),
    "last by alphabet": ("first by alphabet", _by_alphabet),
    "letter D": ("letter A", _by_letter),
}


def _turned(solver: Callable[[Guess], Scores], guess: Guess) -> Scores:
    return [-score for score in solver(guess)]


SOLVERS: dict[str, Callable[[Guess], Scores]] = {
    name: one
    for plain, (contrary, solver) in _PAIRS.items()
    for name, one in ((plain, solver), (contrary, functools.partial(_turned, solver)))
}
"""Name → scores of the four options, the higher the likelier; every rule of thumb and its contrary."""


def _read_values(guess: Guess) -> list[float]:
    """The options as numbers (dates as days); empty where one is none."""
    if guess.answer_type not in ("number", "date"):
        return []
    values = []
    for text in guess.options:
        try:
            value = parse(text, guess.answer_type)
        except InputError:
            return []
        if isinstance(value, str):
            return []
        values.append(float(value) if isinstance(value, int | Decimal) else float(value.toordinal()))
    return values


# ---------------------------------------------------------------- the trained solver


def _standardise(column: Scores) -> list[float]:
    """Centred on the four, and scaled to them: what is compared is one option with its three rivals."""
    mean = sum(column) / 4
    spread = math.sqrt(sum((one - mean) ** 2 for one in column) / 4)
    return [(one - mean) / spread if spread > 1e-12 else 0.0 for one in column]


def _train_and_test(features: _Array, right: npt.NDArray[np.int64]) -> float:
    """Accuracy over both halves, each scored by what was fitted on the other; `features`: (n, f, 4)."""
    half = np.arange(len(right)) % 2 == 0
    kept = features.transpose(0, 2, 1)
    hits = 0
    for train in (half, ~half):
        weights = _fit(kept[train], right[train])
        scores = np.einsum("nof,f->no", kept[~train], weights)
        hits += int((scores.argmax(axis=1) == right[~train]).sum())
    return hits / len(right)


def _fit(features: _Array, right: npt.NDArray[np.int64]) -> _Array:
    """Conditional logit with a ridge, by Newton's steps; features: (n, 4, f). einsum always adds up in one order."""
    weights: _Array = np.zeros(features.shape[2])
    chosen = features[np.arange(len(right)), right]
    for _ in range(_ROUNDS):
        scores = np.einsum("nof,f->no", features, weights)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        odds /= odds.sum(axis=1, keepdims=True)
        expected = np.einsum("no,nof->nf", odds, features)
        slope = np.einsum("nf->f", chosen - expected) - _RIDGE * weights
        weighted = features * odds[:, :, None]
        curve = np.einsum("nof,nog->fg", weighted, features) - np.einsum("nf,ng->fg", expected, expected)
        weights = weights + np.linalg.solve(curve + _RIDGE * np.eye(len(weights)), slope)
    return weights
