"""Checks against answers that change: words such as `today`, and values that only hold at a date."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from decimal import Decimal

from hopwright.checks.case import Check, CheckContext, CheckedItem, Finding
from hopwright.knowledge.facts import Facts
from hopwright.planning.computation_forms import Extreme, read_form
from hopwright.records import Compute, Hop, Lookup
from hopwright.text.matching import find_time

_DATED = re.compile(r"(?<!\d)(?:1\d{3}|20\d{2})(?!\d)")
_COMPARED = re.compile(r"value\((P\d+), (\w+)\) ?[<>]=? ?value\(\1, (\w+)\)")
_VALUE = re.compile(r"\b(?:value|argmax|argmin)\((P\d+)\b")


def check_time(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """Nothing is asked as of today: the answer would change."""
    asked: list[tuple[int | None, str]] = [(None, case.item.question)]
    asked += [(hop.index, hop.question) for hop in case.item.hops]
    for index, text in asked:
        if found := find_time(case.mask(text)):
            yield index, f"depends on the time of asking: {found!r}"


def check_undated(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """No value that changes (a population, a holder of an office) is asked for without a date.

    Two such values may be compared where they lie further apart than the years move them (the property's margin).
    """
    facts: Facts = case.evidence(context.table)
    for hop in case.item.hops:
        if _DATED.search(hop.question):
            continue
        if isinstance(hop.derivation, Lookup):
            property = hop.derivation.property
            literal = context.table.literal.get(property)
            if literal is not None and not literal.stable:
                yield hop.index, f"asks for a value that changes ({literal.label}) without a date"
            elif property in context.table.roles.holders:
                yield hop.index, f"asks who holds an office ({_name(property, context)}) without a date"
        elif isinstance(hop.derivation, Compute):
            yield from _check_computation(hop, hop.derivation.expression, facts, case, context)


DATES = (
    Check("time-dependence", "nothing depends on the time of asking", check_time, needs=()),
    Check("undated", "no value that changes is asked for without a date", check_undated, needs=("plan", "factual")),
)


def _check_computation(
    hop: Hop, expression: str, facts: Facts, case: CheckedItem, context: CheckContext
) -> Iterator[Finding]:
    """Values that change may only be compared, and only where they lie apart by the property's margin."""
    for property in dict.fromkeys(_VALUE.findall(expression)):
        literal = context.table.literal.get(property)
        if literal is None or literal.stable:
            continue
        form = read_form(expression)
        if isinstance(form, Extreme):
            pairs = list(itertools.combinations([case.resolve(one) for one in form.entities], 2))
        else:
            pairs = [(case.resolve(one), case.resolve(other)) for _, one, other in _COMPARED.findall(expression)]
            if len(_VALUE.findall(expression)) != 2 * len(pairs):
                yield hop.index, f"computes with a value that changes ({literal.label}) without a date"
        for one, other in pairs:
            values = [*facts.scalars(one, property)[:1], *facts.scalars(other, property)[:1]]
            numbers = [Decimal(value) for value in values if isinstance(value, int | Decimal)]
            if len(numbers) == 2 and not context.table.differ(property, *numbers):
                yield hop.index, f"compares values of {literal.label} that the years may turn round"


def _name(property: str, context: CheckContext) -> str:
    entry = context.table.entity.get(property)
    return entry.label if entry is not None else property
