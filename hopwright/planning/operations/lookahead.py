"""Whether operations can follow on an entity, and where to find entities on which they can."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Sequence

from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.operation_inputs import (
    admits_target,
    has_full_date,
    list_events,
    list_numbers,
    list_shared,
    list_ways,
)
from hopwright.planning.plan_builder import PlanBuilder, PlanningDeadEnd

# Fewer than so many do not give a list in which some of them stand beside others.
MIN_SHARING_SUBJECTS = 3
OUTWARD_LOOKUP = "extend-outward"
"""A look-up that may not say in what its subject lies: one that does has come before it."""
_REMEMBERED = 150_000
"""So many answers to "can these operations follow on this entity" are kept."""
SAME_SORT_OPERATIONS = frozenset({"compare", "between-two", "total-two", "compare-three"})
_MEASURED = frozenset({"year", "date", "number", "ahead", "compare", "compare-three", "total", "between", "rate"})


def satisfies_reader(builder: PlanBuilder, context: OperationContext) -> Callable[[str], bool]:
    """Whether an entity has what the operation that reads it needs."""
    return can_precede(builder, context.readers)


def can_precede(builder: PlanBuilder, readers: Sequence[str]) -> Callable[[str], bool]:
    """Whether an entity has what the operations that follow need, look-ups looked through to what comes after them."""
    return functools.partial(_can_follow, builder, tuple(readers))


def can_continue_from(builder: PlanBuilder, readers: tuple[str, ...], entity: str) -> bool:
    """Whether operations can follow on an entity in this very plan: what it leads to has to be free as well."""
    if readers[:1] != ("extend",):
        return _can_follow(builder, readers, entity)
    edges = [(edge.property, edge.object) for edge in builder.traversals.lookups_from(entity)]
    edges += [(edge.property, edge.subject) for edge in builder.traversals.reverse_from(entity)]
    return any(
        builder.admits(other) and _can_follow(builder, _follow(builder, readers, property), other)
        for property, other in edges
    )


def find_entity_with_literal(builder: PlanBuilder, context: OperationContext) -> str | None:
    """An entity with a literal that the reader can use, and to which a question leads: such are rarer than facts."""
    if context.reader in ("dated-among", "dated-stated"):
        for _ in range(20):
            target = builder.targets.any(builder.rng)
            if target is None or builder.refuses_target(target) or not admits_target(builder, target):
                continue
            if builder.traversals.lookups_to(entity := target.condition.object) and builder.admits(entity):
                return entity
        return None
    if context.reader not in _MEASURED:
        return None
    wanted = satisfies_reader(builder, context)
    for _ in range(30):
        dated = context.reader in ("year", "date", "between") or (
            context.reader.startswith("compare") and builder.rng.random() < 0.3
        )
        measure = builder.targets.random_event(builder.rng) if dated else builder.targets.random_number(builder.rng)
        if measure is None:
            break
        entity = measure.entity
        if not builder.admits_random_property(measure.property):
            continue
        if builder.traversals.lookups_to(entity) and builder.admits(entity) and wanted(entity):
            return entity
    return None


def find_entity_of_same_sort(builder: PlanBuilder, entity: str, reader: str) -> str:
    """Another entity of the same sort that can be compared, or that has an event in common."""
    if reader == "between-two":
        properties = sorted(list_events(builder, entity))
    elif reader == "total-two":
        properties = [m.property for m in builder.traversals.measures(entity) if list_ways(builder, m.property, 2)]
    else:
        properties = [m.property for m in builder.traversals.measures(entity) if m.entry.more and m.entry.less]
    if not properties:
        raise PlanningDeadEnd("nothing to compare the entity by")
    for _ in range(10):
        other = builder.traversals.comparable(entity, builder.rng.choice(properties), builder.rng)
        if other is not None and builder.admits(other) and builder.traversals.lookups_to(other):
            return other
    raise PlanningDeadEnd("nothing comparable")


def are_of_same_sort(builder: PlanBuilder, one: str, other: str, reader: str) -> bool:
    """Whether two entities are of one sort and have in common what a reader compares, adds or measures between."""
    if one == other or builder.traversals.kinds.sort(one) != builder.traversals.kinds.sort(other):
        return False
    if reader == "between-two":
        return bool(list_events(builder, one).keys() & list_events(builder, other).keys())
    return bool(list_shared(builder, [one, other], comparing=reader.startswith("compare")))


def _can_follow(builder: PlanBuilder, readers: tuple[str, ...], entity: str) -> bool:
    if not readers:
        return True
    known, most = builder.traversals.followed, builder.passable
    if (verdict := known.get((readers, entity, most))) is None:
        if readers[0] in ("extend", OUTWARD_LOOKUP):
            edges = [(edge.property, edge.object) for edge in builder.traversals.lookups_from(entity)]
            edges += [(edge.property, edge.subject) for edge in builder.traversals.reverse_from(entity)]
            verdict = any(
                not (readers[0] == OUTWARD_LOOKUP and property in builder.traversals.roles.within)
                and builder.traversals.degree(other) <= most
                and _can_follow(builder, _follow(builder, readers, property), other)
                for property, other in edges
            )
        else:
            verdict = _need_of(builder, readers[0])(entity)
        if len(known) >= _REMEMBERED:
            known.clear()
        known[readers, entity, most] = verdict
    return verdict


def _follow(builder: PlanBuilder, readers: tuple[str, ...], property: str) -> tuple[str, ...]:
    """What is left to follow after a look-up along a property."""
    if property in builder.traversals.roles.within and readers[1:2] == ("extend",):
        return (OUTWARD_LOOKUP, *readers[2:])
    return readers[1:]


def _need_of(builder: PlanBuilder, reader: str) -> Callable[[str], bool]:
    """What an operation needs of the entity that it reads."""
    measures = builder.traversals.measures
    if reader in ("year", "between", "between-two"):
        return lambda entity: any(isinstance(m.value, dt.date) and m.entry.event for m in measures(entity))
    if reader == "date":
        return lambda entity: any(has_full_date(m) for m in measures(entity))
    if reader == "number":
        return lambda entity: bool(list_numbers(builder, entity))
    if reader in ("ahead", "compare", "compare-three"):
        return lambda entity: any(m.entry.more and m.entry.less for m in measures(entity))
    if reader in ("total", "total-two"):
        return lambda entity: any(list_ways(builder, m.property, 2) for m in measures(entity))
    if reader == "rate":
        return lambda entity: any(m.entry.per for m in measures(entity))
    if reader == "members":
        shared_by, left_out = builder.traversals.shared_by, builder.traversals.roles.not_counted
        return lambda entity: any(
            len(e) >= MIN_SHARING_SUBJECTS and one not in left_out for one, e in shared_by(entity).items()
        )
    if reader in ("dated-stated", "dated-among"):
        return lambda entity: bool(builder.targets.conditioned(entity))
    return lambda entity: True
