"""Computations that compare entities, and that count how many of several meet a condition."""

from __future__ import annotations

from collections.abc import Sequence

from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.lookahead import MIN_SHARING_SUBJECTS, satisfies_reader
from hopwright.planning.operations.operation_inputs import (
    MAX_ENTITIES_CONSIDERED,
    add_count,
    choose_comparable,
    draw_others,
    draw_sides,
    find_event,
    find_least_count,
    list_shared,
    read_value,
)
from hopwright.planning.plan_builder import PlanBuilder, PlanningDeadEnd, StepOutput
from hopwright.planning.traversals import spread


def compare(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Whichever of several entities has the largest or the smallest value of a property."""
    shared = list_shared(builder, [state.entity for state in inputs], comparing=True)
    weights = builder.preferences.weights
    shared.sort(key=lambda name: builder.rng.random() ** (1 / weights.get(name, 1.0)), reverse=True)
    wanted = context.forced  # an anchor's hop that goes on from the winner
    for property in shared[:6]:
        values = {state.entity: read_value(builder, state.entity, property) for state in inputs}
        ranked = sorted(inputs, key=lambda state: values[state.entity])
        largest = builder.rng.random() < 0.5
        winner = ranked[-1] if largest else ranked[0]
        if wanted is not None and winner.entity not in (wanted.subject, wanted.object):
            largest = not largest
            winner = ranked[-1] if largest else ranked[0]
        if wanted is not None and winner.entity not in (wanted.subject, wanted.object):
            continue
        if not satisfies_reader(builder, context)(winner.entity):
            continue
        name = "argmax" if largest else "argmin"
        ref = builder.compute(
            f"{name}({property}, {', '.join(state.ref for state in inputs)})", "comparison", winner.entity
        )
        return StepOutput("entity", ref, winner.entity)
    raise PlanningDeadEnd("the entities have nothing to compare them by")


def ahead(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """How many of several named entities have more, or less, of something than an entity."""
    (state,) = inputs
    property = choose_comparable(builder, state.entity)
    mine = read_value(builder, state.entity, property)
    more = builder.rng.random() < 0.5
    pool = builder.traversals.measured(property, builder.traversals.kinds.sort(state.entity))
    others, count = draw_sides(
        builder,
        [one for one in spread(pool, MAX_ENTITIES_CONSIDERED) if one != state.entity],
        lambda other: (
            (value > mine) == more  # type: ignore[operator]
            if builder.traversals.differ(property, mine, value := read_value(builder, other, property))
            else None
        ),
        find_least_count(context),
    )
    builder.take(*others)
    sign = ">" if more else "<"
    conditions = [f"value({property}, {other}) {sign} value({property}, {state.ref})" for other in others]
    return add_count(builder, conditions, count, context)


def later(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """How many of several named entities have their event after, or before, a looked-up year."""
    (state,) = inputs
    seed = find_event(builder, inputs, "")
    pool = builder.traversals.measured(seed.property, builder.traversals.kinds.sort(seed.entity))
    after = builder.rng.random() < 0.5
    others, count = draw_sides(
        builder,
        spread(pool, MAX_ENTITIES_CONSIDERED),
        lambda other: (
            (held > state.whole) == after
            if (held := read_value(builder, other, seed.property).year) != state.whole  # type: ignore[union-attr]
            else None
        ),
        find_least_count(context),
    )
    builder.take(*others)
    sign = ">" if after else "<"
    return add_count(
        builder, [f"year(value({seed.property}, {other})) {sign} {state.ref}" for other in others], count, context
    )


def members(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """How many of several named subjects have an entity as their one object of a property."""
    (state,) = inputs
    by_property = builder.traversals.shared_by(state.entity)
    usable = [
        one
        for one, edges in by_property.items()
        if len(edges) >= MIN_SHARING_SUBJECTS and one not in builder.traversals.roles.not_counted
    ]
    if not usable:
        raise PlanningDeadEnd("too few have the entity as theirs")
    property = builder.prefer_name(usable)
    edges = by_property[property]
    sort = builder.traversals.kinds.sort(builder.rng.choice(edges).subject)
    mine = [edge.subject for edge in edges if builder.traversals.kinds.sort(edge.subject) == sort]
    theirs = [edge.subject for edge in builder.traversals.alike(property, sort) if edge.object != state.entity]
    size = builder.rng.choice((4, 4, 5, 5, 6))
    ours = draw_others(builder, mine, size - 1)
    least = find_least_count(context)
    if len(ours) < least:
        raise PlanningDeadEnd("too few have the entity as theirs")
    count = builder.rng.randint(least, len(ours))
    ours = ours[:count]
    others = draw_others(builder, theirs, size - count, ours)
    if len(ours) + len(others) < size:
        raise PlanningDeadEnd("too few to name beside it")
    listed = [*ours, *others]
    builder.rng.shuffle(listed)
    builder.take(*listed)
    return add_count(builder, [f"object({property}, {one}) == {state.ref}" for one in listed], count, context)
