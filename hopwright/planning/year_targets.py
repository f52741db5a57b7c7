"""Entities that a year singles out: what a computed year may lead to, and events to measure years between."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hopwright.planning.random_draws import draw, draw_by_cumulative_weights
from hopwright.planning.traversals import FORMER_STATE, MAX_POOL, Edge, GraphTraversals, UsableLiteral, spread
from hopwright.text.years import name_states_year

# A condition that fewer dated entities meet would single out the target without its year.
_MIN_PEERS = 3
# Whoever so many others stand in a relation to (the United Nations may stay) is no condition that a reader can follow.
_MOST_PEERS = 5000


class YearTarget(NamedTuple):
    """`entity` is the only one whose `property` falls in `year` and that meets `condition`."""

    entity: str
    property: str
    year: int
    condition: Edge


class DatedTargets:
    """Targets, dated events and stable numbers of a graph, found once.

    Of each property at most `MAX_POOL` entities are looked at, taken evenly, so that a large graph costs no more than
    a middling one.
    """

    def __init__(self, traversals: GraphTraversals) -> None:
        self._events: dict[tuple[str, str], list[UsableLiteral]] = {}
        self._numbers: dict[tuple[str, str], list[UsableLiteral]] = {}
        self._by_sort: dict[str, dict[str, list[YearTarget]]] = {}
        self._by_condition: dict[str, list[YearTarget]] = {}
        self._by_year: dict[int, list[YearTarget]] = {}
        self._dated_by: dict[tuple[str, str, str], tuple[str, ...]] = {}
        closed = traversals.table.roles.closed_dates
        for property, entry in traversals.table.literal.items():
            if not entry.stable:
                continue
            for entity in spread(traversals.graph.literal_subjects(property), MAX_POOL):
                if not traversals.nameable(entity):
                    continue
                measure = next((one for one in traversals.measures(entity) if one.property == property), None)
                sort = traversals.kinds.sort(entity)
                if measure is not None and isinstance(measure.value, dt.date) and entry.event:
                    self._events.setdefault((property, sort), []).append(measure)
                elif measure is not None and not isinstance(measure.value, dt.date) and entry.ask:
                    self._numbers.setdefault((property, sort), []).append(measure)
                if traversals.kinds.kind(entity) not in closed.get(property, ()) or sort == FORMER_STATE:
                    continue
                if entry.year_predicate and entity not in entry.avoid:
                    self._add_targets(traversals, entity, property)
        # By the root of a group's size, so that the many seasons do not take all; a name that states its year makes
        # the last hop easy, so those come seldom.
        self._pools = [list(pool.values()) for pool in self._by_sort.values()]
        weights = [
            math.sqrt(sum(map(len, pool.values())))
            * (0.2 if name_states_year(traversals.graph.label(next(iter(pool)))) else 1.0)
            for pool in self._by_sort.values()
        ]
        self._weights = list(itertools.accumulate(weights))
        self._event_groups, self._number_groups = list(self._events.values()), list(self._numbers.values())
        self._event_weights = _weigh(self._events)
        self._number_weights = _weigh(self._numbers)

    def random_event(self, rng: random.Random, property: str = "") -> UsableLiteral | None:
        """A dated event of a named entity, the sort of event first; its value is a date."""
        if property:
            groups = [pool for (held, _), pool in self._events.items() if held == property]
            weights = list(itertools.accumulate(math.sqrt(len(pool)) for pool in groups))
        else:
            groups, weights = self._event_groups, self._event_weights
        return _draw(groups, weights, rng)

    def random_number(self, rng: random.Random) -> UsableLiteral | None:
        """A stable number of a named entity, the sort of number first."""
        return _draw(self._number_groups, self._number_weights, rng)

    def near(self, year: int, rng: random.Random, within: int = 150) -> YearTarget | None:
        """A target whose year is close to, but not, the given one."""
        for _ in range(20):
            target = self.any(rng)
            if target is not None and 0 < abs(target.year - year) <= within:
                return target
        return None

    def any(self, rng: random.Random) -> YearTarget | None:
        """A random target: its sort first, then its entity, so that those of many memberships do not take all."""
        if not self._by_sort:
            return None
        return draw(rng, draw(rng, draw_by_cumulative_weights(rng, self._pools, self._weights)))

    def of_year(self, year: int) -> list[YearTarget]:
        """The targets of one year."""
        return self._by_year.get(year, [])

    def conditioned(self, value: str) -> list[YearTarget]:
        """The targets whose condition names `value`."""
        return self._by_condition.get(value, [])

    def _add_targets(self, traversals: GraphTraversals, entity: str, property: str) -> None:
        values = traversals.facts.scalars(entity, property)
        if len(values) != 1 or not isinstance(values[0], dt.date):
            return
        year = values[0].year
        for condition, object in traversals.graph.out_edges(entity):
            entry = traversals.table.entity.get(condition)
            if entry is None or entry.reverse != "joined" or not entry.predicate or not traversals.nameable(object):
                continue
            if not traversals.fits(entry, subject=entity, object=object) or not traversals.is_askable(entry, entity):
                continue
            if condition not in traversals.table.roles.rosters.get(traversals.kinds.kind(entity), ()):
                continue
            if (entity, condition, object) in traversals.table.misleading:
                continue
            if object in entry.avoid or traversals.graph.degree(object) > _MOST_PEERS:
                continue
            if len(self._dated(traversals, property, condition, object)) < _MIN_PEERS:
                continue
            if not traversals.open_world.find_rival(entity, property, year, condition, object):
                target = YearTarget(entity, property, year, Edge(entity, condition, object))
                self._by_sort.setdefault(traversals.kinds.sort(entity), {}).setdefault(entity, []).append(target)
                self._by_condition.setdefault(object, []).append(target)
                self._by_year.setdefault(year, []).append(target)

    def _dated(self, traversals: GraphTraversals, property: str, condition: str, object: str) -> tuple[str, ...]:
        """All that meet a condition and are dated."""
        key = (property, condition, object)
        if key not in self._dated_by:
            peers = traversals.graph.subjects(condition, object)
            self._dated_by[key] = tuple(one for one in peers if traversals.facts.scalars(one, property))
        return self._dated_by[key]


def _weigh(groups: Mapping[tuple[str, str], list[UsableLiteral]]) -> list[float]:
    """Cumulative weights: a property by the root of its size, and so the sorts of its subjects."""
    totals: dict[str, float] = {}
    roots: dict[str, float] = {}
    for (property, _), pool in groups.items():
        totals[property] = totals.get(property, 0) + len(pool)
        roots[property] = roots.get(property, 0) + math.sqrt(len(pool))
    return list(
        itertools.accumulate(
            math.sqrt(totals[property]) * math.sqrt(len(pool)) / roots[property]
            for (property, _), pool in groups.items()
        )
    )


def _draw(groups: Sequence[list[UsableLiteral]], weights: Sequence[float], rng: random.Random) -> UsableLiteral | None:
    if not groups:
        return None
    return draw(rng, draw_by_cumulative_weights(rng, groups, weights))
