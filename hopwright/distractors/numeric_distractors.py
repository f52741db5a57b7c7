"""Wrong numbers, years and dates that a careful reader could still arrive at.

What is offered must not give the right one away by its form. So the rank of the right number among the four is drawn
uniformly, and so is how much it looks like the one that the others were made from; all share digits, separators and
precision; and dates come as a square (two days × two years), in which no corner is special.
"""

from __future__ import annotations

import ast
import datetime as dt
import random
from collections.abc import Container, Iterator, Mapping, Sequence
from decimal import Decimal

from hopwright.checks.guessing import kinship
from hopwright.distractors.ranking import OptionCandidate, choose_three
from hopwright.errors import ExpressionError
from hopwright.knowledge.facts import Facts
from hopwright.planning.expressions import evaluate
from hopwright.planning.operations.operation_inputs import tidy_number
from hopwright.records import Claim, Compute, Derivation, DistractorKind
from hopwright.records.values import Value, render
from hopwright.settings import LATEST_YEAR

Number = int | Decimal
NumericSlip = tuple[Number, DistractorKind]

_YEAR_STEPS = (1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 20, 25)
_SWAPPED: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add}
_NEIGHBOUR: DistractorKind = "neighbour"
_LIKELY, _TRIES = 6, 12
_WEIGHTS = (6.0, 1.5, 1.5, 1.5, 4.0)
"""Of the rank by size, length, roundness, form, and likeness to the others (see `choose_three`)."""


def choose_number_distractors(
    value: Number,
    slips: Sequence[NumericSlip],
    near: Sequence[Number],
    *,
    year: bool,
    lowest: int,
    rng: random.Random,
    highest: int | None = None,
    shown: Container[Number] = (),
) -> tuple[NumericSlip, NumericSlip, NumericSlip] | None:
    """Pick three wrong numbers: what slips and wrong steps lead to, real values of the property, then near numbers.

    `lowest`, `highest`: the least and the largest number that make sense. `shown`: numbers that the question states,
    which nobody takes for its answer. None when fewer than three fit.
    """
    form = _Form(value, year=year, lowest=lowest, highest=highest, shown=shown)
    found: dict[Number, OptionCandidate] = {}
    weighed = [(0.0, slip) for slip in slips] + [(1.0, (number, _NEIGHBOUR)) for number in near]
    # A slip comes before a neighbour as a rule, yet not always: a fixed recipe could be read backwards.
    weighed = sorted(((rank + 1.6 * rng.random(), slip) for rank, slip in weighed), key=lambda pair: pair[0])
    for weight, (number, kind) in weighed:
        if len(found) < _LIKELY and number not in found and form.fits(number):
            found[number] = form.describe(number, kind, 2 - weight)
    _add_steps(form, found, rng)
    if len(found) < 3:
        form.exact = False
        _add_steps(form, found, rng)
    own = form.describe(value, "operand", 0.0)
    # An inner number is nearer to the others than an outer one: its rank by size says what its likeness can be.
    rank = rng.randrange(4)
    hub = rng.choice((2, 3) if rank in (1, 2) else (0, 1))
    targets = (rank, rng.randrange(4), rng.randrange(4), rng.randrange(4), hub)
    chosen = choose_three(own, list(found.values()), [_kinship_of_texts], rng, targets=targets, weights=_WEIGHTS)
    if chosen is None:
        return None
    numbers = list(found)
    one, two, three = ((numbers[place], found[numbers[place]].kind) for place in chosen)
    return one, two, three


def list_slips(
    derivation: Derivation, answers: Mapping[int, Value], facts: Facts, claims: Sequence[Claim] = ()
) -> Iterator[NumericSlip]:
    """What a wrong operation, a wrong operand or a forgotten step gives."""
    numbers = {f"hop{index}": one for index, one in answers.items() if isinstance(one, int | Decimal)}
    if isinstance(derivation, Compute):
        tree = ast.parse(derivation.expression, mode="eval").body
        for mutant in _mutate(tree, list(numbers)):
            try:
                value = evaluate(ast.unparse(mutant), answers, facts, claims)
            except (ExpressionError, ArithmeticError):
                continue
            if isinstance(value, int | Decimal):
                yield tidy_number(abs(Decimal(value))), "slip"
    for one in (*numbers.values(), *(claim.number for claim in claims)):
        yield one, "operand"


def choose_date_distractors(value: dt.date, rng: random.Random) -> tuple[dt.date, dt.date, dt.date]:
    """The other three corners of a square of two days and two years around a date, none in the future."""
    leap_day = (value.month, value.day) == (2, 29)
    apart = 4 if leap_day else rng.choice((1, 2, 3, 4, 5, 7, 10))
    year = value.year + rng.choice((-apart, apart))
    if not 1 <= year <= LATEST_YEAR or (leap_day and not _is_leap(year)):
        year = value.year - apart if value.year > apart else value.year + apart
    if leap_day and not _is_leap(year):
        year = value.year - 8
    if rng.random() < 0.5:
        month, day = (value.month - 1 + rng.choice((1, 2, 10, 11))) % 12 + 1, min(value.day, 28)
    else:
        month, day = value.month, (value.day - 1 + rng.choice((1, 2, 3, 7, 10, 14))) % 28 + 1
    if (month, day) == (value.month, value.day):
        day = day % 28 + 1
    corners = [dt.date(year, value.month, value.day), dt.date(value.year, month, day), dt.date(year, month, day)]
    rng.shuffle(corners)
    return corners[0], corners[1], corners[2]


class _Form:
    """What a wrong number must look like to stand beside the right one."""

    def __init__(
        self, value: Number, *, year: bool, lowest: int, highest: int | None, shown: Container[Number]
    ) -> None:
        self.value = value
        self.year = year
        self.exact = True
        """Whether large numbers must be given to as many digits; given up where that leaves too few."""
        self._decimal = Decimal(value)
        self._lowest = lowest
        self._highest = highest
        self._shown = shown
        self._comma, self._digits, self._decimals = _read_notation(value)
        self._zeros = _count_zeros(value)

    def fits(self, number: Number) -> bool:
        """Whether a number can be offered: another one, not stated in the question, of like size and notation."""
        if number == self.value or number < self._lowest or number in self._shown:
            return False
        if self._highest is not None and number > self._highest:
            return False
        if self.year:
            near = abs(Decimal(number) - self._decimal) <= 60 and number == int(number)
            # A year after 2000 beside older ones is seldom the right one, and readers know.
            alike = near and (len(str(int(number))), str(number)[0]) == (len(str(int(self.value))), str(self.value)[0])
            return alike and number <= LATEST_YEAR
        if self._decimal >= 10 and not self._decimal / 2 <= number <= 2 * self._decimal:
            return False
        comma, digits, decimals = _read_notation(number)
        if comma != self._comma or decimals != self._decimals:
            return False
        # Of large numbers, all are given to as many digits: one rounded to thousands among exact ones would stand out.
        if self._decimal >= 1000 and self.exact:
            return digits == self._digits and _count_zeros(number) == self._zeros
        return abs(digits - self._digits) <= 1

    def describe(self, number: Number, kind: DistractorKind, closeness: float) -> OptionCandidate:
        """A number as an option: its size first, then its length and its roundness."""
        text = render(number, year=self.year)
        return OptionCandidate(text, str(number), kind, closeness, (float(number), len(text), _count_zeros(number)))


def _add_steps(form: _Form, found: dict[Number, OptionCandidate], rng: random.Random) -> None:
    """Fill up with numbers a step away, at least three on each side where that can be.

    The steps start from any of the numbers so far: taken from the right one alone, they would point to it.
    """
    for side in (-1, 1):
        for tries in range(_TRIES):
            held = sum((number > form.value) == (side > 0) for number in found)
            if held >= 3 and (held >= 4 or tries >= 4):
                break
            number, kind = _step(rng.choice([form.value, *found]), form, rng)
            if (number > form.value) == (side > 0) and number not in found and form.fits(number):
                found[number] = form.describe(number, kind, 0.6 * rng.random())
        for number, kind in _list_steps(form.value, year=form.year):  # chance may fail near an end of what makes sense
            if sum((other > form.value) == (side > 0) for other in found) >= 3:
                break
            if (number > form.value) == (side > 0) and number not in found and form.fits(number):
                found[number] = form.describe(number, kind, 0.0)


def _step(base: Number, form: _Form, rng: random.Random) -> NumericSlip:
    """A number a natural step away from another: off by one, by ten, in one digit; years by natural distances."""
    steps, unit = _find_steps(base, year=form.year)
    step = steps[int(len(steps) * rng.random() ** 1.5)]
    kind: DistractorKind = "slip" if base == form.value and step in (1, 10, 100) else "neighbour"  # one digit wrong
    moved = base + rng.choice((-1, 1)) * step * unit
    return tidy_number(Decimal(moved)), kind


def _list_steps(value: Number, *, year: bool) -> Iterator[NumericSlip]:
    steps, unit = _find_steps(value, year=year)
    for step in steps:
        for moved in (value + step * unit, value - step * unit):
            yield tidy_number(Decimal(moved)), "slip" if step in (1, 10, 100) else "neighbour"


def _find_steps(value: Number, *, year: bool) -> tuple[tuple[int, ...], Number]:
    """Steps, the likeliest first, and the unit that they are counted in."""
    if year:
        return _YEAR_STEPS, 1
    number = Decimal(value)
    exponent = number.as_tuple().exponent
    unit = Decimal(1).scaleb(exponent) if isinstance(exponent, int) and exponent < 0 else Decimal(1)
    while number >= 100 * unit and number % (10 * unit) == 0:
        unit *= 10  # a round number among crooked ones would stand out
    while number >= 10_000 * unit:
        unit *= 10  # nobody is off by one in a million: a slip there is in one of the first four digits
    if number < 20 * unit:
        return (1, 2, 3, 4), unit
    if number < 200 * unit:
        return (1, 2, 9, 10, 11, 20), unit
    return (1, 10, 11, 20, 90, 100, 110), unit


def _kinship_of_texts(one: str, other: str) -> float:
    return kinship(float(one), float(other))


def _mutate(tree: ast.expr, references: Sequence[str]) -> Iterator[ast.expr]:
    """Expressions that differ from `tree` in one operation, one operand or one count."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and type(node.op) in _SWAPPED:
            held, node.op = node.op, _SWAPPED[type(node.op)]()
            yield tree
            node.op = held
        elif isinstance(node, ast.Name) and node.id in references:
            name = node.id
            for other in references:
                if other != name:
                    node.id = other
                    yield tree
            node.id = name
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("comb", "perm"):
            name, size = node.func.id, node.args[1]
            node.func.id = "perm" if name == "comb" else "comb"
            yield tree
            node.func.id = name
            for step in (ast.Add(), ast.Sub()):
                for place in (0, 1):
                    held_arg = node.args[place]
                    node.args[place] = ast.BinOp(held_arg, step, ast.Constant(1))
                    yield tree
                    node.args[place] = held_arg
            yield ast.BinOp(node.args[0], ast.Mult(), size)


def _read_notation(number: Number) -> tuple[bool, int, int]:
    """Whether a number is written with separators, its digits before the point, and after it."""
    whole, _, decimals = render(number).partition(".")
    return "," in whole, len(whole), len(decimals)


def _count_zeros(number: Number) -> int:
    """Zeros at the end of a whole number, two at the most."""
    text = str(number)
    return 0 if "." in text else min(2, len(text) - len(text.rstrip("0")))


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
