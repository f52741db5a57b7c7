"""Units made comparable: every known unit has a base unit, and values are kept in base units only."""

from __future__ import annotations

import functools
import tomllib
from decimal import Context, Decimal, InvalidOperation
from fractions import Fraction
from importlib import resources
from typing import NamedTuple

from hopwright.errors import InputError

_CONTEXT = Context(prec=18)


class Unit(NamedTuple):
    """`value × factor + offset` is the value in `base`."""

    label: str
    base: str
    factor: Fraction
    offset: Fraction


class Quantity(NamedTuple):
    """A number in a base unit; `unit` is its Q-id."""

    value: Decimal
    unit: str


@functools.cache
def known_units() -> dict[str, Unit]:
    """The shipped table, by Q-id. Raises InputError naming the unit whose line is wrong."""
    raw = tomllib.loads(resources.files(__package__).joinpath("units.toml").read_text("utf-8"))
    units = {}
    for id, fields in raw.items():
        try:
            label, base, factor, *offset = fields
            units[id] = Unit(label, base, Fraction(factor), Fraction(offset[0] if offset else 0))
        except (ValueError, ZeroDivisionError):
            raise InputError(f"units.toml, {id}: not [label, base, factor, offset]") from None
        if units[id].factor <= 0:
            raise InputError(f"units.toml, {id}: the factor must be positive")
    for id, unit in units.items():
        base = units.get(unit.base)
        if base is None or base.base != unit.base or base.factor != 1 or base.offset != 0:
            raise InputError(f"units.toml, {id}: {unit.base} is no base unit")
    return units


def normalise(amount: str, unit: str) -> Quantity | None:
    """The amount in the base unit of its unit; None for a unit that is not known, or text that is no number.

    Exact up to 18 digits.
    """
    known = known_units().get(unit)
    if known is None:
        return None
    try:
        number = Decimal(amount.strip())
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > 100:
        return None
    exact = Fraction(number) * known.factor + known.offset
    return Quantity(_CONTEXT.divide(Decimal(exact.numerator), Decimal(exact.denominator)), known.base)


def write_number(value: Decimal) -> str:
    """The number in plain digits, without an exponent and without zeros that say nothing."""
    plain = f"{value:f}"
    return (plain.rstrip("0").rstrip(".") if "." in plain else plain) or "0"


def name_unit(unit: str) -> str:
    """The unit's name, or its id where it is not known."""
    known = known_units().get(unit)
    return known.label if known is not None else unit or "no unit"
