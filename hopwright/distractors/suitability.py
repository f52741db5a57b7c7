"""Whether somebody or something can stand beside an answer: of its kind, class and time, and false."""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import re
from collections.abc import Mapping

from hopwright.checks.choices import meets
from hopwright.checks.open_conditions import list_conditions
from hopwright.distractors.hop_task import asks_player
from hopwright.distractors.own_world import OwnWorld
from hopwright.errors import ExpressionError
from hopwright.knowledge.facts import Facts
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.confusions import OF_A_LINE, SAME_CALLING
from hopwright.knowledge.wikidata.similar_entities import SimilarEntities
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.execution import resolve_given
from hopwright.records import Derivation, Lookup, ReverseLookup
from hopwright.records.values import BROUGHT_OUT, Value

_NAME = re.compile(r"^[^\W_].{1,78}$")
MOST_HOLDERS = 20
"""Of so many things that somebody made it is looked at when."""
MOST_YEARS: Mapping[str, int] = {"person": 30, "work": 30, "animal": 30, "event": 40}
"""Kind → how many years the entities of one era lie apart at most."""
_MOST_YEARS_HELD = 15
"""The same of the years that two holders of a timeline hold."""
GROWN_UP = 18
"""The age from which on somebody is taken for whoever made a work, or led something."""
BESIDE_IN_TIME = 10
"""Years within which two entities are contemporaries."""


class Suitability:
    """Says of candidates whether they can be offered beside an answer."""

    def __init__(
        self, graph: GraphStore, table: PropertyTable, facts: Facts, siblings: SimilarEntities, world: OwnWorld
    ) -> None:
        self._graph = graph
        self._table = table
        self._facts = facts
        self._siblings = siblings
        self._world = world
        self._read_life_then = functools.lru_cache(50_000)(self._find_life_then)

    def is_wrong(self, candidate: str, derivation: Derivation, answers: Mapping[int, Value], compared: str) -> bool:
        """Whether a candidate can be offered: comparable where there is a comparison, else not true in the graph."""
        if isinstance(derivation, ReverseLookup):
            return self._is_false(candidate, derivation, answers)
        return not compared or len(self._facts.scalars(candidate, compared)) == 1

    def _is_false(self, candidate: str, derivation: ReverseLookup, answers: Mapping[int, Value]) -> bool:
        """Whether the graph speaks against a candidate: for some condition it knows another value, not merely none."""
        for condition in list_conditions(derivation):
            known = (
                self._facts.scalars(candidate, condition.property)
                if condition.property in self._table.literal
                else self._facts.objects(candidate, condition.property)
            )
            try:
                if known and not meets(candidate, condition, answers, self._facts):
                    return True
            except ExpressionError:
                return False
        return False

    def may_replace(self, candidate: str, answer: str) -> bool:
        """Whether a candidate has a usable name and the answer's kind, and is neither part of it nor its namesake."""
        return (
            candidate != answer
            and bool(_NAME.match(self._siblings.card(candidate).label))
            and self._siblings.kind(candidate) == self._siblings.kind(answer)
            and self._siblings.is_distinct(candidate, answer)
        )

    def suits(
        self,
        candidate: str,
        answer: str,
        noun: str,
        derivation: Derivation,
        answers: Mapping[int, Value],
        *,
        final: bool,
        worldwide: bool,
    ) -> bool:
        """Whether a candidate is of the answer's class, role and era; `noun`: what the question calls the answer.

        `worldwide`: a place may lie in any part of the world.
        """
        if timeline := self.find_timeline(derivation):
            return self._hold_alike(candidate, answer, timeline)
        kind = self._siblings.kind(answer)
        close = kind == "country" or (kind == "place" and final and not worldwide)
        if close and self._siblings.lie_apart(candidate, answer):
            return False  # one from the other end of the world is dropped on sight
        if kind not in ("person", "country") and self._siblings.sort(candidate) != self._siblings.sort(answer):
            return False
        plays = asks_player(derivation)
        entry = self._table.entity.get(derivation.property) if isinstance(derivation, Lookup) else None
        made = entry is not None and set(entry.subject) <= BROUGHT_OUT and not plays
        if kind == "person" and not made and not self._are_of_one_gender(candidate, answer, strictly=plays):
            return False  # no actress is taken for whoever played Émile Zola; a film is written by either
        role = derivation.property if isinstance(derivation, Lookup) and kind != "country" else ""
        if role in OF_A_LINE and not self._share_line(candidate, answer):
            return False  # no sultan succeeds a British king
        subject = resolve_given(derivation.subject, answers) if isinstance(derivation, Lookup) else ""
        if kind == "person" and subject and not self._lived_then(candidate, answer, subject):
            return False  # whoever died before a flight did not command it
        compatriot = kind == "person" and not final and self._world.is_colleague(candidate, answer)
        if role and not compatriot and not self._has_had(role, candidate, subject):
            return False  # whoever is asked for as a director has directed something, and in those years
        if noun and self._siblings.noun(candidate) != noun and not self._siblings.noun(candidate).endswith(f" {noun}"):
            return False  # asked for a Spanish city, nobody takes a Swiss one; asked for a city, either will do
        if role in SAME_CALLING and self._siblings.noun(candidate) != self._siblings.noun(answer):
            return False  # no biologist is taken for the teacher of a physicist
        years = self._siblings.years_apart(candidate, answer)
        if kind not in MOST_YEARS or years is None:
            return kind != "person" or not self._siblings.has_era(answer)  # one whose time nobody can tell may be any
        return years <= MOST_YEARS[kind]

    def could_play(self, candidate: str, answer: str, derivation: Derivation) -> bool:
        """Whether nobody sees by a name that a part was another's: no woman is taken for the first Manrico."""
        return not asks_player(derivation) or self._are_of_one_gender(candidate, answer, strictly=True)

    def _lived_then(self, candidate: str, answer: str, subject: str) -> bool:
        """Whether somebody lived, and was grown up, in the year of a work or an event, as far as the answer did."""
        year = None if self._siblings.kind(subject) == "person" else self._siblings.year(subject)
        if year is None:
            return True
        theirs, own = (self._read_life_then(one, year) for one in (candidate, answer))
        return all(one or not other for one, other in zip(theirs, own, strict=True))

    def _find_life_then(self, person: str, year: int) -> tuple[bool, bool]:
        """Whether somebody may have been grown up by a year, and whether they may have lived in the year before it."""
        born, died = (
            [one.year for one in self._facts.scalars(person, property) if isinstance(one, dt.date)]
            for property in (self._table.roles.birth, self._table.roles.death)
        )
        return not born or min(born) + GROWN_UP <= year, not died or max(died) >= year - 1

    def _are_of_one_gender(self, one: str, other: str, *, strictly: bool = False) -> bool:
        """Whether nothing says that of two people one was a man and the other a woman; `strictly`: both are known."""
        genders = [set(self._graph.objects(entity, self._table.roles.gender)) for entity in (one, other)]
        return (not strictly and not all(genders)) or not genders[0].isdisjoint(genders[1])

    def _share_line(self, one: str, other: str) -> bool:
        """Whether two held years of the same timeline of those who ruled or led, or neither of them did."""
        led = [name for name, entry in self._table.literal.items() if entry.holder_when]
        lines = [{name for name in led if self._facts.scalars(entity, name)} for entity in (one, other)]
        return bool(lines[0] & lines[1]) or not (lines[0] or lines[1])

    def _has_had(self, role: str, candidate: str, subject: str) -> bool:
        """Whether a candidate is to something what is asked for: to works, where it is a work, of the same years."""
        subjects = self._facts.subjects(role, candidate)
        if self._siblings.kind(subject) in BROUGHT_OUT:  # whoever wrote novels alone did not write a play
            subjects = tuple(one for one in subjects if self._siblings.sort(one) == self._siblings.sort(subject))
        made = self._siblings.kind(candidate) == "person" and self._siblings.kind(subject) != "person"
        if not made or not self._siblings.has_era(subject):
            return bool(subjects)
        most = BESIDE_IN_TIME if self._siblings.kind(subject) in BROUGHT_OUT else MOST_YEARS["work"]
        years = (self._siblings.years_apart(subject, one) for one in subjects[:MOST_HOLDERS])
        return any(one is not None and one <= most for one in years)

    def find_timeline(self, derivation: Derivation) -> str:
        """The timeline that a hop asks for a holder of; empty for another hop."""
        if isinstance(derivation, ReverseLookup) and self._table.is_timeline(derivation.property):
            return derivation.property
        return ""

    def _hold_alike(self, one: str, other: str, timeline: str) -> bool:
        """Whether two hold years of a timeline that lie near each other, whatever their classes."""
        return self.count_years_held_apart(one, other, timeline) <= _MOST_YEARS_HELD

    def count_years_held_apart(self, one: str, other: str, timeline: str) -> int:
        """The least number of years between those that two hold; more than any where one holds none."""
        years = [[held.year for held in self._facts.scalars(entity, timeline) if isinstance(held, dt.date)]
                 for entity in (one, other)]  # fmt: skip
        return min((abs(a - b) for a, b in itertools.product(*years)), default=_MOST_YEARS_HELD + 1)
