"""Guessing an answer from the options, the words of the question and at most one condition that it states.

No solver may be right on more than `MOST_RIGHT` of the questions that it speaks on, nor may striking out what it
points to leave a better guess than that. Every solver gives one score per option; ties share the guess, so a solver
with nothing to go by scores exactly one in four. One that speaks on few questions (`LEAST_COVERAGE`) is reported only.
The last one is trained: a conditional logit over all the features of form at once, fitted on one half of the items and
scored on the other, both ways round.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hopwright.errors import InputError
from hopwright.records import LABELS, AnswerType, Label
from hopwright.records.values import as_float, parse
from hopwright.text.matching import find_numbers, fold, read_number

CHANCE = 0.25
MOST_RIGHT = 0.30
LEAST_COVERAGE = 0.05
"""Share of the questions below which a solver cannot say enough to be held to its bound."""
FORM_MARKS = 10
"""Marks of form that `share_form` compares."""
_TRAINED = "trained on form"
_RIDGE, _ROUNDS = 10.0, 8
_FEWEST_TRAINED, _MOST_TRAINED = 200, 20_000
Scores = Sequence[float]
_Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OptionView:
    """What may be known of four options beside their texts, each in their order; empty where nothing is.

    `conditions`: for each condition that the question states openly, which options meet it. `years`: by which they are
    known. `links`: their facts in the graph. `compared`: which of them the question compares. `elsewhere`: in how many
    earlier hops of the item they stand. `inputs_stated`: whether the question states all that is to be computed with,
    so that finding the number that fits is no shortcut but the computation itself.
    """

    conditions: tuple[tuple[bool, ...], ...] = ()
    years: tuple[int | None, ...] = ()
    links: tuple[int, ...] = ()
    compared: tuple[bool, ...] = ()
    elsewhere: tuple[int, ...] = ()
    inputs_stated: bool = False

    def add(
        self,
        *,
        conditions: tuple[tuple[bool, ...], ...] | None = None,
        years: tuple[int | None, ...] | None = None,
        links: tuple[int, ...] | None = None,
        compared: tuple[bool, ...] | None = None,
    ) -> OptionView:
        """The same with more of it known."""
        return OptionView(
            self.conditions if conditions is None else conditions,
            self.years if years is None else years,
            self.links if links is None else links,
            self.compared if compared is None else compared,
            self.elsewhere,
            self.inputs_stated,
        )


@dataclass(frozen=True, slots=True)
class Guess:
    """One multiple-choice question as a guesser sees it; `right` is the place (0–3) of the answer."""

    question: str
    options: tuple[str, str, str, str]
    answer_type: AnswerType
    right: int
    view: OptionView = OptionView()

    def add(self, view: OptionView) -> Guess:
        """The same question with what may be known of its options."""
        return replace(self, view=view)


def view_options(question: str, options: dict[Label, str], label: Label, answer_type: AnswerType) -> Guess:
    """Make a guess of a question and its options A–D."""
    a, b, c, d = (options[letter] for letter in LABELS)
    return Guess(question, (a, b, c, d), answer_type, LABELS.index(label))


@dataclass(frozen=True, slots=True)
class GuessScore:
    """How one solver did.

    `tried`: the questions that it had anything to say about, and `coverage` their share; `accuracy`: how often it was
    right on them; `struck`: how often a guess is right once the options that it points to are struck out. All shares
    lie between 0 and 1.
    """

    solver: str
    tried: int
    accuracy: float
    bound: float
    struck: float = CHANCE
    coverage: float = 1.0

    @property
    def guessable(self) -> bool:
        """Whether the solver speaks on enough questions, and does better than it may."""
        return self.coverage >= LEAST_COVERAGE and max(self.accuracy, self.struck) > self.bound


class GuessTally:
    """Adds up, question by question, how the solvers do."""

    def __init__(self) -> None:
        self._hits = dict.fromkeys(SOLVERS, 0)  # in twelfths, so that the order of the questions plays no part
        self._struck = dict.fromkeys(SOLVERS, 0)
        self._tried = dict.fromkeys(SOLVERS, 0)
        self._asked = 0
        self._samples: list[tuple[bytes, int, list[Scores]]] = []

    def add(self, guess: Guess) -> None:
        """Let every solver guess once."""
        self._asked += 1
        columns = []
        for name, solver in SOLVERS.items():
            scores = solver(guess)
            columns.append(scores)
            best = max(scores)
            chosen = [place for place, score in enumerate(scores) if score == best]
            if len(chosen) < 4:
                self._tried[name] += 1
                self._hits[name] += (guess.right in chosen) * 12 // len(chosen)
                self._struck[name] += (guess.right not in chosen) * 12 // (4 - len(chosen))
        key = hashlib.blake2b("\0".join((guess.question, *guess.options)).encode(), digest_size=12).digest()
        self._samples.append((key, guess.right, [_standardise(column) for column in columns[::2]]))
        if len(self._samples) == 2 * _MOST_TRAINED:
            self._samples = self._draw_samples()

    def scores(self) -> tuple[GuessScore, ...]:
        """Every solver's score, in the registry's order, the trained one last; none without questions."""
        found = [
            GuessScore(
                name,
                tried,
                self._hits[name] / 12 / tried,
                chance_bound(tried),
                self._struck[name] / 12 / tried,
                tried / self._asked,
            )
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
    """What a solver may reach: `MOST_RIGHT`, or chance plus three standard errors where so few guesses allow more."""
    return max(MOST_RIGHT, CHANCE + 3 * math.sqrt(CHANCE * (1 - CHANCE) / tried))


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
    """Whether two numbers from a thousand on, written with separators, differ in a single digit.

    Zeros at the end of both do not count: 12,000 and 13,000 differ by a thousand, not in a digit.
    """
    if "," not in one or len(one) != len(other):
        return False
    pairs = [(mine, theirs) for mine, theirs in zip(one, other, strict=True) if mine.isdigit()]
    while pairs and pairs[-1] == ("0", "0"):
        pairs.pop()
    return len(pairs) > 3 and sum(mine != theirs for mine, theirs in pairs) == 1


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


def _by_conditions(guess: Guess) -> Scores:
    """How many of the conditions that the question states openly an option meets."""
    met = guess.view.conditions
    return [float(sum(column)) for column in zip(*met, strict=True)] if met else _NOTHING


def _by_era(guess: Guess) -> Scores:
    """How near in time an option is to the others."""
    years = [year for year in guess.view.years if year is not None]
    if len(years) < 4:
        return _NOTHING
    return [-float(sum((one - other) ** 2 for other in years)) for one in years]


def _by_popularity(guess: Guess) -> Scores:
    return [float(one) for one in guess.view.links] or _NOTHING


def _by_comparison(guess: Guess) -> Scores:
    """Whether an option is among those compared."""
    return [float(one) for one in guess.view.compared] or _NOTHING


def _by_other_hops(guess: Guess) -> Scores:
    """In how many other hops an option stands."""
    return [float(one) for one in guess.view.elsewhere] or _NOTHING


def _by_choices(guess: Guess) -> Scores:
    """Whether an option is a number of ways to choose, out of as many or as many as the question states."""
    values, stated = _read_unstated(guess)
    if not values:
        return _NOTHING
    ways = {math.comb(n, k) for n in stated if 4 <= n <= 100 for k in range(2, n - 1)}
    ways |= {math.comb(n, k) for k in stated if 2 <= k <= 6 for n in range(k + 2, 60)}
    return [float(value in ways) for value in values]


def _by_sums(guess: Guess) -> Scores:
    """Whether an option is the sum or the difference of two stated numbers, or the product."""
    values, stated = _read_unstated(guess)
    if not values:
        return _NOTHING
    made = {one for a, b in itertools.combinations(sorted(stated), 2) for one in (a + b, b - a, a * b)}
    return [float(value in made) for value in values]


def _by_steps(guess: Guess) -> Scores:
    """Whether an option lies a whole number of stated steps from a stated number."""
    values, stated = _read_unstated(guess)
    if not values:
        return _NOTHING
    steps = [one for one in stated if 3 <= one <= 40]
    bases = [one for one in stated if one > 40]
    return [float(any((value - base) % step == 0 for step in steps for base in bases)) for value in values]


def _by_divisors(guess: Guess) -> Scores:
    """How many stated numbers divide an option."""
    values, stated = _read_unstated(guess)
    return [float(sum(value % one == 0 for one in stated if 3 <= one <= 40)) for value in values] or _NOTHING


def _by_digits(guess: Guess) -> Scores:
    """How many of the others differ from an option in one digit."""
    return [float(sum(differs_in_one_digit(one, other) for other in guess.options)) for one in guess.options]


@functools.lru_cache(maxsize=4_096)
def _find_stated(question: str) -> frozenset[int]:
    """The whole numbers that a question states, in digits or in words; a pair is two."""
    found = {int(number) for number, _ in find_numbers(question) if number == int(number)}
    return frozenset(found | {_COUNT_WORDS[word] for word in fold(question).split() if word in _COUNT_WORDS})


def _read_unstated(guess: Guess) -> tuple[list[int], frozenset[int]]:
    """The options as whole numbers, and those that the question states; nothing where it states all inputs."""
    values = [] if guess.view.inputs_stated or guess.answer_type != "number" else _read_values(guess)
    whole = [int(value) for value in values] if all(value == int(value) for value in values) else []
    return whole, _find_stated(guess.question)


_COUNT_WORDS = {
    "pair": 2, "pairs": 2, "two": 2, "double": 2, "twice": 2, "three": 3, "thrice": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20,
}  # fmt: skip
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
    "meets the open conditions": ("fails an open condition", _by_conditions),
    "of the others' era": ("of another era", _by_era),
    "best known": ("least known", _by_popularity),
    "one of those compared": ("not compared", _by_comparison),
    "named in other hops": ("not named in other hops", _by_other_hops),
    "a number of choices": ("no number of choices", _by_choices),
    "made of two stated numbers": ("not made of two stated numbers", _by_sums),
    "on a stated step": ("off the stated steps", _by_steps),
    "divided by a stated number": ("not divided by a stated number", _by_divisors),
    "one digit from others": ("no digit from others", _by_digits),
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
        values.append(as_float(value))
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
