"""What operations draw on: values, events and numbers of entities, others of their sort, and how they are combined."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

from hopwright.planning.dead_ends import DeadEnd, PlanningDeadEnd
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.plan_builder import PlanBuilder, StepOutput
from hopwright.planning.traversals import UsableLiteral
from hopwright.records import Compute
from hopwright.records.values import Scalar

MAX_ENTITIES_CONSIDERED = 120
_CLOSE = 15
"""Years between two dates that are compared, at most."""


def list_shared(builder: PlanBuilder, entities: Sequence[str], *, comparing: bool) -> list[str]:
    """Properties that all entities of one sort have, with values that differ clearly."""
    if len(set(entities)) != len(entities) or len({builder.traversals.kinds.sort(one) for one in entities}) != 1:
        return []
    found = []
    kind = builder.traversals.kinds.kind(entities[0])
    for measure in builder.traversals.measures(entities[0]):
        if comparing and not measure.entry.is_comparable(kind):
            continue
        if not comparing and isinstance(measure.value, dt.date):
            continue
        values = [measure.value]
        for entity in entities[1:]:
            other = next((m.value for m in builder.traversals.measures(entity) if m.property == measure.property), None)
            if other is None:
                break
            values.append(other)
        if len(values) == len(entities) and all(
            builder.traversals.differ(measure.property, a, b) and (not comparing or _is_open(a, b))
            for i, a in enumerate(values)
            for b in values[i + 1 :]
        ):
            found.append(measure.property)
    return found


def _is_open(one: Scalar, other: Scalar) -> bool:
    """Whether it takes the dates to tell which came first: nobody has to look up who of two generations died first."""
    return not isinstance(one, dt.date) or not isinstance(other, dt.date) or abs(one.year - other.year) <= _CLOSE


def choose_number(builder: PlanBuilder, entity: str, context: OperationContext) -> UsableLiteral:
    """A stable number of an entity that suits the reader. Raises PlanningDeadEnd without one."""
    found = list_numbers(builder, entity)
    if not found:
        raise PlanningDeadEnd(DeadEnd.NO_FITTING_NUMBER)
    return builder.prefer_measure(found)


def list_numbers(builder: PlanBuilder, entity: str) -> list[UsableLiteral]:
    """The stable numbers of an entity that can be asked for; of a country there are none, for any reader knows them."""
    if builder.traversals.kinds.kind(entity) == "country":
        return []
    return [
        m
        for m in builder.traversals.measures(entity)
        if m.entry.stable and m.entry.ask and not isinstance(m.value, dt.date)
    ]


def is_chosen_by(builder: PlanBuilder, state: StepOutput, properties: Sequence[str]) -> bool:
    """Whether an entity is the winner of a comparison by one of the properties."""
    derivation = builder.find_derivation(state.ref)
    return isinstance(derivation, Compute) and any(f"({one}, " in derivation.expression for one in properties)


def list_events(builder: PlanBuilder, entity: str) -> dict[str, int]:
    """Property → year of an entity's dated events."""
    return {
        measure.property: measure.value.year
        for measure in builder.traversals.measures(entity)
        if isinstance(measure.value, dt.date) and measure.entry.event
    }


def draw_others(builder: PlanBuilder, pool: Sequence[str], size: int, taken: Sequence[str] = ()) -> list[str]:
    """At most so many different entities of a pool that may be named together, and beside those taken."""
    others: list[str] = []
    words = {token for one in taken for token in builder.traversals.tokens(one)}
    for other in builder.rng.sample(
        pool, min(len(pool), MAX_ENTITIES_CONSIDERED if size > 1 else MAX_ENTITIES_CONSIDERED // 4)
    ):
        if other in others or other in taken or not builder.admits(other):
            continue
        tokens = builder.traversals.tokens(other)
        if words.isdisjoint(tokens):
            words |= tokens
            others.append(other)
            if len(others) == size:
                break
    return others


def read_value(builder: PlanBuilder, entity: str, property: str) -> Scalar:
    """The value of an entity's property. Raises PlanningDeadEnd where it has none."""
    for measure in builder.traversals.measures(entity):
        if measure.property == property:
            return measure.value
    raise PlanningDeadEnd(DeadEnd.LACKS_PROPERTY)


def has_full_date(measure: UsableLiteral) -> bool:
    """Whether a literal is a date to the day that can be asked for."""
    value = measure.value
    exact = isinstance(value, dt.date) and (value.month, value.day) != (1, 1)
    return exact and measure.entry.value == "date" and bool(measure.entry.ask)


def tidy_number(number: Decimal) -> int | Decimal:
    """A whole number as an int, else the decimal without idle zeros."""
    return int(number) if number == number.to_integral_value() else number.normalize()


def are_apart(builder: PlanBuilder, entities: Sequence[str], property: str) -> bool:
    """Whether the values of a property differ so clearly between any two entities that their order is beyond doubt."""
    values = []
    for entity in entities:
        measure = next((m for m in builder.traversals.measures(entity) if m.property == property), None)
        if measure is None:
            return False
        values.append(measure.value)
    return all(
        builder.traversals.differ(property, one, other) for i, one in enumerate(values) for other in values[i + 1 :]
    )


def full_date(builder: PlanBuilder, entity: str, property: str) -> dt.date | None:
    """The date of an entity's event where it is known to the day."""
    for measure in builder.traversals.measures(entity):
        if measure.property == property and has_full_date(measure):
            assert isinstance(measure.value, dt.date)
            return measure.value
    return None


def full_year(builder: PlanBuilder, entity: str, property: str) -> int | None:
    """The year of an entity's event, or None."""
    return list_events(builder, entity).get(property)


def list_closed_set(builder: PlanBuilder, property: str, entity: str) -> tuple[str, ...]:
    """All that an entity has of a property, where the graph holds just what a work of reference lists, and all of it
    can be named; else nothing.
    """
    listed = builder.traversals.table.closed.get(property, {}).get(entity, frozenset())
    held = tuple(dict.fromkeys(builder.traversals.facts.objects(entity, property)))
    return held if listed and listed == set(held) and all(map(builder.traversals.nameable, held)) else ()


def list_in_common(builder: PlanBuilder, one: str, other: str) -> list[tuple[str, str]]:
    """What two have in common, with the property, where the lists of both are whole and have one member in common."""
    found = []
    for property in sorted(builder.traversals.table.closed):
        mine, theirs = (list_closed_set(builder, property, entity) for entity in (one, other))
        common = [entity for entity in mine if entity in theirs]
        if len(common) == 1 and one not in theirs:
            found.append((property, common[0]))
    return found
