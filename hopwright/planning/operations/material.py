"""What operations draw on: values, events and numbers of entities, others of their sort, and how they are combined."""

from __future__ import annotations

import datetime as dt
import operator
from collections.abc import Callable, Sequence
from decimal import Decimal

from hopwright.planning.moves import Measure, spread
from hopwright.planning.operations.base import EARLIEST, LATEST, Place
from hopwright.planning.sketch import DeadEnd, Sketch, State, Type
from hopwright.planning.targets import Target
from hopwright.records.values import Scalar

# Values that do change, but whose order practically does not: area, population.
_LASTING = frozenset({"P2046", "P1082"})
LOOKED_AT = 120
PROPERTY_OF = operator.attrgetter("property")


def list_shared(sketch: Sketch, entities: Sequence[str], *, comparing: bool) -> list[str]:
    """Properties that all entities of one sort have, with values that differ clearly."""
    if len(set(entities)) != len(entities) or len({sketch.moves.kinds.sort(one) for one in entities}) != 1:
        return []
    found = []
    for measure in sketch.moves.measures(entities[0]):
        if comparing and not (measure.entry.more and measure.entry.less):
            continue
        if not comparing and isinstance(measure.value, dt.date):
            continue
        values = [measure.value]
        for entity in entities[1:]:
            other = next((m.value for m in sketch.moves.measures(entity) if m.property == measure.property), None)
            if other is None:
                break
            values.append(other)
        if len(values) == len(entities) and all(
            sketch.moves.differ(measure.property, a, b) for i, a in enumerate(values) for b in values[i + 1 :]
        ):
            found.append(measure.property)
    return found


def choose_comparable(sketch: Sketch, entity: str) -> str:
    """A property by which others of its sort can be compared with an entity. Raises DeadEnd without one."""
    found = [measure for measure in sketch.moves.measures(entity) if measure.entry.more and measure.entry.less]
    if not found:
        raise DeadEnd("nothing to compare the entity by")
    # What does not change over the years makes the better question, where there is any.
    lasting = [measure for measure in found if measure.entry.stable or measure.property in _LASTING]
    return sketch.prefer_measure(lasting if lasting and sketch.rng.random() < 0.5 else found).property


def choose_number(sketch: Sketch, entity: str, place: Place) -> Measure:
    """A stable number of an entity that suits the reader. Raises DeadEnd without one."""
    found = list_numbers(sketch, entity)
    if place.reader == "choose":
        found = [m for m in found if isinstance(m.value, int) and 6 <= m.value <= 400]
    if place.reader == "add":
        found = [m for m in found if any(how in ("sum", "difference") for how in list_ways(sketch, m.property, 2))]
        if place.partners:
            found = [m for m in found if m.property == place.partners[0].of]
    if not found:
        raise DeadEnd("the entity has no number that suits")
    return sketch.prefer_measure(found)


def list_numbers(sketch: Sketch, entity: str) -> list[Measure]:
    """The stable numbers of an entity that can be asked for."""
    return [
        m for m in sketch.moves.measures(entity) if m.entry.stable and m.entry.ask and not isinstance(m.value, dt.date)
    ]


def draw_measure(sketch: Sketch, place: Place) -> Measure:
    """A stable number of some named entity that suits the reader. Raises DeadEnd without one."""
    for _ in range(30):
        measure = sketch.targets.random_number(sketch.rng)
        if measure is None:
            break
        if not sketch.lets_in(measure.property) or not sketch.admits(measure.entity):
            continue
        try:
            return choose_number(sketch, measure.entity, place)
        except DeadEnd:
            continue
    raise DeadEnd("no named number suits")


def find_event(sketch: Sketch, near: Sequence[State], anchor: str, since: int = EARLIEST) -> Measure:
    """An event of a named entity, the anchor's where it has one, some years away from the partners' years."""
    years = [state.whole for state in near if state.type == "year"]
    if anchor:
        found = [m for m in sketch.moves.measures(anchor) if isinstance(m.value, dt.date) and m.entry.event]
        if not found:
            raise DeadEnd("the anchor has no dated event")
        return sketch.prefer_measure(found)
    for _ in range(30):
        measure = sketch.targets.random_event(sketch.rng)
        if measure is None:
            break
        if not sketch.lets_in(measure.property) or not sketch.admits(measure.entity):
            continue
        if year_of(measure) >= since and all(2 <= abs(year_of(measure) - one) <= 300 for one in years):
            return measure
    raise DeadEnd("no event near the year")


def list_events(sketch: Sketch, entity: str) -> dict[str, int]:
    """Property → year of an entity's dated events."""
    return {
        measure.property: measure.value.year
        for measure in sketch.moves.measures(entity)
        if isinstance(measure.value, dt.date) and measure.entry.event
    }


def draw_others(sketch: Sketch, pool: Sequence[str], size: int, taken: Sequence[str] = ()) -> list[str]:
    """At most so many different entities of a pool that may be named together, and beside those taken."""
    others: list[str] = []
    words = {token for one in taken for token in sketch.moves.tokens(one)}
    for other in sketch.rng.sample(pool, min(len(pool), LOOKED_AT if size > 1 else LOOKED_AT // 4)):
        if other in others or other in taken or not sketch.admits(other):
            continue
        tokens = sketch.moves.tokens(other)
        if words.isdisjoint(tokens):
            words |= tokens
            others.append(other)
            if len(others) == size:
                break
    return others


def draw_sides(
    sketch: Sketch, pool: Sequence[str], counts: Callable[[str], bool | None], least: int
) -> tuple[list[str], int]:
    """Some entities that count and some that do not (None: neither), mixed; and how many of them count."""
    size = sketch.rng.choice((4, 4, 5, 5, 6))
    wanted = sketch.rng.randint(least, size - 1)
    sides: dict[bool, list[str]] = {True: [], False: []}
    for other in sketch.rng.sample(pool, min(len(pool), LOOKED_AT)):
        if (verdict := counts(other)) is not None:
            sides[verdict].append(other)
    ours = draw_others(sketch, sides[True], wanted)
    theirs = draw_others(sketch, sides[False], size - wanted, ours)
    if len(ours) + len(theirs) < size:
        raise DeadEnd("too few to name beside it")
    others = [*ours, *theirs]
    sketch.rng.shuffle(others)
    return others, wanted


def list_comparable(sketch: Sketch, entity: str, property: str) -> list[str]:
    """Entities of the same sort whose value of a property differs clearly from this one's."""
    moves = sketch.moves
    mine = read_value(sketch, entity, property)
    pool = spread(moves.measured(property, moves.kinds.sort(entity)), LOOKED_AT)
    return [one for one in pool if one != entity and moves.differ(property, mine, read_value(sketch, one, property))]


def find_least_count(place: Place) -> int:
    """A count that is multiplied into years has to be two at least."""
    return 2 if place.reader.startswith("dated") else 1


def add_count(sketch: Sketch, conditions: Sequence[str], count: int, place: Place) -> State:
    """Append the step that counts the conditions that hold."""
    expression = f"count({', '.join(conditions)})"
    if len(expression) > 480:
        raise DeadEnd("the list is too long")
    return State("amount", sketch.compute(expression, "counting", count), number=count)


def write_offset(sketch: Sketch, state: State, year: int) -> str:
    """An expression that leads from an amount to a year: `1968 - hop3`, `1900 + 7 * hop3`; empty when none fits."""
    if state.whole == 1:
        return ""
    times = sketch.rng.choice((3, 4, 5, 6, 7, 8, 9, 11, 12)) if state.whole <= 6 else 1
    for before in sketch.rng.sample((True, False), 2):
        base = year + times * state.whole if before else year - times * state.whole
        if EARLIEST <= base <= LATEST and base != year:
            return f"{base} {'-' if before else '+'} {f'{times} * ' if times > 1 else ''}{state.ref}"
    return ""


def list_ways(sketch: Sketch, property: str, size: int) -> list[str]:
    """The ways in which so many entities' numbers of a property may be joined: those that the table words."""
    entry = sketch.moves.table.literal[property]
    if not entry.stable:
        return []
    ways = [("sum", entry.combined), ("mean", entry.mean)]
    if size == 2:
        ways += [("difference", entry.differ), ("ratio", entry.ratio)]
    return [how for how, words in ways if words]


def read_value(sketch: Sketch, entity: str, property: str) -> Scalar:
    """The value of an entity's property. Raises DeadEnd where it has none."""
    for measure in sketch.moves.measures(entity):
        if measure.property == property:
            return measure.value
    raise DeadEnd("the entity lacks the property")


def find_input(inputs: Sequence[State], type: Type) -> State:
    """The input of a type."""
    return next(state for state in inputs if state.type == type)


def lets_target_in(sketch: Sketch, target: Target) -> bool:
    """Whether a target may come in this time, by its properties."""
    return sketch.lets_in(target.property, target.condition.property)


def year_of(measure: Measure) -> int:
    """The year of a date."""
    assert isinstance(measure.value, dt.date)
    return measure.value.year


def has_full_date(measure: Measure) -> bool:
    """Whether a literal is a date to the day that can be asked for."""
    value = measure.value
    exact = isinstance(value, dt.date) and (value.month, value.day) != (1, 1)
    return exact and measure.entry.value == "date" and bool(measure.entry.ask)


def tidy_number(number: Decimal) -> int | Decimal:
    """A whole number as an int, else the decimal without idle zeros."""
    return int(number) if number == number.to_integral_value() else number.normalize()
