"""What is taken for the answer of a choice from a whole list: the other end, or what stands next to it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence

from hopwright.knowledge.facts import Facts
from hopwright.knowledge.properties import PropertyTable
from hopwright.planning.computation_forms import EndOfMaker, Extreme, Members, NextOfList, read_computation
from hopwright.planning.traversals import MOST_YEARS_APART
from hopwright.records import Derivation, Hop

_EARLIER = (1, 2)
"""How many wrong options are earlier than the right one, as often as each shall be drawn."""
_OPTIONS = 3
"""Wrong options of a question."""


class ListSlips:
    """Orders what else stands in a list by how easily it is mistaken for what a hop chooses from it."""

    def __init__(self, facts: Facts, table: PropertyTable, label: Callable[[str], str]) -> None:
        self._facts = facts
        self._table = table
        self._label = label

    def is_of_list(self, derivation: Derivation) -> bool:
        """Whether a hop chooses from a whole list by date: whoever sees the options does not see when they were."""
        form = _read_choice(derivation)
        members = form.members if form is not None else None
        return form is not None and members is not None and self._table.is_ordered_by(members.property, form.property)

    def order(
        self, hop: Hop, others: Sequence[str], used: Collection[str], slips: Collection[str] = ()
    ) -> tuple[str, ...]:
        """What comes next to a hop's answer in its list: first what lies just across the moment that parts the list.

        Whoever takes the wrong side of that moment arrives there. Of works made with a partner some are what else the
        two made, and some lie beyond, where the list's owner worked with others: the earliest of the options is not to
        be the right one for that alone. What the question names (`used`) is no answer to it, and nothing on its far
        side is: of two whose film of 1960 is named the first is no later one. `slips` come before all others.
        """
        form = _read_choice(hop.derivation)
        assert form is not None and hop.answer_id is not None
        offered = [one for one in others if one not in used and "(" not in self._label(one)]
        credit = form.members.credit if form.members is not None else ""
        partners = frozenset(self._facts.objects(hop.answer_id, credit) if credit else ())
        # What comes after the last that two made comes after all of theirs that is named.
        bounds = self._read_dates(self._list_bounds(hop, others, used), form).values()
        after = form.later if form.moment else form.largest
        dated = self._read_dates((*offered, hop.answer_id), form)
        own_year = _read_year(dated[hop.answer_id])
        ranked = [
            one
            for when, one in sorted((when, one) for one, when in dated.items())
            if abs(_read_year(when) - own_year) <= MOST_YEARS_APART
            and (not bounds or one == hop.answer_id or (when > min(bounds) if after else when < max(bounds)))
        ]
        own = ranked.index(hop.answer_id)
        step = 0 if not form.moment else -1 if form.later else 1

        def measure(one: str) -> tuple[bool, bool, bool, bool, int, int]:
            apart = ranked.index(one) - own
            beside = bool(form.moment) and abs(apart) == 1
            stranger = bool(credit) and partners.isdisjoint(self._facts.objects(one, credit))
            years = abs(_read_year(dated[one]) - own_year)
            return one not in slips, stranger, not beside, apart != step, abs(apart), years

        nearest = sorted((one for one in ranked if one != hop.answer_id), key=measure)
        key = f"{hop.answer_id}:{form.property}"
        if credit:
            return spread_sides(nearest, lambda one: (ranked.index(one) < own) is not form.largest, draw_earlier(key))
        if not form.moment:
            return tuple(nearest)
        comes_next = isinstance(read_computation(hop.derivation), NextOfList)  # then most lies beyond the right one
        earlier = _EARLIER[not form.later] if comes_next else draw_earlier(key)
        return spread_sides(nearest, lambda one: ranked.index(one) < own, earlier)

    def _list_bounds(self, hop: Hop, others: Sequence[str], used: Collection[str]) -> list[str]:
        """What the question names (`used`) of a list on whose one side a hop's answer lies."""
        of_all = isinstance(read_computation(hop.derivation), NextOfList | EndOfMaker)
        return [one for one in (others if of_all else self._list_theirs(hop, others)) if one in used]

    def is_between(self, hop: Hop, options: Sequence[str]) -> bool:
        """Whether three options came out some before and some after what a hop chooses, if not the first of all that
        could be chosen, or the last, is to be the right one.
        """
        form = _read_choice(hop.derivation)
        assert form is not None and hop.answer_id is not None
        dated = self._read_dates((*options, hop.answer_id), form)
        earlier = sum(dated[one] < dated[hop.answer_id] for one in options)
        return len(options) == _OPTIONS and 0 < earlier < _OPTIONS

    def is_beyond(self, hop: Hop, other: str) -> bool:
        """Whether something lies beyond what two made together: before the first of it that a hop finds, say."""
        form = _read_choice(hop.derivation)
        assert form is not None and hop.answer_id is not None
        dated = self._read_dates((other, hop.answer_id), form)
        return (dated[other] < dated[hop.answer_id]) is not form.largest

    def list_beside_theirs(self, hop: Hop, earlier: Sequence[Hop], others: Sequence[str]) -> list[str]:
        """What comes next to another of the works of two, where a hop asks what came next to the last of them.

        Whoever takes the film that is named for their last arrives there. Empty for other hops.
        """
        form, choice = read_computation(hop.derivation), _read_choice(hop.derivation)
        if not isinstance(form, NextOfList) or choice is None or not form.reference.startswith("hop"):
            return []
        (last,) = (one for one in earlier if f"hop{one.index}" == form.reference)
        dated = self._read_dates(others, choice)
        ranked = sorted(dated, key=lambda one: (dated[one], one))
        theirs, step = self._list_theirs(last, ranked), 1 if form.later else -1
        places = [ranked.index(one) + step for one in theirs if one != last.answer_id]
        found = [ranked[place] for place in places if 0 <= place < len(ranked)]
        return [one for one in found if one not in theirs and one != hop.answer_id]

    def list_unnamed(self, hop: Hop, others: Sequence[str], used: Collection[str]) -> list[str]:
        """What else the two made among whose works a hop chooses; empty where the question names (`used`) some of it,
        for then what lies on its other side is no slip.
        """
        theirs = [one for one in self._list_theirs(hop, others) if one != hop.answer_id]
        return theirs if set(used).isdisjoint(theirs) else []

    def _list_theirs(self, hop: Hop, others: Sequence[str]) -> list[str]:
        """Those works that the two made among whose a hop chooses; none where it does not choose from what two made."""
        form = _read_choice(hop.derivation)
        if form is None or form.members is None or not form.members.credit or hop.answer_id is None:
            return []
        partners = frozenset(self._facts.objects(hop.answer_id, form.members.credit))
        return [one for one in others if not partners.isdisjoint(self._facts.objects(one, form.members.credit))]

    def _read_dates(self, entities: Sequence[str], form: Extreme) -> dict[str, str]:
        return {one: str(held) for one in entities for held in self._facts.scalars(one, form.property)[:1]}


def draw_earlier(key: str) -> int:
    """How many of three wrong options shall be earlier than the right one, or beyond an end, drawn by a key.

    There are some on either side, for between them the moment that is asked about decides: where all that is offered
    besides came out earlier, a rough idea of that moment is enough.
    """
    return _EARLIER[draw_number(key, len(_EARLIER))]


def draw_number(key: str, below: int) -> int:
    """A number from 0 to less than `below` (at most 256), drawn by a key."""
    return hashlib.blake2b(key.encode(), digest_size=1).digest()[0] % below


def spread_sides(nearest: Sequence[str], is_earlier: Callable[[str], bool], earlier: int) -> tuple[str, ...]:
    """What is nearest in time, begun with so many earlier ones and with later ones to make three; then the rest."""
    sides = {side: [one for one in nearest if is_earlier(one) is side] for side in (True, False)}
    first = {*sides[True][:earlier], *sides[False][: _OPTIONS - earlier]}
    return (*(one for one in nearest if one in first), *(one for one in nearest if one not in first))


def _read_year(date: str) -> int:
    return int(year) if (year := date.partition("-")[0]).isdigit() else 0  # before Christ


def _read_choice(derivation: Derivation) -> Extreme | None:
    form = read_computation(derivation)
    if isinstance(form, NextOfList):
        listed = Members(form.property, form.reference, outward=False)
        return Extreme(form.measure, (), not form.later, listed, form.reference, form.later)
    if isinstance(form, EndOfMaker):
        return form.choose_of(form.reference)
    return form if isinstance(form, Extreme) else None
