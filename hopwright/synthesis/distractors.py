"""Three wrong options for a hop: of the answer's type and form, plausible, and not true in the graph."""

from __future__ import annotations

import datetime as dt
import functools
import random
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from hopwright.errors import ExpressionError, InputError
from hopwright.graph.store import GraphStore
from hopwright.records import Compute, Constraint, Derivation, Distractor, Hop, Lookup, ReverseLookup
from hopwright.records.values import Value, render
from hopwright.synthesis.checks.choices import find_odd_trait, meets
from hopwright.synthesis.checks.text import fold
from hopwright.synthesis.execution import stated_value
from hopwright.synthesis.facts import Facts, GraphFacts
from hopwright.synthesis.properties import PropertyTable
from hopwright.synthesis.siblings import Kinds, Siblings, Side
from hopwright.synthesis.slips import choose_dates, choose_numbers, list_slips

_IDS = re.compile(r"\bQ[0-9A-Za-z_]+\b")
_EXTREME = re.compile(r"^arg(?:max|min)\((P\d+), ?([^()]*)\)$")
_NAME = re.compile(r"^[^\W_].{1,78}$")
_NEAR_MISSES = 12

Three = tuple[Distractor, Distractor, Distractor]


class DistractorMaker:
    """Makes distractors over one graph. The same seed and hop give the same three."""

    def __init__(
        self, graph: GraphStore, table: PropertyTable, kinds: Kinds, seed: int, *, facts: Facts | None = None
    ) -> None:
        self._graph = graph
        self._table = table
        self._seed = seed
        self._facts = facts if facts is not None else GraphFacts(graph, table)
        self._siblings = Siblings(graph, kinds)
        self._numbers = functools.lru_cache(512)(self._list_numbers)

    def make(self, hop: Hop, answers: Mapping[int, Value], earlier: Sequence[Hop]) -> Three | None:
        """Make three distractors for a hop; None when no three valid ones can be found.

        `answers` holds the values of the earlier hops. For an entity: near siblings that the derivation does not
        give, and for a comparison whoever lost it. For a number or a date: slips and near values.
        """
        way = "|".join(one.question for one in earlier)  # the same hop in another item gets other distractors
        rng = random.Random(f"{self._seed}:{way}|{hop.question}|{hop.answer}")
        try:
            value = stated_value(hop)
        except InputError:
            return None
        if isinstance(value, dt.date):
            dates = choose_dates(value, rng)
            return _join(Distractor(text=render(date), kind="neighbour") for date in dates)
        if isinstance(value, str):
            if hop.answer_type != "entity" or hop.answer_id is None:
                return None
            return self._make_entities(hop, hop.answer_id, answers, earlier, rng)
        return self._make_numbers(hop, value, answers, rng)

    def _make_numbers(
        self, hop: Hop, value: int | Decimal, answers: Mapping[int, Value], rng: random.Random
    ) -> Three | None:
        year = hop.unit == "year"
        derivation = hop.derivation
        near: list[int | Decimal] = []
        if isinstance(derivation, Lookup) and derivation.property in self._table.literal:
            held = self._numbers(derivation.property, year)
            place = bisect_left(held, value)
            near = [one for one in held[max(0, place - 6) : place + 7] if one != value]
            near = rng.sample(near, min(4, len(near)))
        counting = isinstance(derivation, Compute) and derivation.kind == "counting"
        chosen = choose_numbers(
            value,
            list(list_slips(derivation, answers, self._facts)),
            near,
            year=year,
            lowest=0 if counting else 1 if value == int(value) else 0,
            highest=_most(derivation) if counting else None,
            rng=rng,
        )
        if chosen is None:
            return None
        return _join(Distractor(text=render(number, year=year), kind=kind) for number, kind in chosen)

    def _make_entities(
        self, hop: Hop, answer: str, answers: Mapping[int, Value], earlier: Sequence[Hop], rng: random.Random
    ) -> Three | None:
        derivation = hop.derivation
        losers: list[str] = []
        near_misses: list[str] = []
        pools: list[tuple[str, Side]]
        if isinstance(derivation, Compute):
            match = _EXTREME.match(derivation.expression)
            if match is None:
                return None
            operands = [_resolve(one.strip(), answers) for one in match[2].split(",")]
            losers = [one for one in operands if one != answer and self._is_usable(one, answer)]
            pools = [(match[1], "literal")]
            rejected = self._list_used(hop, answers, earlier)
        elif isinstance(derivation, Lookup):
            subject = _resolve(derivation.subject, answers)
            pools = [(derivation.property, "object")]
            # Whatever else the graph ties to the subject may, in reality, be true of it as well.
            rejected = self._list_used(hop, answers, earlier) | {o for _, o in self._graph.out_edges(subject)}
        else:
            side: Side = "literal" if derivation.property in self._table.literal else "subject"
            pools = [(derivation.property, side)]
            near_misses = self._list_near_misses(derivation, answer, answers, rng)
            rejected = self._list_used(hop, answers, earlier)
        chosen = [Distractor(text=self._graph.label(one), kind="operand", id=one) for one in losers[:2]]
        taken = {answer, *(one.id for one in chosen)}
        names = {fold(one.text) for one in chosen}
        spare: list[Distractor] = []
        candidates = self._siblings.near(answer, pools, rng)
        if near_misses:
            ranked = self._siblings.rank(answer, near_misses, rng)
            candidates = [*ranked[:2], *candidates, *ranked[2:]]
        for candidate in candidates:
            if candidate in rejected or candidate in taken or not self._is_usable(candidate, answer):
                continue
            if isinstance(derivation, ReverseLookup) and not self._is_false(candidate, derivation, answers):
                continue
            label = self._graph.label(candidate)
            if fold(label) in names:
                continue
            taken.add(candidate)
            names.add(fold(label))
            spare.append(Distractor(text=label, kind="sibling", id=candidate))
            if len(spare) == 6:
                break
        return _balance(hop.answer, chosen, spare)

    def _list_used(self, hop: Hop, answers: Mapping[int, Value], earlier: Sequence[Hop]) -> set[str]:
        """The entities that the plan names or passes through: on the way to the answer, not beside it."""
        used = {one for one in answers.values() if isinstance(one, str)}
        for one in (*earlier, hop):
            used.update(_IDS.findall(_written(one)))
        return used

    def _list_near_misses(
        self, derivation: ReverseLookup, answer: str, answers: Mapping[int, Value], rng: random.Random
    ) -> list[str]:
        """Entities of the answer's sort that meet one of the conditions."""
        found: dict[str, None] = {}
        sort = self._siblings.sort(answer)
        for condition in _conditions(derivation):
            if condition.property in self._table.literal:
                continue
            value = _resolve(condition.value, answers)
            if self._siblings.is_crowded(value):
                continue
            subjects = self._graph.subjects(condition.property, value)
            if len(subjects) > 4 * _NEAR_MISSES:
                subjects = tuple(subjects[rng.randrange(len(subjects))] for _ in range(4 * _NEAR_MISSES))
            alike = [one for one in subjects if one != answer and self._siblings.sort(one) == sort]
            found |= dict.fromkeys(alike[:_NEAR_MISSES])
        return list(found)

    def _is_false(self, candidate: str, derivation: ReverseLookup, answers: Mapping[int, Value]) -> bool:
        """Whether the graph speaks against a candidate: for some condition it knows another value, not merely none."""
        for condition in _conditions(derivation):
            known = (
                self._facts.scalars(candidate, condition.property)
                if condition.property in self._table.literal
                else self._facts.objects(candidate, condition.property)
            )
            try:
                if known and not meets(candidate, _fill(condition, answers), answers, self._facts, self._table):
                    return True
            except ExpressionError:
                return False
        return False

    def _is_usable(self, candidate: str, answer: str) -> bool:
        label = self._graph.label(candidate)
        return (
            bool(_NAME.match(label))
            and self._siblings.kind(candidate) == self._siblings.kind(answer)
            and self._siblings.is_distinct(candidate, answer)
        )

    def _list_numbers(self, property: str, year: bool) -> list[int | Decimal]:
        """All values of a literal property, ascending; of dates, the years."""
        found: set[int | Decimal] = set()
        for subject in self._graph.literal_subjects(property):
            for held in self._facts.scalars(subject, property):
                if isinstance(held, dt.date):
                    found.add(held.year)
                elif not year:
                    found.add(held)
        return sorted(found)


def _balance(answer: str, chosen: list[Distractor], spare: list[Distractor]) -> Three | None:
    """Fill up to three from the spares, in order; where the answer would stand out by form, the last is exchanged."""
    room = 3 - len(chosen)
    if len(spare) < room:
        return None
    picked = [*chosen, *spare[:room]]
    if find_odd_trait(answer, [one.text for one in picked]):
        for other in spare[room:]:
            exchanged = [*picked[:-1], other]
            if not find_odd_trait(answer, [one.text for one in exchanged]):
                return _join(exchanged)
    return _join(picked)


def _conditions(derivation: ReverseLookup) -> Iterator[Constraint]:
    yield Constraint(property=derivation.property, value=derivation.value)
    yield from derivation.constraints


def _fill(condition: Constraint, answers: Mapping[int, Value]) -> Constraint:
    value = _resolve(condition.value, answers)
    return condition if value == condition.value else Constraint(property=condition.property, value=value)


def _resolve(reference: str, answers: Mapping[int, Value]) -> str:
    """The Q-id behind `hopN`; anything else as it is."""
    if re.fullmatch(r"hop\d", reference) and isinstance(value := answers.get(int(reference[3:])), str):
        return value
    return reference


def _written(hop: Hop) -> str:
    derivation = hop.derivation
    if isinstance(derivation, Lookup):
        return derivation.subject
    if isinstance(derivation, Compute):
        return derivation.expression
    return " ".join(condition.value for condition in _conditions(derivation))


def _join(distractors: Iterable[Distractor]) -> Three:
    one, two, three = distractors
    return one, two, three


def _most(derivation: Derivation) -> int | None:
    """The most that a count can come to; None where that leaves too few wrong numbers."""
    conditions = len(re.findall(r"[<>]", derivation.expression)) if isinstance(derivation, Compute) else 0
    return conditions if conditions >= 3 else None
