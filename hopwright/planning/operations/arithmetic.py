"""Computations over numbers: sums, differences, means, ratios, products, and ways to choose."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from decimal import Decimal

from hopwright.errors import ExpressionError
from hopwright.planning.expressions import evaluate
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.operation_inputs import (
    draw_others,
    list_comparable,
    list_shared,
    list_ways,
    read_value,
    tidy_number,
)
from hopwright.planning.plan_builder import PlanBuilder, PlanningDeadEnd, StepOutput

# Roots that count committees: (n, k) with results between 6 and 126, small enough to serve as a number of years.
_COMMITTEES = [
    (n, k) for n in range(4, 12) for k in range(2, 5) if k < n - 1 and 6 <= math.comb(n, k) <= 126
]  # fmt: skip


def total(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Sum, difference or mean of the same number of several entities; with one input, also of named ones."""
    entities, refs = [state.entity for state in inputs], [state.ref for state in inputs]
    wanted = builder.rng.choice((2, 3, 3)) if len(inputs) == 1 else len(inputs)
    shared = [p for p in list_shared(builder, entities, comparing=False) if list_ways(builder, p, wanted)]
    if not shared:
        raise PlanningDeadEnd("the entities have no number in common")
    property = builder.prefer_name(shared)
    if len(inputs) == 1:
        others = draw_others(builder, list_comparable(builder, entities[0], property), wanted - 1)
        if len(others) < wanted - 1:
            raise PlanningDeadEnd("too few to name beside it")
        builder.take(*others)
        entities += others
        refs += others
        order = list(range(len(refs)))
        builder.rng.shuffle(order)
        refs, entities = [refs[i] for i in order], [entities[i] for i in order]
    how = builder.rng.choice(list_ways(builder, property, wanted))
    values = [f"value({property}, {ref})" for ref in refs]
    entry = builder.traversals.table.literal[property]
    digits = entry.decimals
    if how == "sum":
        expression = " + ".join(values)
    elif how == "difference":
        expression = f"abs({values[0]} - {values[1]})"
    elif how == "mean":
        digits = min(entry.decimals + 1, 2)
        expression = f"round(mean({', '.join(values)}), {digits})"
    else:
        ranked = sorted(range(2), key=lambda i: -Decimal(read_value(builder, entities[i], property)))  # type: ignore[arg-type]
        digits = 1
        expression = f"round({values[ranked[0]]} / {values[ranked[1]]}, 1)"
    result = _evaluate(builder, expression)
    if how in ("mean", "ratio") and _places(result) != digits:
        raise PlanningDeadEnd("the quotient is too round")
    if result == 0 or (how == "ratio" and not Decimal("1.2") <= result <= 300):
        raise PlanningDeadEnd("the result says nothing")
    unit = "" if how == "ratio" else entry.unit
    ref = builder.compute(expression, "arithmetic", result, unit)
    return StepOutput("number", ref, number=result, unit=unit)


def rate(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """One number of an entity divided by another: goals a match."""
    found = [
        m for m in builder.traversals.measures(inputs[0].entity) if m.entry.per and not isinstance(m.value, dt.date)
    ]
    for measure in found:
        per = next((m for m in builder.traversals.measures(inputs[0].entity) if m.property == measure.entry.per), None)
        if per is None or isinstance(per.value, dt.date) or not per.value:
            continue
        expression = f"round(value({measure.property}, {inputs[0].ref}) / value({per.property}, {inputs[0].ref}), 2)"
        result = _evaluate(builder, expression)
        if _places(result) == 2:
            return StepOutput("number", builder.compute(expression, "arithmetic", result), number=result)
    raise PlanningDeadEnd("the entity has no rate")


def add(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The sum or the difference of two looked-up numbers of the same property."""
    one, other = inputs
    if one.of != other.of or one.entity == other.entity:
        raise PlanningDeadEnd("the numbers are of different things")
    hows = [how for how in list_ways(builder, one.of, 2) if how in ("sum", "difference")]
    if not hows:
        raise PlanningDeadEnd("the numbers are not added")
    how = builder.rng.choice(hows)
    expression = f"{one.ref} + {other.ref}" if how == "sum" else f"abs({one.ref} - {other.ref})"
    a, b = Decimal(one.number), Decimal(other.number)
    result = tidy_number(a + b if how == "sum" else abs(a - b))
    if result == 0:
        raise PlanningDeadEnd("the result says nothing")
    return StepOutput(
        "number", builder.compute(expression, "arithmetic", result, one.unit), number=result, unit=one.unit
    )


def product(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Two counts multiplied."""
    one, other = inputs
    if one.unit == "years" or other.unit == "years" or not 2 <= one.whole * other.whole <= 5000:
        raise PlanningDeadEnd("the product says nothing")
    result = one.whole * other.whole
    return StepOutput("amount", builder.compute(f"{one.ref} * {other.ref}", "arithmetic", result), number=result)


def committees(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """A root that counts committees."""
    n, k = builder.rng.choice(_COMMITTEES)
    count = math.comb(n, k)
    return StepOutput("amount", builder.compute(f"comb({n}, {k})", "combinatorics", count), number=count)


def choose_of(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Pairs (or threes) out of as many as a hop says, or that many out of a stated number."""
    (state,) = inputs
    count = int(state.number)
    if state.number != count:
        raise PlanningDeadEnd("the number does not suit a choice")
    if 1 <= count <= 5 and state.unit != "years":
        n = builder.rng.choice([n for n in range(7, 16) if n > count + 2])
        expression, value = f"comb({n}, {state.ref})", math.comb(n, count)
    elif 6 <= count <= 400:
        size = builder.rng.choice((2, 2, 3)) if count <= 60 else 2
        expression, value = f"comb({state.ref}, {size})", math.comb(count, size)
    else:
        raise PlanningDeadEnd("the number does not suit a choice")
    return StepOutput("ways", builder.compute(expression, "combinatorics", value), number=value)


def _evaluate(builder: PlanBuilder, expression: str) -> int | Decimal:
    answers = {index: step.value for index, step in enumerate(builder.draft.steps, start=1)}
    try:
        value = evaluate(expression, answers, builder.traversals.facts)
    except ExpressionError as error:  # a thing may measure nought, and nothing is so many times as large
        raise PlanningDeadEnd(str(error)) from None
    assert isinstance(value, int | Decimal)
    return tidy_number(Decimal(value))


def _places(number: int | Decimal) -> int:
    exponent = Decimal(number).as_tuple().exponent
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0
