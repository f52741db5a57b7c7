"""Four solvers that need no weights. Each takes one shortcut that small models are known to take.

popularity-prior   the best known option
lexical-overlap    the option that shares most with the wording of the question
options-only       the option that the other options were evidently made from
last-hop-only      what the last relation usually leads to, whatever comes before
"""

from __future__ import annotations

import abc
import datetime as dt
import functools
import math
import re
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Protocol

from hopwright.difficulty.voters import Voter, VoterQuestion, to_probabilities
from hopwright.errors import InputError
from hopwright.knowledge.properties import PropertyTable
from hopwright.records import Compute, LiteralFact, Lookup, ReadRegion, ReadSpan
from hopwright.records.values import as_float, parse

_WORD = re.compile(r"\w+")
_EXTREME = re.compile(r"^(argmax|argmin)\((P\d+),")
# Words that say nothing about what a question is about.
_EMPTY = frozenset(
    "a an and are as at be between by did do does for from had has have how in is it its many more of on one or other "
    "than that the their there this to was were what when where which who whose with years year".split()
)
_MAX_NEIGHBOURS = 200
_MAX_DATED = 20_000


class Neighbourhood(Protocol):
    """What the solvers ask of a graph store."""

    def label(self, id: str) -> str:
        """The entity's label."""
        ...

    def degree(self, id: str) -> int:
        """Number of triplets around the entity."""
        ...

    def objects(self, subject: str, property: str) -> tuple[str, ...]:
        """All objects of (subject, property, ·)."""
        ...

    def subjects(self, property: str, object: str) -> tuple[str, ...]:
        """All subjects of (·, property, object)."""
        ...

    def out_edges(self, subject: str) -> tuple[tuple[str, str], ...]:
        """(property, object) pairs."""
        ...

    def in_edges(self, object: str) -> tuple[tuple[str, str], ...]:
        """(property, subject) pairs."""
        ...

    def literals(self, subject: str, property: str = "") -> tuple[LiteralFact, ...]:
        """The entity's literals; those of one property where it is named."""
        ...

    def literal_subjects(self, property: str) -> tuple[str, ...]:
        """The entities that have a literal of the property."""
        ...


def shortcut_voters(graph: Neighbourhood, table: PropertyTable, *, seed: int) -> list[Voter]:
    """The offline ensemble of four."""
    return [
        PopularityPrior(graph, table, seed=seed),
        LexicalOverlap(graph, seed=seed),
        OptionsOnly(seed=seed),
        LastHopOnly(graph, table, seed=seed),
    ]


class _Solver(abc.ABC):
    """Scores the four options of one question at a time; the rest is common."""

    name = ""
    sharpness = 1.0

    def __init__(self, *, seed: int) -> None:
        self._seed = seed

    def choose(self, choices: Sequence[VoterQuestion]) -> list[tuple[float, ...]]:
        return [
            to_probabilities(
                self.score(choice),
                choice.options,
                seed=self._seed,
                voter=self.name,
                key=choice.key,
                sharpness=self.sharpness,
            )
            for choice in choices
        ]

    @abc.abstractmethod
    def score(self, choice: VoterQuestion) -> list[float]:
        """One score per option, the higher the likelier."""


class PopularityPrior(_Solver):
    """Entities by their degree in the graph; years by how many entities have a date in them; other numbers by form.

    Round numbers and small leading digits (Benford) are met more often in texts.
    """

    name = "popularity-prior"

    def __init__(self, graph: Neighbourhood, table: PropertyTable, *, seed: int) -> None:
        super().__init__(seed=seed)
        self._graph = graph
        self._table = table

    def score(self, choice: VoterQuestion) -> list[float]:
        if choice.answer_type == "entity":
            return [math.log1p(self._graph.degree(id)) if id else 0.0 for id in choice.entities]
        values = _read_values(choice)
        if choice.unit == "year":
            return [math.log1p(self._years[int(value)]) for value in values]
        if choice.answer_type == "date":
            return [math.log1p(self._years[dt.date.fromordinal(max(1, int(value))).year]) for value in values]
        return [_familiarity(value) for value in values]

    @functools.cached_property
    def _years(self) -> Counter[int]:
        """Year → how many dated facts fall in it; of each property at most the first 20,000 subjects are read."""
        return Counter(
            value.year
            for property, entry in self._table.literal.items()
            if entry.value in ("date", "year")
            for subject in self._graph.literal_subjects(property)[:_MAX_DATED]
            for literal in self._graph.literals(subject, property)
            if isinstance(value := self._table.read(literal), dt.date)
        )


class LexicalOverlap(_Solver):
    """Words that an option, or what the graph joins it to, shares with the question; then pieces of words."""

    name = "lexical-overlap"

    def __init__(self, graph: Neighbourhood, *, seed: int) -> None:
        super().__init__(seed=seed)
        self._words_around = functools.lru_cache(20_000)(functools.partial(_collect_words, graph))

    def score(self, choice: VoterQuestion) -> list[float]:
        words = _content_words(choice.question)
        pieces = _pieces(choice.question)
        scores = []
        for text, id in zip(choice.options, choice.entities, strict=True):
            own = 2.0 * len(words & _content_words(text))
            around = float(len(words & self._words_around(id))) if id else 0.0
            shared = _cosine(_pieces(text), pieces)
            scores.append(own + around + shared)
        return scores


class OptionsOnly(_Solver):
    """Sees no question: the option nearest to all the others, for wrong options are made from the right one.

    Numbers and dates: the one from which the others are near and a simple slip away (1, 2, 10, 500, but not 11);
    texts: the one that shares most pieces of three letters with the others.
    """

    name = "options-only"
    sharpness = 4.0

    def score(self, choice: VoterQuestion) -> list[float]:
        if choice.answer_type in ("number", "date"):
            values = _read_values(choice)
            return [sum(_kinship(one, other) for other in values if other != one) for one in values]
        pieces = [_pieces(text) for text in choice.options]
        return [sum(_cosine(one, other) for other in pieces if other is not one) for one in pieces]


class LastHopOnly(_Solver):
    """Sees the last hop's relation but not its inputs, and takes what that relation usually leads to.

    A look-up: the object that most subjects have; a reverse look-up: the subject with most values of the property;
    a superlative: the option with the extreme value; a literal: the value nearest to the property's median; a
    computed number: what results of that kind look like (`_typicality`).
    """

    name = "last-hop-only"

    def __init__(self, graph: Neighbourhood, table: PropertyTable, *, seed: int) -> None:
        super().__init__(seed=seed)
        self._graph = graph
        self._table = table
        self._typical = functools.lru_cache(1_000)(self._find_typical)
        self._support = functools.lru_cache(100_000)(self._count_support)

    def score(self, choice: VoterQuestion) -> list[float]:
        relation = choice.relation
        if isinstance(relation, ReadSpan | ReadRegion):
            return [0.0] * len(choice.options)
        if choice.answer_type == "entity":
            if isinstance(relation, Compute):
                return self._score_extreme(relation, choice)
            forward = isinstance(relation, Lookup)
            return [self._support(relation.property, id, forward) if id else 0.0 for id in choice.entities]
        values = _read_values(choice)
        if isinstance(relation, Compute):
            return [_typicality(value, relation, choice.unit) for value in values]
        typical = self._typical(relation.property, choice.answer_type, choice.unit)
        if typical is None:
            return [_familiarity(value) for value in values]
        scale = max(abs(value - typical) for value in values) or 1.0
        return [-3 * abs(value - typical) / scale for value in values]

    def _score_extreme(self, relation: Compute, choice: VoterQuestion) -> list[float]:
        match = _EXTREME.match(relation.expression)
        if match is None:
            return [0.0] * len(choice.options)
        sign = 1 if match[1] == "argmax" else -1
        values = [self._read_literal(id, match[2]) if id else None for id in choice.entities]
        known = sorted({value for value in values if value is not None})
        return [0.0 if value is None else 1.0 + sign * known.index(value) for value in values]

    def _count_support(self, property: str, id: str, forward: bool) -> float:
        found = self._graph.subjects(property, id) if forward else self._graph.objects(id, property)
        return math.log1p(len(found))

    def _read_literal(self, id: str, property: str) -> float | None:
        for literal in self._graph.literals(id, property):
            value = self._table.read(literal)
            if value is not None:
                return as_float(value)
        return None

    def _find_typical(self, property: str, answer_type: str, unit: str) -> float | None:
        values = [
            value.year if isinstance(value, dt.date) and (unit == "year" or answer_type == "number") else value
            for subject in self._graph.literal_subjects(property)
            for literal in self._graph.literals(subject, property)
            if (value := self._table.read(literal)) is not None
        ]
        return median(as_float(value) for value in values) if values else None


def _read_values(choice: VoterQuestion) -> list[float]:
    """The options as numbers (dates as days); an option that is none counts as 0."""
    values: list[float] = []
    for text in choice.options:
        try:
            value = parse(text, choice.answer_type)
        except InputError:
            values.append(0.0)
            continue
        values.append(0.0 if isinstance(value, str) else as_float(value))
    return values


def _kinship(one: float, other: float) -> float:
    """How much one number looks like a slip from the other."""
    gap = abs(one - other)
    return 0.5 * (len(f"{gap:.0f}".rstrip("0")) == 1) - 0.25 * math.log1p(gap)


def _familiarity(value: float) -> float:
    """How often such a number is met: closing zeros and fives, and Benford's law for the first digit."""
    digits = f"{abs(value):.0f}"
    zeros = len(digits) - len(digits.rstrip("0")) if digits.strip("0") else 1
    return 1.5 * zeros + 0.5 * digits.endswith("5") + math.log10(1 + 1 / max(1, int(digits[0])))


def _typicality(value: float, relation: Compute, unit: str) -> float:
    """How much a number looks like a result of its kind.

    Years lie near our time; spans of years are of some decades; counts are small; numbers of ways are binomial
    coefficients or falling factorials; other results are as familiar as numbers come.
    """
    if unit == "year":
        return -abs(value - 1960) / 40
    if relation.kind == "temporal":
        return -abs(math.log(max(value, 1) / 40))
    if relation.kind == "counting":
        return -abs(value - 2)
    if relation.kind == "combinatorics":
        return 3.0 * (value in _ways()) + 0.1 * _familiarity(value)
    return _familiarity(value)


@functools.cache
def _ways() -> frozenset[float]:
    pairs = [(n, k) for n in range(3, 201) for k in (2, 3, 4)]
    return frozenset(float(ways) for n, k in pairs if k < n for ways in (math.comb(n, k), math.perm(n, k)))


def _content_words(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text.casefold()) if word not in _EMPTY)


def _collect_words(graph: Neighbourhood, id: str) -> frozenset[str]:
    """The words in the labels of what an entity is joined to; of a hub, only of what it points to itself."""
    edges = graph.out_edges(id)
    if graph.degree(id) <= _MAX_NEIGHBOURS:
        edges += graph.in_edges(id)
    labels = (graph.label(other) for _, other in edges[:_MAX_NEIGHBOURS])
    return frozenset(word for label in labels for word in _content_words(label))


def _pieces(text: str) -> Counter[str]:
    padded = f"  {text.casefold()} "
    return Counter(padded[i : i + 3] for i in range(len(padded) - 2))


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    dot = sum(count * other[piece] for piece, count in one.items() if piece in other)
    size = math.sqrt(sum(c * c for c in one.values()) * sum(c * c for c in other.values()))
    return dot / size if size else 0.0
