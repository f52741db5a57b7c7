"""Building one plan step by step: the names that it may use, and look-ups, each of which adds one step or gives up."""

from __future__ import annotations

import datetime as dt
import functools
import operator
import random
from collections.abc import Callable, Container, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from hopwright.planning.dead_ends import DeadEnd, PlanningDeadEnd
from hopwright.planning.domains import DomainDecision, DomainIndex
from hopwright.planning.plan import PartialPlan
from hopwright.planning.random_draws import draw, draw_by_weights
from hopwright.planning.relations import Relations
from hopwright.planning.target_distribution import ComputeKind, SamplingPreferences
from hopwright.planning.traversals import Edge, GraphTraversals, UsableLiteral
from hopwright.records import Claim, Compute, Domain, GraphDerivation, Lookup, ReverseLookup
from hopwright.records.model import AnswerType
from hopwright.records.values import Scalar

if TYPE_CHECKING:
    from hopwright.knowledge.external.linking import LinkedClaim

Type = Literal["entity", "year", "amount", "number", "date", "ways"]
"""What a hop gives: `amount` is a count or a number of years or an age, `number` a literal in its unit, `ways` a
number of ways to choose."""

# A domain that the plan has not touched yet is so much likelier to be chosen.
_FAMILY = frozenset({"parents", "upbringing", "household"})
_NEW_DOMAIN = 15.0
_IN_BAND = 3.0
_SELDOM = 0.15
_T = TypeVar("_T")
_PROPERTY_OF = operator.attrgetter("property")


class StepOutput(NamedTuple):
    """What a finished step offers to those that read it: its reference, and its entity or its number."""

    type: Type
    ref: str
    entity: str = ""
    number: int | Decimal = 0
    unit: str = ""
    of: str = ""
    """The literal property that a number or a year is the value of."""

    @property
    def whole(self) -> int:
        """The number of a year or an amount."""
        return int(self.number)


@functools.lru_cache(50_000)
def look_up(subject: str, property: str) -> Lookup:
    """The look-up of a property; sketch after sketch begins with the same."""
    return Lookup(subject=subject, property=property)


class PlanBuilder:
    """A draft under construction, with its random numbers and the names that it already uses."""

    def __init__(
        self,
        traversals: GraphTraversals,
        domains: DomainIndex,
        preferences: SamplingPreferences,
        rng: random.Random,
        claims: Sequence[LinkedClaim] = (),
        relations: Relations | None = None,
    ) -> None:
        self.traversals = traversals
        self.relations = relations or Relations(traversals)
        self.topics: tuple[str, ...] = ()
        """What the steps name as their subjects, in order: later branches start from these or from their kin."""
        self.claims = claims
        self.preferences = preferences
        self.rng = rng
        self.draft = PartialPlan()
        self._domains = domains
        # Dictionaries keep the order in which they were filled: to take back is to drop their ends.
        self._entities: dict[str, None] = {}
        self._tokens: dict[str, None] = {}
        self._rulings: list[DomainDecision] = []

    @property
    def used(self) -> frozenset[str]:
        """The entities taken so far."""
        return frozenset(self._entities)

    def mark(self) -> tuple[int, int, int, tuple[str, ...]]:
        """Where the sketch stands, for `reset`."""
        return len(self.draft.steps), len(self._entities), len(self._tokens), self.topics

    def reset(self, mark: tuple[int, int, int, tuple[str, ...]]) -> None:
        """Take back what was added since a mark."""
        steps, entities, tokens, self.topics = mark
        del self.draft.steps[steps:], self._rulings[steps:]
        while len(self._entities) > entities:
            self._entities.popitem()
        while len(self._tokens) > tokens:
            self._tokens.popitem()

    def take(self, *entities: str) -> None:
        """Reserve entities: none occurs twice, and no two share a telling word.

        Raises PlanningDeadEnd when an entity, or a word of its name, is in use already.
        """
        for entity in entities:
            if entity in self._entities:
                raise PlanningDeadEnd(DeadEnd.ENTITY_REPEATS)
            tokens = self._telling(entity)
            if not self._tokens.keys().isdisjoint(tokens):
                raise PlanningDeadEnd(DeadEnd.NAMES_SHARE_WORD)
            self._entities[entity] = None
            self._tokens |= dict.fromkeys(tokens)

    def name(self, *entities: str) -> None:
        """Reserve entities that the question names; one that it has named before may be meant again."""
        self.take(*(one for one in entities if one not in self.topics))
        self.topics = tuple(dict.fromkeys((*self.topics, *entities)))

    def find_derivation(self, reference: str) -> GraphDerivation | None:
        """How the hop came about to which a reference points; None for what the plan names."""
        return self.draft.steps[int(reference[3:]) - 1].derivation if reference.startswith("hop") else None

    def take_claim(self, linked: LinkedClaim) -> None:
        """Reserve what a claim mentions: no hop may ask about it."""
        self._entities |= dict.fromkeys(linked.entities)
        self._tokens |= dict.fromkeys(linked.words)

    def admits_claim(self, linked: LinkedClaim) -> bool:
        """Whether nothing that a claim mentions is in use."""
        return self._entities.keys().isdisjoint(linked.entities) and self._tokens.keys().isdisjoint(linked.words)

    def admits(self, entity: str) -> bool:
        """Whether an entity may still be taken, and is not one of the hubs that this plan passes by."""
        degree, tokens = self.traversals.standing[entity]
        return (
            degree <= self.preferences.ceiling
            and entity not in self._entities
            and self._tokens.keys().isdisjoint(tokens)
            and not self.preferences.closed(entity)
            and self.traversals.renown(entity) <= self.preferences.max_renown
        )

    def is_well_known(self, entity: str) -> bool:
        """Whether an entity is of the best known third of those that questions are asked about."""
        return self.preferences.band_of(self.traversals.degree(entity)) == "head"

    def list_found(self) -> list[str]:
        """The entities that the steps so far have found."""
        return [step.value for step in self.draft.steps if step.answer_type == "entity" and isinstance(step.value, str)]

    def add(
        self, derivation: GraphDerivation, value: Scalar | str, answer_type: AnswerType = "entity", unit: str = ""
    ) -> str:
        """Append a step and return its reference."""
        return self.draft.add(derivation, value, answer_type, unit)

    def compute(
        self,
        expression: str,
        kind: ComputeKind,
        value: Scalar | str,
        unit: str = "",
        claims: tuple[Claim, ...] = (),
    ) -> str:
        """Append a computing step."""
        answer_type: AnswerType = "entity" if isinstance(value, str) else "number"
        return self.draft.add(Compute(expression=expression, kind=kind), value, answer_type, unit, claims)

    def walk(self, edge: Edge, reference: str = "", *, backward: bool = False) -> StepOutput:
        """Append the look-up of one fact, from a reference or from its named subject, and take its ends."""
        if backward:
            self.take(edge.subject)
            step = ReverseLookup(property=edge.property, value=reference or edge.object)
            return StepOutput("entity", self.add(step, edge.subject), edge.subject)
        self.take(edge.object)
        if not reference:
            self.name(edge.subject)
        step_forward = look_up(reference or edge.subject, edge.property)
        return StepOutput("entity", self.add(step_forward, edge.object), edge.object)

    def lead(self, entity: str) -> StepOutput:
        """A step whose answer is `entity`, asked of a named subject."""
        tokens = self._telling(entity)
        edges = [
            e
            for e in self.traversals.lookups_to(entity)
            if e.subject not in self._entities
            and not self.preferences.closed(e.subject)
            and tokens.isdisjoint(self._telling(e.subject))
            and self._tokens.keys().isdisjoint(self._telling(e.subject))
        ]
        if not edges:
            raise PlanningDeadEnd(DeadEnd.NO_QUESTION_LEADS_THERE)
        return self.walk(self.choose(edges))

    def extend(
        self,
        state: StepOutput,
        suits: Callable[[str], bool],
        like: Sequence[str] = (),
        refused: Container[str] = frozenset(),
        accepts: Callable[[Edge], bool] | None = None,
    ) -> StepOutput:
        """A step from an entity to another one that suits, along a property or against it.

        `like`: entities of which the same could be asked with another answer; such properties are taken first.
        `refused`: properties along which not to go. `accepts`: which facts to go along, where not all;
        then none backwards.
        """
        last = self.draft.steps[-1].derivation if self.draft.steps else None
        # A place in a place in a place makes no question: one such step does not follow another.
        wider = self.traversals.roles.within
        within = isinstance(last, Lookup) and last.property in wider and state.ref == f"hop{len(self.draft.steps)}"
        forward = [
            e
            for e in self.traversals.lookups_from(state.entity)
            if not (within and e.property in wider)
            and not (isinstance(last, Lookup) and last.property == e.property)
            and not (isinstance(last, Lookup) and self._are_both_family(last.property, e.property))
            and not (e.property in wider and self._is_at_home(last, e.object))
            and e.property not in refused
            and (accepts is None or accepts(e))
            and self.admits(e.object)
            and suits(e.object)
        ]
        backward = [
            e
            for e in self.traversals.reverse_from(state.entity)
            if accepts is None
            and e.property not in refused
            and self.admits(e.subject)
            and suits(e.subject)
            and not self.traversals.table.entity[e.property].series
        ]
        if not forward and not backward:
            raise PlanningDeadEnd(DeadEnd.NOTHING_TO_ASK)
        if like:
            # The losers of the comparison have another value of the same kind: it belongs among the options.
            answers = {(e.property, e.object) for rival in like for e in self.traversals.lookups_from(rival)}
            noun = self.traversals.kinds.noun
            forward = [
                e
                for e in forward
                if any(p == e.property and o != e.object and noun(o) == noun(e.object) for p, o in answers)
            ]
            backward = []
            if not forward:
                raise PlanningDeadEnd(DeadEnd.ASKED_OF_WINNER_ALONE)
        if backward and (not forward or self.rng.random() < 0.25):
            return self.walk(self.choose(backward), state.ref, backward=True)
        return self.walk(self.choose(forward), state.ref)

    def _are_both_family(self, last: str, property: str) -> bool:
        """Whether two steps lead to relatives: nobody asks for the mother of the father of the mother of a king."""
        entity = self.traversals.table.entity
        return all(name in entity and not _FAMILY.isdisjoint(entity[name].circles) for name in (last, property))

    def _is_at_home(self, last: object, country: str) -> bool:
        """Whether a step led to somebody's birthplace, and its country is where they are known to be from, or may be.

        Then nobody needs the town to name the country.
        """
        if not isinstance(last, Lookup) or last.property not in self.traversals.roles.homes:
            return False
        person = last.subject
        if person.startswith("hop"):
            person = str(self.draft.steps[int(person[3:]) - 1].value)
        known = self.traversals.graph.objects(person, self.traversals.roles.citizenship)
        return not known or country in known

    def measure(self, reference: str, measure: UsableLiteral, *, full_date: bool = False) -> StepOutput:
        """Look up a literal: the full date where it is asked for and known, else the year; or the number."""
        value: Scalar = measure.value
        entry = measure.entry
        derivation = look_up(reference, measure.property)
        if isinstance(value, dt.date):
            exact = entry.value == "date" and (value.month, value.day) != (1, 1)
            if full_date and exact and entry.ask:
                return StepOutput("date", self.add(derivation, value, "date"), measure.entity, of=measure.property)
            if full_date or not entry.year_ask:
                raise PlanningDeadEnd(DeadEnd.DATE_NOT_WORDED)
            ref = self.add(derivation, value.year, "number", "year")
            return StepOutput("year", ref, measure.entity, value.year, "year", measure.property)
        if not entry.ask:
            raise PlanningDeadEnd(DeadEnd.NUMBER_NOT_WORDED)
        ref = self.add(derivation, value, "number", entry.unit)
        return StepOutput("number", ref, measure.entity, value, entry.unit, measure.property)

    def prefer(self, options: Sequence[_T], property_of: Callable[[_T], str]) -> _T:
        """Choose one of the options, those of properties over their share more seldom."""
        weights = self.preferences.weights
        names = [property_of(one) for one in options]
        return draw_by_weights(
            self.rng,
            options,
            [weights.get(name, 1.0) * (_SELDOM if name in self.traversals.roles.seldom else 1.0) for name in names],
        )

    def domain_of(self, entity: str) -> str | None:
        """The domain that an entity belongs to, if any; that of places is geography."""
        kind = self.traversals.kinds.kind(entity)
        return self._domains.of_entity(entity) or (Domain.GEOGRAPHY if kind in ("place", "country") else None)

    def domain_of_step(self, reference: str) -> str:
        """The domain of the hop to which a reference points."""
        return self._rule_steps()[int(reference[3:]) - 1].domain

    def count_domains(self) -> int:
        """How many domains the steps so far touch."""
        return len({ruling.domain for ruling in self._rule_steps()})

    def prefer_name(self, properties: Sequence[str]) -> str:
        """Choose a property, one that is over its share more seldom."""
        return self.prefer(properties, str)

    def prefer_measure(self, measures: Sequence[UsableLiteral]) -> UsableLiteral:
        """Choose a literal, one whose property is over its share more seldom."""
        return self.prefer(measures, _PROPERTY_OF)

    def choose_close(self, edges: Sequence[tuple[float, Edge]]) -> Edge:
        """Choose among facts by how closely they belong to the topic, those of the topic itself first."""
        best = max(closeness for closeness, _ in edges)
        near = [edge for closeness, edge in edges if closeness >= 0.8 * best]
        return self.choose(near)

    def choose(self, edges: Sequence[Edge]) -> Edge:
        """Choose a domain first, a new one rather, then a property, then an edge: the frequent ones do not take all."""
        by_domain: dict[str, dict[str, list[Edge]]] = {}
        for edge in edges:
            domain: str = self._domains.of_fact(edge.property, edge.subject).domain
            by_domain.setdefault(domain, {}).setdefault(edge.property, []).append(edge)
        touched = {ruling.domain for ruling in self._rule_steps()}
        names = sorted(by_domain)
        known = self.preferences.weights
        weights = [
            self.preferences.domains.get(name, 1.0)
            * (1 if name in touched else _NEW_DOMAIN)
            * max(known.get(p, 1.0) * (_SELDOM if p in self.traversals.roles.seldom else 1.0) for p in by_domain[name])
            for name in names
        ]
        drawn = draw_by_weights(self.rng, names, weights) if any(weights) else draw(self.rng, names)
        properties = by_domain[drawn]
        chosen = properties[self.prefer_name(sorted(properties))]
        if not self.preferences.band:
            return draw(self.rng, chosen)
        degree = self.traversals.degree
        liked = [
            _IN_BAND
            if self.preferences.band
            in (self.preferences.band_of(degree(e.subject)), self.preferences.band_of(degree(e.object)))
            else 1.0
            for e in chosen
        ]
        return draw_by_weights(self.rng, chosen, liked)

    def _rule_steps(self) -> Sequence[DomainDecision]:
        """The domain of every step so far."""
        self._domains.extend(self._rulings, self.draft.steps)
        return self._rulings

    def _telling(self, entity: str) -> frozenset[str]:
        return self.traversals.tokens(entity)
