"""How entities belong together: what several share that few others have, and who is related to whom directly."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from hopwright.planning.memory import Memory
from hopwright.planning.traversals import Edge, GraphTraversals, spread

# A value that more than so many share says little of any two of them.
_MOST_MEMBERS = 150
_MOST_KIN = 24
_MOST_SHARING = 400
_SAMPLED = 1500
_MOST_MEASURED = 120
_FEWEST = 4
_SELDOM = 0.2
_WEIGHED = 256
_T = TypeVar("_T")


class Group(NamedTuple):
    """Entities of one sort that share a fact.

    `outward`: each of the `members` has `shared` as an object of `property`; else `shared` has each of them as one.
    """

    property: str
    shared: str
    outward: bool
    members: tuple[str, ...]

    def __hash__(self) -> int:
        """Of the little by which it is told from almost all others: groups are large, and asked for often."""
        return hash((self.property, self.shared, self.members[0]))


class StartPools(Generic[_T]):
    """Property → what of it a plan may begin with, and how readily it is chosen."""

    def __init__(self, pools: Mapping[str, Sequence[_T]], seldom: Container[str]) -> None:
        self.pools = pools
        self.names = list(pools)
        self.size = sum(map(len, pools.values()))
        self._seldom = seldom
        self._reached: dict[int, tuple[Mapping[str, float], list[float]]] = {}

    def reach(self, weights: Mapping[str, float]) -> list[float]:
        """The cumulative weights of `names`: by size, those over their share more seldom; empty where all are 0."""
        # Slot after slot has one and the same mapping, which is kept here, so that no other gets its address.
        known = self._reached.get(id(weights))
        if known is None:
            if len(self._reached) >= _WEIGHED:
                self._reached.clear()
            found = [
                weights.get(name, 1.0) * (_SELDOM if name in self._seldom else 1.0) * len(options) ** 0.85
                for name, options in self.pools.items()
            ]
            known = self._reached[id(weights)] = weights, list(itertools.accumulate(found)) if any(found) else []
        return known[1]


class Relations:
    """Groups and relatives of a graph's entities. Results are cached: the graph does not change."""

    def __init__(self, traversals: GraphTraversals) -> None:
        self._traversals = traversals
        self.starts: dict[tuple[str, ...], StartPools[Any]] = {}
        """By what follows: property → what a plan may begin with (`operations.starting_points`)."""
        self.begun: dict[tuple[tuple[str, ...], str], Memory[Edge, bool]] = {}
        """By what follows, and by the other branch: whether a plan may begin with a fact."""
        self.choosable: dict[tuple[str, ...], Memory[Group, Sequence[object]]] = {}
        """By what follows: a group → the ways to choose one of it (`operations.starting_points`)."""
        self.beside: dict[tuple[tuple[str, ...], bool], Memory[Edge, Sequence[Edge]]] = {}
        """By what follows: a fact → the facts that stand beside it (`operations.lookahead`)."""
        self.domains: dict[str, Memory[str, frozenset[str]]] = {}
        """By what a plan leads into: an entity → the domains that a plan which begins with it is of."""
        self.told_apart = functools.lru_cache(1_000)(self._list_told_apart)
        self.groups_of = functools.lru_cache(50_000)(self._list_groups)
        self.groups_sharing = functools.lru_cache(50_000)(self._list_sharing)
        self.kin = functools.lru_cache(50_000)(self._list_kin)
        self.measured = functools.lru_cache(50_000)(self._list_measured)
        self.edges_around = functools.lru_cache(20_000)(self._list_edges_around)
        self.owners = functools.lru_cache(16)(self._list_owners)
        self.related = functools.lru_cache(50_000)(self._rate)

    @functools.cached_property
    def single(self) -> dict[str, tuple[Edge, ...]]:
        """Property → all facts from which a branch may start."""
        found = {property: self._traversals.facts_of(property) for property in self._traversals.askable}
        return {property: edges for property, edges in found.items() if edges}

    @functools.cached_property
    def pools(self) -> dict[str, tuple[Group, ...]]:
        """Property → groups of at least four, of facts taken evenly over all of the graph's."""
        found: dict[str, tuple[Group, ...]] = {}
        graph = self._traversals.graph
        for property in sorted(self._traversals.roles.ties | self._traversals.roles.lists):
            ends = graph.sample_edges(property, _SAMPLED)
            shared = dict.fromkeys(
                object if property in self._traversals.roles.ties else subject for subject, object in ends
            )
            groups = tuple(
                group
                for one in shared
                for group in self.groups_sharing(one)
                if group.property == property and len(group.members) >= 4
            )
            if groups:
                found[property] = groups
        return found

    def _list_told_apart(self, property: str, most: int) -> tuple[Edge, ...]:
        """Of the facts of a property from which a branch may start, taken evenly, those whose ends share no word."""
        tokens = self._traversals.tokens
        edges = spread(self.single[property], most)
        return tuple(edge for edge in edges if tokens(edge.subject).isdisjoint(tokens(edge.object)))

    def _list_measured(self, group: Group) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The properties by which at least four of a group can be compared, each with those that have it."""
        held: dict[str, list[str]] = {}
        for one in group.members[:_MOST_MEASURED]:
            for measure in self._traversals.measures(one):
                if measure.entry.is_comparable(self._traversals.kinds.kind(one)):
                    held.setdefault(measure.property, []).append(one)
        return tuple((property, tuple(some)) for property, some in sorted(held.items()) if len(some) >= _FEWEST)

    def _list_owners(self, property: str) -> tuple[str, ...]:
        """The entities that have a closed list of a property, and can be named."""
        return tuple(one for one in sorted(self._traversals.table.closed[property]) if self._traversals.nameable(one))

    def _list_groups(self, entity: str) -> tuple[Group, ...]:
        """The groups of at least two that an entity belongs to, the smallest first."""
        graph, sort = self._traversals.graph, self._traversals.kinds.sort(entity)
        found: list[Group] = []
        for property, shared in graph.out_edges(entity):
            if property in self._traversals.roles.ties and self._tells(shared):
                found += self._group(property, shared, True, graph.subjects(property, shared), sort)
        for property, shared in graph.in_edges_spread(entity, 200):
            if property in self._traversals.roles.lists and self._traversals.nameable(shared):
                found += self._group(property, shared, False, graph.objects(shared, property), sort)
        return tuple(sorted(found, key=lambda one: (len(one.members), one.property, one.shared)))

    def _list_sharing(self, shared: str) -> tuple[Group, ...]:
        """The groups of at least two that share an entity."""
        graph, kinds = self._traversals.graph, self._traversals.kinds
        found: list[Group] = []
        if not self._tells(shared) or self._traversals.degree(shared) > _MOST_SHARING:
            return ()
        by_property: dict[tuple[str, bool], list[str]] = {}
        for property, other in graph.in_edges_spread(shared, _MOST_SHARING):
            if property in self._traversals.roles.ties:
                by_property.setdefault((property, True), []).append(other)
        for property, other in graph.out_edges(shared):
            if property in self._traversals.roles.lists:
                by_property.setdefault((property, False), []).append(other)
        for (property, outward), members in sorted(by_property.items()):
            if len(members) >= 2:
                sorts = Counter(map(kinds.sort, members))
                found += self._group(property, shared, outward, members, sorts.most_common(1)[0][0])
        return tuple(found)

    def _group(self, property: str, shared: str, outward: bool, all: Sequence[str], sort: str) -> list[Group]:
        if len(all) > _MOST_MEMBERS:
            return []
        members = tuple(
            one for one in all if self._traversals.kinds.sort(one) == sort and self._traversals.nameable(one)
        )
        return [Group(property, shared, outward, members)] if len(members) >= 2 else []

    def _tells(self, shared: str) -> bool:
        return self._traversals.nameable(shared) and self._traversals.kinds.kind(shared) != "country"

    def _list_kin(self, entity: str) -> tuple[str, ...]:
        """Entities of the same sort that an entity belongs with, the most closely related first."""
        found: dict[str, None] = {}
        graph = self._traversals.graph
        for property, other in (*graph.out_edges(entity), *graph.in_edges_spread(entity, 60)):
            if property in self._traversals.roles.kinship and self._traversals.nameable(other):
                found[other] = None
        for group in self.groups_of(entity):
            found |= dict.fromkeys(group.members)
        found.pop(entity, None)
        return tuple(found)[:_MOST_KIN]

    def _list_edges_around(self, *topics: str) -> tuple[Edge, ...]:
        """Look-ups of the topics, then of those that belong with them."""
        kin = [other for topic in topics for other in self.kin(topic)]
        return tuple(edge for one in dict.fromkeys((*topics, *kin)) for edge in self._traversals.lookups_from(one))

    def _rate(self, one: str, other: str) -> float:
        """How closely two entities are related, from 0 (nothing that tells) to 1 (the same)."""
        if one == other:
            return 1.0
        graph = self._traversals.graph
        if any(
            end == other and property not in self._traversals.roles.uninformative
            for property, end in graph.out_edges(one)
        ) or any(
            end == one and property not in self._traversals.roles.uninformative
            for property, end in graph.out_edges(other)
        ):
            return 0.95
        sizes = [len(group.members) for group in self.groups_of(one) if other in group.members]
        return 0.9 / (1 + math.log2(min(sizes)) / 12) if sizes else 0.0
