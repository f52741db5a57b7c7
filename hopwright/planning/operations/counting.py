"""Computations that count the members of a naturally closed set: the countries that border a country."""

from __future__ import annotations

from collections.abc import Sequence

from hopwright.planning.dead_ends import DeadEnd, PlanningDeadEnd
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.operation_inputs import list_closed_set
from hopwright.planning.plan_builder import PlanBuilder, StepOutput

_FEWEST = 3


def count_all(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """How many belong to a closed set of the entity that is read."""
    (state,) = inputs
    for property in sorted(builder.traversals.table.closed):
        members = list_closed_set(builder, property, state.entity)
        # Who stops one step early must not arrive at the same number.
        early = {len(list_closed_set(builder, property, one)) for one in builder.list_found() if one != state.entity}
        if len(members) >= _FEWEST and len(members) not in early:
            ref = builder.compute(f"size(all({property}, {state.ref}))", "counting", len(members))
            return StepOutput("amount", ref, number=len(members))
    raise PlanningDeadEnd(DeadEnd.NO_CLOSED_SET)
