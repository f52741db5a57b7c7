"""The values that a literal property takes in a graph, in order: what lies next to a number or a date."""

from __future__ import annotations

import datetime as dt
import functools
from bisect import bisect_left
from collections.abc import Sequence
from decimal import Decimal

from hopwright.knowledge.facts import Facts
from hopwright.knowledge.wikidata.similar_entities import POOL_SIZE
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records.values import Scalar

Number = int | Decimal


class NearbyValues:
    """Values by property, read on first use and of at most `POOL_SIZE` subjects, taken evenly."""

    def __init__(self, graph: GraphStore, facts: Facts) -> None:
        self._graph = graph
        self._facts = facts
        self._read = functools.lru_cache(512)(self._read_all)
        self._numbers = functools.lru_cache(512)(self._list_numbers)

    def numbers(self, property: str, value: Number, *, year: bool, most: int = 6) -> list[Number]:
        """Other numbers on both sides of one, at most so many on each; of dates, the years."""
        held = self._numbers(property, year)
        place = bisect_left(held, value)
        return [one for one in held[max(0, place - most) : place + most + 1] if one != value]

    def holders(self, property: str, value: Scalar, most: int = 12) -> list[str]:
        """Entities whose value of a property comes next to a value, at most so many on each side, nearest first."""
        keys, entities = self._read(property)
        wanted = _order(value)
        place = bisect_left(keys, wanted)
        first, last = max(0, place - most), place + most + 1
        near = zip(keys[first:last], entities[first:last], strict=True)
        return [entity for _, entity in sorted((abs(key - wanted), entity) for key, entity in near)]

    def _read_all(self, property: str) -> tuple[Sequence[float], Sequence[str]]:
        subjects = self._graph.literal_subjects(property)
        kept = subjects[:: -(-len(subjects) // POOL_SIZE) or 1]
        pairs = sorted((_order(held), one) for one in kept for held in self._facts.scalars(one, property))
        return [key for key, _ in pairs], [one for _, one in pairs]

    def _list_numbers(self, property: str, year: bool) -> list[Number]:
        subjects = self._graph.literal_subjects(property)
        found: set[Number] = set()
        for subject in subjects[:: -(-len(subjects) // POOL_SIZE) or 1]:
            for held in self._facts.scalars(subject, property):
                if isinstance(held, dt.date):
                    found.add(held.year)
                elif not year:
                    found.add(held)
        return sorted(found)


def _order(value: Scalar) -> float:
    return float(value.toordinal() if isinstance(value, dt.date) else value)
