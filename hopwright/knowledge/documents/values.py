"""Dates and quantities in running text, and whether one of them is the value of a fact."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_SHORT = {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
_MONTH = "|".join([*_MONTHS, *(f"{name}\\.?" for name in sorted(_SHORT, key=len, reverse=True))])
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>[1-9]\d{2,3})"
_DATES = [
    re.compile(rf"\b{_DAY}(?:\s+of)?\s+(?P<month>{_MONTH})\s*,?\s+{_YEAR}\b", re.IGNORECASE),
    re.compile(rf"\b(?P<month>{_MONTH})\s+{_DAY}\s*,?\s+{_YEAR}\b", re.IGNORECASE),
    re.compile(r"\b(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])\b"),
    re.compile(rf"\b(?P<month>{_MONTH})\s*,?\s+(?:of\s+)?{_YEAR}\b", re.IGNORECASE),
    re.compile(rf"\b{_DAY}\.(?P<month>0?[1-9]|1[0-2])\.(?P<year>\d{{4}})\b"),
]
_SLASHED = re.compile(r"\b(?P<one>\d{1,2})/(?P<two>\d{1,2})/(?P<year>\d{4})\b")
_PLAIN_YEAR = re.compile(
    r"(?<![\w.,/$£€¥])(?<!\d )(?:1\d{3}|20\d{2}|[1-9]\d{2}(?= A\.?D\b|\)|[-–]))(?![\w/%])(?![.,]\d)"
)
_BEFORE_CHRIST = re.compile(r"\s*B\.?C")
_NUMBER = re.compile(
    r"(?<![\w.,])(?P<money>[$£€¥] ?)?"
    r"(?P<number>\d{1,3}(?:(?:,|[\u00a0\u202f ])\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![,.]?\d|(?:s|st|nd|rd|th)\b)"
    r"(?:[ \u00a0-]?(?P<scale>hundred|thousand|million|billion|trillion)\b)?"
    r"(?:[ \u00a0-]?(?P<unit>[a-zA-Zµ%°][a-zA-Z./²³23]*(?: (?:kilomet\w+|met\w+|mi\w*|km|m|ft|feet|inch\w*))?))?"
)
_MOST_ROUNDING = Decimal("0.05")
"""A million does not say 1.4 million, though it has one figure."""
_MONEY = "money"
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_UNITS: dict[str, tuple[str, str]] = {
    word: (base, factor)
    for words, base, factor in (
        ("mm millimetre millimetres millimeter millimeters", "metre", "0.001"),
        ("cm centimetre centimetres centimeter centimeters", "metre", "0.01"),
        ("m metre metres meter meters", "metre", "1"),
        ("km kilometre kilometres kilometer kilometers", "metre", "1000"),
        ("inch inches", "metre", "0.0254"),
        ("ft foot feet", "metre", "0.3048"),
        ("mi mile miles", "metre", "1609.344"),
        ("m² m2 sqm", "square metre", "1"),
        ("ha hectare hectares", "square metre", "10000"),
        ("acre acres", "square metre", "4046.8564224"),
        ("km² km2 sqkm", "square metre", "1000000"),
        ("mi² mi2 sqmi", "square metre", "2589988.110336"),
        ("g gram grams gramme grammes", "kilogram", "0.001"),
        ("kg kilogram kilograms kilo kilos", "kilogram", "1"),
        ("t tonne tonnes", "kilogram", "1000"),
        ("lb lbs pound pounds", "kilogram", "0.45359237"),
        ("% percent", "percent", "1"),
    )
    for word in words.split()
}
_SQUARE = re.compile(r"^(?:square|sq\.?)\s+")


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date in a text, from character `start` to `end`; month and day are 0 where they are not said."""

    start: int
    end: int
    year: int
    month: int = 0
    day: int = 0

    def is_of(self, date: dt.date) -> bool:
        """Whether it says the date, as far as it goes: a year alone says every day of it."""
        return self.year == date.year and self.month in (0, date.month) and self.day in (0, date.day)


@dataclass(frozen=True, slots=True)
class QuantityMention:
    """A number in a text, with the value of its last digit, in the base unit; the unit is empty for a bare number."""

    start: int
    end: int
    value: Decimal
    step: Decimal
    unit: str = ""

    def is_of(self, value: Decimal, unit: str = "") -> bool:
        """Whether it says the value, rounded as it is itself: 1.5 million says 1,498,232; units have to agree."""
        apart = abs(self.value - value)
        return self.unit == unit and apart <= self.step / 2 and apart <= abs(self.value) * _MOST_ROUNDING


def find_dates(text: str) -> list[DateMention]:
    """The dates of a text, in its order: in words, figures or ISO's form, months, and years by themselves."""
    found: dict[int, DateMention] = {}
    taken: list[tuple[int, int]] = []
    for mention in _list_dates(text):
        apart = all(mention.end <= start or end <= mention.start for start, end in taken)
        if apart and not _BEFORE_CHRIST.match(text, mention.end):
            found[mention.start] = mention
            taken.append((mention.start, mention.end))
    return [found[start] for start in sorted(found)]


def find_values(text: str) -> tuple[list[DateMention], list[QuantityMention]]:
    """The dates and the numbers of a text; what is part of a date, or has a unit, is not read as the other."""
    dates, quantities = find_dates(text), find_quantities(text)
    measured = [one for one in quantities if one.unit]
    dates = [one for one in dates if one.month or not _overlaps(one, measured)]
    full = [one for one in dates if one.month]
    return dates, [one for one in quantities if one.unit or not _overlaps(one, full)]


def _overlaps(one: DateMention | QuantityMention, others: Sequence[DateMention | QuantityMention]) -> bool:
    return any(one.start < other.end and other.start < one.end for other in others)


def find_quantities(text: str) -> list[QuantityMention]:
    """The numbers of a text with their units, in its order. Words for numbers are not read."""
    return [mention for match in _NUMBER.finditer(text) if (mention := _read_quantity(match)) is not None]


def _list_dates(text: str) -> Iterator[DateMention]:
    for pattern in _DATES:
        for match in pattern.finditer(text):
            parts = match.groupdict()
            month = _read_month(parts["month"])
            yield DateMention(*match.span(), int(parts["year"]), month, int(parts.get("day") or 0))
    for match in _SLASHED.finditer(text):
        # Month and day stand in another order on each side of the Atlantic: only what cannot be confused is read.
        one, two = int(match["one"]), int(match["two"])
        month, day = (one, two) if two > 12 else (two, one) if one > 12 else (0, 0)
        if month <= 12 and day <= 31:
            yield DateMention(*match.span(), int(match["year"]), month, day)
    for match in _PLAIN_YEAR.finditer(text):
        yield DateMention(*match.span(), int(match[0]))


def _read_month(text: str) -> int:
    word = text.lower().rstrip(".")
    return int(word) if word.isdigit() else _MONTHS.get(word) or _SHORT[word]


def _read_quantity(match: re.Match[str]) -> QuantityMention | None:
    digits = re.sub(r"[,\u00a0\u202f ]", "", match["number"])
    scale = _SCALES.get(match["scale"] or "", 1)
    word = (match["unit"] or "").strip(".-")
    base, factor = _find_unit(word) if not match["money"] else (_MONEY, "1")
    value = Decimal(digits) * scale * Decimal(factor)
    step = Decimal(1).scaleb(-len(digits.partition(".")[2])) * scale * Decimal(factor)
    if "." not in digits and scale == 1:
        # 12,000 may be exact or rounded: three noughts count as rounding, two as well in a five-figure number.
        noughts = len(digits) - len(digits.rstrip("0"))
        step *= Decimal(10) ** (noughts if noughts >= 3 else 0)
    last = "unit" if base not in ("", _MONEY) else "scale" if match["scale"] else "number"
    return QuantityMention(match.start(), match.end(last), value, step, base)


def _find_unit(word: str) -> tuple[str, str]:
    """The base unit and the factor of a unit as a text writes it; nothing for a word that is none."""
    lower = word.lower()
    if (squared := _SQUARE.sub("", lower)) != lower:
        base, factor = _UNITS.get(squared, ("", "1"))
        return ("square metre", str(Decimal(factor) ** 2)) if base == "metre" else ("", "1")
    first = lower.split(" ")[0]
    return _UNITS.get(lower) or _UNITS.get(first) or ("", "1")
