"""What operations draw on: values, events and numbers of entities, others of their sort, and how they are combined."""

from __future__ import annotations

import datetime as dt
import operator
from collections.abc import Callable, Sequence
from decimal import Decimal

from hopwright.planning.operations.base import EARLIEST, LATEST, OperationContext
from hopwright.planning.plan_builder import PlanBuilder, PlanningDeadEnd, StepOutput, Type
from hopwright.planning.traversals import UsableLiteral, spread
from hopwright.planning.year_targets import YearTarget
from hopwright.records.values import Scalar

MAX_ENTITIES_CONSIDERED = 120
PROPERTY_OF = operator.attrgetter("property")


def list_shared(builder: PlanBuilder, entities: Sequence[str], *, comparing: bool) -> list[str]:
    """Properties that all entities of one sort have, with values that differ clearly."""
    if len(set(entities)) != len(entities) or len({builder.traversals.kinds.sort(one) for one in entities}) != 1:
        return []
    found = []
    for measure in builder.traversals.measures(entities[0]):
        if comparing and not (measure.entry.more and measure.entry.less):
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
            builder.traversals.differ(measure.property, a, b) for i, a in enumerate(values) for b in values[i + 1 :]
        ):
            found.append(measure.property)
    return found


def choose_comparable(builder: PlanBuilder, entity: str) -> str:
    """A property by which others of its sort can be compared with an entity. Raises PlanningDeadEnd without one."""
    found = [measure for measure in builder.traversals.measures(entity) if measure.entry.more and measure.entry.less]
    if not found:
        raise PlanningDeadEnd("nothing to compare the entity by")
    # What does not change over the years makes the better question, where there is any.
    enduring = builder.traversals.roles.lasting
    lasting = [measure for measure in found if measure.entry.stable or measure.property in enduring]
    return builder.prefer_measure(lasting if lasting and builder.rng.random() < 0.5 else found).property


def choose_number(builder: PlanBuilder, entity: str, context: OperationContext) -> UsableLiteral:
    """A stable number of an entity that suits the reader. Raises PlanningDeadEnd without one."""
    found = list_numbers(builder, entity)
    if context.reader == "choose":
        found = [m for m in found if isinstance(m.value, int) and 6 <= m.value <= 400]
    if context.reader == "add":
        found = [m for m in found if any(how in ("sum", "difference") for how in list_ways(builder, m.property, 2))]
        if context.partners:
            found = [m for m in found if m.property == context.partners[0].of]
    if not found:
        raise PlanningDeadEnd("the entity has no number that suits")
    return builder.prefer_measure(found)


def list_numbers(builder: PlanBuilder, entity: str) -> list[UsableLiteral]:
    """The stable numbers of an entity that can be asked for."""
    return [
        m
        for m in builder.traversals.measures(entity)
        if m.entry.stable and m.entry.ask and not isinstance(m.value, dt.date)
    ]


def draw_measure(builder: PlanBuilder, context: OperationContext) -> UsableLiteral:
    """A stable number of some named entity that suits the reader. Raises PlanningDeadEnd without one."""
    for _ in range(30):
        measure = builder.targets.random_number(builder.rng)
        if measure is None:
            break
        if not builder.admits_random_property(measure.property) or not builder.admits(measure.entity):
            continue
        try:
            return choose_number(builder, measure.entity, context)
        except PlanningDeadEnd:
            continue
    raise PlanningDeadEnd("no named number suits")


def find_event(builder: PlanBuilder, near: Sequence[StepOutput], anchor: str, since: int = EARLIEST) -> UsableLiteral:
    """An event of a named entity, the anchor's where it has one, some years away from the partners' years."""
    years = [state.whole for state in near if state.type == "year"]
    if anchor:
        found = [m for m in builder.traversals.measures(anchor) if isinstance(m.value, dt.date) and m.entry.event]
        if not found:
            raise PlanningDeadEnd("the anchor has no dated event")
        return builder.prefer_measure(found)
    for _ in range(30):
        measure = builder.targets.random_event(builder.rng)
        if measure is None:
            break
        if not builder.admits_random_property(measure.property) or not builder.admits(measure.entity):
            continue
        if year_of(measure) >= since and all(2 <= abs(year_of(measure) - one) <= 300 for one in years):
            return measure
    raise PlanningDeadEnd("no event near the year")


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


def draw_sides(
    builder: PlanBuilder, pool: Sequence[str], counts: Callable[[str], bool | None], least: int
) -> tuple[list[str], int]:
    """Some entities that count and some that do not (None: neither), mixed; and how many of them count."""
    size = builder.rng.choice((4, 4, 5, 5, 6))
    wanted = builder.rng.randint(least, size - 1)
    sides: dict[bool, list[str]] = {True: [], False: []}
    for other in builder.rng.sample(pool, min(len(pool), MAX_ENTITIES_CONSIDERED)):
        if (verdict := counts(other)) is not None:
            sides[verdict].append(other)
    ours = draw_others(builder, sides[True], wanted)
    theirs = draw_others(builder, sides[False], size - wanted, ours)
    if len(ours) + len(theirs) < size:
        raise PlanningDeadEnd("too few to name beside it")
    others = [*ours, *theirs]
    builder.rng.shuffle(others)
    return others, wanted


def list_comparable(builder: PlanBuilder, entity: str, property: str) -> list[str]:
    """Entities of the same sort whose value of a property differs clearly from this one's."""
    traversals = builder.traversals
    mine = read_value(builder, entity, property)
    pool = spread(traversals.measured(property, traversals.kinds.sort(entity)), MAX_ENTITIES_CONSIDERED)
    return [
        one for one in pool if one != entity and traversals.differ(property, mine, read_value(builder, one, property))
    ]


def find_least_count(context: OperationContext) -> int:
    """A count that is multiplied into years has to be two at least."""
    return 2 if context.reader.startswith("dated") else 1


def add_count(builder: PlanBuilder, conditions: Sequence[str], count: int, context: OperationContext) -> StepOutput:
    """Append the step that counts the conditions that hold."""
    expression = f"count({', '.join(conditions)})"
    if len(expression) > 480:
        raise PlanningDeadEnd("the list is too long")
    return StepOutput("amount", builder.compute(expression, "counting", count), number=count)


def write_offset(builder: PlanBuilder, state: StepOutput, year: int) -> str:
    """An expression that leads from an amount to a year: `1968 - hop3`, `1900 + 7 * hop3`; empty when none fits."""
    if state.whole == 1:
        return ""
    times = builder.rng.choice((3, 4, 5, 6, 7, 8, 9, 11, 12)) if state.whole <= 6 else 1
    for before in builder.rng.sample((True, False), 2):
        base = year + times * state.whole if before else year - times * state.whole
        if EARLIEST <= base <= LATEST and base != year:
            return f"{base} {'-' if before else '+'} {f'{times} * ' if times > 1 else ''}{state.ref}"
    return ""


def list_ways(builder: PlanBuilder, property: str, size: int) -> list[str]:
    """The ways in which so many entities' numbers of a property may be joined: those that the table words."""
    entry = builder.traversals.table.literal[property]
    if not entry.stable:
        return []
    ways = [("sum", entry.combined), ("mean", entry.mean)]
    if size == 2:
        ways += [("difference", entry.differ), ("ratio", entry.ratio)]
    return [how for how, words in ways if words]


def read_value(builder: PlanBuilder, entity: str, property: str) -> Scalar:
    """The value of an entity's property. Raises PlanningDeadEnd where it has none."""
    for measure in builder.traversals.measures(entity):
        if measure.property == property:
            return measure.value
    raise PlanningDeadEnd("the entity lacks the property")


def find_input(inputs: Sequence[StepOutput], type: Type) -> StepOutput:
    """The input of a type."""
    return next(state for state in inputs if state.type == type)


def admits_target(builder: PlanBuilder, target: YearTarget) -> bool:
    """Whether a target may come in this time, by its properties."""
    return builder.admits_random_property(target.property, target.condition.property)


def year_of(measure: UsableLiteral) -> int:
    """The year of a date."""
    assert isinstance(measure.value, dt.date)
    return measure.value.year


def has_full_date(measure: UsableLiteral) -> bool:
    """Whether a literal is a date to the day that can be asked for."""
    value = measure.value
    exact = isinstance(value, dt.date) and (value.month, value.day) != (1, 1)
    return exact and measure.entry.value == "date" and bool(measure.entry.ask)


def tidy_number(number: Decimal) -> int | Decimal:
    """A whole number as an int, else the decimal without idle zeros."""
    return int(number) if number == number.to_integral_value() else number.normalize()
