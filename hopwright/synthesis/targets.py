"""Entities that a year singles out: what a computed year may lead to, and events to measure years between."""

from __future__ import annotations

import datetime as dt
import random
from typing import NamedTuple

from hopwright.synthesis.moves import Edge, Measure, Moves


class Target(NamedTuple):
    """`entity` is the only one whose `property` falls in `year` and that meets `condition`."""

    entity: str
    property: str
    year: int
    condition: Edge


class DatedTargets:
    """All targets of a graph, found once; proportional to the number of dated entities."""

    def __init__(self, moves: Moves) -> None:
        self._events: list[Measure] = []
        self._targets: list[Target] = []
        self._by_condition: dict[str, list[Target]] = {}
        self._by_year: dict[int, list[Target]] = {}
        for property, entry in moves.table.literal.items():
            if entry.value == "number" or not entry.stable:
                continue
            for entity in moves.graph.literal_subjects(property):
                if not moves.nameable(entity):
                    continue
                if entry.event:
                    self._events.extend(m for m in moves.measures(entity) if m.property == property)
                if entry.year_predicate:
                    self._add_targets(moves, entity, property)

    def random_event(self, rng: random.Random) -> Measure:
        """A dated event of a named entity; its value is a date. Raises IndexError on a graph without any."""
        return self._events[rng.randrange(len(self._events))]

    def near(self, year: int, rng: random.Random, within: int = 150) -> Target | None:
        """A target whose year is close to, but not, the given one."""
        for _ in range(20):
            if not self._targets:
                return None
            target = self._targets[rng.randrange(len(self._targets))]
            if 0 < abs(target.year - year) <= within:
                return target
        return None

    def any(self, rng: random.Random) -> Target | None:
        """A random target."""
        return self._targets[rng.randrange(len(self._targets))] if self._targets else None

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
        contemporaries = set(moves.facts.subjects_of_scalar(property, year))
        for condition, object in moves.graph.out_edges(entity):
            entry = moves.table.entity.get(condition)
            if entry is None or entry.reverse == "no" or not entry.predicate or not moves.nameable(object):
                continue
            if contemporaries & set(moves.graph.subjects(condition, object)) == {entity}:
                target = Target(entity, property, year, Edge(entity, condition, object))
                self._targets.append(target)
                self._by_condition.setdefault(object, []).append(target)
                self._by_year.setdefault(year, []).append(target)
