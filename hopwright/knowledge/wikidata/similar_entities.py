"""Entities of the same sort, near an answer: who else could stand in its place.

A pool holds the entities that stand at one end of a property, grouped by sort and by what they are connected to
(country, sport, genre, …). Pools are built on first use and hold at most `POOL_SIZE` entities, taken evenly.
"""

from __future__ import annotations

import functools
import math
import random
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

from hopwright.knowledge.wikidata.dates import find_year
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.text.matching import fold

Side = Literal["subject", "object", "literal"]
POOL_SIZE = 20_000

# What makes two entities of a sort alike: country, place, sport, league, genre, occupation, field, gender.
_NEAR = frozenset(
    ["P17", "P27", "P131", "P495", "P641", "P118", "P136", "P106", "P30", "P101", "P413", "P407", "P364", "P21", "P31"]
)
# A whole and its parts can both be right (a birthplace: the borough, the city), so neither stands for the other.
_HOME = frozenset(["P17", "P27", "P495", "P1532"])
_BIRTHPLACE = frozenset(["P19"])
_AROUND = frozenset(["P47", "P30"])
_MOST_HOMES, _MOST_BORDERS = 4, 30
_FEW_BORDERS = 2
_FAR_AWAY = 3.0
"""What it costs an entity in likeness to lie in no common region, where both are known to lie somewhere."""
_UP = frozenset(["P131", "P361", "P17", "P279", "P276", "P30", "P706"])
_BESIDE = frozenset(["P527", "P150", "P710", "P155", "P156", "P460"])


class EntityKindSource(Protocol):
    """The part of the kind index that grouping needs."""

    def kind(self, id: str) -> str:
        """Coarse class: `person`, `country`, …"""
        ...

    def sort(self, id: str) -> str:
        """Fine class: two entities of one sort can stand in each other's place."""
        ...

    def noun(self, id: str) -> str:
        """Common noun, which a question may state: `American city`."""
        ...


class EntityProfile(NamedTuple):
    """What is looked at again and again of an entity."""

    label: str
    folded: str
    capitals: int
    degree: int
    log_degree: float
    noun: str
    neighbours: frozenset[str]
    era: int | None
    region: frozenset[str]


class _Pool:
    """Entities by sort, by kind and by (sort, neighbour), each list by popularity."""

    def __init__(self, entities: Iterable[tuple[int, str]], ends: Iterable[str], siblings: SimilarEntities) -> None:
        self.as_often: dict[str, list[str]] = {}
        """Sort → entities, each as often as it stands at that end."""
        for end in ends:
            self.as_often.setdefault(siblings.sort(end), []).append(end)
        self.by_sort: dict[str, list[tuple[int, str]]] = {}
        self.by_kind: dict[str, list[tuple[int, str]]] = {}
        self.by_neighbour: dict[tuple[str, str], list[tuple[int, str]]] = {}
        for entry in sorted(entities):
            sort = siblings.sort(entry[1])
            self.by_sort.setdefault(sort, []).append(entry)
            self.by_kind.setdefault(siblings.kind(entry[1]), []).append(entry)
            for neighbour in siblings.neighbours(entry[1]):
                self.by_neighbour.setdefault((sort, neighbour), []).append(entry)


class SimilarEntities:
    """Finds candidates near an entity. Results are cached: the graph does not change."""

    def __init__(self, graph: GraphStore, kinds: EntityKindSource) -> None:
        self._graph = graph
        self._kinds = kinds
        self._pools: dict[tuple[str, Side], _Pool] = {}
        self.sort = functools.lru_cache(200_000)(kinds.sort)
        self.noun = functools.lru_cache(200_000)(kinds.noun)
        self.kind = functools.lru_cache(200_000)(kinds.kind)
        self.neighbours = functools.lru_cache(200_000)(self._neighbours)
        self.region = functools.lru_cache(50_000)(self._region)
        self.names = functools.lru_cache(50_000)(self._names)
        self.wholes = functools.lru_cache(50_000)(self._wholes)
        self.card = functools.lru_cache(100_000)(self._read_card)
        self.closeness = functools.lru_cache(50_000)(self._measure_closeness)

    def near(self, entity: str, pools: Sequence[tuple[str, Side]], rng: random.Random) -> list[str]:
        """Up to about forty candidates from pools of (property, side), the likest first, with some chance in it."""
        sort, degree = self.sort(entity), self._graph.degree(entity)
        found: dict[str, None] = {}
        for property, side in pools:
            pool = self._pool(property, side)
            for neighbour in sorted(self.neighbours(entity)):
                found |= dict.fromkeys(_window(pool.by_neighbour.get((sort, neighbour), ()), degree, 5, rng))
            found |= dict.fromkeys(_window(pool.by_sort.get(sort, ()), degree, 10, rng))
            if len(found) < 6:  # what stands at the same end of a property is near enough if the kind agrees
                found |= dict.fromkeys(_window(pool.by_kind.get(self.kind(entity), ()), degree, 10, rng))
        if len(found) < 10:
            for one in self._graph.objects(entity, "P31"):
                members = () if self.is_crowded(one) else self._graph.subjects("P31", one)
                found |= dict.fromkeys(other for other in _stride(members, 24, rng) if self.sort(other) == sort)
        found.pop(entity, None)
        return self.rank(entity, list(found), rng)

    def draw(self, entity: str, property: str, side: Side, rng: random.Random, most: int) -> list[str]:
        """Entities of the same sort, each as likely as it is to be the answer to a question about the property.

        Were the well-known ones offered only when they are right, knowing what is well known would be enough.
        """
        often = self._pool(property, side).as_often.get(self.sort(entity), ())
        drawn = dict.fromkeys(often[rng.randrange(len(often))] for _ in range(most)) if often else {}
        drawn.pop(entity, None)
        return list(drawn)

    def is_crowded(self, entity: str) -> bool:
        """Whether so many facts end at an entity (human, United States) that listing them costs more than it gives."""
        return self._graph.degree(entity) > POOL_SIZE

    def beside(self, country: str, rng: random.Random, most: int = 8) -> list[str]:
        """Countries of the same region: those on its borders first, then those on theirs, with some chance in it."""
        around = [one for one in sorted(self.region(country)) if one != country and self.kind(one) == "country"]
        rng.shuffle(around)
        further = [one for near in around[:4] for one in sorted(self.region(near)) if self.kind(one) == "country"]
        rng.shuffle(further)
        return [one for one in dict.fromkeys([*around, *further]) if one != country][:most]

    def lie_apart(self, candidate: str, answer: str) -> bool:
        """Whether a place or a country lies in another part of the world than the answer, as far as borders tell.

        Beside an island, of which they tell little, anything may stand.
        """
        mine, theirs = self.region(answer), self.region(candidate)
        if len(mine) <= _FEW_BORDERS:
            return False
        return theirs.isdisjoint({*mine, *(further for one in mine for further in self.region(one))})

    def rank(self, entity: str, candidates: Sequence[str], rng: random.Random) -> list[str]:
        """Order candidates by how alike they are to an entity, with some chance in it."""
        scored = [(-self.closeness(entity, one) - 1.5 * rng.random(), one) for one in candidates]
        return [candidate for _, candidate in sorted(scored)]

    def _measure_closeness(self, entity: str, candidate: str) -> float:
        """How alike two entities are in connections, era, popularity, noun and form of name: about -4 to 10."""
        mine, theirs = self.card(entity), self.card(candidate)
        score = float(min(3, len(mine.neighbours & theirs.neighbours)))
        if mine.era is not None and theirs.era is not None:
            score += max(0.0, 2 - abs(mine.era - theirs.era) / 25)
        score += max(0.0, 2.5 - abs(theirs.log_degree - mine.log_degree))
        score += 3 * (theirs.noun == mine.noun)
        if mine.region and theirs.region:
            shared = len(mine.region & theirs.region) / min(len(mine.region), len(theirs.region))
            score += 4 * shared if shared else -_FAR_AWAY
        return score - 1.5 * _differ_in_look(mine.label, theirs.label)

    def kinship(self, one: str, other: str) -> float:
        """What two entities have in common: country, sport, genre, …, and the noun that they are called by."""
        mine, theirs = self.card(one), self.card(other)
        return len(mine.neighbours & theirs.neighbours) + 2.0 * (mine.noun == theirs.noun)

    def years_apart(self, one: str, other: str) -> int | None:
        """Years between the dates by which two entities are known; None where one has none."""
        mine, theirs = self.card(one).era, self.card(other).era
        return None if mine is None or theirs is None else abs(mine - theirs)

    def year(self, entity: str) -> int | None:
        """The year of the date by which an entity is known; None where it has none."""
        return self.card(entity).era

    def has_era(self, entity: str) -> bool:
        """Whether it is known when an entity lived or came about."""
        return self.card(entity).era is not None

    def is_distinct(self, candidate: str, answer: str) -> bool:
        """Whether two entities can be told apart: neither is named as the other, or is part of it."""
        if candidate in self.wholes(answer) or answer in self.wholes(candidate):
            return False
        one, other = self.card(answer).folded, self.card(candidate).folded
        if one in self.names(candidate) or other in self.names(answer):
            return False
        return f" {one} " not in f" {other} " and f" {other} " not in f" {one} "

    def _pool(self, property: str, side: Side) -> _Pool:
        pool = self._pools.get((property, side))
        if pool is None:
            if side == "literal":
                ends: Sequence[str] = self._graph.literal_subjects(property)
            else:
                ends = [s if side == "subject" else o for s, o in self._graph.edges(property)]
            distinct = list(dict.fromkeys(ends))
            step = -(-len(distinct) // POOL_SIZE) or 1
            kept = distinct[::step]
            pool = self._pools[property, side] = _Pool(
                ((self._graph.degree(one), one) for one in kept), ends[:: -(-len(ends) // POOL_SIZE) or 1], self
            )
        return pool

    def _read_card(self, entity: str) -> EntityProfile:
        label, degree = self._graph.label(entity), self._graph.degree(entity)
        return EntityProfile(
            label=label,
            folded=fold(label),
            capitals=sum(map(str.isupper, label)),
            degree=degree,
            log_degree=math.log(degree + 1),
            noun=self.noun(entity),
            neighbours=self.neighbours(entity),
            era=find_year(self._graph, entity),
            region=self.region(entity),
        )

    def _neighbours(self, entity: str) -> frozenset[str]:
        return frozenset(object for property, object in self._graph.out_edges(entity) if property in _NEAR)

    def _region(self, entity: str) -> frozenset[str]:
        """The country that an entity lies in or comes from, with its neighbours and continent, and so for a country."""
        edges = self._graph.out_edges(entity)
        homes = {object for property, object in edges if property in _HOME}
        if not homes:  # of many people only the birthplace says where they are from
            born = [object for property, object in edges if property in _BIRTHPLACE]
            homes = {country for place in born for country in self._graph.objects(place, "P17")} or {entity}
        found: set[str] = set()
        for home in sorted(homes)[:_MOST_HOMES]:
            beside = [object for property, object in self._graph.out_edges(home) if property in _AROUND]
            if beside or home != entity:
                found |= {home, *beside, *self._graph.subjects("P47", home)[:_MOST_BORDERS]}
        return frozenset(found)

    def _names(self, entity: str) -> frozenset[str]:
        return frozenset(fold(name) for name in (self._graph.label(entity), *self._graph.aliases(entity)))

    def _wholes(self, entity: str) -> frozenset[str]:
        """The entity, what it is part of (two steps up), its own parts, and what stands in a row with it."""
        edges = self._graph.out_edges(entity)
        above = {object for property, object in edges if property in _UP}
        beside = {object for property, object in edges if property in _BESIDE}
        higher = {object for one in above for property, object in self._graph.out_edges(one) if property in _UP}
        return frozenset({entity, *above, *beside, *higher})


def _window(entries: Sequence[tuple[int, str]], degree: int, size: int, rng: random.Random) -> Iterator[str]:
    """A few entries of like popularity, from a window placed by chance around the degree."""
    if len(entries) <= size:
        yield from (entity for _, entity in entries)
        return
    middle = bisect_left(entries, (degree, ""))
    first = min(max(0, middle - rng.randrange(size + 1)), len(entries) - size)
    yield from (entity for _, entity in entries[first : first + size])


def _stride(members: Sequence[str], size: int, rng: random.Random) -> Sequence[str]:
    if len(members) <= size:
        return members
    step = len(members) // size
    return members[rng.randrange(step) :: step][:size]


def _differ_in_look(label: str, other: str) -> float:
    """How much two names differ in form: one for each of capital, brackets and comma, up to one for length."""
    return (
        (label[:1].isupper() != other[:1].isupper())
        + (("(" in label) != ("(" in other))
        + (("," in label) != ("," in other))
        + min(1.0, max(0, abs(len(label) - len(other)) - 6) / 24)
    )
