"""Computations that count which of several named entities belong to something."""

from __future__ import annotations

from collections.abc import Sequence

from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.comparing import list_strangers
from hopwright.planning.operations.operation_inputs import draw_others
from hopwright.planning.plan_builder import PlanBuilder, PlanningDeadEnd, StepOutput

_NAMED = 6


def count_by(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """How many of several named entities, akin to one another, are tied to the entity that is read."""
    (state,) = inputs
    groups = builder.relations.groups_sharing(state.entity)
    for group in builder.rng.sample(groups, len(groups)):
        pool = [one for one in group.members if builder.admits(one)]
        mine = draw_others(builder, pool, builder.rng.choice((3, 4)))
        theirs = list_strangers(builder, mine, group, _NAMED - len(mine)) if len(mine) >= 3 else None
        if theirs is None:
            continue
        named = builder.rng.sample([*mine, *theirs], _NAMED)
        builder.name(*named)
        members = f"{'among' if group.outward else 'listed'}({group.property}, {state.ref}, {', '.join(named)})"
        ref = builder.compute(f"size({members})", "counting", len(mine))
        return StepOutput("amount", ref, number=len(mine))
    raise PlanningDeadEnd("too few belong to the entity")
