"""Computations that count a set of which all members are known."""

from __future__ import annotations

from collections.abc import Sequence

from hopwright.knowledge.wikidata.roles import ROLES
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.plan_builder import PlanBuilder, PlanningDeadEnd, StepOutput

_LEAST, _MOST = 3, 20


def count_group(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """How many stand in a relation to an entity, where all of them are known."""
    (state,) = inputs
    if builder.traversals.kinds.kind(state.entity) != "country":
        raise PlanningDeadEnd("the entity has no complete list to count")
    for property in sorted(ROLES.complete):
        count = len(builder.traversals.graph.objects(state.entity, property))
        if _LEAST <= count <= _MOST:
            expression = f"size(all({property}, {state.ref}))"
            return StepOutput("amount", builder.compute(expression, "counting", count), number=count)
    raise PlanningDeadEnd("the entity has no complete list to count")
