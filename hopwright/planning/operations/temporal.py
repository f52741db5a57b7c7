"""Computations over dates and years: distances between events that belong together, and ages at such events."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from hopwright.planning.dead_ends import DeadEnd, PlanningDeadEnd
from hopwright.planning.expressions import count_full_years
from hopwright.planning.operations.base import LATEST, OperationContext
from hopwright.planning.operations.operation_inputs import full_date, is_chosen_by, list_events
from hopwright.planning.plan_builder import PlanBuilder, StepOutput

_OLDEST = 100
_GROWN = 12
_YOUNGEST = 15
_FAREST = 150


def apart(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The years between two looked-up years: from a birth to a work of that person, or between the events of two things
    that a fact joins, such as a play and the opera after it; or the births, or the deaths, of two who were close.
    """
    one, other = inputs
    if one.whole > other.whole:
        one, other = other, one
    years = _check(other.whole - one.whole)
    roles = builder.traversals.roles
    exact = full_date(builder, one.entity, one.of), full_date(builder, other.entity, other.of)
    if exact[0] is not None and exact[1] is not None and count_full_years(exact[0], exact[1]) != years:
        raise PlanningDeadEnd(DeadEnd.KNOWN_TO_THE_DAY)  # whoever counts full years arrives at another number
    if one.of == other.of in (roles.birth, roles.death):
        if years > _OLDEST - _GROWN or not _is_tied(builder, one.entity, other.entity):
            raise PlanningDeadEnd(DeadEnd.UNRELATED_EVENTS)
    elif one.of == roles.birth:
        if other.of == roles.release:
            raise PlanningDeadEnd(DeadEnd.UNRELATED_EVENTS)  # one subtraction, and nothing to be found out for it
        if not _GROWN <= years <= _OLDEST - _GROWN:
            raise PlanningDeadEnd(DeadEnd.UNNATURAL_AGE)
        if not _is_tied(builder, one.entity, other.entity):
            raise PlanningDeadEnd(DeadEnd.UNRELATED_EVENTS)
        # Somebody's death asks for a known later one: whoever taught them had perhaps died long before.
        unknown = other.whole if other.of == roles.death else LATEST
        if list_events(builder, one.entity).get(roles.death, unknown) <= other.whole:
            raise PlanningDeadEnd(DeadEnd.NOT_ALIVE_THEN)
        if None not in (full_date(builder, one.entity, one.of), full_date(builder, other.entity, other.of)):
            raise PlanningDeadEnd(DeadEnd.KNOWN_TO_THE_DAY)
    elif not _is_event_of(builder, one.entity, other.entity):
        raise PlanningDeadEnd(DeadEnd.UNRELATED_EVENTS)
    return _give(builder, f"abs({inputs[0].ref} - {inputs[1].ref})", years)


def age_of(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """How old somebody was when a relative or a teacher died, or a work of theirs came out: of two looked-up dates."""
    born, then = inputs if inputs[0].of == builder.traversals.roles.birth else inputs[::-1]
    tied = _is_tied(builder, born.entity, then.entity) and not _is_kin(builder, born.entity, then.entity)
    if born.of != builder.traversals.roles.birth or not tied:
        raise PlanningDeadEnd(DeadEnd.UNRELATED_EVENTS)
    years = _age(builder, born.entity, _date_of(builder, then))
    return _give(builder, f"age({born.ref}, {then.ref})", years)


def age_in_year(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """How old somebody whom the plan found turned in the year of an event of what it started from."""
    person, then = sorted(inputs, key=lambda state: state.type == "year")
    birth = builder.traversals.roles.birth
    if then.of == birth:
        raise PlanningDeadEnd(DeadEnd.UNRELATED_BIRTH)
    if then.of != builder.traversals.roles.death and not (
        then.entity in builder.topics and _is_tied(builder, then.entity, person.entity)
    ):
        raise PlanningDeadEnd(DeadEnd.UNRELATED_EVENTS)  # the founding of the museum that holds what somebody painted
    events = list_events(builder, person.entity)
    unknown = then.whole if then.of == builder.traversals.roles.death else LATEST
    if birth not in events or events.get(builder.traversals.roles.death, unknown) <= then.whole:
        raise PlanningDeadEnd(DeadEnd.NOT_ALIVE_THEN)
    lives = full_date(builder, person.entity, birth), full_date(builder, then.entity, then.of)
    if None not in lives:
        raise PlanningDeadEnd(DeadEnd.KNOWN_TO_THE_DAY)  # people ask how old somebody was on that day
    years = then.whole - events[birth]
    if not _YOUNGEST <= years <= _OLDEST - _GROWN:
        raise PlanningDeadEnd(DeadEnd.UNNATURAL_AGE)
    return _give(builder, f"{then.ref} - year(value({birth}, {person.ref}))", years)


def age_found(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """How old somebody whom the plan found was when another, whom a work or an occasion joins to them, came or went, or
    on the day of an event of what the plan started from.
    """
    person, then = sorted(inputs, key=lambda state: state.type == "date")
    roles = builder.traversals.roles
    if person.entity == then.entity or (then.of == roles.birth and not _is_kin(builder, person.entity, then.entity)):
        raise PlanningDeadEnd(DeadEnd.UNRELATED_EVENTS)
    named = then.entity in builder.topics or then.of not in (roles.birth, roles.death)
    beside = then.of == roles.death and _made_together(builder, then.entity, person.entity)
    if named and not beside and not _is_tied(builder, then.entity, person.entity):
        raise PlanningDeadEnd(DeadEnd.UNRELATED_EVENTS)  # how old a painter's mother was when a picture was done
    of_both = any(_is_kin(builder, one, person.entity) and _is_kin(builder, one, then.entity) for one in builder.topics)
    if of_both or _is_kin(builder, person.entity, then.entity):
        raise PlanningDeadEnd(DeadEnd.UNRELATED_EVENTS)  # a wife's age when her husband died is two dates, and no way
    years = _age(builder, person.entity, _date_of(builder, then), alive=then.of != roles.death)
    if years < (2 if then.of == roles.birth else _YOUNGEST):
        raise PlanningDeadEnd(DeadEnd.UNNATURAL_AGE)
    return _give(builder, f"age(value({roles.birth}, {person.ref}), {then.ref})", years)


def age_of_named(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """How old somebody whom the plan names was when one whom they were close to died."""
    (state,) = inputs
    for topic in builder.topics:
        kin = _is_kin(builder, topic, state.entity)
        if not kin and _is_tied(builder, topic, state.entity) and state.of != builder.traversals.roles.birth:
            years = _age(builder, topic, _date_of(builder, state))
            return _give(builder, f"age(value({builder.traversals.roles.birth}, {topic}), {state.ref})", years)
    raise PlanningDeadEnd(DeadEnd.NOBODY_CLOSE)


def age_at_death(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """At what age somebody died whose birth and death are known to the day."""
    (state,) = inputs
    roles = builder.traversals.roles
    born, died = (full_date(builder, state.entity, property) for property in (roles.birth, roles.death))
    if born is None or died is None:
        raise PlanningDeadEnd(DeadEnd.NO_LIFE_DATES)
    if is_chosen_by(builder, state, (roles.birth, roles.death)):
        raise PlanningDeadEnd(DeadEnd.COMPARED_IS_ASKED)
    years = count_full_years(born, died)
    if not _YOUNGEST <= years <= _OLDEST:
        raise PlanningDeadEnd(DeadEnd.IMPOSSIBLE_AGE)
    return _give(builder, f"age(value({roles.birth}, {state.ref}), value({roles.death}, {state.ref}))", years)


def _is_tied(builder: PlanBuilder, one: str, other: str) -> bool:
    """Whether a fact joins two entities, such as says something of them."""
    idle = builder.traversals.roles.uninformative
    return any(property not in idle for property in _list_joining(builder, one, other))


def _is_kin(builder: PlanBuilder, one: str, other: str) -> bool:
    """Whether two are relatives, or one taught the other, by a fact of their own."""
    return not builder.traversals.roles.kinship.isdisjoint(_list_joining(builder, one, other))


def _is_event_of(builder: PlanBuilder, one: str, other: str) -> bool:
    """Whether the events of two belong together: those of a work and of its maker, or of its source."""
    roles = builder.traversals.roles
    return not (roles.made | roles.adapted | roles.makers).isdisjoint(_list_joining(builder, one, other))


def _list_joining(builder: PlanBuilder, one: str, other: str) -> list[str]:
    """The properties of the facts that join two entities, whichever of them is the subject."""
    out_edges = builder.traversals.graph.out_edges
    return [
        property
        for here, there in ((one, other), (other, one))
        for property, end in out_edges(here)
        if end == there
    ]


def _made_together(builder: PlanBuilder, one: str, other: str) -> bool:
    """Whether the plan has found something in which two had a part."""
    out_edges = builder.traversals.graph.out_edges
    return any({one, other} <= {end for _, end in out_edges(found)} for found in builder.list_found())


def _give(builder: PlanBuilder, expression: str, years: int) -> StepOutput:
    return StepOutput("amount", builder.compute(expression, "temporal", years, "years"), number=years, unit="years")


def _check(years: int) -> int:
    if not 2 <= years <= _FAREST:
        raise PlanningDeadEnd(DeadEnd.UNFIT_YEAR_DISTANCE)
    return years


def _age(builder: PlanBuilder, person: str, then: dt.date, *, alive: bool = False) -> int:
    """Somebody's age on a day; `alive`: whether one whose death is not known was alive then."""
    born = full_date(builder, person, builder.traversals.roles.birth)
    death = list_events(builder, person).get(builder.traversals.roles.death, LATEST if alive else 0)
    if born is None or then <= born or death <= then.year:
        raise PlanningDeadEnd(DeadEnd.NOT_ALIVE_THEN)
    years = count_full_years(born, then)
    if not 1 <= years <= _OLDEST:
        raise PlanningDeadEnd(DeadEnd.IMPOSSIBLE_AGE)
    return years


def _date_of(builder: PlanBuilder, state: StepOutput) -> dt.date:
    value = builder.draft.steps[int(state.ref[3:]) - 1].value
    assert isinstance(value, dt.date)
    return value
