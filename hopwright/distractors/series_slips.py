"""Wrong answers along a series: where whoever takes the last for the first arrives.

The others that share it meet all conditions that the question states but that end, so these, what stands near the right
one in the series, and what is known of it, are the options of all hops from there on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from hopwright.distractors.list_slips import draw_earlier, spread_sides
from hopwright.knowledge.facts import Facts
from hopwright.knowledge.properties import PropertyTable
from hopwright.planning.computation_forms import EndMember, read_computation
from hopwright.records import Derivation, Hop, Lookup, ReverseLookup

_REACH = 6
"""How many members on either side are looked at."""
_REACH_OF_NAMED = 15
"""The same of a named member, of whom nothing but one fact is asked."""
_FEWEST = 5
"""Values of neighbours with which the options of such a hop are filled; of fewer, some may not be offered."""


class Beside(NamedTuple):
    """What stands beside an answer in its series, or is known of what does."""

    short: str
    """Where whoever takes the last for the first arrives: it must be offered. Empty where no end is asked for."""
    others: tuple[str, ...]
    """The rest, those to offer first in front."""


class SeriesSlips:
    """Finds what stands beside the members of series in one world of facts."""

    def __init__(self, facts: Facts, table: PropertyTable) -> None:
        self._facts = facts
        self._table = table

    def list_beside(self, hop: Hop, earlier: Sequence[Hop]) -> Beside | None:
        """What stands beside a hop's answer; None for a hop that no series leads to."""
        hops: Mapping[int, Hop] = {one.index: one for one in (*earlier, hop)}
        way: list[str] = []
        source = hop
        while not (series := self._find_series(source.derivation)):
            derivation = source.derivation
            if not isinstance(derivation, Lookup) or not derivation.subject.startswith("hop"):
                return self._list_beside_named(hop, derivation)
            way.append(derivation.property)
            source = hops[int(derivation.subject[3:])]
        own = self._find_place(source.answer_id or "", series)
        alike = [place - own for place in self._list_sharing(source, hops)]
        found: dict[str, int] = {}
        for apart in (*alike, *sorted(range(-_REACH, _REACH + 1), key=lambda one: (abs(one), one))):
            for end in self._follow(series, own + apart, way):
                found.setdefault(end, apart)
        found.pop(hop.answer_id or "", None)
        if alike:
            short = next((one for one, apart in found.items() if apart == alike[0]), "")
            rest = [one for one in found if one != short]
            return Beside(short, tuple(_mix(rest, lambda one: found[one] in alike)))
        earlier_ones = draw_earlier(f"{hop.answer_id}:{series}:{len(way)}")
        return Beside("", spread_sides([*found], lambda one: found[one] < 0, min(earlier_ones, 2)))

    def _list_beside_named(self, hop: Hop, derivation: Derivation) -> Beside | None:
        """What is known of the neighbours of a named member of whom a hop asks; None where it asks of no member."""
        entry = self._table.entity.get(derivation.property) if isinstance(derivation, Lookup) else None
        if derivation != hop.derivation or not isinstance(derivation, Lookup) or entry is None or not entry.series:
            return None
        own = self._find_place(derivation.subject, entry.series)
        found: dict[str, int] = {}
        for apart in sorted(range(-_REACH_OF_NAMED, _REACH_OF_NAMED + 1), key=lambda one: (abs(one), one)):
            for end in self._follow(entry.series, own + apart, [derivation.property]):
                found.setdefault(end, apart)
        found.pop(hop.answer_id or "", None)
        earlier = draw_earlier(f"{hop.answer_id}:{entry.series}")
        others = spread_sides([*found], lambda one: found[one] < 0, earlier)
        return Beside("", others) if own and len(others) >= _FEWEST else None

    def takes_step(self, hop: Hop, earlier: Sequence[Hop]) -> bool:
        """Whether a hop asks about the first or the last of a series: who takes one for the other has an answer."""
        if not isinstance(hop.derivation, Lookup):
            return False
        hops = {one.index: one for one in (*earlier, hop)}
        while isinstance(hop.derivation, Lookup) and hop.derivation.subject.startswith("hop"):
            hop = hops[int(hop.derivation.subject[3:])]
        return isinstance(read_computation(hop.derivation), EndMember)

    def _find_series(self, derivation: Derivation) -> str:
        """The series of which a hop finds a member; empty for another hop."""
        if isinstance(derivation, ReverseLookup):
            entry = self._table.entity.get(derivation.property)
            return entry.series if entry is not None else ""
        form = read_computation(derivation)
        return form.series if isinstance(form, EndMember) else ""

    def _find_place(self, member: str, series: str) -> int:
        """The place of a member in a series; 0 of what is none."""
        return next((one for one in self._facts.scalars(member, series) if isinstance(one, int)), 0)

    def _list_sharing(self, source: Hop, hops: Mapping[int, Hop]) -> list[int]:
        """The places of the other members that have in a column what a hop asks the first or the last of, the other
        end in front: whoever takes the last for the first arrives there. Empty for any other hop.
        """
        form = read_computation(source.derivation)
        if not isinstance(form, EndMember):
            return []
        shared = hops[int(form.reference[3:])].answer_id or ""
        members = self._facts.subjects(form.column, shared)
        places = [place for one in members for place in self._facts.scalars(one, form.series) if isinstance(place, int)]
        own = self._find_place(source.answer_id or "", form.series)
        return sorted((one for one in places if one != own), reverse=not form.last)

    def _follow(self, series: str, place: int, way: Sequence[str]) -> tuple[str, ...]:
        """What the look-ups of a hop lead to from the member at a place; nothing where one of them has no one value."""
        ends = self._facts.subjects_of_scalar(series, place)
        for property in reversed(way):
            ends = self._facts.objects(ends[0], property) if len(ends) == 1 else ()
        return ends if len(ends) == 1 else ()


def _mix(others: Sequence[str], is_alike: Callable[[str], bool]) -> list[str]:
    """What shares the condition and what does not by turns: were all alike, the first of the options would be right."""
    sides = [[one for one in others if is_alike(one) is side] for side in (False, True)]
    return [one for pair in itertools.zip_longest(*sides) for one in pair if one is not None]
