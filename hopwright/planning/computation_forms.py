"""The forms of computing hops: what an expression is about, read once for wording, options and evidence.

An expression outside these forms can be evaluated but not worded by rule.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from typing import Literal

from hopwright.records import Compute, Derivation

_REF = r"(?:hop\d|Q\w+)"
_VALUE = rf"value\((P\d+), ({_REF})\)"
_EXTREME = re.compile(r"^(argmax|argmin)\((P\d+), ([^()]+)\)$")
_EXTREME_OF_SET = re.compile(r"^(argmax|argmin)\((P\d+), (\w+\(.+\))\)$")
_SET = re.compile(r"^(among|listed|all)\((P\d+), (hop\d|Q\w+)(?:, ([^()]+))?\)$")
_HAVING = re.compile(r"^having\((P\d+), (hop\d|Q\w+), (.+)\)$")
_MOMENT = re.compile(r"^(after|before)\((P\d+), (hop\d), (.+)\)$")
_SIZE = re.compile(r"^size\((.+)\)$")
_AGE_AT = re.compile(rf"^age\((hop\d|{_VALUE}), (hop\d|{_VALUE})\)$")
_BETWEEN = re.compile(rf"^abs\(year\({_VALUE}\) - year\({_VALUE}\)\)$")
_APART = re.compile(r"^abs\((hop\d) - (hop\d)\)$")
_APART_NAMED = re.compile(rf"^abs\((hop\d) - year\({_VALUE}\)\)$")
_AGE = re.compile(rf"^(hop\d) - year\({_VALUE}\)$")
_SHIFT = re.compile(r"^(hop\d|\d+) ([+-]) (?:(\d+) \* )?(hop\d|\d+)$")
_NEXT_OF_LIST = re.compile(
    r"^arg(?:min|max)\((P\d+), (after|before)\(\1, value\(\1, (hop\d|Q\w+)\), all\((P\d+), object\((P\d+), \3\)\)\)\)$"
)
_END_OF_MAKER = re.compile(r"^(argmin|argmax)\((P\d+), all\((P\d+), object\((P\d+), (Q\w+)\)\)\)$")
_END_MEMBER = re.compile(r"^(first_with|last_with)\((P\d+), (P\d+), (hop\d)\)$")
_COMB = re.compile(r"^comb\((\d+|hop\d), (\d+|hop\d)\)$")
_GAP = re.compile(rf"^abs\({_VALUE} - {_VALUE}\)$")
_RATE = re.compile(rf"^round\({_VALUE} / {_VALUE}, (\d)\)$")
_CLAIM = r'claim\("(?P<claim>cl-[a-p]{16})"\)'
_CLAIMED = {
    how: re.compile(pattern.replace("CLAIM", _CLAIM).replace("HOP", r"(?P<reference>hop\d)"))
    for how, pattern in {
        "sum": r"^HOP \+ CLAIM$",
        "minus": r"^HOP - CLAIM$",
        "difference": r"^abs\(HOP - CLAIM\)$",
        "product": r"^HOP \* CLAIM$",
        "size": r"^comb\(HOP, CLAIM\)$",
        "pool": r"^comb\(CLAIM, HOP\)$",
        "group": r"^comb\(CLAIM, (?P<reference>\d)\)$",
    }.items()
}


@dataclass(frozen=True, slots=True)
class Members:
    """A set: of the `entities` (references) those that share something, or all objects of `shared` (then none named).

    `outward`: they have `shared` as their object of `property`; else `shared` has them as objects of it. `partner`: of
    all objects only those count that have that entity (a reference) as their object of `credit`; empty where all do.
    """

    property: str
    shared: str
    outward: bool
    entities: tuple[str, ...] = ()
    credit: str = ""
    partner: str = ""

    def is_test(self) -> bool:
        """Whether an earlier hop decides which of the named entities belong to it."""
        return bool(self.entities) and self.shared.startswith("hop")


@dataclass(frozen=True, slots=True)
class Extreme:
    """Whichever of `entities` (references) has the largest or the smallest value.

    `members`: the set that they are taken from, where there is one; `later`: only those after (False: before) the year
    of `moment` count, where that is not empty.
    """

    property: str
    entities: tuple[str, ...]
    largest: bool
    members: Members | None = None
    moment: str = ""
    later: bool = True

    def turn(self) -> Literal["first", "last"]:
        """Which of those in the order of their dates it is."""
        return "last" if self.largest else "first"


@dataclass(frozen=True, slots=True)
class GroupSize:
    """How many a set holds; only those whose event (`property`) lies after (or before) `moment`, where there is one."""

    members: Members
    property: str = ""
    moment: str = ""
    later: bool = True


@dataclass(frozen=True, slots=True)
class AgeAt:
    """Whole years from one moment to a later one; `hopN` is a date's hop, else (property, entity) an event."""

    birth: str | tuple[str, str]
    then: str | tuple[str, str]


@dataclass(frozen=True, slots=True)
class YearDistance:
    """Years between moments: `hopN` is a year's hop; (property, entity) an event."""

    moments: tuple[str | tuple[str, str], str | tuple[str, str]]


@dataclass(frozen=True, slots=True)
class AgeInYear:
    """How many years after the event (property, entity), as a rule a birth, the year of `year` lies."""

    year: str
    property: str
    entity: str


@dataclass(frozen=True, slots=True)
class ShiftedYear:
    """`base` plus or minus `times` × `offset`; base and offset are `hopN` or digits."""

    base: str
    later: bool
    times: int
    offset: str


@dataclass(frozen=True, slots=True)
class NextOfList:
    """What comes right after `reference`, or right before it, by `measure`, in the whole list (`property`) of
    whoever is its only object of `maker`.
    """

    measure: str
    property: str
    maker: str
    reference: str
    later: bool

    def write(self) -> str:
        """The expression that this is the form of."""
        choose, side = ("argmin", "after") if self.later else ("argmax", "before")
        listed = f"all({self.property}, object({self.maker}, {self.reference}))"
        return f"{choose}({self.measure}, {side}({self.measure}, value({self.measure}, {self.reference}), {listed}))"


@dataclass(frozen=True, slots=True)
class EndOfMaker:
    """What comes first by `measure`, or last, in the whole list (`property`) of whoever is the only object of `maker`
    of a named work, `reference`.
    """

    measure: str
    property: str
    maker: str
    reference: str
    largest: bool

    def write(self) -> str:
        """The expression that this is the form of."""
        choose = "argmax" if self.largest else "argmin"
        return f"{choose}({self.measure}, all({self.property}, object({self.maker}, {self.reference})))"

    def turn(self) -> Literal["first", "last"]:
        """Which of the list it is."""
        return "last" if self.largest else "first"

    def choose_of(self, owner: str) -> Extreme:
        """The same choice from the list of its owner."""
        return Extreme(self.measure, (), self.largest, Members(self.property, owner, outward=False))


@dataclass(frozen=True, slots=True)
class EndMember:
    """The first member of a series, or the last, of those that have `reference` (`hopN`) in a column."""

    series: str
    column: str
    reference: str
    last: bool


@dataclass(frozen=True, slots=True)
class Combinations:
    """Ways to choose `size` out of `pool`; either may be a hop."""

    pool: str
    size: str


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two entities' values."""

    property: str
    entities: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Rate:
    """One value divided by another, to `digits` places: of one entity, or of two by the same property."""

    property: str
    entity: str
    per_property: str
    per_entity: str
    digits: int


@dataclass(frozen=True, slots=True)
class ClaimComputation:
    """A hop's number taken with that of a claim (an id).

    `how`: `sum`, `minus` (of a year), `difference`, `product`; ways to choose as many as the claim says (`size`), or
    out of as many (`pool`); `group`: out of as many, a stated number, which `reference` then is.
    """

    how: str
    reference: str
    claim: str


Form = (
    Extreme
    | YearDistance
    | AgeInYear
    | ShiftedYear
    | NextOfList
    | EndOfMaker
    | EndMember
    | Combinations
    | Difference
    | Rate
    | ClaimComputation
    | GroupSize
    | AgeAt
)


def read_computation(derivation: Derivation | None) -> Form | None:
    """The form of what a hop computes; None for a look-up, and for an expression of no known form."""
    return read_form(derivation.expression) if isinstance(derivation, Compute) else None


@functools.lru_cache(maxsize=8192)
def read_form(expression: str) -> Form | None:
    """The form of an expression, or None."""
    if "claim" in expression:
        return _read_claimed(expression)
    if match := _EXTREME.match(expression):
        return Extreme(match[2], tuple(part.strip() for part in match[3].split(",")), match[1] == "argmax")
    if match := _NEXT_OF_LIST.match(expression):
        return NextOfList(match[1], match[4], match[5], match[3], match[2] == "after")
    if match := _END_OF_MAKER.match(expression):
        return EndOfMaker(match[2], match[3], match[4], match[5], match[1] == "argmax")
    if match := _EXTREME_OF_SET.match(expression):
        return _read_extreme_of_set(match[1] == "argmax", match[2], match[3])
    if match := _AGE_AT.match(expression):
        birth = (match[2], match[3]) if match[2] else match[1]
        return AgeAt(birth, (match[5], match[6]) if match[5] else match[4])
    if match := _SIZE.match(expression):
        return _read_size(match[1])
    if match := _BETWEEN.match(expression):
        return YearDistance(((match[1], match[2]), (match[3], match[4])))
    if match := _APART.match(expression):
        return YearDistance((match[1], match[2]))
    if match := _APART_NAMED.match(expression):
        return YearDistance((match[1], (match[2], match[3])))
    if match := _AGE.match(expression):
        return AgeInYear(match[1], match[2], match[3])
    if match := _SHIFT.match(expression):
        return ShiftedYear(match[1], match[2] == "+", int(match[3] or 1), match[4])
    if match := _END_MEMBER.match(expression):
        return EndMember(match[2], match[3], match[4], match[1] == "last_with")
    if match := _COMB.match(expression):
        return Combinations(match[1], match[2])
    return _read_arithmetic(expression)


def _read_set(text: str) -> Members | None:
    if match := _HAVING.match(text):
        within = _read_set(match[3])
        return replace(within, credit=match[1], partner=match[2]) if within is not None else None
    match = _SET.match(text)
    if match is None:
        return None
    named = tuple(match[4].split(", ")) if match[4] else ()
    return Members(match[2], match[3], match[1] == "among", named)


def _read_size(text: str) -> Form | None:
    if match := _MOMENT.match(text):
        members = _read_set(match[4])
        return GroupSize(members, match[2], match[3], match[1] == "after") if members is not None else None
    members = _read_set(text)
    return GroupSize(members) if members is not None else None


def _read_extreme_of_set(largest: bool, property: str, text: str) -> Form | None:
    moment, later = "", True
    if match := _MOMENT.match(text):
        moment, later, text = match[3], match[1] == "after", match[4]
    members = _read_set(text)
    return Extreme(property, members.entities, largest, members, moment, later) if members is not None else None


def _read_claimed(expression: str) -> Form | None:
    for how, pattern in _CLAIMED.items():
        if match := pattern.match(expression):
            return ClaimComputation(how, match["reference"], match["claim"])
    return None


def _read_arithmetic(expression: str) -> Form | None:
    if match := _GAP.match(expression):
        return Difference(match[1], (match[2], match[4]))
    if match := _RATE.match(expression):
        return Rate(match[1], match[2], match[3], match[4], int(match[5]))
    return None
