"""Computations over dates and years: distances between events that belong together, and ages at such events."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.operation_inputs import find_input, full_date, list_events
from hopwright.planning.plan_builder import PlanBuilder, PlanningDeadEnd, StepOutput

_OLDEST = 100
_GROWN = 12
_FAREST = 150


def between(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The years between the same event of two entities."""
    one, other = inputs
    mine, theirs = list_events(builder, one.entity), list_events(builder, other.entity)
    shared = sorted(mine.keys() & theirs.keys())
    if not shared:
        raise PlanningDeadEnd("the two have no event in common")
    property = builder.prefer_name(shared)
    years = _check(abs(mine[property] - theirs[property]))
    expression = f"abs(year(value({property}, {one.ref})) - year(value({property}, {other.ref})))"
    return _give(builder, expression, years)


def apart(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The years between looked-up years: two, or the first and the last of several."""
    values = [state.whole for state in inputs]
    births = [state.whole for state in inputs if state.of == builder.traversals.roles.birth]
    if len(inputs) == 2 and births and (len(births) == 2 or not _GROWN <= max(values) - births[0] <= _OLDEST - _GROWN):
        raise PlanningDeadEnd("years since a birth are an age")
    years = _check(max(values) - min(values))
    if len(set(values)) != len(values):
        raise PlanningDeadEnd("the years are too close")
    refs = [state.ref for state in inputs]
    joined = ", ".join(refs)
    return _give(builder, f"max({joined}) - min({joined})" if len(refs) > 2 else f"abs({refs[0]} - {refs[1]})", years)


def apart_named(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The years between a looked-up year and an event of what the plan is about."""
    (state,) = inputs
    if state.of == builder.traversals.roles.birth:
        raise PlanningDeadEnd("years since a birth are an age")
    for topic in builder.topics:
        events = list_events(builder, topic)
        for property in sorted(events):
            if 2 <= abs(events[property] - state.whole) <= _FAREST:
                expression = f"abs({state.ref} - year(value({property}, {topic})))"
                return _give(builder, expression, abs(events[property] - state.whole))
    raise PlanningDeadEnd("what the plan is about has no event near the year")


def age(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """How old a person was on a looked-up date."""
    then, person = find_input(inputs, "date"), find_input(inputs, "entity")
    years = _age(builder, person.entity, _date_of(builder, then))
    return _give(builder, f"age(value({builder.traversals.roles.birth}, {person.ref}), {then.ref})", years)


def age_of_named(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """How old somebody whom the plan names was on a looked-up date, or who was born then when that one was born."""
    (state,) = inputs
    then = _date_of(builder, state)
    for topic in builder.topics:
        born = full_date(builder, topic, builder.traversals.roles.birth)
        if born is None or born == then:
            continue
        if state.of == builder.traversals.roles.birth and born > then:
            years = _years(then, born)
            expression = f"age({state.ref}, value({builder.traversals.roles.birth}, {topic}))"
        else:
            years = _age(builder, topic, then)
            expression = f"age(value({builder.traversals.roles.birth}, {topic}), {state.ref})"
        if 1 <= years <= _OLDEST:
            return _give(builder, expression, years)
    raise PlanningDeadEnd("nobody whom the plan names lived then")


def turned(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The birthday that a person celebrated in a looked-up year."""
    then, person = find_input(inputs, "year"), find_input(inputs, "entity")
    if then.of == builder.traversals.roles.birth:
        raise PlanningDeadEnd("nobody asks how old one was in the year of another's birth")
    born, death = (
        list_events(builder, person.entity).get(name)
        for name in (builder.traversals.roles.birth, builder.traversals.roles.death)
    )
    if born is None or death is None or not 4 <= then.whole - born <= _OLDEST or death <= then.whole:
        raise PlanningDeadEnd("the person did not live then")
    return _give(
        builder, f"{then.ref} - year(value({builder.traversals.roles.birth}, {person.ref}))", then.whole - born
    )


def _give(builder: PlanBuilder, expression: str, years: int) -> StepOutput:
    return StepOutput("amount", builder.compute(expression, "temporal", years, "years"), number=years, unit="years")


def _check(years: int) -> int:
    if not 2 <= years <= _FAREST:
        raise PlanningDeadEnd("the years are too close, or too far apart")
    return years


def _age(builder: PlanBuilder, person: str, then: dt.date) -> int:
    born = full_date(builder, person, builder.traversals.roles.birth)
    death = list_events(builder, person).get(builder.traversals.roles.death)
    if born is None or then <= born or death is None or death <= then.year:
        raise PlanningDeadEnd("the person did not live then")
    years = _years(born, then)
    if not 1 <= years <= _OLDEST:
        raise PlanningDeadEnd("nobody grows so old")
    return years


def _years(one: dt.date, other: dt.date) -> int:
    return other.year - one.year - ((other.month, other.day) < (one.month, one.day))


def _date_of(builder: PlanBuilder, state: StepOutput) -> dt.date:
    value = builder.draft.steps[int(state.ref[3:]) - 1].value
    assert isinstance(value, dt.date)
    return value
