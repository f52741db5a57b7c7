"""Look-ups: from entity to entity, to a literal, and back from a year to what it singles out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from hopwright.planning.operations.base import EARLIEST, Place
from hopwright.planning.operations.following import OF_LIKE, are_like, find_like, find_measured, suits_reader
from hopwright.planning.operations.material import (
    PROPERTY_OF,
    choose_number,
    draw_measure,
    find_event,
    find_input,
    lets_target_in,
    write_offset,
    year_of,
)
from hopwright.planning.sketch import DeadEnd, Sketch, State
from hopwright.planning.targets import Target

_MODERN = 1950


def lead(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """A named subject's fact, or an entity found by two of its facts."""
    if place.forced is not None:
        return sketch.walk(place.forced)
    wanted = suits_reader(sketch, place)
    if place.partners and place.reader in OF_LIKE:
        return sketch.lead(find_like(sketch, place.partners[0].entity, place.reader))
    if place.anchor and wanted(place.anchor) and sketch.moves.lookups_to(place.anchor):
        return sketch.lead(place.anchor)
    if place.anchor:
        # The anchor itself is asked about.
        sketch.take(place.anchor)
        return sketch.extend(State("entity", place.anchor, place.anchor), wanted)
    if (entity := find_measured(sketch, place)) is not None:
        return sketch.lead(entity)
    edge = sketch.random_edge(wanted, within=place.reader != "extend")
    if edge is None:
        raise DeadEnd(f"no fact of the graph suits {place.reader or 'the end'}")
    return sketch.walk(edge)


def extend(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """From an entity to another."""
    (state,) = inputs
    if place.forced is not None:
        edge = place.forced
        if state.entity == edge.subject:
            return sketch.walk(edge, state.ref)
        if state.entity == edge.object:
            return sketch.walk(edge, state.ref, backward=True)
        raise DeadEnd("the anchor's second hop does not follow")
    wanted = suits_reader(sketch, place)
    if place.partners and place.reader in OF_LIKE:
        partner = place.partners[0]
        return sketch.extend(
            state, lambda entity: wanted(entity) and are_like(sketch, partner.entity, entity, place.reader)
        )
    return sketch.extend(state, wanted)


def year(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """The year of an entity's event."""
    found = [m for m in sketch.moves.measures(inputs[0].entity) if isinstance(m.value, dt.date) and m.entry.event]
    if place.reader == "age":
        found = [m for m in found if year_of(m) >= _MODERN]
    if place.partners and place.partners[0].type == "year":
        near = [m for m in found if 2 <= abs(year_of(m) - place.partners[0].whole) <= 300]
        found = near
    if not found:
        raise DeadEnd("the entity has no dated event that suits")
    return sketch.measure(inputs[0].ref, sketch.prefer_measure(found))


def date(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """The full date of an entity's event."""
    found = [m for m in sketch.moves.measures(inputs[0].entity) if isinstance(m.value, dt.date) and m.entry.ask]
    if not found:
        raise DeadEnd("the entity has no full date")
    return sketch.measure(inputs[0].ref, sketch.prefer_measure(found), full_date=True)


def number(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """A stable number of an entity."""
    return sketch.measure(inputs[0].ref, choose_number(sketch, inputs[0].entity, place))


def named_year(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """The year of a named entity's event; the anchor's where it has one."""
    measure = find_event(sketch, place.partners, place.anchor, _MODERN if place.reader == "age" else EARLIEST)
    sketch.take(measure.entity)
    return sketch.measure(measure.entity, measure)


def named_number(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """A stable number of a named entity: of a partner's kind, so that the two can be added."""
    if place.partners:
        partner = place.partners[0]
        other = sketch.moves.comparable(partner.entity, partner.of, sketch.rng)
        if other is None or not sketch.admits(other):
            raise DeadEnd("nothing comparable")
        measure = next(m for m in sketch.moves.measures(other) if m.property == partner.of)
    else:
        measure = draw_measure(sketch, place)
    sketch.take(measure.entity)
    return sketch.measure(measure.entity, measure)


def dated(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """What a year, or a year some years away from it, singles out."""
    (state,) = inputs
    wanted = suits_reader(sketch, place)
    for _ in range(20):
        target = sketch.targets.near(state.whole, sketch.rng, within=60)
        if target is None:
            break
        if not wanted(target.entity) or sketch.refuses_target(target) or not lets_target_in(sketch, target):
            continue
        apart = target.year - state.whole
        if abs(apart) >= 2:
            return sketch.dated(f"{state.ref} {'+' if apart > 0 else '-'} {abs(apart)}", target)
    raise DeadEnd("no target near the year")


def dated_by_amount(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """What lies so many years (or a small multiple of them) before or after a year that the question states."""
    (state,) = inputs
    wanted = suits_reader(sketch, place)
    for _ in range(20):
        target = sketch.targets.any(sketch.rng)
        if target is None:
            break
        if not wanted(target.entity) or not sketch.admits(target.entity) or sketch.refuses_target(target):
            continue
        if lets_target_in(sketch, target) and (value := write_offset(sketch, state, target.year)):
            return sketch.dated(value, target)
    raise DeadEnd("no target fits")


def dated_among(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """Of those that stand in a relation to an entity, the one that a computed year singles out."""
    entity = next(state for state in inputs if state.type == "entity")
    other = next(state for state in inputs if state.type != "entity")
    wanted = suits_reader(sketch, place)
    targets = [t for t in sketch.open_targets(entity.entity) if wanted(t.entity)]
    sketch.rng.shuffle(targets)
    for target in targets[:8]:
        if other.type == "amount":
            value = write_offset(sketch, other, target.year)
        else:
            apart = target.year - other.whole
            value = f"{other.ref} {'+' if apart > 0 else '-'} {abs(apart)}" if 2 <= abs(apart) <= 150 else ""
        if value and sketch.admits(target.entity):
            return sketch.dated(value, target, constraint=entity.ref)
    raise DeadEnd("nothing dated stands in a relation to it")


def dated_stated(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """Of those that stand in a relation to an entity, the one that a stated year singles out."""
    wanted = suits_reader(sketch, place)
    targets = [t for t in sketch.open_targets(inputs[0].entity) if sketch.admits(t.entity) and wanted(t.entity)]
    if not targets:
        raise DeadEnd("nothing dated stands in a relation to it")
    target = sketch.prefer(targets, PROPERTY_OF)
    return sketch.dated(str(target.year), target, constraint=inputs[0].ref)


def dated_by_both(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """What lies so many years before or after a looked-up year."""
    base, offset = find_input(inputs, "year"), find_input(inputs, "amount")
    if offset.whole < 6:
        raise DeadEnd("so few years are no distance")
    options: list[tuple[str, Target]] = []
    for sign, moved in (("+", base.whole + offset.whole), ("-", base.whole - offset.whole)):
        options += [
            (sign, t) for t in sketch.targets.of_year(moved) if sketch.admits(t.entity) and not sketch.refuses_target(t)
        ]
    if not options:
        raise DeadEnd("the year has no target")
    sign, target = sketch.prefer(options, lambda option: option[1].property)
    return sketch.dated(f"{base.ref} {sign} {offset.ref}", target)
