"""The numbers that a plan brings with it ("15 candidates", "60 years later"), and how they move."""

from __future__ import annotations

import ast
import functools
import random
import re

from hopwright.errors import ExpressionError
from hopwright.records import Compute, Derivation, ReverseLookup

_SMALL = 2
_FIRST_YEAR, _LAST_YEAR = 1000, 2100
_REFERENCE = re.compile(r"^(?:hop\d|[PQ][0-9A-Za-z_]+)$")


def list_constants(derivation: Derivation) -> list[int]:
    """The constants of a derivation that may move, in order: whole numbers past 2 that set no precision and no form."""
    return [number for expression in _list_expressions(derivation) for _, _, number in _find_constants(expression)]


def is_year(number: int) -> bool:
    """Whether a constant reads as a year."""
    return _FIRST_YEAR <= number <= _LAST_YEAR


def move_constants(derivation: Derivation, rng: random.Random, years: int) -> Derivation:
    """The derivation with every such constant moved: years by `years`, others by up to a sixth, and at least by 1."""
    if isinstance(derivation, Compute):
        return derivation.model_copy(update={"expression": _move(derivation.expression, rng, years)})
    if not isinstance(derivation, ReverseLookup):
        return derivation
    constraints = tuple(
        one.model_copy(update={"value": _move(one.value, rng, years)}) for one in derivation.constraints
    )
    return derivation.model_copy(update={"value": _move(derivation.value, rng, years), "constraints": constraints})


def _list_expressions(derivation: Derivation) -> list[str]:
    if isinstance(derivation, Compute):
        return [derivation.expression]
    if isinstance(derivation, ReverseLookup):
        return [derivation.value, *(one.value for one in derivation.constraints)]
    return []


def _move(expression: str, rng: random.Random, years: int) -> str:
    for start, end, number in reversed(_find_constants(expression)):
        if is_year(number):
            moved = number + years
        else:
            most = max(1, min(2 if number < 12 else number // 6, 40))
            # None becomes a group of three, which would be worded otherwise.
            steps = [step for step in range(-most, most + 1) if step and number + step > _SMALL + 1]
            moved = number + rng.choice(steps)
        expression = f"{expression[:start]}{moved}{expression[end:]}"
    return expression


@functools.lru_cache(maxsize=4_096)
def _find_constants(expression: str) -> tuple[tuple[int, int, int], ...]:
    """Where the constants that may move stand in an expression: (start, end, number), in order."""
    if _REFERENCE.match(expression):
        return ()
    try:
        tree = ast.parse(expression, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"not an expression: {expression!r}") from None
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    # A precision, and groups of three, which have words of their own as pairs have.
    fixed = {id(call.args[1]) for call in calls if call.args[1:] and _sets_form(call)}
    found = [
        (node.col_offset, node.end_col_offset or node.col_offset, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value > _SMALL and id(node) not in fixed
    ]
    return tuple(sorted(found))


def _sets_form(call: ast.Call) -> bool:
    match call:
        case ast.Call(func=ast.Name(id="round")):
            return True
        case ast.Call(func=ast.Name(id="comb" | "perm"), args=[_, ast.Constant(value=3)]):
            return True
    return False
