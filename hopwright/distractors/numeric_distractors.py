"""Wrong numbers, years and dates that a reader could arrive at, and that do not give the right one away.

All share notation and magnitude; of numbers from a thousand on none is another with one digit changed; and the rank of
the right one by size is drawn uniformly. Counts stand in a window of adjacent numbers, wherever that lies.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Collection, Container, Iterable
from decimal import Decimal

from hopwright.checks.guessing import differs_in_one_digit, kinship
from hopwright.distractors.ranking import MOST_CANDIDATES, OptionCandidate, choose_three
from hopwright.records import DistractorKind
from hopwright.records.values import render
from hopwright.settings import LATEST_YEAR

Number = int | Decimal
NumericSlip = tuple[Number, DistractorKind]

_MOST_APART = 40
"""Years that an option may lie from the right year."""
_NEAR = 10
"""Years that a date lies from the right one and is taken for it without a second thought."""
_STEPPED = 200
"""Below it a whole number may be missed by any few; above, by slips and as other things' numbers only."""
_LOOSE = 25
_AT_AN_END = 2.5
_ALIEN = 24.0
"""What a year costs that belongs to nothing in the chain, in points of closeness."""
_WEIGHTS = (12.0, 1.0, 2.0, 1.0, 4.0)
"""Of the rank by size, length, roundness, form, and likeness to the others (see `choose_three`)."""


def choose_number_distractors(
    value: Number,
    slips: Iterable[NumericSlip],
    *,
    year: bool,
    lowest: int,
    rng: random.Random,
    stepped: bool = False,
    loose: bool = False,
    strict: bool = False,
    apart: int | None = None,
    highest: Number | None = None,
    shown: Container[Number] = (),
    required: Iterable[Number] = (),
    carried: Collection[Number] = (),
    allowed: Callable[[Number], bool] = lambda number: True,
) -> tuple[NumericSlip, NumericSlip, NumericSlip] | None:
    """Pick three of the wrong numbers that slips and other things' values give, the likeliest first.

    `lowest`: the least number that makes sense; `highest`: the most. `stepped`: whether numbers a few away from the
    right one may fill up. `loose`: whether they may be of other lengths, as ways to choose are. `shown`: numbers that
    the question states, which nobody takes for its answer. `apart`: how far they may lie from the right one, for an age
    that is far off falls on sight. `strict`: whether to give up where the drawn rank cannot be had, for else the right
    number would stand at an end less often than in the middle. `required`: what has to be among the three, at most
    three of it. `carried`: what wrong answers on the way lead to; as many of these are taken as the rank leaves room
    for. `allowed`: whether a number may be offered at all.
    None when fewer than three fit, or one that is required does not.
    """
    form = _Form(value, year=year, lowest=lowest, loose=loose, apart=apart, highest=highest, shown=shown)
    found: dict[Number, OptionCandidate] = {}
    for number in dict.fromkeys(required):
        if not form.fits(number, required=True):
            return None
        found[number] = form.describe(number, "near_miss", 2.0)
    fixed = len(found)
    for number, kind in slips:
        if number not in found and form.fits(number) and allowed(number):
            alien = _ALIEN * (year and _rate_belonging(kind) > 1)
            found[number] = form.describe(number, kind, 2.0 - 0.12 * len(found) + 0.5 * rng.random() - alien)
    if stepped and (len(found) < 3 if year else value < _STEPPED) and value == int(value):
        _add_steps(form, found, rng, allowed, nearest=2 if fixed and not year else 1)
    if len(found) < 3:
        return None
    own = form.describe(value, "operand", 0.0)
    # An inner number is nearer to the others than an outer one: its rank by size says what its likeness can be.
    rank = rng.randrange(4)
    # What has to be there shuts out an end. Taken by the next rank, its turn would put the right one in the middle.
    lowest_rank = sum(number < value for number in [*found][:fixed])
    highest_rank = 3 - fixed + lowest_rank
    rank = lowest_rank if rank > highest_rank else highest_rank if rank < lowest_rank else rank
    below = sum(number < value for number in found)
    if strict and (below < rank or len(found) - below < 3 - rank):
        return None
    hub = rng.choice((2, 3) if rank in (1, 2) else (0, 1))
    targets = (rank, rng.randrange(4), rng.randrange(4), rng.randrange(4), hub)
    first = list(found)[:fixed]
    for room, side in (
        (rank - sum(one < value for one in first), [one for one in carried if one < value]),
        (3 - rank - sum(one > value for one in first), [one for one in carried if one > value]),
    ):
        able = [one for one in dict.fromkeys(side) if one in found and one not in first]
        first += rng.sample(able, max(0, min(room, len(able), 3 - len(first))))
    fixed = len(first)
    pool = list(dict.fromkeys([*first, *_keep_both_sides(found, value, rank)]))[:MOST_CANDIDATES]
    chosen = choose_three(
        own, [found[one] for one in pool], [_kinship_of_texts], rng, fixed=fixed, targets=targets, weights=_WEIGHTS
    )
    if chosen is None:
        return None
    one, two, three = ((pool[place], found[pool[place]].kind) for place in chosen)
    return one, two, three


def choose_count_distractors(
    value: int, *, lowest: int, highest: int | None, rng: random.Random
) -> tuple[NumericSlip, NumericSlip, NumericSlip] | None:
    """Pick a window of four adjacent counts around the right one; None where the limits leave none."""
    last = value if highest is None else min(value, highest - 3)
    windows = range(max(lowest, value - 3), last + 1)
    if not windows:
        return None
    # Counts are mostly in the middle of what they could be: the windows that put them at an end make up for that.
    first = rng.choices(windows, [_AT_AN_END if value - first in (0, 3) else 1.0 for first in windows])[0]
    others = [one for one in range(first, first + 4) if one != value]
    one, two, three = ((count, _name_miscount(count - value)) for count in others[:3])
    return one, two, three


def choose_date_distractors(
    value: dt.date,
    dates: Iterable[tuple[dt.date, DistractorKind]],
    rng: random.Random,
    required: Collection[dt.date] = (),
) -> tuple[tuple[dt.date, DistractorKind], ...] | None:
    """Pick three other dates, none in the future: what wrong options lead to first, then what else is in the chain.

    The right one's rank in time is uniform, as far as these leave it open. `required`: what has to be among them, at
    most three. None when there are fewer than three.
    """
    found = {date: kind for date, kind in reversed(list(dates)) if date != value and date.year <= LATEST_YEAR}
    found |= dict.fromkeys(required, "near_miss")
    near = sorted(
        found,
        key=lambda date: (
            date not in required,
            abs(date.year - value.year) > _NEAR,  # far off, it speaks against the rest of the chain
            _rate_belonging(found[date]),
            abs((date - value).days),
        ),
    )
    earlier, later = [one for one in near if one < value], [one for one in near if one > value]
    if len(near) < 3:
        return None
    before, after = (sum(one in required for one in side) for side in (earlier, later))
    ranks = range(max(before, 3 - len(later)), min(len(earlier), 3 - after) + 1)
    drawn = rng.randrange(4)
    rank = min(max(drawn, ranks.start), ranks.stop - 1)
    return tuple((one, found[one]) for one in (*earlier[:rank], *later[: 3 - rank]))


def _rate_belonging(kind: DistractorKind) -> int:
    """How loosely a date belongs to the chain: led to by a wrong option, of another there, of nobody in it."""
    return 0 if kind == "near_miss" else 2 if kind in ("neighbour", "sibling") else 1


class _Form:
    """What a wrong number must look like to stand beside the right one."""

    def __init__(
        self,
        value: Number,
        *,
        year: bool,
        lowest: int,
        loose: bool,
        apart: int | None,
        highest: Number | None,
        shown: Container[Number],
    ) -> None:
        self.value = value
        self._apart = apart
        self._highest = highest
        self._loose = loose
        self.year = year
        self._decimal = Decimal(value)
        self._lowest = lowest
        self._shown = shown
        self._comma, self._digits, self._decimals = _read_notation(value)
        self._zeros = _count_zeros(value)

    def fits(self, number: Number, *, required: bool = False) -> bool:
        """Whether a number can be offered: another one, not stated in the question, of like size and notation.

        One that is required may lie far off.
        """
        if number == self.value or number < self._lowest or number in self._shown:
            return False
        if self._highest is not None and number > self._highest:
            return False
        if not required and self._apart is not None and abs(Decimal(number) - self._decimal) > self._apart:
            return False
        if self.year:
            near = abs(Decimal(number) - self._decimal) <= _MOST_APART and number == int(number)
            # A year after 2000 beside older ones is seldom the right one, and readers know.
            alike = near and (len(str(int(number))), str(number)[0]) == (len(str(int(self.value))), str(self.value)[0])
            return alike and number <= LATEST_YEAR
        if self._loose:
            return self._decimal / _LOOSE <= number <= _LOOSE * self._decimal
        spread = 3 if self._decimal >= 50 else 5
        if self._decimal >= 5 and not self._decimal / spread <= number <= spread * self._decimal:
            return False
        comma, digits, decimals = _read_notation(number)
        if comma != self._comma or decimals != self._decimals or abs(digits - self._digits) > 1:
            return False
        # Of large numbers, one rounded to thousands among exact ones would stand out.
        if self._decimal >= 1000 and (_count_zeros(number) > 1) != (self._zeros > 1):
            return False
        return not differs_in_one_digit(render(number), render(self.value))

    def describe(self, number: Number, kind: DistractorKind, closeness: float) -> OptionCandidate:
        """A number as an option: its size first, then its length and its roundness."""
        text = render(number, year=self.year)
        return OptionCandidate(text, str(number), kind, closeness, (float(number), len(text), _count_zeros(number)))


def _add_steps(
    form: _Form,
    found: dict[Number, OptionCandidate],
    rng: random.Random,
    allowed: Callable[[Number], bool],
    *,
    nearest: int,
) -> None:
    """Fill up with numbers a few away, so that there are three on each side where that can be.

    `nearest`: the least distance; beside the slip of a year the next ones would make a mere row of numbers.
    """
    reach = 15 if form.year else max(6, int(form.value) // 6)
    for side in (-1, 1):
        steps = rng.sample(range(nearest, reach + 1), reach + 1 - nearest)
        for step in steps:
            if sum((number > form.value) == (side > 0) for number in found) >= 3:
                break
            number = int(form.value) + side * step
            if number not in found and form.fits(number) and allowed(number):
                found[number] = form.describe(number, _name_miscount(step), 0.6 * rng.random())


def _keep_both_sides(found: dict[Number, OptionCandidate], value: Number, rank: int) -> list[Number]:
    """The likeliest five below and above the right number, so that its rank can be what was drawn."""
    below = [one for one in found if one < value]
    above = [one for one in found if one > value]
    most_below = max(5, 10 - len(above))
    kept = {*below[:most_below], *above[: 10 - min(len(below), most_below)]}
    return [one for one in found if one in kept]


def _name_miscount(step: int) -> DistractorKind:
    return "slip" if abs(step) == 1 else "neighbour"


def _kinship_of_texts(one: str, other: str) -> float:
    return kinship(float(one), float(other))


def _read_notation(number: Number) -> tuple[bool, int, int]:
    """Whether a number is written with separators, its digits before the point, and after it."""
    whole, _, decimals = render(number).partition(".")
    return "," in whole, len(whole), len(decimals)


def _count_zeros(number: Number) -> int:
    """Zeros at the end of a whole number, two at the most."""
    text = str(number)
    return 0 if "." in text else min(2, len(text) - len(text.rstrip("0")))
