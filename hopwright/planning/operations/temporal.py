"""Computations over years: distances, ages, and years so far away from others."""

from __future__ import annotations

from collections.abc import Sequence

from hopwright.planning.operations.base import LATEST, Place
from hopwright.planning.operations.material import find_event, find_input, list_events, year_of
from hopwright.planning.sketch import DeadEnd, Sketch, State

_CENTENARIAN = 100


def between(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """The years between the same event of two entities; of one, and of a named one of its sort."""
    one = inputs[0]
    mine = list_events(sketch, one.entity)
    if len(inputs) == 2:
        other, ref = inputs[1].entity, inputs[1].ref
    else:
        if not mine:
            raise DeadEnd("the entity has no dated event")
        property = sketch.prefer_name(sorted(mine))
        found = sketch.moves.comparable(one.entity, property, sketch.rng)
        if found is None or not sketch.admits(found):
            raise DeadEnd("nothing comparable")
        other = ref = found
        sketch.take(other)
    theirs = list_events(sketch, other)
    shared = sorted(mine.keys() & theirs.keys())
    if not shared:
        raise DeadEnd("the two have no event in common")
    property = sketch.prefer_name(shared)
    years = abs(mine[property] - theirs[property])
    if years < 2:
        raise DeadEnd("the years are too close")
    expression = f"abs(year(value({property}, {one.ref})) - year(value({property}, {ref})))"
    return State("amount", sketch.compute(expression, "temporal", years, "years"), number=years, unit="years")


def apart(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """The years between looked-up years: two, or the first and the last of several."""
    values = [state.whole for state in inputs]
    years = max(values) - min(values)
    if years < 2 or len(set(values)) != len(values):
        raise DeadEnd("the years are too close")
    refs = [state.ref for state in inputs]
    joined = ", ".join(refs)
    expression = f"max({joined}) - min({joined})" if len(refs) > 2 else f"abs({refs[0]} - {refs[1]})"
    return State("amount", sketch.compute(expression, "temporal", years, "years"), number=years, unit="years")


def apart_named(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """The years between a looked-up year and the event of a named entity."""
    (state,) = inputs
    measure = find_event(sketch, inputs, "")
    sketch.take(measure.entity)
    years = abs(year_of(measure) - state.whole)
    expression = f"abs({state.ref} - year(value({measure.property}, {measure.entity})))"
    return State("amount", sketch.compute(expression, "temporal", years, "years"), number=years, unit="years")


def age_named(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """How old a named person turned in a looked-up year."""
    (state,) = inputs
    for _ in range(30):
        measure = sketch.targets.random_event(sketch.rng, property="P569")
        if measure is None:
            break
        years = state.whole - year_of(measure)
        if 4 <= years <= _CENTENARIAN and sketch.admits(measure.entity) and _lived(sketch, measure.entity, state.whole):
            sketch.take(measure.entity)
            expression = f"{state.ref} - year(value(P569, {measure.entity}))"
            return State("amount", sketch.compute(expression, "temporal", years, "years"), number=years, unit="years")
    raise DeadEnd("nobody was born in time")


def shift(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """A year so many years before or after a looked-up year: an amount of another hop, or a stated one."""
    base = find_input(inputs, "year")
    if len(inputs) == 2:
        offset = find_input(inputs, "amount")
        if offset.whole < 6:
            raise DeadEnd("so few years are no distance")
        ways = (("+", base.whole + offset.whole), ("-", base.whole - offset.whole))
        options = [(sign, year) for sign, year in ways if year < LATEST]
        if place.reader.startswith("dated"):
            options = [(sign, y) for sign, y in options if sketch.targets.of_year(y)] or options
        sign, moved = sketch.rng.choice(options)
        expression = f"{base.ref} {sign} {offset.ref}"
    else:
        apart = sketch.rng.choice((7, 9, 10, 12, 15, 18, 20, 21, 25, 30, 33, 40, 50, 60, 75, 99, 100))
        reached = (("+", base.whole + apart), ("-", base.whole - apart))
        signs = [sign for sign, year in reached if 1000 < year < LATEST]
        if not signs:
            raise DeadEnd("the year lies in the future")
        sign = sketch.rng.choice(signs)
        moved = base.whole + apart if sign == "+" else base.whole - apart
        expression = f"{base.ref} {sign} {apart}"
    if moved == base.whole:
        raise DeadEnd("the years are too close")
    ref = sketch.compute(expression, "temporal", moved, "year")
    return State("year", ref, number=moved, unit="year")


def _lived(sketch: Sketch, person: str, year: int) -> bool:
    """Whether nothing speaks against the person's being alive in the year."""
    death = list_events(sketch, person).get("P570")
    return death is None or death >= year
