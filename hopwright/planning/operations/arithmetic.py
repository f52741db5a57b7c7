"""Computations over numbers: sums, differences, means, ratios, products, and ways to choose."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from decimal import Decimal

from hopwright.errors import ExpressionError
from hopwright.planning.expressions import evaluate
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.operation_inputs import list_shared, list_ways, read_value, tidy_number
from hopwright.planning.plan_builder import PlanBuilder, PlanningDeadEnd, StepOutput


def total(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The difference or the ratio of the same lasting number of two entities."""
    entities, refs = [state.entity for state in inputs], [state.ref for state in inputs]
    shared = [p for p in list_shared(builder, entities, comparing=False) if list_ways(builder, p, 2)]
    if not shared:
        raise PlanningDeadEnd("the entities have no number in common")
    property = builder.prefer_name(shared)
    how = builder.rng.choice(list_ways(builder, property, 2))
    values = [f"value({property}, {ref})" for ref in refs]
    entry = builder.traversals.table.literal[property]
    if how == "difference":
        expression = f"abs({values[0]} - {values[1]})"
    else:
        ranked = sorted(range(2), key=lambda i: -Decimal(read_value(builder, entities[i], property)))  # type: ignore[arg-type]
        expression = f"round({values[ranked[0]]} / {values[ranked[1]]}, 1)"
    result = _evaluate(builder, expression)
    if how == "ratio" and (_places(result) != 1 or not Decimal("1.2") <= result <= 300):
        raise PlanningDeadEnd("the quotient says nothing")
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


def choose_of(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The pairs that can be formed among as many as were counted: the matches of a round robin."""
    (state,) = inputs
    count = int(state.number)
    if state.number != count or state.unit == "years" or not 4 <= count <= 60:
        raise PlanningDeadEnd("the number does not suit a choice")
    value = math.comb(count, 2)
    return StepOutput("ways", builder.compute(f"comb({state.ref}, 2)", "combinatorics", value), number=value)


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
