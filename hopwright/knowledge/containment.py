"""What lies in what: parts and wholes over any number of steps."""

from __future__ import annotations

import functools

from hopwright.knowledge.source import FactGraph

# A chain of places is rarely longer than six; longer ones are errors of the source.
_MOST_WHOLES = 60


class Containment:
    """The wholes of a graph's entities. Results are cached: the graph does not change."""

    def __init__(self, graph: FactGraph, upward: frozenset[str]) -> None:
        self._graph = graph
        self._upward = upward
        self.wholes = functools.lru_cache(100_000)(self._list_wholes)

    def overlap(self, one: str, other: str) -> bool:
        """Whether one of two different entities lies in the other."""
        return one != other and (other in self.wholes(one) or one in self.wholes(other))

    def _list_wholes(self, entity: str) -> frozenset[str]:
        found: dict[str, None] = {}
        waiting = [entity]
        while waiting and len(found) < _MOST_WHOLES:
            for property, whole in self._graph.out_edges(waiting.pop(0)):
                if property in self._upward and whole not in found and whole != entity:
                    found[whole] = None
                    waiting.append(whole)
        return frozenset(found)
