"""What computing hops ask for, said plainly: for the brief of a model, and for reading its wording.

The rules' wording of a computation is one of several; what any wording of it has to keep follows from its form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from hopwright.knowledge.properties import PropertyTable
from hopwright.planning.computation_forms import (
    AgeAt,
    AgeInYear,
    ClaimComputation,
    Combinations,
    Difference,
    EndMember,
    EndOfMaker,
    Extreme,
    Form,
    GroupSize,
    Members,
    NextOfList,
    Rate,
    ShiftedYear,
    YearDistance,
    read_computation,
)
from hopwright.planning.plan import properties_of_step
from hopwright.records import Compute, Hop, Lookup
from hopwright.text.phrases import listed

_LATITUDE = "Latitude"
_ENDS = frozenset({"first", "last", "before", "after", "earlier", "later"})
Say = Callable[[str], str]
Age = Literal["", "on a day", "in a year", "turned"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a wording of a computation has to keep.

    `sides`: which way it points (as in `relations.toml`), `moment`: whether it takes the first after, or the last
    before, a moment; `properties`: by which something belongs to a set; `age`: whether it is an age, and of which sort,
    or the year in which an age was turned.
    `listed`: how many it names to choose from, a number that a wording may say in a word.
    """

    sides: frozenset[str] = frozenset()
    moment: bool = False
    properties: tuple[str, ...] = ()
    age: Age = ""
    listed: int = 0


def read_meaning(hop: Hop, hops: Mapping[int, Hop], table: PropertyTable) -> Meaning | None:
    """The meaning of a computing hop; None for a look-up, and for a computation that its words alone describe."""
    form = read_computation(hop.derivation)
    match form:
        case Extreme(members=members):
            parted = bool(form.moment)
            moment = {"later" if form.later else "earlier"} if parted else set[str]()
            ties = (members.property,) if members is not None else ()
            return Meaning(frozenset({_side(form, table)} | moment), parted, ties, listed=len(form.entities))
        case GroupSize(members=members):
            sides = frozenset({"later" if form.later else "earlier"} if form.moment else ())
            return Meaning(sides, bool(form.moment), (members.property,), listed=len(members.entities))
        case AgeAt():
            return Meaning(age="on a day")
        case AgeInYear():
            return Meaning(age="in a year")
        case YearDistance():
            return Meaning(age="in a year" if _find_birth(form, hops, table) else "")
        case ShiftedYear(base=base, later=True, times=1) if _find_born(base, hops, table):
            return Meaning(age="turned")
        case NextOfList(property=property, later=later):
            return Meaning(frozenset({"later" if later else "earlier"}), True, (property,))
        case EndOfMaker(property=property, largest=largest):
            return Meaning(frozenset({"last" if largest else "first"}), False, (property,))
        case EndMember(last=last):
            # Of those first appointed by a president there is a last: where a relation says it, no word proves a side.
            said = {word for one in hops.values() for word in _list_words(one, table)}
            return Meaning(frozenset({"last" if last else "first"} if said.isdisjoint(_ENDS) else ()), moment=True)
        case Difference() | Rate() | Combinations():
            return Meaning()
    return None


def _list_words(hop: Hop, table: PropertyTable) -> Iterator[str]:
    """The words with which the relations of a hop are said."""
    for property in sorted(properties_of_step(hop.derivation)):
        if (entry := table.entity.get(property)) is not None:
            yield from " ".join((*entry.np, *entry.ask, *entry.reverse_np)).split()


def list_subjects(hop: Hop, hops: Mapping[int, Hop]) -> tuple[str, ...]:
    """The entities (Q-ids) whose numbers, dates or works a computing hop builds on: a wording may name them, and need
    not.
    """
    if not isinstance(hop.derivation, Compute):
        return ()
    found: dict[str, None] = {}
    if isinstance(form := read_computation(hop.derivation), NextOfList | EndOfMaker):
        found |= {fact.object: None for fact in hop.evidence.triplets if fact.property == form.maker}
    for index in hop.depends_on:
        source = hops[index].derivation
        if isinstance(source, Lookup) and hops[index].answer_id is None:
            subject = source.subject
            found[subject if subject.startswith("Q") else hops[int(subject[3:])].answer_id or ""] = None
    return tuple(one for one in found if one)


def describe_computation(hop: Hop, hops: Mapping[int, Hop], say: Say, table: PropertyTable) -> str:
    """What a computing hop does, in so many words; empty for a look-up. `say` gives a Q-id its name."""
    form = read_computation(hop.derivation)
    return _Describer(hops, say, table).describe(form) if form is not None else ""


def _side(form: Extreme, table: PropertyTable) -> str:
    if _is_dated(form.property, table):
        return "last" if form.largest else "first"
    return "greater" if form.largest else "smaller"


def _is_dated(property: str, table: PropertyTable) -> bool:
    entry = table.literal.get(property)
    return entry is not None and entry.value != "number"


def _find_birth(form: YearDistance, hops: Mapping[int, Hop], table: PropertyTable) -> str:
    """The person (a reference) since whose birth the years of a distance count; empty where they count otherwise."""
    return next((person for moment in form.moments if (person := _find_born(moment, hops, table))), "")


def _find_born(moment: str | tuple[str, str], hops: Mapping[int, Hop], table: PropertyTable) -> str:
    """The person (a reference) whose year of birth a hop looks up; empty for another moment."""
    hop = hops.get(int(moment[3:])) if isinstance(moment, str) and moment.startswith("hop") else None
    derivation = hop.derivation if hop is not None else None
    return derivation.subject if isinstance(derivation, Lookup) and derivation.property == table.roles.birth else ""


class _Describer:
    """Describes the computations of one item."""

    def __init__(self, hops: Mapping[int, Hop], say: Say, table: PropertyTable) -> None:
        self._hops = hops
        self._name = say
        self._table = table

    def describe(self, form: Form) -> str:
        match form:
            case Extreme():
                return self._describe_extreme(form)
            case GroupSize(members=members, moment=moment) if moment:
                return f"counts all that {self._tie(members, 'have')} and a {self._when(form)}"
            case GroupSize(members=members) if not members.entities:
                return f"counts all that {self._tie(members, 'have')}"
            case GroupSize(members=members):
                return f"counts how many of {self._list(members.entities)} {self._tie(members, 'have')}"
            case AgeAt(birth=birth, then=then):
                return f"the age in full years on a day: from {self._moment(birth)} to {self._moment(then)}"
            case AgeInYear(year=year, entity=entity):
                return self._describe_age(self._say(entity), self._moment(year))
            case YearDistance():
                return self._describe_distance(form)
            case NextOfList(reference=reference, later=later):
                known, maker = self._say(reference), self._quote(form.maker)
                made = f"all that {maker} of {known} has as {self._quote(form.property)}"
                return f"of {made}, what comes right {'after' if later else 'before'} {known}"
            case EndOfMaker(reference=reference, largest=largest):
                maker = f"{self._quote(form.maker)} of {self._say(reference)}"
                made = f"all that {maker} has as {self._quote(form.property)}"
                return f"of {made}, what comes {'last' if largest else 'first'} by {self._quote(form.measure)}"
            case EndMember(series=series, column=column, reference=reference, last=last):
                noun, end = self._table.literal[series].series, "last" if last else "first"
                return f"the {end} {noun} that has {self._say(reference)} as its {self._quote(column)}; several have"
            case ShiftedYear(base=base, later=True, times=1, offset=offset) if person := self._find_born(base):
                age = self._say(offset)
                return (
                    f"the year in which {person}, born in {self._say(base)}, turned {age}. `The year of the {age}th "
                    f"birthday` says it as well, but not `at the age of {age}`, which may be a day of the next year"
                )
            case ShiftedYear(base=base, later=later, times=times, offset=offset):
                number = f"{times} times {self._say(offset)}" if times > 1 else self._say(offset)
                return f"{self._say(base)} {'plus' if later else 'minus'} {number}"
            case Combinations(pool=pool, size=size):
                return f"in how many ways {self._say(size)} can be chosen out of {self._say(pool)}, in whatever order"
            case Difference(property=property, entities=entities):
                return f"the difference of {self._quote(property)} of {self._list(entities)}"
            case Rate(property=property, entity=entity, per_property=per, per_entity=other, digits=digits):
                above, below = self._quote(property), self._quote(per)
                return (
                    f"{above} of {self._say(entity)} divided by {below} of {self._say(other)}, "
                    f"to {digits} decimal place{'s' if digits > 1 else ''}"
                )
            case ClaimComputation():
                return "takes the number that the quoted phrase stands for; the phrase is said word for word"
        return ""

    def _find_born(self, moment: str) -> str:
        person = _find_born(moment, self._hops, self._table)
        return self._say(person) if person else ""

    def _describe_extreme(self, form: Extreme) -> str:
        if _is_dated(form.property, self._table):
            best = "latest" if form.largest else "earliest"
        else:
            best = "largest" if form.largest else "smallest"
        pick = f"the one with the {best} {self._quote(form.property)}"
        if self._table.literal[form.property].axis == _LATITUDE:
            pick += f", which lies furthest {'north' if form.largest else 'south'}"
        members = form.members
        if members is None:
            return f"of {self._list(form.entities)}, {pick}"
        when = f" and a {self._when(form)}" if form.moment else ""
        if not members.entities:
            return f"of all that {self._tie(members, 'have')}{when}, {pick}"
        named, tie = self._list(members.entities), self._tie(members, "have")
        if members.is_test():
            return f"of {named}, only those that {tie}{when}; of these {pick}"
        only = f"only those with{when.removeprefix(' and')}; of these " if when else ""
        return f"of {named}, which all {tie}, {only}{pick}"

    def _when(self, form: Extreme | GroupSize) -> str:
        hop = self._hops.get(int(form.moment[3:]))
        when = "in a year " if hop is not None and hop.unit == "year" else ""
        return f"{self._quote(form.property)} {when}{'after' if form.later else 'before'} {self._say(form.moment)}"

    def _tie(self, members: Members, verb: str) -> str:
        if members.outward:
            return f"{verb} {self._say(members.shared)} as {self._quote(members.property)}"
        tie = f"{self._say(members.shared)} has as {self._quote(members.property)}"
        if members.partner:
            tie += f", and that have {self._say(members.partner)} as {self._quote(members.credit)}"
        return tie

    def _describe_age(self, person: str, year: str) -> str:
        return (
            f"the age that {person} reaches in {year}: this year minus the year of birth. It is not the age on some "
            f"day, so say `turn`, `reach` or `at the end of the year`"
        )

    def _describe_distance(self, form: YearDistance) -> str:
        if person := _find_birth(form, self._hops, self._table):
            other = next(one for one in form.moments if not self._is_birth(one))
            return self._describe_age(self._say(person), self._moment(other))
        moments = listed([self._moment(one) for one in form.moments])
        return f"the years between {moments}, without saying which came first"

    def _is_birth(self, moment: str | tuple[str, str]) -> bool:
        return bool(_find_born(moment, self._hops, self._table))

    def _moment(self, moment: str | tuple[str, str]) -> str:
        if isinstance(moment, tuple):
            return f"the {self._quote(moment[0])} of {self._say(moment[1])}"
        derivation = self._hops[int(moment[3:])].derivation
        if isinstance(derivation, Lookup):
            return f"{self._say(moment)}, the {self._quote(derivation.property)} of {self._say(derivation.subject)}"
        return self._say(moment)

    def _list(self, references: tuple[str, ...]) -> str:
        return listed([self._say(one) for one in references])

    def _say(self, reference: str) -> str:
        if reference.startswith("hop"):
            return self._hops[int(reference[3:])].answer
        return self._name(reference) if reference.startswith("Q") else reference

    def _quote(self, property: str) -> str:
        return f"`{self._table.label(property)}`"
