"""Entities that a year singles out: what a computed year may lead to, and events to measure years between."""

from __future__ import annotations

import datetime as dt
import math
import random
from typing import NamedTuple

from hopwright.synthesis.kinds import name_states_year
from hopwright.synthesis.moves import Edge, Measure, Moves
from hopwright.synthesis.properties import Kind

# Kinds whose members a reference work lists in full, so that "the only one founded in 1957" can hold in reality, by the
# property that dates them (a season's team is not "what began in 2015"). People are not among them: the graph always
# lacks somebody who was born in that year; nor are states that are no more, of which "is a member" is no longer true.
_CLOSED: dict[str, frozenset[Kind]] = {
    "P571": frozenset({"country", "competition", "team"}),
    "P580": frozenset({"event"}),
    "P582": frozenset({"event"}),
    "P585": frozenset({"event"}),
}
_NO_MORE = "former country"
# What a club or a season may be singled out by besides its year: a roster, which is complete, not a country, which
# holds clubs and races that the graph has never heard of.
_ROSTERS: dict[Kind, frozenset[str]] = {
    "team": frozenset({"P1344", "P118"}),
    "event": frozenset({"P1923", "P3450", "P664", "P2881", "P2882"}),
}
# A condition that fewer dated entities meet would single out the target without its year.
_MIN_PEERS = 3


class Target(NamedTuple):
    """`entity` is the only one whose `property` falls in `year` and that meets `condition`."""

    entity: str
    property: str
    year: int
    condition: Edge


class DatedTargets:
    """All targets of a graph, found once; proportional to the number of dated entities."""

    def __init__(self, moves: Moves) -> None:
        self._events: dict[str, list[Measure]] = {}
        self._all_events: list[Measure] = []
        self._by_sort: dict[str, list[Target]] = {}
        self._by_condition: dict[str, list[Target]] = {}
        self._dated_subjects: dict[str, frozenset[str]] = {}
        self._by_year: dict[int, list[Target]] = {}
        for property, entry in moves.table.literal.items():
            if entry.value == "number" or not entry.stable:
                continue
            for entity in moves.graph.literal_subjects(property):
                if not moves.nameable(entity):
                    continue
                if entry.event:
                    events = [measure for measure in moves.measures(entity) if measure.property == property]
                    self._events.setdefault(moves.kinds.sort(entity), []).extend(events)
                    self._all_events.extend(events)
                if moves.kinds.kind(entity) not in _CLOSED.get(property, ()) or moves.kinds.sort(entity) == _NO_MORE:
                    continue
                if entry.year_predicate and entity not in entry.avoid:
                    self._add_targets(moves, entity, property)
        # By the root of a sort's size, so that the many seasons do not take all; a name that states its year makes the
        # last hop easy, so those come seldom.
        self._weights = [
            math.sqrt(len(pool)) * (0.2 if name_states_year(moves.graph.label(pool[0].entity)) else 1.0)
            for pool in self._by_sort.values()
        ]

    def random_event(self, rng: random.Random, sort: str = "") -> Measure | None:
        """A dated event of a named entity, of the given sort where that has enough of them; its value is a date."""
        pool = self._events.get(sort, [])
        if len(pool) < 10:
            pool = self._all_events
        return pool[rng.randrange(len(pool))] if pool else None

    def near(self, year: int, rng: random.Random, within: int = 150) -> Target | None:
        """A target whose year is close to, but not, the given one."""
        for _ in range(20):
            target = self.any(rng)
            if target is not None and 0 < abs(target.year - year) <= within:
                return target
        return None

    def any(self, rng: random.Random) -> Target | None:
        """A random target, its sort first."""
        if not self._by_sort:
            return None
        pools = list(self._by_sort.values())
        pool = rng.choices(pools, self._weights)[0]
        return pool[rng.randrange(len(pool))]

    def of_year(self, year: int) -> list[Target]:
        """The targets of one year."""
        return self._by_year.get(year, [])

    def conditioned(self, value: str) -> list[Target]:
        """The targets whose condition names `value`."""
        return self._by_condition.get(value, [])

    def _add_targets(self, moves: Moves, entity: str, property: str) -> None:
        values = moves.facts.scalars(entity, property)
        if len(values) != 1 or not isinstance(values[0], dt.date):
            return
        year = values[0].year
        dated = self._dated(moves, property)
        contemporaries = set(moves.facts.subjects_of_scalar(property, year))
        for condition, object in moves.graph.out_edges(entity):
            entry = moves.table.entity.get(condition)
            if entry is None or entry.reverse != "joined" or not entry.predicate or not moves.nameable(object):
                continue
            if not moves.fits(entry, subject=entity, object=object) or not moves.is_askable(entry, entity):
                continue
            if condition not in _ROSTERS.get(moves.kinds.kind(entity), {condition}):
                continue
            peers = set(moves.graph.subjects(condition, object))
            if contemporaries & peers == {entity} and len(dated & peers) >= _MIN_PEERS:
                target = Target(entity, property, year, Edge(entity, condition, object))
                self._by_sort.setdefault(moves.kinds.sort(entity), []).append(target)
                self._by_condition.setdefault(object, []).append(target)
                self._by_year.setdefault(year, []).append(target)

    def _dated(self, moves: Moves, property: str) -> frozenset[str]:
        if property not in self._dated_subjects:
            self._dated_subjects[property] = frozenset(moves.graph.literal_subjects(property))
        return self._dated_subjects[property]
