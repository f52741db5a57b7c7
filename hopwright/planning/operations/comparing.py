"""Computations that choose one of several entities that belong together: the first, the last, the largest."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from hopwright.planning.dead_ends import DeadEnd, PlanningDeadEnd
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.lookahead import satisfies_reader
from hopwright.planning.operations.operation_inputs import (
    are_apart,
    draw_others,
    full_year,
    list_shared,
    read_value,
)
from hopwright.planning.operations.starting_points import (
    ChoosableGroup,
    draw_closed_sets,
    draw_groups,
    list_choosable,
    list_closed_choices,
)
from hopwright.planning.plan_builder import PlanBuilder, StepOutput
from hopwright.planning.relations import Group
from hopwright.records.values import Scalar

_NAMED = 4
_MOST_WORDS = 10
_NEAREST = 10


def compare(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Whichever of several entities has the largest or the smallest value of a property."""
    if builder.traversals.kinds.kind(inputs[0].entity) == "country":
        raise PlanningDeadEnd(DeadEnd.NOTHING_TO_COMPARE_BY)  # any reader knows which of two is the larger
    shared = list_shared(builder, [state.entity for state in inputs], comparing=True)
    # Which of two towns lies further north is nothing that anybody wants to know.
    shared = [one for one in shared if not builder.traversals.table.literal[one].axis]
    weights = builder.preferences.weights
    shared.sort(key=lambda name: builder.rng.random() ** (1 / weights.get(name, 1.0)), reverse=True)
    # Which of two died first takes a sentence that is true of any two.
    shared = [one for one in shared if one != builder.traversals.roles.death]
    wanted = context.forced  # an anchor's hop that goes on from the winner
    suits = satisfies_reader(builder, context)
    for property in shared[:6]:
        values = {state.entity: read_value(builder, state.entity, property) for state in inputs}
        ranked = sorted(inputs, key=lambda state: values[state.entity])
        for largest in builder.rng.sample((True, False), 2):
            winner = ranked[-1] if largest else ranked[0]
            if wanted is not None and winner.entity not in (wanted.subject, wanted.object):
                continue
            if suits(winner.entity):
                name = "argmax" if largest else "argmin"
                expression = f"{name}({property}, {', '.join(state.ref for state in inputs)})"
                ref = builder.compute(expression, "comparison", winner.entity)
                return StepOutput("entity", ref, winner.entity)
    raise PlanningDeadEnd(DeadEnd.NOTHING_TO_COMPARE_BY)


def first_of(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The first or last, largest or smallest, of four named entities that share something."""
    last: Group | None = None
    free: list[str] = []
    for group, property, able in _draw_groups(builder, context):
        if not builder.admits(group.shared):
            continue
        if context.branch and full_year(builder, group.shared, builder.traversals.roles.death) is None:
            continue  # the other branch starts from what they share
        if group is not last:  # the ways to choose one of a group come one after the other
            last, free = group, [one for one in group.members if builder.admits(one)]
        values = _values(builder, free, property)
        for winner in builder.rng.sample(able, min(3, len(able))):
            if winner not in values:
                continue
            for largest in builder.rng.sample((True, False), 2):
                behind = [one for one in values if (values[one] < values[winner]) == largest and one != winner]  # type: ignore[operator]
                behind = _list_nearest(behind, values, winner)
                others = draw_others(builder, behind, _NAMED - 1, [winner, group.shared])
                named = _shorten(builder, [winner, *others])
                if len(named) >= 3 and are_apart(builder, named, property):
                    builder.rng.shuffle(named)
                    builder.name(*(one for one in named if one != winner))
                    builder.take(winner)
                    expression = f"{_function(largest)}({property}, {', '.join(named)})"
                    return StepOutput("entity", builder.compute(expression, "comparison", winner), winner)
    raise PlanningDeadEnd(DeadEnd.NO_GROUP_TO_CHOOSE_FROM)


def most_of_all(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Which of a closed set, such as the neighbours of a country, has the most or the least of something.

    The set is that of the entity that is read, or of one drawn anew.
    """
    if inputs:
        suits = satisfies_reader(builder, context)
        names = sorted(builder.traversals.table.closed)
        found = [c for name in names for c in list_closed_choices(builder, name, inputs[0].entity) if suits(c.winner)]
        builder.rng.shuffle(found)
    else:
        found = draw_closed_sets(builder, context)
    for one in found:
        if not all(map(builder.admits, one.members)) or not (inputs or builder.admits(one.owner)):
            continue
        if not inputs:
            builder.name(one.owner)
        builder.take(one.winner)
        members = f"all({one.property}, {inputs[0].ref if inputs else one.owner})"
        expression = f"{_function(one.largest)}({one.measure}, {members})"
        return StepOutput("entity", builder.compute(expression, "comparison", one.winner), one.winner)
    raise PlanningDeadEnd(DeadEnd.NO_CLOSED_SET_TO_COMPARE)


def _draw_groups(builder: PlanBuilder, context: OperationContext) -> Iterable[ChoosableGroup]:
    """Groups around what the plan names already, or around entities drawn anew."""
    if not builder.topics:
        return draw_groups(builder, context)
    around = [group for topic in builder.topics for group in builder.relations.groups_of(topic)]
    return [one for group in around for one in list_choosable(builder, group, context.readers)]


def _list_nearest(behind: Sequence[str], values: Mapping[str, Scalar], winner: str) -> list[str]:
    """Those that come next to the winner: somebody of another century is out of the running at once."""

    def measure_distance(one: str) -> Decimal:
        values_of = [value.toordinal() if isinstance(value := values[e], dt.date) else value for e in (one, winner)]
        return abs(Decimal(values_of[0]) - Decimal(values_of[1]))

    return sorted(behind, key=measure_distance)[:_NEAREST]


def _shorten(builder: PlanBuilder, named: list[str]) -> list[str]:
    """Without the last of four, where their names are many words."""
    words = sum(len(builder.traversals.graph.label(one).split()) for one in named)
    return named[:-1] if words > _MOST_WORDS else named


def _values(builder: PlanBuilder, pool: Sequence[str], property: str) -> dict[str, Scalar]:
    return {one: m.value for one in pool for m in builder.traversals.measures(one) if m.property == property}


def _function(largest: bool) -> str:
    return "argmax" if largest else "argmin"
