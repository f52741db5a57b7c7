"""What an expression is measured in, as far as its parts tell."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from hopwright.knowledge.properties import PropertyTable
from hopwright.records import Hop


def unit_of(hop: Hop) -> str:
    """What a hop's answer is measured in; a date is a year's day, a bare count fits any unit."""
    if hop.answer_type == "date":
        return "year"
    return hop.unit if hop.answer_type == "number" else ""


def measure(node: ast.expr, units: Mapping[int, str], table: PropertyTable) -> str:
    """The unit of an expression; empty for a bare number or a quotient, or where it cannot be told.

    `units`: of the hops that it refers to.
    """
    match node:
        case ast.Name(id=name) if name.startswith("hop") and name[3:].isdigit():
            return units.get(int(name[3:]), "")
        case ast.Call(func=ast.Name(id="year")):
            return "year"
        case ast.Call(func=ast.Name(id="value"), args=[ast.Name(id=property), _]):
            entry = table.literal.get(property)
            return "" if entry is None else entry.unit if entry.value == "number" else "year"
        case ast.Call(func=ast.Name(id="abs" | "min" | "max" | "mean" | "round"), args=[first, *_]):
            return measure(first, units, table)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            pair = measure(left, units, table), measure(right, units, table)
            if pair == ("year", "year") and isinstance(op, ast.Sub):
                return "years"
            return "year" if "year" in pair else pair[0] or pair[1]
    return ""
