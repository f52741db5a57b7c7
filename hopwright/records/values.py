"""Answers as values: how a number, a date or a year is written, and how it is read back.

`render` and `parse` are inverse to each other, so that a derivation can be run on what a reader sees.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal, InvalidOperation
from typing import Literal

from hopwright.errors import InputError
from hopwright.records.model import AnswerType

Scalar = int | Decimal | dt.date
Value = Scalar | str
"""A number, a date, or text (for an entity: its Q-id)."""

_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
MOST_DIGITS = 24
"""Digits before or after the point: more than any answer has, and less than decimal arithmetic is exact for."""
_DATE = re.compile(r"^(\d{1,2}) ([A-Z][a-z]+) (\d{1,4})$")

EntityKind = Literal[
    "person", "country", "place", "nature", "work", "team", "competition", "event", "organization",
    "award", "transport", "animal", "fiction", "other",
]  # fmt: skip
"""Coarse classes of entities. `place`: settlements, regions, buildings, venues; `nature`: waters, mountains,
islands; `work`: films, series, episodes, books, games; `competition`: leagues and recurring events; `event`: one
edition, season, election, treaty; `transport`: roads, lines, stations, airports, ships, spacecraft; `animal`:
racehorses."""

BROUGHT_OUT: frozenset[EntityKind] = frozenset({"work", "animal"})
"""What somebody brings out together with others: works, and the horses that a trainer has a jockey ride."""


def as_float(value: Scalar) -> float:
    """A number as it is, a date by its day: values of one kind are ordered by it."""
    return float(value.toordinal() if isinstance(value, dt.date) else value)


def render(value: Scalar, *, year: bool = False) -> str:
    """Write a number with thousands separators (a year without), or a date as `3 July 1990`.

    A decimal that ends in noughts was rounded to so many places, and keeps them.
    """
    if isinstance(value, dt.date):
        return f"{value.day} {_MONTHS[value.month - 1]} {value.year}"
    number = Decimal(value)
    if year and number == number.to_integral_value():
        return str(int(number))
    exponent = number.as_tuple().exponent
    return f"{number:,f}" if isinstance(exponent, int) and exponent < 0 else f"{int(number):,}"


def parse(text: str, answer_type: AnswerType) -> Value:
    """Read back what `render` wrote; entities and strings stay text.

    Raises InputError when the text is no number or date of the given type.
    """
    if answer_type == "number":
        try:
            number = Decimal(text.replace(",", "").strip())
        except InvalidOperation:
            raise InputError(f"not a number: {text!r}") from None
        if not number.is_finite() or abs(number.adjusted()) > MOST_DIGITS:  # `INF`, `1e999999`
            raise InputError(f"not a number: {text[:40]!r}")
        return int(number) if number == number.to_integral_value() else number
    if answer_type == "date":
        match = _DATE.match(text.strip())
        if match is None or match[2] not in _MONTHS:
            raise InputError(f"not a date written as '3 July 1990': {text!r}")
        try:
            return dt.date(int(match[3]), _MONTHS.index(match[2]) + 1, int(match[1]))
        except ValueError:
            raise InputError(f"no such day: {text!r}") from None
    return text
