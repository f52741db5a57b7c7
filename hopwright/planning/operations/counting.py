"""Computations that compare entities, and that count how many of several meet a condition."""

from __future__ import annotations

from collections.abc import Sequence

from hopwright.planning.moves import spread
from hopwright.planning.operations.base import Place
from hopwright.planning.operations.following import DULL, SHARERS, suits_reader
from hopwright.planning.operations.material import (
    LOOKED_AT,
    add_count,
    choose_comparable,
    draw_others,
    draw_sides,
    find_event,
    find_least_count,
    list_shared,
    read_value,
)
from hopwright.planning.sketch import DeadEnd, Sketch, State


def compare(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """Whichever of several entities has the largest or the smallest value of a property."""
    shared = list_shared(sketch, [state.entity for state in inputs], comparing=True)
    weights = sketch.taste.weights
    shared.sort(key=lambda name: sketch.rng.random() ** (1 / weights.get(name, 1.0)), reverse=True)
    wanted = place.forced  # an anchor's hop that goes on from the winner
    for property in shared[:6]:
        values = {state.entity: read_value(sketch, state.entity, property) for state in inputs}
        ranked = sorted(inputs, key=lambda state: values[state.entity])
        largest = sketch.rng.random() < 0.5
        winner = ranked[-1] if largest else ranked[0]
        if wanted is not None and winner.entity not in (wanted.subject, wanted.object):
            largest = not largest
            winner = ranked[-1] if largest else ranked[0]
        if wanted is not None and winner.entity not in (wanted.subject, wanted.object):
            continue
        if not suits_reader(sketch, place)(winner.entity):
            continue
        name = "argmax" if largest else "argmin"
        ref = sketch.compute(
            f"{name}({property}, {', '.join(state.ref for state in inputs)})", "comparison", winner.entity
        )
        return State("entity", ref, winner.entity)
    raise DeadEnd("the entities have nothing to compare them by")


def ahead(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """How many of several named entities have more, or less, of something than an entity."""
    (state,) = inputs
    property = choose_comparable(sketch, state.entity)
    mine = read_value(sketch, state.entity, property)
    more = sketch.rng.random() < 0.5
    pool = sketch.moves.measured(property, sketch.moves.kinds.sort(state.entity))
    others, count = draw_sides(
        sketch,
        [one for one in spread(pool, LOOKED_AT) if one != state.entity],
        lambda other: (
            (value > mine) == more  # type: ignore[operator]
            if sketch.moves.differ(property, mine, value := read_value(sketch, other, property))
            else None
        ),
        find_least_count(place),
    )
    sketch.take(*others)
    sign = ">" if more else "<"
    conditions = [f"value({property}, {other}) {sign} value({property}, {state.ref})" for other in others]
    return add_count(sketch, conditions, count, place)


def later(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """How many of several named entities have their event after, or before, a looked-up year."""
    (state,) = inputs
    seed = find_event(sketch, inputs, "")
    pool = sketch.moves.measured(seed.property, sketch.moves.kinds.sort(seed.entity))
    after = sketch.rng.random() < 0.5
    others, count = draw_sides(
        sketch,
        spread(pool, LOOKED_AT),
        lambda other: (
            (held > state.whole) == after
            if (held := read_value(sketch, other, seed.property).year) != state.whole  # type: ignore[union-attr]
            else None
        ),
        find_least_count(place),
    )
    sketch.take(*others)
    sign = ">" if after else "<"
    return add_count(
        sketch, [f"year(value({seed.property}, {other})) {sign} {state.ref}" for other in others], count, place
    )


def members(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """How many of several named subjects have an entity as their one object of a property."""
    (state,) = inputs
    by_property = sketch.moves.shared_by(state.entity)
    usable = [one for one, edges in by_property.items() if len(edges) >= SHARERS and one not in DULL]
    if not usable:
        raise DeadEnd("too few have the entity as theirs")
    property = sketch.prefer_name(usable)
    edges = by_property[property]
    sort = sketch.moves.kinds.sort(sketch.rng.choice(edges).subject)
    mine = [edge.subject for edge in edges if sketch.moves.kinds.sort(edge.subject) == sort]
    theirs = [edge.subject for edge in sketch.moves.alike(property, sort) if edge.object != state.entity]
    size = sketch.rng.choice((4, 4, 5, 5, 6))
    ours = draw_others(sketch, mine, size - 1)
    least = find_least_count(place)
    if len(ours) < least:
        raise DeadEnd("too few have the entity as theirs")
    count = sketch.rng.randint(least, len(ours))
    ours = ours[:count]
    others = draw_others(sketch, theirs, size - count, ours)
    if len(ours) + len(others) < size:
        raise DeadEnd("too few to name beside it")
    listed = [*ours, *others]
    sketch.rng.shuffle(listed)
    sketch.take(*listed)
    return add_count(sketch, [f"object({property}, {one}) == {state.ref}" for one in listed], count, place)
