"""How far a wrong option lies from the answer's own world: its country, its calling or size, and its decades.

A well-read person who knows that a company is Chinese drops an American founder without knowing either of them. What is
of the answer's own country, calling and time is therefore taken before everything else, then what comes next to that.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence

from hopwright.knowledge.wikidata.roles import (
    BIRTHPLACE,
    BORDERS,
    CALLINGS,
    CITIZENSHIP,
    COUNTRY_FOR_SPORT,
    HOME_COUNTRY,
    HOMES_OF_WORKS,
    PART_OF,
    ROLES,
    SERVED,
    STATED_COUNTRIES,
    TODAYS_COUNTRY,
)
from hopwright.knowledge.wikidata.similar_entities import SimilarEntities
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records.values import BROUGHT_OUT

NEAR_IN_TIME = 25
"""Years by which two people are born apart at most and still belong to the same decades."""
_CITIZEN = (CITIZENSHIP, COUNTRY_FOR_SPORT)
_MOST_STEPS = 4
_MOST_FELLOWS = 400
_MOST_FELLOWS_GIVEN = 100
_NEXT_DOOR, _SAME_REGION, _ELSEWHERE, _UNKNOWN = 0.75, 1.25, 2.0, 1.0
"""Points for a country that borders on the answer's, one behind those, any other, and where it is not known."""
OTHER_CALLING = 1.5
"""Points for a calling of another kind."""
_FEWEST_OF_CREW = 3
"""So many of those who had a part in a work are of its country."""
_TIMES_AS_KNOWN = 10.0
"""A place that is known by so many times as many facts, or by so many times fewer, is a whole point off."""
_TIMELY_KINDS = BROUGHT_OUT | {"person", "event"}


class OwnWorld:
    """Measures how foreign entities are to each other, and lists those of one's own country. Results are cached."""

    def __init__(self, graph: GraphStore, similar: SimilarEntities) -> None:
        self._graph = graph
        self._similar = similar
        self.find_homes = functools.lru_cache(100_000)(self._find_homes)
        self._merge_namesakes = functools.lru_cache(5_000)(self._find_namesake)
        self._find_country = functools.lru_cache(50_000)(self._climb_to_country)
        self._find_crew_home = functools.lru_cache(20_000)(self._find_home_of_crew)
        self._list_neighbours = functools.lru_cache(2_000)(self._read_neighbours)
        self._list_callings = functools.lru_cache(100_000)(self._read_callings)
        self._group_objects = functools.lru_cache(256)(self._read_objects)
        self._group_colleagues = functools.lru_cache(512)(self._read_colleagues)
        self.list_fellows = functools.lru_cache(5_000)(self._list_fellows)
        self.list_colleagues = functools.lru_cache(5_000)(self._list_colleagues)
        self.measure_foreignness = functools.lru_cache(200_000)(self._measure_foreignness)

    def _list_fellows(self, answer: str, property: str) -> Sequence[str]:
        """Objects of a property from the answer's own country, then from its neighbours, the least foreign first."""
        by_home = self._group_objects(property, self._similar.kind(answer))
        homes = self.find_homes(answer)
        beside = {other for home in homes for other in self._list_neighbours(home)} - homes
        found: dict[str, None] = {}
        for home in (*sorted(homes), *sorted(beside)):
            held = by_home.get(home, ())
            found |= dict.fromkeys(held[:: -(-len(held) // _MOST_FELLOWS) or 1])
        found.pop(answer, None)
        gap = functools.partial(self._compare_fame, answer)
        ordered = sorted(found, key=lambda one: (self.measure_foreignness(one, answer), gap(one), one))
        return ordered[:_MOST_FELLOWS_GIVEN]

    def _list_colleagues(self, answer: str) -> Sequence[str]:
        """People of the same country, calling and decades, those best known as the answer is first."""
        if self._similar.kind(answer) != "person" or not self.find_homes(answer):
            return ()
        callings = [one for one in sorted(self._list_callings(answer)) if not self._similar.is_crowded(one)]
        found: dict[str, None] = {}
        for one in callings:
            for home in sorted(self.find_homes(answer)):
                held = self._group_colleagues(one).get(home, ())
                found |= dict.fromkeys(held[:: -(-len(held) // _MOST_FELLOWS) or 1])
        able = [one for one in found if one != answer and self.is_colleague(one, answer)]
        return sorted(able, key=lambda one: (self._compare_fame(answer, one), one))[:_MOST_FELLOWS_GIVEN]

    def differ_in_calling(self, candidate: str, answer: str) -> bool:
        """Whether two people's callings are known, and are none of them the same."""
        mine, theirs = self._list_callings(answer), self._list_callings(candidate)
        return bool(mine and theirs and mine.isdisjoint(theirs))

    def is_colleague(self, candidate: str, answer: str) -> bool:
        """Whether somebody shares a country, the decades and the main calling with the answer, and states it.

        Many a director has written something: by lesser callings alone, a novelist would pass for one of them.
        """
        return (
            self._similar.noun(candidate) == self._similar.noun(answer)
            and not self._list_callings(candidate).isdisjoint(self._list_callings(answer))
            and not self.measure_foreignness(candidate, answer)
        )

    def _find_home_of_crew(self, work: str) -> str:
        """The country of most of those who had a part in a work; empty without a work, or where too few are known."""
        if not work:
            return ""
        people = {end for _, end in self._graph.out_edges(work) if self._similar.kind(end) == "person"}
        homes = Counter(home for one in people for home in self.find_homes(one))
        (home, count), *_ = homes.most_common(1) or [("", 0)]
        return home if count >= _FEWEST_OF_CREW and 2 * count > len(people) else ""

    def _measure_foreignness(self, candidate: str, answer: str, work: str = "") -> float:
        """Points that grow with the distance from the answer's country, calling or size, and decades; 0: of its world.

        A whole point is what a reader drops an option for: a calling of another kind, another quarter of a century.
        `work`: what the answer made. Its crew's country goes before the answer's own: an American who makes a British
        film is taken for a Briton.
        """
        kind = self._similar.kind(answer)
        home = self._find_crew_home(work)
        points = self._measure_way(candidate, frozenset({home}) if home else self.find_homes(answer))
        if kind == "person":
            points += OTHER_CALLING * self.differ_in_calling(candidate, answer)
        elif kind == "place":
            points += min(1.0, self._compare_fame(answer, candidate) / math.log(_TIMES_AS_KNOWN))
        if kind in _TIMELY_KINDS:
            points += count_quarters(self._similar.years_apart(candidate, answer))
        return points

    def _compare_fame(self, one: str, other: str) -> float:
        """The logarithm of how many times as many facts are known of one of two entities as of the other."""
        return abs(math.log((1 + self._graph.degree(one)) / (1 + self._graph.degree(other))))

    def _measure_way(self, candidate: str, mine: frozenset[str]) -> float:
        """Points for the distance of an entity from some countries; 0 in one of them."""
        theirs = self.find_homes(candidate)
        if not mine:
            return 0.0
        if not theirs:
            return _UNKNOWN
        if mine & theirs:
            return 0.0
        beside = {other for home in mine for other in self._list_neighbours(home)}
        if theirs & beside:
            return _NEXT_DOOR
        behind = {further for other in beside for further in self._list_neighbours(other)}
        return _SAME_REGION if theirs & behind else _ELSEWHERE

    def _find_homes(self, entity: str) -> frozenset[str]:
        merged = map(self._merge_namesakes, self._read_homes(entity))
        return frozenset(TODAYS_COUNTRY.get(one, one) for one in merged)

    def _find_namesake(self, country: str) -> str:
        """The best known country of a country's name: sources that know the same one by other ids agree on it."""
        found = [
            one.id for one in self._graph.find(self._graph.label(country)) if self._similar.kind(one.id) == "country"
        ]
        return max((country, *found), key=lambda one: (self._graph.degree(one), one))

    def _read_homes(self, entity: str) -> frozenset[str]:
        """The countries that somebody is a citizen of or was born in, that a place lies in, that a work comes from."""
        kind = self._similar.kind(entity)
        if kind == "country":
            return frozenset([entity])
        if kind == "person":
            if home := self._graph.objects(entity, HOME_COUNTRY):  # wherever the parents were at the birth
                return frozenset(home)
            citizen = {country for one in _CITIZEN for country in self._graph.objects(entity, one)}
            sure = citizen.union(*(self._find_country(place) for place in self._graph.objects(entity, BIRTHPLACE)))
            return frozenset(sure) or self._infer_homes(entity)
        made = {country for one in HOMES_OF_WORKS for country in self._graph.objects(entity, one)}
        return frozenset(made) or self._find_country(entity)

    def _infer_homes(self, person: str) -> frozenset[str]:
        """The countries that somebody served, where neither citizenship nor birthplace is known."""
        for one in SERVED:
            found = frozenset().union(*(self._find_country(held) for held in self._graph.objects(person, one)))
            if found:
                return found
        citizen = {home for one in self._list_kin(person) for way in (*_CITIZEN, HOME_COUNTRY)
                   for home in self._graph.objects(one, way)}  # fmt: skip
        born = [place for one in self._list_kin(person) for place in self._graph.objects(one, BIRTHPLACE)]
        return frozenset(citizen.union(*map(self._find_country, born)))

    def _list_kin(self, person: str) -> list[str]:
        """Those whose spouse, parent or teacher somebody is: a president's wife belongs among presidents' wives."""
        told = ROLES.kinship.intersection(self._graph.in_properties(person))
        return [one for property in sorted(told) for one in self._graph.subjects(property, person)]

    def _climb_to_country(self, place: str) -> frozenset[str]:
        """The country of a place, its own or that of what it lies in."""
        level: Sequence[str] = (place,)
        for _ in range(_MOST_STEPS):
            country = frozenset(
                held for one in level for way in STATED_COUNTRIES for held in self._graph.objects(one, way)
            )
            country |= {one for one in level if self._similar.kind(one) == "country"}
            if country:
                return country
            level = [held for one in level for held in self._graph.objects(one, PART_OF)]
        return frozenset()

    def _read_neighbours(self, country: str) -> frozenset[str]:
        return frozenset((*self._graph.objects(country, BORDERS), *self._graph.subjects(BORDERS, country)))

    def _read_callings(self, person: str) -> frozenset[str]:
        """What somebody did, and what those did to whom he or she was kin."""
        people = (person, *self._list_kin(person))
        return frozenset(held for who in people for one in CALLINGS for held in self._graph.objects(who, one))

    def _read_colleagues(self, calling: str) -> Mapping[str, Sequence[str]]:
        """Country → the people of a calling from there."""
        found: dict[str, list[str]] = {}
        for one in self._graph.subjects(CALLINGS[0], calling):
            for home in self.find_homes(one):
                found.setdefault(home, []).append(one)
        return found

    def _read_objects(self, property: str, kind: str) -> Mapping[str, Sequence[str]]:
        """Country → the entities of a kind from there at which a property ends."""
        found: dict[str, list[str]] = {}
        for one in self._graph.sample_objects(property, most=20_000):
            if self._similar.kind(one) == kind:
                for home in self.find_homes(one):
                    found.setdefault(home, []).append(one)
        return found


def count_quarters(years: int | None, near: int = NEAR_IN_TIME) -> float:
    """Points for years that lie between two things: none for near ones, one where as many lie beyond; 1 if unknown."""
    return _UNKNOWN if years is None else max(0, years - near) / near
