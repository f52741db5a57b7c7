"""Look-ups: from entity to entity, to a literal, and back from a year to what it singles out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from hopwright.planning.operations.base import EARLIEST, OperationContext
from hopwright.planning.operations.lookahead import (
    SAME_SORT_OPERATIONS,
    are_of_same_sort,
    find_entity_of_same_sort,
    find_entity_with_literal,
    satisfies_reader,
)
from hopwright.planning.operations.operation_inputs import (
    PROPERTY_OF,
    admits_target,
    choose_number,
    draw_measure,
    find_event,
    find_input,
    write_offset,
    year_of,
)
from hopwright.planning.plan_builder import PlanBuilder, PlanningDeadEnd, StepOutput
from hopwright.planning.year_targets import YearTarget

_MODERN = 1950


def lead(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """A named subject's fact, or an entity found by two of its facts."""
    if context.forced is not None:
        return builder.walk(context.forced)
    wanted = satisfies_reader(builder, context)
    if context.partners and context.reader in SAME_SORT_OPERATIONS:
        return builder.lead(find_entity_of_same_sort(builder, context.partners[0].entity, context.reader))
    if context.anchor and wanted(context.anchor) and builder.traversals.lookups_to(context.anchor):
        return builder.lead(context.anchor)
    if context.anchor:
        # The anchor itself is asked about.
        builder.take(context.anchor)
        return builder.extend(StepOutput("entity", context.anchor, context.anchor), wanted)
    if (entity := find_entity_with_literal(builder, context)) is not None:
        return builder.lead(entity)
    edge = builder.random_edge(wanted, within=context.reader != "extend")
    if edge is None:
        raise PlanningDeadEnd(f"no fact of the graph suits {context.reader or 'the end'}")
    return builder.walk(edge)


def extend(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """From an entity to another."""
    (state,) = inputs
    if context.forced is not None:
        edge = context.forced
        if state.entity == edge.subject:
            return builder.walk(edge, state.ref)
        if state.entity == edge.object:
            return builder.walk(edge, state.ref, backward=True)
        raise PlanningDeadEnd("the anchor's second hop does not follow")
    wanted = satisfies_reader(builder, context)
    if context.partners and context.reader in SAME_SORT_OPERATIONS:
        partner = context.partners[0]
        return builder.extend(
            state, lambda entity: wanted(entity) and are_of_same_sort(builder, partner.entity, entity, context.reader)
        )
    return builder.extend(state, wanted)


def year(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The year of an entity's event."""
    found = [m for m in builder.traversals.measures(inputs[0].entity) if isinstance(m.value, dt.date) and m.entry.event]
    if context.reader == "age":
        found = [m for m in found if year_of(m) >= _MODERN]
    if context.partners and context.partners[0].type == "year":
        near = [m for m in found if 2 <= abs(year_of(m) - context.partners[0].whole) <= 300]
        found = near
    if not found:
        raise PlanningDeadEnd("the entity has no dated event that suits")
    return builder.measure(inputs[0].ref, builder.prefer_measure(found))


def date(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The full date of an entity's event."""
    found = [m for m in builder.traversals.measures(inputs[0].entity) if isinstance(m.value, dt.date) and m.entry.ask]
    if not found:
        raise PlanningDeadEnd("the entity has no full date")
    return builder.measure(inputs[0].ref, builder.prefer_measure(found), full_date=True)


def number(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """A stable number of an entity."""
    return builder.measure(inputs[0].ref, choose_number(builder, inputs[0].entity, context))


def named_year(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The year of a named entity's event; the anchor's where it has one."""
    measure = find_event(builder, context.partners, context.anchor, _MODERN if context.reader == "age" else EARLIEST)
    builder.take(measure.entity)
    return builder.measure(measure.entity, measure)


def named_number(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """A stable number of a named entity: of a partner's kind, so that the two can be added."""
    if context.partners:
        partner = context.partners[0]
        other = builder.traversals.comparable(partner.entity, partner.of, builder.rng)
        if other is None or not builder.admits(other):
            raise PlanningDeadEnd("nothing comparable")
        measure = next(m for m in builder.traversals.measures(other) if m.property == partner.of)
    else:
        measure = draw_measure(builder, context)
    builder.take(measure.entity)
    return builder.measure(measure.entity, measure)


def dated(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """What a year, or a year some years away from it, singles out."""
    (state,) = inputs
    wanted = satisfies_reader(builder, context)
    for _ in range(20):
        target = builder.targets.near(state.whole, builder.rng, within=60)
        if target is None:
            break
        if not wanted(target.entity) or builder.refuses_target(target) or not admits_target(builder, target):
            continue
        apart = target.year - state.whole
        if abs(apart) >= 2:
            return builder.dated(f"{state.ref} {'+' if apart > 0 else '-'} {abs(apart)}", target)
    raise PlanningDeadEnd("no target near the year")


def dated_by_amount(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """What lies so many years (or a small multiple of them) before or after a year that the question states."""
    (state,) = inputs
    wanted = satisfies_reader(builder, context)
    for _ in range(20):
        target = builder.targets.any(builder.rng)
        if target is None:
            break
        if not wanted(target.entity) or not builder.admits(target.entity) or builder.refuses_target(target):
            continue
        if admits_target(builder, target) and (value := write_offset(builder, state, target.year)):
            return builder.dated(value, target)
    raise PlanningDeadEnd("no target fits")


def dated_among(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Of those that stand in a relation to an entity, the one that a computed year singles out."""
    entity = next(state for state in inputs if state.type == "entity")
    other = next(state for state in inputs if state.type != "entity")
    wanted = satisfies_reader(builder, context)
    targets = [t for t in builder.open_targets(entity.entity) if wanted(t.entity)]
    builder.rng.shuffle(targets)
    for target in targets[:8]:
        if other.type == "amount":
            value = write_offset(builder, other, target.year)
        else:
            apart = target.year - other.whole
            value = f"{other.ref} {'+' if apart > 0 else '-'} {abs(apart)}" if 2 <= abs(apart) <= 150 else ""
        if value and builder.admits(target.entity):
            return builder.dated(value, target, constraint=entity.ref)
    raise PlanningDeadEnd("nothing dated stands in a relation to it")


def dated_stated(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Of those that stand in a relation to an entity, the one that a stated year singles out."""
    wanted = satisfies_reader(builder, context)
    targets = [t for t in builder.open_targets(inputs[0].entity) if builder.admits(t.entity) and wanted(t.entity)]
    if not targets:
        raise PlanningDeadEnd("nothing dated stands in a relation to it")
    target = builder.prefer(targets, PROPERTY_OF)
    return builder.dated(str(target.year), target, constraint=inputs[0].ref)


def dated_by_both(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """What lies so many years before or after a looked-up year."""
    base, offset = find_input(inputs, "year"), find_input(inputs, "amount")
    if offset.whole < 6:
        raise PlanningDeadEnd("so few years are no distance")
    options: list[tuple[str, YearTarget]] = []
    for sign, moved in (("+", base.whole + offset.whole), ("-", base.whole - offset.whole)):
        options += [
            (sign, t)
            for t in builder.targets.of_year(moved)
            if builder.admits(t.entity) and not builder.refuses_target(t)
        ]
    if not options:
        raise PlanningDeadEnd("the year has no target")
    sign, target = builder.prefer(options, lambda option: option[1].property)
    return builder.dated(f"{base.ref} {sign} {offset.ref}", target)
