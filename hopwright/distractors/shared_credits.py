"""Who did for a kindred work what somebody did for the one asked about: works that have a player or a writer in common.

A director who made another film with the same star, or from the same author, in the same years is easily taken for the
one who made this film; any other director of the time is dropped by whoever has seen either.
"""

from __future__ import annotations

import functools
from collections.abc import Container, Mapping

from hopwright.knowledge.facts import Facts, read_renown
from hopwright.knowledge.wikidata.roles import ROLES
from hopwright.knowledge.wikidata.similar_entities import SimilarEntities
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records.values import BROUGHT_OUT

_MOST_FACTS = 2_000
"""People with more facts than this are no tie between two works."""
_MOST_YEARS, _MOST_YEARS_OF_MAKER = 8, 25
"""Works that lie further apart share a name by chance; those of one director do not, as long as one works."""
_MOST_YEARS_BETWEEN = 12
"""Whoever had no such part so many years before a work or after it is not taken for who had it."""
_KNOWN, _MOST_BETTER_KNOWN = 3.5, 0.75
"""How much better known the best known work of a wrong option may be than that of the right one, or than this."""


class SharedCredits:
    """Finds people with the same credit on kindred works in one graph. Results are cached."""

    def __init__(
        self, graph: GraphStore, facts: Facts, similar: SimilarEntities, makers: Container[str] = frozenset()
    ) -> None:
        """`makers`: the properties that join a work to whose it is, its director's or its author's."""
        self._graph = graph
        self._makers = makers
        self._facts = facts
        self._similar = similar
        self.find_linked = functools.lru_cache(20_000)(self._find_linked)
        self._rate_best = functools.lru_cache(20_000)(self._find_best_rating)

    def _find_linked(self, work: str, property: str) -> Mapping[str, int]:
        """Those who have a credit on works that share a person with a work, with the number of people shared.

        The order is by this number, then by the years between the works. Empty for what is no work, and where nothing
        is known of its years.
        """
        if self._similar.kind(work) not in BROUGHT_OUT:
            return {}
        own = set(self._facts.objects(work, property))
        shared: dict[str, set[str]] = {}
        of_maker: set[str] = set()
        for credit, person in self._graph.out_edges(work):
            if person in own or self._similar.kind(person) != "person" or self._graph.degree(person) > _MOST_FACTS:
                continue
            for _, other in self._graph.in_edges(person):
                if other != work and self._similar.kind(other) in BROUGHT_OUT:
                    shared.setdefault(other, set()).add(person)
                    if credit in self._makers and (credit, person) in self._graph.out_edges(other):
                        of_maker.add(other)
        found: dict[str, tuple[int, int]] = {}
        for other, people in shared.items():
            years = self._similar.years_apart(work, other)
            if years is None or years > (_MOST_YEARS_OF_MAKER if other in of_maker else _MOST_YEARS):
                continue
            for one in set(self._facts.objects(other, property)) - own:
                count, apart = found.get(one, (0, _MOST_YEARS_OF_MAKER))
                found[one] = (max(count, len(people)), min(apart, years))
        return {one: found[one][0] for one in sorted(found, key=lambda one: (-found[one][0], found[one][1], one))}

    def are_peers(self, candidate: str, answer: str, work: str, property: str) -> bool:
        """Whether somebody had a part in works of the years of one; of makers, none of these is much better known than
        all of the answer's: whoever wrote nothing yet, or directed what everybody has seen, is dropped on sight.
        """
        apart = [self._similar.years_apart(work, one) for one in self._facts.subjects(property, candidate)]
        years = [one for one in apart if one is not None]
        if years and min(years) > _MOST_YEARS_BETWEEN:
            return False
        if property not in self._makers:
            return True
        own = max(self._rate_best(answer, property), _KNOWN)
        return self._rate_best(candidate, property) <= own + _MOST_BETTER_KNOWN

    def _find_best_rating(self, person: str, property: str) -> float:
        """The renown of the best known work in which somebody had a part; 0 where none is rated."""
        works = self._facts.subjects(property, person)
        return max((read_renown(self._graph, ROLES.renown, work) for work in works), default=0.0)
