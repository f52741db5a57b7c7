"""Three wrong options for a hop: of the answer's type and form, plausible, of different kinds, not true in the graph.

Where they come from: a wrong turn earlier on (what the hop gives for a wrong answer of an earlier one, or what meets
only some of its conditions: near misses), the loser of a comparison, what comes next in time or size, siblings of the
answer, and for numbers slips of arithmetic.
"""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from hopwright.checks.choices import meets
from hopwright.checks.guessing import overlap
from hopwright.distractors.numeric_distractors import (
    NumericSlip,
    choose_date_distractors,
    choose_number_distractors,
    list_slips,
)
from hopwright.distractors.proposers import propose
from hopwright.distractors.ranking import MOST_CANDIDATES, OptionCandidate, choose_three
from hopwright.errors import ExpressionError, InputError
from hopwright.knowledge.facts import Facts, GraphFacts
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.nearby_values import NearbyValues
from hopwright.knowledge.wikidata.similar_entities import EntityKindSource, Side, SimilarEntities
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.execution import execute, hops_used, stated_value
from hopwright.records import Compute, Constraint, Derivation, Distractor, DistractorKind, Hop, Lookup, ReverseLookup
from hopwright.records.values import Value, parse, render
from hopwright.text.matching import find_numbers, fold, pad

_IDS = re.compile(r"\bQ[0-9A-Za-z_]+\b")
_EXTREME = re.compile(r"^arg(?:max|min)\((P\d+), ?([^()]*)\)$")
_NAME = re.compile(r"^[^\W_].{1,78}$")
_NEAR_MISSES = 12
_MOST_FACTS = 2_000
_DRAWN = 4.0
"""What makes up for being far better, or less, known than the answer, in points of closeness."""
_OTHER_NOUN = 6.0
_WEIGHTS = (1.5, 1.5, 1.5, 1.0, 0.7, 1.5)
"""Of words shared with the question, capitals, length, popularity, alphabet, and the value that is compared."""
_LIKENESS_WEIGHTS = (1.5, 2.5, 1.5)
"""Of form, names and facts (see `choose_three`)."""
_SHARED = 0
"""Place of the trait that counts the words that an option shares with the question."""
_BESIDE_IN_TIME = 15
"""Years within which two entities are contemporaries."""

DistractorTriple = tuple[Distractor, Distractor, Distractor]
Likeness = Callable[[str, str], float]
"""How alike two names are, 0–1."""


class DistractorMaker:
    """Makes distractors over one graph. The same seed, hop and likeness give the same three."""

    def __init__(
        self,
        graph: GraphStore,
        table: PropertyTable,
        kinds: EntityKindSource,
        seed: int,
        *,
        facts: Facts | None = None,
        likeness: Likeness = overlap,
    ) -> None:
        self._graph = graph
        self._table = table
        self._seed = seed
        self._facts = facts if facts is not None else GraphFacts(graph, table)
        self._siblings = SimilarEntities(graph, kinds)
        self._values = NearbyValues(graph, self._facts)
        self._likeness = likeness
        self._compare_names = functools.lru_cache(200_000)(self._like_by_name)
        self._around = functools.lru_cache(50_000)(self._list_around)
        self._compare_facts = functools.lru_cache(200_000)(self._siblings.kinship)

    def make(
        self,
        hop: Hop,
        answers: Mapping[int, Value],
        earlier: Sequence[Hop],
        asked: str = "",
        proposed: Sequence[Value] = (),
    ) -> DistractorTriple | None:
        """Make three distractors for a hop; None when no three valid ones can be found.

        `answers` holds the values of the earlier hops, `earlier` those hops with their distractors; `asked` is a
        question beside the hop's own that the options will stand under (the last hop's are those of the item).
        `proposed` are further candidates, ids or numbers; they are chosen by the same rules as all others.
        """
        proposed = [*proposed, *propose(hop, answers)]
        way = "|".join(one.question for one in earlier)  # the same hop in another item gets other distractors
        rng = random.Random(f"{self._seed}:{way}|{hop.question}|{hop.answer}")
        try:
            value = stated_value(hop)
        except InputError:
            return None
        if isinstance(value, dt.date):
            dates = choose_date_distractors(value, rng)
            return _join(Distractor(text=render(date), kind="neighbour") for date in dates)
        if isinstance(value, str):
            if hop.answer_type != "entity" or hop.answer_id is None:
                return None
            named = [one for one in proposed if isinstance(one, str)]
            return self._make_entities(hop, hop.answer_id, answers, earlier, asked, rng, named)
        numbers = [one for one in proposed if isinstance(one, int | Decimal)]
        return self._make_numbers(hop, value, answers, earlier, asked, rng, numbers)

    def _make_numbers(
        self,
        hop: Hop,
        value: int | Decimal,
        answers: Mapping[int, Value],
        earlier: Sequence[Hop],
        asked: str,
        rng: random.Random,
        proposed: Sequence[int | Decimal],
    ) -> DistractorTriple | None:
        year = hop.unit == "year"
        derivation = hop.derivation
        slips: list[NumericSlip] = [
            (missed, "near_miss")
            for missed in self._propagate_wrong_answers(hop, answers, earlier)
            if isinstance(missed, int | Decimal)
        ]
        # A year is no wrong count, nor an area a number of years: of the numbers on the way, those of the same unit.
        alike = {stated_value(one) for one in earlier if one.answer_type == "number" and one.unit == hop.unit}
        alike |= {claim.number for claim in hop.evidence.claims if claim.unit == hop.unit}
        wrong = list_slips(derivation, answers, self._facts, hop.evidence.claims)
        slips += [slip for slip in wrong if slip[1] != "operand" or slip[0] in alike]
        near: list[int | Decimal] = []
        if isinstance(derivation, Lookup) and derivation.property in self._table.literal:
            near = self._values.numbers(derivation.property, value, year=year)
            near = rng.sample(near, min(4, len(near)))
        near = [*near, *proposed]
        counting = isinstance(derivation, Compute) and derivation.kind == "counting"
        chosen = choose_number_distractors(
            value,
            slips,
            near,
            year=year,
            lowest=0 if counting else 1 if value == int(value) else 0,
            highest=_most(derivation) if counting else None,
            rng=rng,
            shown={number for text in (hop.question, asked) for number, _ in find_numbers(text)},
        )
        if chosen is None:
            return None
        return _join(Distractor(text=render(number, year=year), kind=kind) for number, kind in chosen)

    def _make_entities(
        self,
        hop: Hop,
        answer: str,
        answers: Mapping[int, Value],
        earlier: Sequence[Hop],
        asked: str,
        rng: random.Random,
        proposed: Sequence[str],
    ) -> DistractorTriple | None:
        derivation = hop.derivation
        asked_for = pad(f"{hop.question} {asked}")
        compared = ""
        losers: list[str] = []
        pools: list[tuple[str, Side]] = []
        rejected = self._list_used(hop, answers, earlier)
        near_misses = [one for one in self._propagate_wrong_answers(hop, answers, earlier) if isinstance(one, str)]
        beside: list[str] = []
        if isinstance(derivation, Compute):
            match = _EXTREME.match(derivation.expression)
            if match is None:
                return None
            compared = match[1]
            operands = [_resolve(one.strip(), answers) for one in match[2].split(",")]
            losers = [one for one in operands if one != answer and self._is_usable(one, answer)][:2]
            near_misses += [one.id for other in earlier for one in other.distractors if one.id]
            pools = [(compared, "literal")]
            for held in self._facts.scalars(answer, compared)[:1]:
                beside = self._values.holders(compared, held)
        elif isinstance(derivation, Lookup):
            pools = [(derivation.property, "object")]
            # Whatever else the graph ties to the subject may, in reality, be true of it as well.
            rejected |= {object for _, object in self._graph.out_edges(_resolve(derivation.subject, answers))}
        elif isinstance(derivation, ReverseLookup):
            pools = [(derivation.property, "literal" if derivation.property in self._table.literal else "subject")]
            near_misses += self._list_near_misses(derivation, answer, answers, rng)
            beside = self._list_beside(derivation, answer)
        found: dict[str, OptionCandidate] = {}
        names: set[str] = set()
        siblings = self._siblings.near(answer, pools, rng)
        noun = self._siblings.noun(answer)
        siblings.sort(key=lambda one: self._siblings.noun(one) != noun)
        drawn = self._siblings.draw(answer, *pools[0], rng, 6) if isinstance(derivation, Lookup) else []
        streams: list[tuple[DistractorKind, Sequence[str], int]] = [
            ("operand", losers, len(losers)),
            ("sibling", proposed, len(proposed)),
            ("near_miss", self._siblings.rank(answer, list(dict.fromkeys(near_misses)), rng), 3),
            ("neighbour", [*beside, *self._list_next(answer, siblings)], 2),
            ("sibling", drawn, 4),
            ("sibling", self._spread(answer, siblings), MOST_CANDIDATES),
        ]
        for kind, entities, most in streams:
            for one in entities:
                if most == 0 or len(found) == MOST_CANDIDATES:
                    break
                name = self._siblings.card(one).folded
                shown = one in rejected or f" {name} " in asked_for
                if one in found or name in names or (shown and kind != "operand"):
                    continue
                if not self._is_usable(one, answer) or not self._is_wrong(one, derivation, answers, compared):
                    continue
                names.add(name)
                found[one] = self._weigh(one, answer, kind, compared, asked_for, rng, bonus=_DRAWN * (one in drawn))
                most -= 1
        own = self._weigh(answer, answer, "sibling", compared, asked_for, rng)
        candidates = list(found.values())
        weights = (*_WEIGHTS[: len(own.traits)], *_LIKENESS_WEIGHTS)
        likenesses = (self._compare_names, self._compare_facts)
        fixed = sum(one.kind == "operand" for one in candidates)
        if own.traits[_SHARED] and not fixed:
            candidates.sort(key=lambda one: not one.traits[_SHARED])  # one that shares a word, too, is always taken
            fixed = 1
        places = choose_three(own, candidates, likenesses, rng, fixed=fixed, weights=weights)
        if places is None:
            return None
        chosen = [candidates[place] for place in places]
        if own.traits[_SHARED] and not any(one.traits[_SHARED] for one in chosen):
            return None  # a word of the question in one option only points to it
        return _join(Distractor(text=one.text, kind=one.kind, id=one.key) for one in chosen)

    def _propagate_wrong_answers(self, hop: Hop, answers: Mapping[int, Value], earlier: Sequence[Hop]) -> list[Value]:
        """What the hop gives for wrong answers of the hops that it rests on.

        Wrong answers are the distractors of those hops, so that one wrong turn leads from option to option.
        """
        used = hops_used(hop.derivation)
        found: dict[Value, None] = {}
        for source in earlier:
            for wrong in self._list_wrong(source) if source.index in used else ():
                inputs = {**answers, source.index: wrong}
                try:
                    value = execute(
                        hop.derivation, hop.answer_type, inputs, self._facts, self._table, hop.evidence.claims
                    )
                except (ExpressionError, InputError, ArithmeticError):
                    continue
                found[value] = None
        found.pop(stated_value(hop), None)
        return list(found)

    def _list_wrong(self, source: Hop) -> Iterator[Value]:
        """The wrong options of an earlier hop as values; of entities, those with few enough facts to go through."""
        for one in source.distractors:
            if one.id is None:
                if source.answer_type != "entity":
                    yield parse(one.text, source.answer_type)
            elif self._graph.degree(one.id) <= _MOST_FACTS:
                yield one.id

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

    def _list_beside(self, derivation: ReverseLookup, answer: str) -> list[str]:
        """Entities whose dates or numbers come next to those that the look-up asks for."""
        found: list[str] = []
        for condition in _conditions(derivation):
            if condition.property in self._table.literal:
                for held in self._facts.scalars(answer, condition.property)[:1]:
                    found += self._values.holders(condition.property, held)
        return found

    def _spread(self, answer: str, siblings: Sequence[str]) -> list[str]:
        """The likeliest siblings, then some with longer and shorter, better and less known, earlier and later names.

        So that whatever the answer looks like, there are threes among which it is not the longest or the best known.
        """
        spread = dict.fromkeys(siblings[:2])
        own = self._look(answer)
        looks = [(one, self._look(one)) for one in siblings]
        for place in range(len(own)):
            for above in (True, False):
                beyond = (
                    one
                    for one, look in looks
                    if one not in spread and look[place] != own[place] and (look[place] > own[place]) == above  # type: ignore[operator]
                )
                spread |= dict.fromkeys(itertools.islice(beyond, 1))
        return list(spread | dict.fromkeys(siblings))

    def _look(self, entity: str) -> tuple[float | str, ...]:
        """What a guesser may go by: capitals and length of the name, how well known it is, its place by alphabet."""
        card = self._siblings.card(entity)
        return card.capitals, len(card.label), card.degree, card.folded

    def _list_next(self, answer: str, siblings: Sequence[str]) -> list[str]:
        """Siblings next to the answer in time (contemporaries, nearest first) or in place (common border, district)."""
        apart = [(self._siblings.years_apart(answer, one), one) for one in siblings]
        found = [one for years, one in sorted((y, one) for y, one in apart if y is not None and y <= _BESIDE_IN_TIME)]
        around = self._around(answer)
        for one in siblings if around else ():
            places = self._around(one)
            if one in around or around & places:
                found.append(one)
        return list(dict.fromkeys(found))

    def _list_around(self, entity: str) -> frozenset[str]:
        """What an entity borders on or lies in."""
        beside = self._table.roles.neighbours
        return frozenset(place for property, place in self._graph.out_edges(entity) if property in beside)

    def _is_wrong(self, candidate: str, derivation: Derivation, answers: Mapping[int, Value], compared: str) -> bool:
        """Whether a candidate can be offered: comparable where there is a comparison, else not true in the graph."""
        if isinstance(derivation, ReverseLookup):
            return self._is_false(candidate, derivation, answers)
        return not compared or len(self._facts.scalars(candidate, compared)) == 1

    def _is_false(self, candidate: str, derivation: ReverseLookup, answers: Mapping[int, Value]) -> bool:
        """Whether the graph speaks against a candidate: for some condition it knows another value, not merely none."""
        for condition in _conditions(derivation):
            known = (
                self._facts.scalars(candidate, condition.property)
                if condition.property in self._table.literal
                else self._facts.objects(candidate, condition.property)
            )
            try:
                if known and not meets(candidate, _fill(condition, answers), answers, self._facts):
                    return True
            except ExpressionError:
                return False
        return False

    def _is_usable(self, candidate: str, answer: str) -> bool:
        return (
            bool(_NAME.match(self._siblings.card(candidate).label))
            and self._siblings.kind(candidate) == self._siblings.kind(answer)
            and self._siblings.is_distinct(candidate, answer)
        )

    def _weigh(
        self,
        entity: str,
        answer: str,
        kind: DistractorKind,
        compared: str,
        asked_for: str,
        rng: random.Random,
        bonus: float = 0.0,
    ) -> OptionCandidate:
        """An entity as an option: how near to the answer, how long its name, how well known, how it compares."""
        card = self._siblings.card(entity)
        words = [] if compared else card.folded.split()  # a comparison names its candidates
        shared = sum(f" {word} " in asked_for for word in words if len(word) > 3)
        traits = [shared, *self._look(entity)]
        if compared:
            (value,) = self._facts.scalars(entity, compared)
            traits.append(float(value.toordinal() if isinstance(value, dt.date) else value))
        closeness = 0.0 if entity == answer else self._siblings.closeness(answer, entity) + 1.5 * rng.random() + bonus
        noun = self._siblings.noun(answer)
        if noun and f" {fold(noun)} " in asked_for and self._siblings.noun(entity) != noun:
            closeness -= _OTHER_NOUN  # asked for a Spanish city, nobody takes a Swiss one
        return OptionCandidate(card.label, entity, kind, closeness, tuple(traits))

    def _like_by_name(self, one: str, other: str) -> float:
        return self._likeness(self._siblings.card(one).label, self._siblings.card(other).label)


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
    return " ".join(hop.derivation.references())


def _join(distractors: Iterable[Distractor]) -> DistractorTriple:
    one, two, three = distractors
    return one, two, three


def _most(derivation: Derivation) -> int | None:
    """The most that a count can come to; None where that leaves too few wrong numbers."""
    conditions = len(re.findall(r"[<>]|==", derivation.expression)) if isinstance(derivation, Compute) else 0
    return conditions if conditions >= 3 else None
