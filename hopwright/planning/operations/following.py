"""Whether operations can follow on an entity, and where to find entities on which they can."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Sequence

from hopwright.planning.operations.base import Place
from hopwright.planning.operations.material import (
    has_full_date,
    lets_target_in,
    list_events,
    list_numbers,
    list_shared,
    list_ways,
)
from hopwright.planning.sketch import WITHIN, DeadEnd, Sketch

# Whether a film is about something, or something lies somewhere, is no question to count over a list.
DULL = frozenset({"P921", "P138", "P6885", "P7938"})
# Fewer than so many do not give a list in which some of them stand beside others.
SHARERS = 3
OUTWARD = "extend-outward"
"""A look-up that may not say in what its subject lies: one that does has come before it."""
_REMEMBERED = 150_000
"""So many answers to "can these operations follow on this entity" are kept."""
OF_LIKE = frozenset({"compare", "between-two", "total-two", "compare-three"})
_MEASURED = frozenset({"year", "date", "number", "ahead", "compare", "compare-three", "total", "between", "rate"})


def suits_reader(sketch: Sketch, place: Place) -> Callable[[str], bool]:
    """Whether an entity has what the operation that reads it needs."""
    return suits(sketch, place.readers)


def suits(sketch: Sketch, readers: Sequence[str]) -> Callable[[str], bool]:
    """Whether an entity has what the operations that follow need, look-ups looked through to what comes after them."""
    return functools.partial(_can_follow, sketch, tuple(readers))


def goes_on(sketch: Sketch, readers: tuple[str, ...], entity: str) -> bool:
    """Whether operations can follow on an entity in this very plan: what it leads to has to be free as well."""
    if readers[:1] != ("extend",):
        return _can_follow(sketch, readers, entity)
    edges = [(edge.property, edge.object) for edge in sketch.moves.lookups_from(entity)]
    edges += [(edge.property, edge.subject) for edge in sketch.moves.reverse_from(entity)]
    return any(
        sketch.admits(other) and _can_follow(sketch, _follow(readers, property), other) for property, other in edges
    )


def find_measured(sketch: Sketch, place: Place) -> str | None:
    """An entity with a literal that the reader can use, and to which a question leads: such are rarer than facts."""
    if place.reader in ("dated-among", "dated-stated"):
        for _ in range(20):
            target = sketch.targets.any(sketch.rng)
            if target is None or sketch.refuses_target(target) or not lets_target_in(sketch, target):
                continue
            if sketch.moves.lookups_to(entity := target.condition.object) and sketch.admits(entity):
                return entity
        return None
    if place.reader not in _MEASURED:
        return None
    wanted = suits_reader(sketch, place)
    for _ in range(30):
        dated = place.reader in ("year", "date", "between") or (
            place.reader.startswith("compare") and sketch.rng.random() < 0.3
        )
        measure = sketch.targets.random_event(sketch.rng) if dated else sketch.targets.random_number(sketch.rng)
        if measure is None:
            break
        entity = measure.entity
        if not sketch.lets_in(measure.property):
            continue
        if sketch.moves.lookups_to(entity) and sketch.admits(entity) and wanted(entity):
            return entity
    return None


def find_like(sketch: Sketch, entity: str, reader: str) -> str:
    """Another entity of the same sort that can be compared, or that has an event in common."""
    if reader == "between-two":
        properties = sorted(list_events(sketch, entity))
    elif reader == "total-two":
        properties = [m.property for m in sketch.moves.measures(entity) if list_ways(sketch, m.property, 2)]
    else:
        properties = [m.property for m in sketch.moves.measures(entity) if m.entry.more and m.entry.less]
    if not properties:
        raise DeadEnd("nothing to compare the entity by")
    for _ in range(10):
        other = sketch.moves.comparable(entity, sketch.rng.choice(properties), sketch.rng)
        if other is not None and sketch.admits(other) and sketch.moves.lookups_to(other):
            return other
    raise DeadEnd("nothing comparable")


def are_like(sketch: Sketch, one: str, other: str, reader: str) -> bool:
    """Whether two entities are of one sort and have in common what a reader compares, adds or measures between."""
    if one == other or sketch.moves.kinds.sort(one) != sketch.moves.kinds.sort(other):
        return False
    if reader == "between-two":
        return bool(list_events(sketch, one).keys() & list_events(sketch, other).keys())
    return bool(list_shared(sketch, [one, other], comparing=reader.startswith("compare")))


def _can_follow(sketch: Sketch, readers: tuple[str, ...], entity: str) -> bool:
    if not readers:
        return True
    known, most = sketch.moves.followed, sketch.passable
    if (verdict := known.get((readers, entity, most))) is None:
        if readers[0] in ("extend", OUTWARD):
            edges = [(edge.property, edge.object) for edge in sketch.moves.lookups_from(entity)]
            edges += [(edge.property, edge.subject) for edge in sketch.moves.reverse_from(entity)]
            verdict = any(
                not (readers[0] == OUTWARD and property in WITHIN)
                and sketch.moves.degree(other) <= most
                and _can_follow(sketch, _follow(readers, property), other)
                for property, other in edges
            )
        else:
            verdict = _need_of(sketch, readers[0])(entity)
        if len(known) >= _REMEMBERED:
            known.clear()
        known[readers, entity, most] = verdict
    return verdict


def _follow(readers: tuple[str, ...], property: str) -> tuple[str, ...]:
    """What is left to follow after a look-up along a property."""
    if property in WITHIN and readers[1:2] == ("extend",):
        return (OUTWARD, *readers[2:])
    return readers[1:]


def _need_of(sketch: Sketch, reader: str) -> Callable[[str], bool]:
    """What an operation needs of the entity that it reads."""
    measures = sketch.moves.measures
    if reader in ("year", "between", "between-two"):
        return lambda entity: any(isinstance(m.value, dt.date) and m.entry.event for m in measures(entity))
    if reader == "date":
        return lambda entity: any(has_full_date(m) for m in measures(entity))
    if reader == "number":
        return lambda entity: bool(list_numbers(sketch, entity))
    if reader in ("ahead", "compare", "compare-three"):
        return lambda entity: any(m.entry.more and m.entry.less for m in measures(entity))
    if reader in ("total", "total-two"):
        return lambda entity: any(list_ways(sketch, m.property, 2) for m in measures(entity))
    if reader == "rate":
        return lambda entity: any(m.entry.per for m in measures(entity))
    if reader == "members":
        shared_by = sketch.moves.shared_by
        return lambda entity: any(len(e) >= SHARERS and one not in DULL for one, e in shared_by(entity).items())
    if reader in ("dated-stated", "dated-among"):
        return lambda entity: bool(sketch.targets.conditioned(entity))
    return lambda entity: True
