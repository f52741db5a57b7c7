"""Computations that take one number from a claim: a fact that the graph does not hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal

from hopwright.knowledge.external.linking import LinkedClaim
from hopwright.planning.dead_ends import DeadEnd, PlanningDeadEnd
from hopwright.planning.operations.base import LATEST, Operation, OperationContext
from hopwright.planning.operations.operation_inputs import tidy_number
from hopwright.planning.plan_builder import PlanBuilder, StepOutput
from hopwright.planning.target_distribution import ComputeKind

_TRIED = 24
_ALIKE = 100
"""A number so many times as large swallows the other, in a sum as in a difference."""
_LEAST_YEARS = 6
_MOST = 100_000
_SIZES = range(3, 6)
_POOLS = range(7, 41)
_GROUPS = range(5, 13)

Number = int | Decimal
Way = tuple[str, Number]
"""An expression, `{hop}` and `{claim}` to be filled in, and what it gives."""


def add_claim(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The sum of a hop's number and a claim's of the same unit, or their difference."""
    (state,) = inputs

    def list_ways(number: Number) -> Iterator[Way]:
        one, other = Decimal(state.number), Decimal(number)
        if one < _ALIKE * other and other < _ALIKE * one:
            yield "{hop} + {claim}", one + other
            if abs(one - other) > 1:
                yield "abs({hop} - {claim})", abs(one - other)

    return _compute(builder, state, "arithmetic", (state.unit,), list_ways, state.type)


def multiply_claim(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """A count times a claim's count."""
    (state,) = inputs
    if state.unit or state.number < 2:
        raise PlanningDeadEnd(DeadEnd.TRIVIAL_PRODUCT)

    def list_ways(number: Number) -> Iterator[Way]:
        if isinstance(number, int) and number * state.number <= _MOST:
            yield "{hop} * {claim}", number * state.number

    return _compute(builder, state, "arithmetic", ("",), list_ways, "amount")


def choose_claim(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Ways to choose as many as a claim says out of a hop's count, or a hop's count out of as many as a claim says."""
    (state,) = inputs
    if state.number != int(state.number):
        raise PlanningDeadEnd(DeadEnd.NUMBER_UNFIT_FOR_CHOICE)
    count = state.whole

    def list_ways(number: Number) -> Iterator[Way]:
        if number in _SIZES and number + 2 < count <= 40:
            yield "comb({hop}, {claim})", math.comb(count, int(number))
        if number in _POOLS and 2 <= count <= 5 and not state.unit and math.comb(int(number), count) <= _MOST:
            yield "comb({claim}, {hop})", math.comb(int(number), count)

    return _compute(builder, state, "combinatorics", ("",), list_ways, "ways")


def shift_claim(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The year that lies as many years before or after another as a claim says."""
    (state,) = inputs

    def list_ways(number: Number) -> Iterator[Way]:
        if isinstance(number, int) and _LEAST_YEARS <= number <= 500:
            if state.whole + number < LATEST:
                yield "{hop} + {claim}", state.whole + number
            if state.whole - number > 1000:
                yield "{hop} - {claim}", state.whole - number

    return _compute(builder, state, "temporal", ("", "years"), list_ways, "year")


def group_claim(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """A root that counts committees out of as many candidates as a claim says."""

    def list_ways(number: Number) -> Iterator[Way]:
        if number in _GROUPS:
            for size in range(2, 5):
                ways = math.comb(int(number), size)
                if size != number - size and 6 <= ways <= 126:
                    yield f"comb({{claim}}, {size})", ways

    return _compute(builder, None, "combinatorics", ("",), list_ways, "amount")


CLAIMED: tuple[Operation, ...] = (
    Operation("claim-committees", (), "amount", "combinatorics", 1.0, group_claim, final=0),
    Operation("claim-add", ("amount",), "amount", "arithmetic", 1.0, add_claim, inner=False),
    Operation("claim-add", ("number",), "number", "arithmetic", 1.0, add_claim, inner=False),
    Operation("claim-times", ("amount",), "amount", "arithmetic", 0.8, multiply_claim, inner=False),
    Operation("claim-choose", ("amount",), "ways", "combinatorics", 1.0, choose_claim, inner=False),
    Operation("claim-shift", ("year",), "year", "temporal", 0.8, shift_claim, inner=False),
)
"""Never drawn but for slots that may rest on a claim: all other plans are as if there were none of these."""


def _compute(
    builder: PlanBuilder,
    state: StepOutput | None,
    kind: ComputeKind,
    units: tuple[str, ...],
    list_ways: Callable[[Number], Iterator[Way]],
    gives: str,
) -> StepOutput:
    """Add the step with the first claim, in a drawn order, whose number suits. Raises PlanningDeadEnd without one."""
    fitting = [one for one in builder.claims if one.claim.unit in units]
    for linked in builder.rng.sample(fitting, min(_TRIED, len(fitting))):
        ways = [way for way in list_ways(linked.claim.number) if way[1] > 0]
        if not ways or not _is_free(builder, linked):
            continue
        template, value = builder.rng.choice(ways)
        builder.take_claim(linked)
        expression = template.replace("{claim}", linked.reference).replace("{hop}", state.ref if state else "")
        result = tidy_number(Decimal(value))
        unit = "year" if gives == "year" else state.unit if state is not None and gives != "ways" else ""
        ref = builder.compute(expression, kind, result, unit, claims=(linked.claim,))
        return StepOutput(gives, ref, number=result, unit=unit)  # type: ignore[arg-type]
    raise PlanningDeadEnd(DeadEnd.NO_FITTING_CLAIM)


def _is_free(builder: PlanBuilder, linked: LinkedClaim) -> bool:
    """Whether nothing that a claim mentions is in the plan, and its number is none of the plan's."""
    numbers = {step.value for step in builder.draft.steps}
    return linked.claim.number not in numbers and builder.admits_claim(linked)
