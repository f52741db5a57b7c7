"""Answers by type, judged by one of two named protocols.

`absolute` is the tolerance of `hopwright.scoring.answers`: a number may be off by 0.1. `infoseek` is InfoSeek's (Chen
et al. 2023), which MMhops adopts (its section on evaluation): a number is right within a tenth of the gold number; a
range is right that lies in that interval, or overlaps it by half (intersection over union). Both take a name by its
aliases, and a year that is one off; of a day, every order of day, month and year, the neighbouring years included
(MMhops, prompt for time-based answers).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from hopwright.errors import InputError
from hopwright.records import AnswerType
from hopwright.records.values import parse
from hopwright.scoring.answers import (
    LEAST_OVERLAP,
    NUMBER_MARGIN,
    YEAR_MARGIN,
    Range,
    normalise,
    overlap,
    read_range,
)

Protocol = Literal["infoseek", "absolute"]
RELATIVE_MARGIN = Decimal("0.1")
"""A number may be off by this part of the gold number (InfoSeek)."""

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_SCALED = re.compile(rf"([-+−]?\d[\d,]*(?:\.\d+)?)\s*({'|'.join(_SCALES)})\b", re.IGNORECASE)
_UNITS: dict[str, dict[str, Decimal]] = {
    "square kilometres": {
        r"(?:sq(?:uare|\.)?\s*(?:km|kilomet(?:re|er)s?)|km\s?(?:²|\^?2))": Decimal(1),
        r"(?:sq(?:uare|\.)?\s*mi(?:les?)?|mi\s?(?:²|\^?2))\b": Decimal("2.589988110336"),
        r"\b(?:hectares?|ha)\b": Decimal("0.01"),
    },
    "kilometres": {
        r"\b(?:km|kilomet(?:re|er)s?)\b": Decimal(1),
        r"\b(?:mi|miles?)\b": Decimal("1.609344"),
        r"\b(?:m|met(?:re|er)s?)\b": Decimal("0.001"),
    },
}
"""Unit of a gold number → how others write it and what of the same kind is worth in it."""
_SUPERSCRIPT = re.compile(r"²|\^2|(?<=km)2\b|(?<=mi)2\b|(?<=m)2\b")


@dataclass(frozen=True, slots=True)
class TypedAnswer:
    """A gold answer: as a reader sees it, its type, its unit (`year` for a year), and other names of it."""

    text: str
    type: AnswerType
    unit: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def kind(self) -> Literal["string", "time", "number"]:
        """What MMhops counts it as."""
        if self.type == "date" or (self.type == "number" and self.unit == "year"):
            return "time"
        return "number" if self.type == "number" else "string"


def judge_answer(given: str, gold: TypedAnswer, protocol: Protocol = "infoseek") -> bool:
    """Whether an answer counts as right by a protocol."""
    if gold.kind == "number":
        interval, ours = read_range(gold.text), read_quantity(given, gold.unit)
        if interval is None or ours is None:
            return False
        return is_within_tenth(ours, interval) if protocol == "infoseek" else is_within_margin(ours, interval)
    said = normalise(given)
    return any(said == normalise(one) for one in list_accepted(gold))


def is_within_tenth(given: Range, gold: Range) -> bool:
    """InfoSeek's rule for numbers and ranges; one number is a range of no width."""
    low, high = gold
    if low == high:
        low, high = sorted((low * (1 - RELATIVE_MARGIN), high * (1 + RELATIVE_MARGIN)))
    if low <= given[0] and given[1] <= high:
        return True
    return given[0] != given[1] and overlap(given, (low, high)) >= LEAST_OVERLAP


def is_within_margin(given: Range, gold: Range) -> bool:
    """The absolute rule for numbers and ranges: off by 0.1 at most, and a range only against a range."""
    if gold[0] == gold[1]:
        return given[0] == given[1] and abs(given[0] - gold[0]) <= NUMBER_MARGIN
    if given[0] == given[1]:
        return gold[0] <= given[0] <= gold[1]
    return overlap(given, gold) >= LEAST_OVERLAP


def list_accepted(gold: TypedAnswer) -> tuple[str, ...]:
    """Every text that counts as the answer, up to case, punctuation and articles; of a number only itself."""
    if gold.kind == "number":
        return (gold.text,)
    if gold.kind == "string":
        return tuple(dict.fromkeys((gold.text, *gold.aliases)))
    try:
        value = parse(gold.text, gold.type)
    except InputError:
        return (gold.text,)
    if isinstance(value, dt.date):
        return tuple(dict.fromkeys(_list_days(value)))
    return tuple(str(int(str(value)) + off) for off in (0, -YEAR_MARGIN, YEAR_MARGIN))


def read_quantity(text: str, unit: str) -> Range | None:
    """The number or range in a text, in `unit`; None where there is none, or several.

    `1.2 million` is a number, and what is said in another unit of the same kind is converted.
    """
    plain = _SCALED.sub(_write_out, text)
    for pattern, worth in _UNITS.get(unit, {}).items():
        found = re.search(pattern, plain, re.IGNORECASE)
        if found is None:
            continue
        bare = re.sub(pattern, " ", plain, flags=re.IGNORECASE)
        if (read := read_range(bare)) is not None:
            return read[0] * worth, read[1] * worth
    return read_range(_SUPERSCRIPT.sub("", plain))


def _write_out(match: re.Match[str]) -> str:
    number = Decimal(match[1].replace(",", "").replace("−", "-"))
    return f"{number.scaleb(_SCALES[match[2].lower()]):f}"


def _list_days(day: dt.date) -> Iterable[str]:
    """A day in every order, then the same day a year before and after, each followed by its year alone."""
    for year in (day.year, day.year - YEAR_MARGIN, day.year + YEAR_MARGIN):
        for month in (_MONTHS[day.month - 1], str(day.month)):
            yield from (f"{day.day} {month} {year}", f"{month} {day.day} {year}", f"{year} {month} {day.day}")
        yield str(year)
