"""How stored dates and numbers move: seeded, plausible, in the format in which they were stored."""

from __future__ import annotations

import calendar
import datetime as dt
import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from hopwright.counterfactual.passage_phrases import list_role
from hopwright.knowledge.wikidata.roles import ROLES
from hopwright.settings import LATEST_YEAR

LAST_YEAR = LATEST_YEAR
_MODERN = 1895  # Films, leagues and aircraft: a year of that era stays in it.
_RAW_DATE = re.compile(r"^(\d{4})-(\d{2})-(\d{2})(.*)$")
_RAW_NUMBER = re.compile(r"^([+-]?)(\d+)(?:\.(\d+))?$")


def latest_year(property: str, year: int) -> int:
    """The last year into which a date of that property may move: a newborn has no career to ask about.

    A date that lies later already may stay where it is.
    """
    return max(ROLES.latest_years.get(property, LAST_YEAR), min(year, LAST_YEAR))


def moves_gently(property: str) -> bool:
    """Whether numbers of a property are believable only near what they were."""
    return property in list_role("gentle")


@dataclass(frozen=True, slots=True)
class DateShift:
    """How far a date moves. Dates that stand for a whole year (1 January) keep their day."""

    years: int
    days: int = 0


def read_year(raw: str) -> int | None:
    """The year of a stored date, or None before year 1 and for anything that is no date."""
    match = _RAW_DATE.match(raw)
    return int(match[1]) if match and int(match[1]) > 0 else None


def find_room(years: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """By how many years dates may move together, down and up, each staying in its era.

    years: each with the last year that it may become. Four-digit years keep four digits, years from 1895 stay there.
    """
    held = list(years)
    low = max((_floor(year) - year for year, _ in held), default=-60)
    return low, min((latest - year for year, latest in held), default=60)


def draw_base(rng: random.Random, largest: int, smallest: int, room: tuple[int, int]) -> int:
    """By how many years a whole world moves: within the room of all its dates where there is any such move.

    When all move alike, nobody is older than the film that he directed.
    """
    low, high = room
    steps = [step for size in range(smallest, largest + 1) for step in (-size, size) if low <= step <= high]
    if not steps:
        steps = [step for step in range(max(low, -smallest), min(high, smallest) + 1) if step]
    return rng.choice(steps) if steps else rng.choice((-1, 1)) * rng.randint(smallest, largest)


def draw_date_shift(rng: random.Random, base: int, jitter: int, years: Iterable[tuple[int, int]]) -> DateShift:
    """A move of `base` years, give or take up to `jitter`, that stays in the room of the given years (`find_room`).

    It is never by 0 years unless nothing else is possible; where the wish has no room, the nearest move is taken.
    """
    low, high = find_room(years)
    wish = base + rng.choice([step for step in range(-jitter, jitter + 1) if step or not jitter])
    if not low <= wish <= high or wish == 0:
        near = [step for step in range(max(low, -30), min(high, 30) + 1) if step]
        wish = min(near, key=lambda step: (abs(step - wish), step), default=0)
    return DateShift(wish, rng.choice((-1, 1)) * rng.randint(3, 25))


def shift_date(raw: str, move: DateShift) -> str:
    """Move a stored date; the day moves too, within its year, unless it is 1 January."""
    match = _RAW_DATE.match(raw)
    if match is None:
        raise ValueError(f"not a stored date: {raw!r}")
    year = int(match[1]) + move.years
    if not 1 <= year <= 9999:
        raise ValueError(f"{raw!r} cannot move by {move.years} years")
    month, day = int(match[2]), int(match[3])
    if (month, day) == (1, 1) or month == 0 or day == 0:
        return f"{year:04d}-{match[2]}-{match[3]}{match[4]}"
    date = dt.date(year, month, min(day, calendar.monthrange(year, month)[1]))
    days = move.days if date.toordinal() + move.days > 0 else -move.days  # there is no year before the first
    moved = date + dt.timedelta(days=days)
    if moved.year != year or (moved.month, moved.day) == (1, 1):
        moved = date - dt.timedelta(days=days)
    return f"{moved.year:04d}-{moved.month:02d}-{moved.day:02d}{match[4]}"


def set_date(raw: str, wanted: int | dt.date) -> str:
    """The stored date with another year, or another day, in the same format."""
    match = _RAW_DATE.match(raw)
    if match is None:
        raise ValueError(f"not a stored date: {raw!r}")
    if isinstance(wanted, dt.date):
        return f"{wanted.year:04d}-{wanted.month:02d}-{wanted.day:02d}{match[4]}"
    return shift_date(raw, DateShift(wanted - int(match[1])))


def shift_number(rng: random.Random, raw: str, *, gentle: bool) -> str:
    """Move a stored number: same sign, same count of digits, decimals and closing zeros, another value.

    gentle: by 2 to 9 % (a person's height); else by 5 to 35 %. Small whole numbers move by 1 to 3 and stay at 2
    or more where they were.
    """
    match = _RAW_NUMBER.match(_write_out(raw))
    if match is None:
        raise ValueError(f"not a stored number: {raw!r}")
    sign, whole, fraction = match[1], match[2], match[3] or ""
    digits = (whole + fraction).lstrip("0") or "0"
    core = digits.rstrip("0") or "0"
    zeros = len(digits) - len(core)
    # At least two digits to move in, so that 300 can become 280 and not only 200 or 400.
    if len(core) == 1 and zeros:
        core, zeros = core + "0", zeros - 1
    value = int(core)
    moved = _move_whole(rng, value, gentle=gentle, small=not fraction and not zeros)
    text = str(moved) + "0" * zeros
    if not fraction:
        return f"{sign}{text}"
    text = text.rjust(len(whole) + len(fraction), "0")
    return f"{sign}{text[: -len(fraction)].lstrip('0') or '0'}.{text[-len(fraction) :]}"


def set_number(raw: str, scale: Decimal, wanted: int | Decimal) -> str:
    """The stored number whose normalised value (raw × scale) is the wanted one."""
    try:
        value = Decimal(wanted) / scale
    except (InvalidOperation, ZeroDivisionError):
        raise ValueError(f"{wanted} cannot be stored at scale {scale}") from None
    text = f"{value.normalize():f}"
    return f"+{text}" if raw.startswith("+") and not text.startswith("-") else text


def _write_out(raw: str) -> str:
    """`2.55303e+09` in full; everything else as it is."""
    if "e" not in raw.lower():
        return raw
    try:
        return f"{Decimal(raw):f}"
    except InvalidOperation:
        return raw


def _floor(year: int) -> int:
    if year >= _MODERN:
        return _MODERN
    return 1000 if year >= 1000 else 100 if year >= 100 else 1


def _move_whole(rng: random.Random, value: int, *, gentle: bool, small: bool) -> int:
    if value == 0:
        return 0
    if value <= 12 and small:
        choices = [value + step for step in (-3, -2, -1, 1, 2, 3) if value + step >= min(value, 2)]
        return rng.choice(choices)
    low, high = 10 ** (len(str(value)) - 1), 10 ** len(str(value)) - 1
    for _ in range(16):
        part = rng.uniform(0.02, 0.09) if gentle else rng.uniform(0.05, 0.35)
        moved = round(value * (1 + rng.choice((-1, 1)) * part))
        if low <= moved <= high and moved != value and (moved % 10 or value % 10 == 0):
            return moved
    return value - 1 if value > low else value + 1
