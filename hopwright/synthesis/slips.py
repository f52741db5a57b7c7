"""Wrong numbers, years and dates that a careful reader could still arrive at.

What is offered must not give the right one away by its form. So the rank of the right number among the four is drawn
uniformly, all share digits, separators and precision, and dates come as a square (two days × two years), in which no
corner is special.
"""

from __future__ import annotations

import ast
import datetime as dt
import random
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Literal

from hopwright.errors import ExpressionError
from hopwright.records import Compute, Derivation
from hopwright.records.values import Value, render
from hopwright.synthesis.expressions import evaluate
from hopwright.synthesis.facts import Facts

Number = int | Decimal
Slip = tuple[Number, Literal["operand", "slip", "neighbour"]]

LATEST_YEAR = 2026
_YEAR_STEPS = (1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 20, 25)
_SWAPPED: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add}


def choose_numbers(
    value: Number,
    slips: Sequence[Slip],
    near: Sequence[Number],
    *,
    year: bool,
    lowest: int,
    rng: random.Random,
    highest: int | None = None,
) -> tuple[Slip, Slip, Slip] | None:
    """Pick three wrong numbers: slips first, then real values of the same property, then near numbers.

    `lowest`, `highest`: the least and the largest number that make sense. None when fewer than three fit.
    """
    ranked: list[tuple[Slip, float]] = [(slip, 0) for slip in slips]
    ranked += [((number, "neighbour"), 1) for number in near]
    ranked += [(slip, 1.6 + place / 10) for place, slip in enumerate(_list_steps(value, year=year))]
    fitting: dict[Decimal, tuple[float, Slip]] = {}
    for slip, rank in ranked:
        if not _fits(slip[0], value, year=year, lowest=lowest) or (highest is not None and slip[0] > highest):
            continue
        # A slip comes before a neighbour as a rule, yet not always: a fixed recipe could be read backwards.
        weight = rank + 1.6 * rng.random()
        fitting.setdefault(Decimal(slip[0]), (weight, slip))
    below = [slip for _, slip in sorted(v for n, v in fitting.items() if n < value)]
    above = [slip for _, slip in sorted(v for n, v in fitting.items() if n > value)]
    if len(below) + len(above) < 3:
        return None
    lower = min(max(rng.randrange(4), 3 - len(above)), len(below))
    chosen = below[:lower] + above[: 3 - lower]
    rng.shuffle(chosen)
    return chosen[0], chosen[1], chosen[2]


def list_slips(derivation: Derivation, answers: Mapping[int, Value], facts: Facts) -> Iterator[Slip]:
    """What a wrong operation, a wrong operand or a forgotten step gives."""
    numbers = {f"hop{index}": one for index, one in answers.items() if isinstance(one, int | Decimal)}
    if isinstance(derivation, Compute):
        tree = ast.parse(derivation.expression, mode="eval").body
        for mutant in _mutate(tree, list(numbers)):
            try:
                value = evaluate(ast.unparse(mutant), answers, facts)
            except (ExpressionError, ArithmeticError):
                continue
            if isinstance(value, int | Decimal):
                yield _tidy(abs(Decimal(value))), "slip"
    for one in numbers.values():
        yield one, "operand"


def choose_dates(value: dt.date, rng: random.Random) -> tuple[dt.date, dt.date, dt.date]:
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


def _list_steps(value: Number, *, year: bool) -> Iterator[Slip]:
    """Numbers near the right one: off by one, by ten, in one digit; for years, natural distances."""
    if year:
        for step in _YEAR_STEPS:
            yield value + step, "neighbour"
            yield value - step, "neighbour"
        return
    number = Decimal(value)
    exponent = number.as_tuple().exponent
    unit = Decimal(1).scaleb(exponent) if isinstance(exponent, int) and exponent < 0 else Decimal(1)
    while number >= 100 * unit and number % (10 * unit) == 0:
        unit *= 10  # a round number among crooked ones would stand out
    while number >= 10_000 * unit:
        unit *= 10  # nobody is off by one in a million: a slip there is in one of the first four digits
    steps = (1, 2, 3, 4) if number < 20 * unit else (1, 2, 9, 10, 11, 20) if number < 200 * unit else (
        1, 10, 11, 20, 90, 100, 110,
    )  # fmt: skip
    for step in steps:
        for moved in (number + step * unit, number - step * unit):
            yield _tidy(moved), "slip" if step in (1, 10, 100) else "neighbour"


def _fits(number: Number, value: Number, *, year: bool, lowest: int) -> bool:
    if number == value or number < lowest:
        return False
    if year:
        near = abs(Decimal(number) - Decimal(value)) <= 60
        return near and number <= LATEST_YEAR and len(str(number)) == len(str(value)) and number == int(number)
    written, right = render(number), render(value)
    if ("," in written) != ("," in right) or len(written.partition(".")[2]) != len(right.partition(".")[2]):
        return False
    right_value = Decimal(value)
    digits = len(written.partition(".")[0]) - len(right.partition(".")[0])
    return abs(digits) <= 1 and (right_value < 10 or right_value / 4 <= Decimal(number) <= 4 * right_value)


def _tidy(number: Decimal) -> Number:
    return int(number) if number == number.to_integral_value() else number.normalize()


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
