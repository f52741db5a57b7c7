"""Computations over numbers: rates, and ways to choose."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from decimal import Decimal

from hopwright.errors import ExpressionError
from hopwright.planning.dead_ends import DeadEnd, PlanningDeadEnd
from hopwright.planning.expressions import evaluate
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.operation_inputs import list_shared, tidy_number
from hopwright.planning.plan_builder import PlanBuilder, StepOutput


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
    raise PlanningDeadEnd(DeadEnd.NO_RATE)


def difference(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """By how much an exact number of two entities of one sort differs, such as the atomic numbers of two elements."""
    one, other = inputs
    for property in list_shared(builder, [one.entity, other.entity], comparing=True):
        if property in builder.traversals.roles.exact:
            expression = f"abs(value({property}, {one.ref}) - value({property}, {other.ref}))"
            result = _evaluate(builder, expression)
            return StepOutput("number", builder.compute(expression, "arithmetic", result), number=result)
    raise PlanningDeadEnd(DeadEnd.NOTHING_TO_COMPARE_BY)


def choose_of(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The pairs that can be formed among as many as were counted: the matches of a round robin."""
    (state,) = inputs
    count = int(state.number)
    if state.number != count or state.unit == "years" or not 4 <= count <= 60:
        raise PlanningDeadEnd(DeadEnd.NUMBER_UNFIT_FOR_CHOICE)
    value = math.comb(count, 2)
    return StepOutput("ways", builder.compute(f"comb({state.ref}, 2)", "combinatorics", value), number=value)


def _evaluate(builder: PlanBuilder, expression: str) -> int | Decimal:
    answers = {index: step.value for index, step in enumerate(builder.draft.steps, start=1)}
    try:
        value = evaluate(expression, answers, builder.traversals.facts)
    except ExpressionError as error:  # a thing may measure nought, and nothing is so many times as large
        raise PlanningDeadEnd(DeadEnd.NOT_COMPUTED, str(error)) from None
    assert isinstance(value, int | Decimal)
    return tidy_number(Decimal(value))


def _places(number: int | Decimal) -> int:
    exponent = Decimal(number).as_tuple().exponent
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0
