"""What is taken for the answer of a choice from a whole list: the other end, or what stands next to it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence

from hopwright.knowledge.facts import Facts
from hopwright.knowledge.properties import PropertyTable
from hopwright.planning.computation_forms import Extreme, Members, NextOfList, read_computation
from hopwright.records import Hop

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

    def is_of_list(self, hop: Hop) -> bool:
        """Whether a hop chooses from a whole list by date: whoever sees the options does not see when they were."""
        form = _read_choice(hop)
        members = form.members if form is not None else None
        return form is not None and members is not None and self._table.is_ordered_by(members.property, form.property)

    def is_parted(self, hop: Hop) -> bool:
        """Whether a hop chooses from a whole list what comes next to a moment, and not from what two made."""
        form = _read_choice(hop)
        return form is not None and bool(form.moment) and not (form.members is not None and form.members.credit)

    def order(
        self,
        hop: Hop,
        others: Sequence[str],
        used: Collection[str],
        *,
        final: bool = False,
        bounded: bool = True,
    ) -> tuple[str, ...]:
        """What comes next to a hop's answer in its list: first what lies just across the moment that parts the list.

        Whoever takes the wrong side of that moment arrives there. Of works made with a partner, the other end of what
        the two made comes first, for `the last` is taken for `the first`, then what else they made. What the question
        names (`used`) is no answer to it. Of a hop that gives the `final` answer one lies beyond what the two made: the
        last of four is too easily taken for the last that they made. `bounded`: where the question names a work of the
        two, their last is looked for after it.
        """
        form = _read_choice(hop)
        assert form is not None and hop.answer_id is not None
        offered = [one for one in others if one not in used and "(" not in self._label(one)]
        credit = form.members.credit if form.members is not None else ""
        partners = frozenset(self._facts.objects(hop.answer_id, credit) if credit else ())
        # Where a work of the two is named, their first is none that came out later.
        theirs = self.find_named(hop, others, used) if bounded and not final else []
        end = self.find_other_end(hop, others)
        dated = self._read_dates((*offered, *theirs, hop.answer_id), form)
        bounds = [dated.pop(one) for one in theirs if one in dated]
        ranked = [
            one
            for when, one in sorted((when, one) for one, when in dated.items())
            if not bounds or one in (hop.answer_id, end) or (when > max(bounds) if form.largest else when < min(bounds))
        ]
        own = ranked.index(hop.answer_id)
        step = 0 if not form.moment else -1 if form.later else 1

        def measure(one: str) -> tuple[bool, bool, bool, bool, int, int]:
            apart = ranked.index(one) - own
            beside = bool(form.moment) and abs(apart) == 1
            stranger = bool(credit) and partners.isdisjoint(self._facts.objects(one, credit))
            years = abs(_read_year(dated[one]) - _read_year(dated[hop.answer_id or one]))
            return one != end, stranger, not beside, apart != step, abs(apart), years

        nearest = sorted((one for one in ranked if one != hop.answer_id), key=measure)
        if credit and final:
            return spread_sides(nearest, lambda one: (ranked.index(one) < own) is form.largest, _OPTIONS - 1)
        if not form.moment or credit:
            return tuple(nearest)
        earlier = draw_earlier(f"{hop.answer_id}:{form.property}")
        return spread_sides(nearest, lambda one: ranked.index(one) < own, earlier)

    def find_named(self, hop: Hop, others: Sequence[str], used: Collection[str]) -> list[str]:
        """Of the works among which a hop chooses what two made together, those that the question names (`used`)."""
        return [one for one in self._list_theirs(hop, others) if one in used]

    def count_unnamed(self, hop: Hop, others: Sequence[str], used: Collection[str], property: str) -> int:
        """How many other values of a property the two's works have that the question does not name."""
        works = [one for one in self._list_theirs(hop, others) if one not in used and one != hop.answer_id]
        held = {value for one in works for value in self._facts.objects(one, property)[:1]}
        return len(held.difference(self._facts.objects(hop.answer_id or "", property)))

    def find_other_end(self, hop: Hop, others: Sequence[str]) -> str:
        """The last of what two made together, where a hop asks for the first, and the other way round; else empty."""
        form = _read_choice(hop)
        if form is None or form.members is None or not form.members.partner:
            return ""
        dated = self._read_dates([one for one in self._list_theirs(hop, others) if one != hop.answer_id], form)
        ranked = sorted(dated, key=lambda one: (dated[one], one))
        return "" if not ranked else ranked[0] if form.largest else ranked[-1]

    def _list_theirs(self, hop: Hop, others: Sequence[str]) -> list[str]:
        """Those works that the two made among whose a hop chooses; none where it does not choose from what two made."""
        form = _read_choice(hop)
        if form is None or form.members is None or not form.members.credit or hop.answer_id is None:
            return []
        partners = frozenset(self._facts.objects(hop.answer_id, form.members.credit))
        return [one for one in others if not partners.isdisjoint(self._facts.objects(one, form.members.credit))]

    def _read_dates(self, entities: Sequence[str], form: Extreme) -> dict[str, str]:
        return {one: str(held) for one in entities for held in self._facts.scalars(one, form.property)[:1]}


def draw_earlier(key: str) -> int:
    """How many of three wrong options shall be earlier than the right one, drawn by a key.

    There are some on either side, for between them the moment that is asked about decides: where all that is offered
    besides came out earlier, a rough idea of that moment is enough.
    """
    return _EARLIER[hashlib.blake2b(key.encode(), digest_size=1).digest()[0] % len(_EARLIER)]


def spread_sides(nearest: Sequence[str], is_earlier: Callable[[str], bool], earlier: int) -> tuple[str, ...]:
    """What is nearest in time, begun with so many earlier ones and with later ones to make three; then the rest."""
    sides = {side: [one for one in nearest if is_earlier(one) is side] for side in (True, False)}
    first = {*sides[True][:earlier], *sides[False][: _OPTIONS - earlier]}
    return (*(one for one in nearest if one in first), *(one for one in nearest if one not in first))


def _read_year(date: str) -> int:
    return int(year) if (year := date.partition("-")[0]).isdigit() else 0  # before Christ


def _read_choice(hop: Hop) -> Extreme | None:
    form = read_computation(hop.derivation)
    if isinstance(form, NextOfList):
        listed = Members(form.property, form.reference, outward=False)
        return Extreme(form.measure, (), not form.later, listed, form.reference, form.later)
    return form if isinstance(form, Extreme) else None
