"""Building one plan step by step: every method adds one step to the draft, or gives up with a reason."""

from __future__ import annotations

import datetime as dt
import math
import random
import re
from collections.abc import Sequence
from decimal import Decimal

from hopwright.records import Compute, Constraint, Lookup, ReverseLookup
from hopwright.records.values import Scalar
from hopwright.synthesis.moves import Edge, Measure, Moves
from hopwright.synthesis.plan import Draft
from hopwright.synthesis.targets import DatedTargets, Target

_TOKEN = re.compile(r"[^\W\d_]{4,}|\d{4}")
_COMMON = frozenset(
    "the and county city state states united kingdom republic national international university football club "
    "association award film series season world cup league championship north south east west northern southern "
    "eastern western saint river lake mount island islands province region district municipality with from".split()
)
# Values that do change, but whose order practically does not: area, population.
_LASTING = frozenset({"P2046", "P1082"})
# Combinatorial roots: (n, k) with results between 6 and 126, small enough to serve as a number of years.
_COMMITTEES = [
    (n, k) for n in range(4, 12) for k in range(2, 5) if k < n - 1 and 6 <= math.comb(n, k) <= 126
]  # fmt: skip


class DeadEnd(Exception):  # noqa: N818  (not an error: the planner tries the next schema)
    """This sketch cannot be completed; the text says why."""


class Sketch:
    """A draft under construction, with its random numbers and the names that it already uses.

    References are `hopN` or a Q-id; every entity-valued method takes (reference, entity). Entities of a degree over
    `ceiling` are passed by.
    """

    def __init__(self, moves: Moves, targets: DatedTargets, rng: random.Random, ceiling: float) -> None:
        self.moves = moves
        self.targets = targets
        self.rng = rng
        self.draft = Draft()
        self._entities: set[str] = set()
        self._tokens: dict[str, str] = {}
        self._dated_sort = ""
        self._ceiling = ceiling

    def claim(self, entity: str) -> None:
        """Reserve an entity: none occurs twice, and no two share a telling word.

        Raises DeadEnd when the entity, or a word of its name, is in use already.
        """
        if entity in self._entities:
            raise DeadEnd("an entity repeats")
        tokens = self._telling(entity)
        if any(token in self._tokens for token in tokens):
            raise DeadEnd("two names share a word")
        self._entities.add(entity)
        self._tokens.update(dict.fromkeys(tokens, entity))

    def start(self, anchor: str) -> tuple[str, str]:
        """First step around the anchor: a question that it answers, or one that is asked about it."""
        if self.rng.random() < 0.85:
            try:
                return self.lead(anchor)
            except DeadEnd:
                pass
        self.claim(anchor)
        return self.extend(anchor, anchor)

    def lead(self, entity: str) -> tuple[str, str]:
        """A step whose answer is `entity`, asked of a named subject or by two of its properties."""
        if self.rng.random() < 0.2 and (pair := self.moves.identify(entity, self.rng)) is not None:
            self.claim(entity)
            for edge in pair:
                self.claim(edge.object)
            one, other = pair
            derivation = ReverseLookup(
                property=one.property,
                value=one.object,
                constraints=(Constraint(property=other.property, value=other.object),),
            )
            return self.draft.add(derivation, entity), entity
        edges = [edge for edge in self.moves.lookups_to(entity) if edge.subject not in self._entities]
        if not edges:
            raise DeadEnd("no question leads to the entity")
        edge = self._choose(edges)
        self.claim(entity)
        self.claim(edge.subject)
        return self.draft.add(Lookup(subject=edge.subject, property=edge.property), entity), entity

    def extend(self, reference: str, entity: str) -> tuple[str, str]:
        """A step from an entity to another one, along a property or against it."""
        forward = [edge for edge in self.moves.lookups_from(entity) if self._admit(edge.object)]
        backward = [edge for edge in self.moves.reverse_from(entity) if self._admit(edge.subject)]
        if not forward and not backward:
            raise DeadEnd("nothing to ask about the entity")
        if backward and (not forward or self.rng.random() < 0.25):
            edge = self._choose(backward)
            self.claim(edge.subject)
            return self.draft.add(ReverseLookup(property=edge.property, value=reference), edge.subject), edge.subject
        edge = self._choose(forward)
        self.claim(edge.object)
        return self.draft.add(Lookup(subject=reference, property=edge.property), edge.object), edge.object

    def finish(self, reference: str, entity: str, known: str = "") -> None:
        """A last step from an entity: another entity, or a year, date or number that no earlier step was about."""
        used = " ".join([known, *(getattr(step.derivation, "expression", "") for step in self.draft.steps)])
        measures = [measure for measure in self.stable_measures(entity) if measure.property not in used]
        targets = self.targets.conditioned(entity)
        if targets and self.rng.random() < 0.4:
            target = self.rng.choice(targets)
            if self._admit(target.entity):
                self.dated_target(str(target.year), target.year, target, constraint=reference)
                return
        if measures and self.rng.random() < 0.3:
            self.add_measure(reference, self.rng.choice(measures), full_date=self.rng.random() < 0.4)
            return
        try:
            self.extend(reference, entity)
        except DeadEnd:
            if not measures:
                raise
            self.add_measure(reference, self.rng.choice(measures), full_date=False)

    def compare(self, one: tuple[str, str], other: tuple[str, str], property: str) -> tuple[str, str]:
        """Whichever of two entities has the larger or the smaller value of `property`, as it falls."""
        return self._compare(one, other, property, largest=self.rng.random() < 0.5)

    def compare_with_named(self, reference: str, entity: str) -> tuple[str, str]:
        """Compare an entity with a named one of its sort; the named one never wins, for its name is in the question."""
        property = self.comparable_property(entity)
        other = self.moves.comparable(entity, property, self.rng)
        if other is None or not self._admit(other):
            raise DeadEnd("nothing comparable")
        self.claim(other)
        mine, theirs = self._measure(entity, property), self._measure(other, property)
        pair = [(reference, entity), (other, other)]
        self.rng.shuffle(pair)
        return self._compare(pair[0], pair[1], property, largest=mine.value > theirs.value)  # type: ignore[operator]

    def comparable_property(self, entity: str) -> str:
        """A property by which an entity can be compared."""
        found = [measure for measure in self.moves.measures(entity) if measure.entry.more and measure.entry.less]
        if not found:
            raise DeadEnd("nothing to compare the entity by")
        # What does not change over the years makes the better question, where there is any.
        lasting = [measure for measure in found if measure.entry.stable or measure.property in _LASTING]
        return self.rng.choice(lasting if lasting and self.rng.random() < 0.9 else found).property

    def stable_measures(self, entity: str) -> list[Measure]:
        """The entity's literals that may be asked for: worded, and not changing over the years."""
        return [
            measure
            for measure in self.moves.measures(entity)
            if measure.entry.stable and (measure.entry.ask or measure.entry.year_ask)
        ]

    def add_measure(self, reference: str, measure: Measure, *, full_date: bool) -> tuple[str, Scalar]:
        """Look up a literal: the full date where it is asked for and known, else the year; or the number."""
        value: Scalar = measure.value
        derivation = Lookup(subject=reference, property=measure.property)
        if isinstance(value, dt.date):
            exact = measure.entry.value == "date" and (value.month, value.day) != (1, 1)
            if full_date and exact and measure.entry.ask:
                return self.draft.add(derivation, value, "date"), value
            if not measure.entry.year_ask:
                raise DeadEnd("the year cannot be worded")
            return self.draft.add(derivation, value.year, "number", "year"), value.year
        if not measure.entry.ask:
            raise DeadEnd("the number cannot be worded")
        return self.draft.add(derivation, value, "number", measure.entry.unit), value

    def year(self, reference: str, entity: str) -> tuple[str, int]:
        """The year of something about an entity (birth, founding), with a wording as an event."""
        self._dated_sort = self.moves.kinds.sort(entity)
        found = [m for m in self.moves.measures(entity) if isinstance(m.value, dt.date) and m.entry.event]
        if not found:
            raise DeadEnd("the entity has no dated event")
        reference, value = self.add_measure(reference, self.rng.choice(found), full_date=False)
        assert isinstance(value, int)
        return reference, value

    def named_year(self, near: int) -> tuple[str, int]:
        """The year of a named entity's event, within 300 years of another year."""
        for _ in range(30):
            measure = self.targets.random_event(self.rng, self._dated_sort)
            if measure is None or not isinstance(measure.value, dt.date):
                break
            if 2 <= abs(measure.value.year - near) <= 300 and self._admit(measure.entity):
                self.claim(measure.entity)
                reference, _ = self.add_measure(measure.entity, measure, full_date=False)
                return reference, measure.value.year
        raise DeadEnd("no event near the year")

    def number(self, reference: str, entity: str) -> tuple[str, Scalar, Measure]:
        """A stable number of an entity."""
        found = [m for m in self.stable_measures(entity) if not isinstance(m.value, dt.date) and m.entry.np]
        if not found:
            raise DeadEnd("the entity has no stable number")
        measure = self.rng.choice(found)
        reference, value = self.add_measure(reference, measure, full_date=False)
        return reference, value, measure

    def years_apart(self, years: list[tuple[str, int]]) -> tuple[str, int]:
        """The number of years between two looked-up years, or between the first and the last of several."""
        values = [year for _, year in years]
        apart = max(values) - min(values)
        if apart < 2 or len(set(values)) != len(values):
            raise DeadEnd("the years are too close")
        references = ", ".join(reference for reference, _ in years)
        expression = (
            f"max({references}) - min({references})" if len(years) > 2 else f"abs({' - '.join(references.split(', '))})"
        )
        return self.draft.add(Compute(expression=expression, kind="temporal"), apart, "number", "years"), apart

    def years_between(self, one: tuple[str, str], other: tuple[str, str]) -> tuple[str, int]:
        """The number of years between the same event of two entities (their foundings, their births)."""
        mine, theirs = self._dated(one[1]), self._dated(other[1])
        shared = sorted(mine.keys() & theirs.keys())
        if not shared:
            raise DeadEnd("the two have no event in common")
        property = self.rng.choice(shared)
        apart = abs(mine[property] - theirs[property])
        if apart < 2:
            raise DeadEnd("the years are too close")
        expression = f"abs(year(value({property}, {one[0]})) - year(value({property}, {other[0]})))"
        return self.draft.add(Compute(expression=expression, kind="temporal"), apart, "number", "years"), apart

    def peer(self, entity: str) -> str:
        """Another entity of the same sort that has a dated event in common with this one."""
        properties = sorted(self._dated(entity))
        if not properties:
            raise DeadEnd("the entity has no dated event")
        other = self.moves.comparable(entity, self.rng.choice(properties), self.rng)
        if other is None or not self._admit(other):
            raise DeadEnd("nothing comparable")
        return other

    def years_to_named(self, reference: str, year: int) -> tuple[str, int]:
        """The number of years between an earlier hop's year and the event of a named entity."""
        for _ in range(30):
            measure = self.targets.random_event(self.rng, self._dated_sort)
            if measure is None or not isinstance(measure.value, dt.date):
                break
            apart = abs(measure.value.year - year)
            if 2 <= apart <= 300 and self._admit(measure.entity):
                self.claim(measure.entity)
                expression = f"abs({reference} - year(value({measure.property}, {measure.entity})))"
                return self.draft.add(Compute(expression=expression, kind="temporal"), apart, "number", "years"), apart
        raise DeadEnd("no event near the year")

    def committees(self) -> tuple[str, int]:
        """A root that counts committees: comb(n, k)."""
        n, k = self.rng.choice(_COMMITTEES)
        count = math.comb(n, k)
        return self.draft.add(Compute(expression=f"comb({n}, {k})", kind="combinatorics"), count, "number"), count

    def selections(self, reference: str, number: Scalar) -> None:
        """Pairs, or podiums, out of as many as an earlier hop's number."""
        if not isinstance(number, int) or not 5 <= number <= 1000:
            raise DeadEnd("the number does not suit a selection")
        podium = self.rng.random() < 0.4
        expression = f"perm({reference}, 3)" if podium else f"comb({reference}, 2)"
        value = math.perm(number, 3) if podium else math.comb(number, 2)
        self.draft.add(Compute(expression=expression, kind="combinatorics"), value, "number")

    def tally(self, reference: str, entity: str) -> None:
        """In how many of four comparisons with named entities an entity comes out ahead."""
        property = self.comparable_property(entity)
        mine = self._measure(entity, property)
        others: list[str] = []
        for _ in range(24):
            other = self.moves.comparable(entity, property, self.rng)
            if other is not None and other not in others and self._admit(other):
                self.claim(other)
                others.append(other)
            if len(others) == 4:
                break
        else:
            raise DeadEnd("too few to compare with")
        more = self.rng.random() < 0.5
        sign = ">" if more else "<"
        conditions = [f"value({property}, {reference}) {sign} value({property}, {other})" for other in others]
        ahead = sum(
            (mine.value > self._measure(other, property).value) == more  # type: ignore[operator]
            for other in others
        )
        if not 0 < ahead < len(others):
            raise DeadEnd("all comparisons come out the same way")
        self.draft.add(Compute(expression=f"count({', '.join(conditions)})", kind="counting"), ahead, "number")

    def dated_target(self, value: str, year: int, target: Target, constraint: str | None = None) -> str:
        """Add the reverse look-up of a target by the expression `value`, which must give its year."""
        if target.year != year:
            raise DeadEnd("the year has no target")
        self.claim(target.entity)
        if constraint is None and not self._admit(target.condition.object):
            raise DeadEnd("the condition's entity is in use")
        if constraint is None:
            self.claim(target.condition.object)
        derivation = ReverseLookup(
            property=target.property,
            value=value,
            constraints=(Constraint(property=target.condition.property, value=constraint or target.condition.object),),
        )
        return self.draft.add(derivation, target.entity)

    def shift_year(self, reference: str, year: int, to: int) -> str:
        """A step that adds or subtracts a constant number of years."""
        if abs(year - to) < 2:
            raise DeadEnd("the shift is too small")
        sign = "+" if to > year else "-"
        expression = f"{reference} {sign} {abs(to - year)}"
        return self.draft.add(Compute(expression=expression, kind="temporal"), to, "number", "year")

    def add_year(self, expression: str, year: int) -> str:
        """A computed year, out of an earlier year and a number."""
        return self.draft.add(Compute(expression=expression, kind="temporal"), year, "number", "year")

    def combine(self, reference: str, number: Scalar, named: str, property: str) -> None:
        """Look up the same number of a named entity, and add the two or take their difference."""
        other, value = self.add_measure(named, self._measure(named, property), full_date=False)
        if isinstance(number, dt.date) or isinstance(value, dt.date):
            raise DeadEnd("dates are not added")
        unit = self.draft.steps[-1].unit
        added = self.rng.random() < 0.5
        expression = f"{reference} + {other}" if added else f"abs({reference} - {other})"
        result = Decimal(number) + Decimal(value) if added else abs(Decimal(number) - Decimal(value))
        if result == 0:
            raise DeadEnd("the difference is nought")
        self.draft.add(Compute(expression=expression, kind="arithmetic"), result, "number", unit)

    @property
    def used(self) -> frozenset[str]:
        """The entities claimed so far."""
        return frozenset(self._entities)

    def _compare(
        self, one: tuple[str, str], other: tuple[str, str], property: str, *, largest: bool
    ) -> tuple[str, str]:
        first, second = self._measure(one[1], property), self._measure(other[1], property)
        if not self.moves.differ(property, first.value, second.value):
            raise DeadEnd("the two values are too close to compare")
        expression = f"{'argmax' if largest else 'argmin'}({property}, {one[0]}, {other[0]})"
        one_is_larger = first.value > second.value  # type: ignore[operator]
        winner = one[1] if one_is_larger == largest else other[1]
        return self.draft.add(Compute(expression=expression, kind="comparison"), winner), winner

    def _dated(self, entity: str) -> dict[str, int]:
        return {
            measure.property: measure.value.year
            for measure in self.moves.measures(entity)
            if isinstance(measure.value, dt.date) and measure.entry.event
        }

    def _measure(self, entity: str, property: str) -> Measure:
        for measure in self.moves.measures(entity):
            if measure.property == property:
                return measure
        raise DeadEnd("the entity lacks the property")

    def _admit(self, entity: str) -> bool:
        if entity in self._entities or any(token in self._tokens for token in self._telling(entity)):
            return False
        return self.moves.graph.degree(entity) <= self._ceiling

    def _telling(self, entity: str) -> set[str]:
        # Four letters of a word tell as much as all of it: Cyprus and Cypriot, Germany and German.
        words = _TOKEN.findall(self.moves.graph.label(entity).lower())
        return {word[:4] for word in words if word not in _COMMON}

    def _choose(self, edges: Sequence[Edge]) -> Edge:
        """Choose a domain first, then a property, then an edge, so that the frequent ones do not take all."""
        by_domain: dict[str, list[str]] = {}
        for property in sorted({edge.property for edge in edges}):
            by_domain.setdefault(self.moves.table.entity[property].domain, []).append(property)
        property = self.rng.choice(by_domain[self.rng.choice(sorted(by_domain))])
        return self.rng.choice([edge for edge in edges if edge.property == property])
