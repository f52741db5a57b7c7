"""Dates and years as sources write them."""

from __future__ import annotations

import datetime as dt
import re
from typing import NamedTuple

DATES = {
    "P569": "date of birth", "P570": "date of death", "P571": "inception", "P577": "publication date",
    "P576": "dissolved, abolished or demolished date", "P580": "start time", "P582": "end time",
    "P585": "point in time",
}  # fmt: skip
MONTHS = ("January February March April May June July August September October November December").split()
HUMAN, COUNTRY, PROFESSION = "Q5", "Q6256", "Q28640"
_MONTH = "|".join(MONTHS)
DATE = rf"(?:\d{{1,2}} (?:{_MONTH}),? \d{{4}}|(?:{_MONTH}) \d{{1,2}} ?, ?\d{{4}}|\d{{4}})"
_DAY_FIRST = re.compile(rf"(\d{{1,2}}) ({_MONTH}),? (\d{{4}})")
_MONTH_FIRST = re.compile(rf"({_MONTH}) (\d{{1,2}}) ?, ?(\d{{4}})")


GREGORIAN = 1753
"""Dates before it may be Julian, and which they are is not said: only their years are taken."""


class Day(NamedTuple):
    """A date, or a year where month and day are 0."""

    year: int
    month: int = 0
    day: int = 0

    def fits(self, other: Day) -> bool:
        """Whether both can be said of one event."""
        return self.year == other.year and (not self.month or not other.month or self == other)

    @property
    def value(self) -> str:
        """As the literals have it: a bare year is its first of January."""
        return f"{self.year:04d}-{self.month or 1:02d}-{self.day or 1:02d}T00:00:00Z"


def read_day(text: str) -> Day | None:
    """Read `4 May 1900`, `May 4, 1900` or `1900`; None for anything else, and for what no calendar has."""
    text = text.strip()
    if match := _DAY_FIRST.fullmatch(text):
        year, month, day = int(match[3]), MONTHS.index(match[2]) + 1, int(match[1])
    elif match := _MONTH_FIRST.fullmatch(text):
        year, month, day = int(match[3]), MONTHS.index(match[1]) + 1, int(match[2])
    else:
        return Day(int(text)) if re.fullmatch(r"[12]\d{3}|[5-9]\d{2}", text) else None
    try:
        dt.date(year, month, day)
    except ValueError:
        return None
    # A first of January cannot be told from a bare year in this layout: it is kept as the year.
    return Day(year) if year < GREGORIAN or (month, day) == (1, 1) else Day(year, month, day)
