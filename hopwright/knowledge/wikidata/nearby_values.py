"""The values that a literal property takes in a graph, in order: what lies next to a number or a date."""

from __future__ import annotations

import datetime as dt
import functools
from bisect import bisect_left
from collections.abc import Sequence

from hopwright.knowledge.facts import Facts
from hopwright.knowledge.wikidata.similar_entities import POOL_SIZE, SimilarEntities
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records.values import Scalar, as_float


class NearbyValues:
    """Values by property, read on first use and of at most `POOL_SIZE` subjects, taken evenly."""

    def __init__(self, graph: GraphStore, facts: Facts, kinds: SimilarEntities) -> None:
        self._graph = graph
        self._kinds = kinds
        self._facts = facts
        self._read = functools.lru_cache(512)(self._read_all)
        self._read_sort = functools.lru_cache(2_048)(self._list_of_sort)

    def similar(self, property: str, value: Scalar, sort: str = "", most: int = 6) -> list[str]:
        """Entities with other values than one, nearest first: at most so many on each side, each value once.

        `sort`: a sort or a kind that they are of. Of dates, those of one year count as one value.
        """
        keys, entities = self._read_sort(property, sort) if sort else self._read(property)
        wanted = as_float(value)
        found: list[tuple[float, str]] = []
        for places in (range(bisect_left(keys, wanted) - 1, -1, -1), range(bisect_left(keys, wanted), len(keys))):
            seen = {_round(value, wanted)}
            for place in places:
                if len(seen) > most:
                    break
                rounded = _round(value, keys[place])
                if rounded not in seen:
                    seen.add(rounded)
                    found.append((abs(keys[place] - wanted), entities[place]))
        return [entity for _, entity in sorted(found)]

    def holders(self, property: str, value: Scalar, most: int = 12) -> list[str]:
        """Entities whose value of a property comes next to a value, at most so many on each side, nearest first."""
        keys, entities = self._read(property)
        wanted = as_float(value)
        place = bisect_left(keys, wanted)
        first, last = max(0, place - most), place + most + 1
        near = zip(keys[first:last], entities[first:last], strict=True)
        return [entity for _, entity in sorted((abs(key - wanted), entity) for key, entity in near)]

    def _read_all(self, property: str) -> tuple[Sequence[float], Sequence[str]]:
        subjects = self._graph.literal_subjects(property)
        kept = subjects[:: -(-len(subjects) // POOL_SIZE) or 1]
        pairs = sorted((as_float(held), one) for one in kept for held in self._facts.scalars(one, property))
        return [key for key, _ in pairs], [one for _, one in pairs]

    def _list_of_sort(self, property: str, sort: str) -> tuple[Sequence[float], Sequence[str]]:
        keys, entities = self._read(property)
        pairs = [
            (key, one)
            for key, one in zip(keys, entities, strict=True)
            if sort in (self._kinds.sort(one), self._kinds.kind(one))
        ]
        return [key for key, _ in pairs], [one for _, one in pairs]


def _round(value: Scalar, key: float) -> float:
    """A date's key as its year; a number's as it is."""
    return dt.date.fromordinal(int(key)).year if isinstance(value, dt.date) else key
