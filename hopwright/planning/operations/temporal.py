"""Computations over years: distances, ages, and years so far away from others."""

from __future__ import annotations

from collections.abc import Sequence

from hopwright.planning.operations.base import LATEST, OperationContext
from hopwright.planning.operations.operation_inputs import find_event, find_input, list_events, year_of
from hopwright.planning.plan_builder import PlanBuilder, PlanningDeadEnd, StepOutput

_CENTENARIAN = 100


def between(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The years between the same event of two entities; of one, and of a named one of its sort."""
    one = inputs[0]
    mine = list_events(builder, one.entity)
    if len(inputs) == 2:
        other, ref = inputs[1].entity, inputs[1].ref
    else:
        if not mine:
            raise PlanningDeadEnd("the entity has no dated event")
        property = builder.prefer_name(sorted(mine))
        found = builder.traversals.comparable(one.entity, property, builder.rng)
        if found is None or not builder.admits(found):
            raise PlanningDeadEnd("nothing comparable")
        other = ref = found
        builder.take(other)
    theirs = list_events(builder, other)
    shared = sorted(mine.keys() & theirs.keys())
    if not shared:
        raise PlanningDeadEnd("the two have no event in common")
    property = builder.prefer_name(shared)
    years = abs(mine[property] - theirs[property])
    if years < 2:
        raise PlanningDeadEnd("the years are too close")
    expression = f"abs(year(value({property}, {one.ref})) - year(value({property}, {ref})))"
    return StepOutput("amount", builder.compute(expression, "temporal", years, "years"), number=years, unit="years")


def apart(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The years between looked-up years: two, or the first and the last of several."""
    values = [state.whole for state in inputs]
    years = max(values) - min(values)
    if years < 2 or len(set(values)) != len(values):
        raise PlanningDeadEnd("the years are too close")
    refs = [state.ref for state in inputs]
    joined = ", ".join(refs)
    expression = f"max({joined}) - min({joined})" if len(refs) > 2 else f"abs({refs[0]} - {refs[1]})"
    return StepOutput("amount", builder.compute(expression, "temporal", years, "years"), number=years, unit="years")


def apart_named(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The years between a looked-up year and the event of a named entity."""
    (state,) = inputs
    measure = find_event(builder, inputs, "")
    builder.take(measure.entity)
    years = abs(year_of(measure) - state.whole)
    expression = f"abs({state.ref} - year(value({measure.property}, {measure.entity})))"
    return StepOutput("amount", builder.compute(expression, "temporal", years, "years"), number=years, unit="years")


def age_named(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """How old a named person turned in a looked-up year."""
    (state,) = inputs
    birth = builder.traversals.roles.birth
    for _ in range(30 if birth else 0):
        measure = builder.targets.random_event(builder.rng, property=birth)
        if measure is None:
            break
        years = state.whole - year_of(measure)
        if (
            4 <= years <= _CENTENARIAN
            and builder.admits(measure.entity)
            and _lived(builder, measure.entity, state.whole)
        ):
            builder.take(measure.entity)
            expression = f"{state.ref} - year(value({birth}, {measure.entity}))"
            return StepOutput(
                "amount", builder.compute(expression, "temporal", years, "years"), number=years, unit="years"
            )
    raise PlanningDeadEnd("nobody was born in time")


def shift(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """A year so many years before or after a looked-up year: an amount of another hop, or a stated one."""
    base = find_input(inputs, "year")
    if len(inputs) == 2:
        offset = find_input(inputs, "amount")
        if offset.whole < 6:
            raise PlanningDeadEnd("so few years are no distance")
        ways = (("+", base.whole + offset.whole), ("-", base.whole - offset.whole))
        options = [(sign, year) for sign, year in ways if year < LATEST]
        if context.reader.startswith("dated"):
            options = [(sign, y) for sign, y in options if builder.targets.of_year(y)] or options
        sign, moved = builder.rng.choice(options)
        expression = f"{base.ref} {sign} {offset.ref}"
    else:
        apart = builder.rng.choice((7, 9, 10, 12, 15, 18, 20, 21, 25, 30, 33, 40, 50, 60, 75, 99, 100))
        reached = (("+", base.whole + apart), ("-", base.whole - apart))
        signs = [sign for sign, year in reached if 1000 < year < LATEST]
        if not signs:
            raise PlanningDeadEnd("the year lies in the future")
        sign = builder.rng.choice(signs)
        moved = base.whole + apart if sign == "+" else base.whole - apart
        expression = f"{base.ref} {sign} {apart}"
    if moved == base.whole:
        raise PlanningDeadEnd("the years are too close")
    ref = builder.compute(expression, "temporal", moved, "year")
    return StepOutput("year", ref, number=moved, unit="year")


def _lived(builder: PlanBuilder, person: str, year: int) -> bool:
    """Whether nothing speaks against the person's being alive in the year."""
    death = list_events(builder, person).get(builder.traversals.roles.death)
    return death is None or death >= year
