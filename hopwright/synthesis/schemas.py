"""The shapes of plans: for each topology, the ways in which look-ups and computations may be combined.

A schema is a function that takes a fresh sketch and an anchor and adds exactly the topology's steps, or raises DeadEnd.
Weights say how often each is tried first; the planner falls back on the others.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from hopwright.synthesis.generic import sketch_any
from hopwright.synthesis.sketch import DeadEnd, Sketch
from hopwright.synthesis.topologies import Topology

Schema = Callable[[Sketch, str], None]


def chain_compare_early(sketch: Sketch, anchor: str) -> None:
    """Entity, compared with a named one, then two look-ups."""
    at = sketch.compare_with_named(*sketch.start(anchor))
    sketch.finish(*sketch.extend(*at))


def chain_compare_late(sketch: Sketch, anchor: str) -> None:
    """Two look-ups, compared with a named one, then a last look-up."""
    sketch.finish(*sketch.compare_with_named(*sketch.extend(*sketch.start(anchor))))


def chain_years_to_event(sketch: Sketch, anchor: str) -> None:
    """Two look-ups, a year, and the years between it and a named event."""
    sketch.years_to_named(*sketch.year(*sketch.extend(*sketch.start(anchor))))


def chain_years_between(sketch: Sketch, anchor: str) -> None:
    """Three look-ups, and the years between an event of the last entity and the same event of a named one."""
    at = sketch.extend(*sketch.extend(*sketch.start(anchor)))
    other = sketch.peer(at[1])
    sketch.claim(other)
    sketch.years_between(at, (other, other))


def chain_year_shift(sketch: Sketch, anchor: str) -> None:
    """A look-up, a year, a year some years away, and what that year singles out."""
    reference, year = sketch.year(*sketch.start(anchor))
    target = sketch.targets.near(year, sketch.rng, within=60)
    if target is None:
        raise DeadEnd("no target near the year")
    sketch.dated_target(sketch.shift_year(reference, year, target.year), target.year, target)


def chain_year_shift_early(sketch: Sketch, anchor: str) -> None:
    """A year, a year some years away, what that year singles out, and a last look-up on it."""
    sketch.claim(anchor)
    reference, year = sketch.year(anchor, anchor)
    target = sketch.targets.near(year, sketch.rng, within=60)
    if target is None:
        raise DeadEnd("no target near the year")
    found = sketch.dated_target(sketch.shift_year(reference, year, target.year), target.year, target)
    sketch.finish(found, target.entity, known=target.property)


def chain_years_from_event(sketch: Sketch, anchor: str) -> None:
    """A look-up, a year, its distance to a named event, and what lies that far from a round year."""
    _, apart = sketch.years_to_named(*sketch.year(*sketch.start(anchor)))
    _add_offset_target(sketch, "hop3", apart)


def chain_selection(sketch: Sketch, anchor: str) -> None:
    """Two look-ups, a number, and the ways to choose from so many."""
    reference, number, measure = sketch.number(*sketch.extend(*sketch.start(anchor)))
    if measure.property != "P1132":
        raise DeadEnd("only participants are chosen from")
    sketch.selections(reference, number)


def chain_tally(sketch: Sketch, anchor: str) -> None:
    """Three look-ups and a count of comparisons won."""
    sketch.tally(*sketch.extend(*sketch.extend(*sketch.start(anchor))))


def converging_compare(sketch: Sketch, anchor: str) -> None:
    """Two look-ups, compared, then a look-up on the winner."""
    one = sketch.start(anchor)
    property = sketch.comparable_property(one[1])
    other = sketch.moves.comparable(one[1], property, sketch.rng)
    if other is None:
        raise DeadEnd("nothing comparable")
    two = sketch.lead(other)
    sketch.finish(*sketch.compare(one, two, property))


def converging_years_between(sketch: Sketch, anchor: str) -> None:
    """Two look-ups, the years between the same event of both, and what lies that far from a round year."""
    one = sketch.start(anchor)
    _, apart = sketch.years_between(one, sketch.lead(sketch.peer(one[1])))
    _add_offset_target(sketch, "hop3", apart)


def converging_years(sketch: Sketch, anchor: str) -> None:
    """Two years, the years between them, and what lies that far from a round year."""
    sketch.claim(anchor)
    one = sketch.year(anchor, anchor)
    _, apart = sketch.years_apart([one, sketch.named_year(one[1])])
    _add_offset_target(sketch, "hop3", apart)


def converging_year_and_count(sketch: Sketch, anchor: str) -> None:
    """A year and a number of committees, added or subtracted, and what that year singles out."""
    sketch.claim(anchor)
    one, year = sketch.year(anchor, anchor)
    two, count = sketch.committees()
    for sign, moved in (("+", year + count), ("-", year - count)):
        targets = [t for t in sketch.targets.of_year(moved) if t.entity != anchor]
        if targets:
            target = sketch.rng.choice(targets)
            sketch.add_year(f"{one} {sign} {two}", moved)
            sketch.dated_target("hop3", moved, target)
            return
    raise DeadEnd("the year has no target")


def bridge_compare(sketch: Sketch, anchor: str) -> None:
    """Two look-ups, a third from elsewhere, and the comparison of the two results."""
    one = sketch.extend(*sketch.start(anchor))
    property = sketch.comparable_property(one[1])
    other = sketch.moves.comparable(one[1], property, sketch.rng)
    if other is None:
        raise DeadEnd("nothing comparable")
    sketch.compare(one, sketch.lead(other), property)


def bridge_years_between(sketch: Sketch, anchor: str) -> None:
    """Two look-ups, a third from elsewhere, and the years between the same event of both results."""
    one = sketch.extend(*sketch.start(anchor))
    sketch.years_between(one, sketch.lead(sketch.peer(one[1])))


def bridge_years(sketch: Sketch, anchor: str) -> None:
    """A look-up and its year, another year, and the years between."""
    one = sketch.year(*sketch.start(anchor))
    sketch.years_apart([one, sketch.named_year(one[1])])


def bridge_numbers(sketch: Sketch, anchor: str) -> None:
    """A look-up and its number, the same number of a named entity, and their sum or difference."""
    one, first, measure = sketch.number(*sketch.start(anchor))
    other = sketch.moves.comparable(measure.entity, measure.property, sketch.rng)
    if other is None:
        raise DeadEnd("nothing comparable")
    sketch.claim(other)
    sketch.combine(one, first, other, measure.property)


def bridge_founded_before(sketch: Sketch, anchor: str) -> None:
    """Two look-ups, a number of committees, and what in the second was founded so many years from a round year."""
    _, value = sketch.extend(*sketch.start(anchor))
    targets = sketch.targets.conditioned(value)
    if not targets:
        raise DeadEnd("nothing dated in it")
    target = sketch.rng.choice(targets)
    reference, count = sketch.committees()
    before = sketch.rng.random() < 0.5 or target.year + 126 > 2026
    base = target.year + count if before else target.year - count
    if base > 2026:
        raise DeadEnd("the year lies in the future")
    sketch.dated_target(f"{base} {'-' if before else '+'} {reference}", target.year, target, constraint="hop2")


def bridge_year_and_count(sketch: Sketch, anchor: str) -> None:
    """A look-up and its year, a number of committees, and what lies so many years before or after it."""
    one, year = sketch.year(*sketch.start(anchor))
    two, count = sketch.committees()
    options = [(sign, t) for sign, y in (("+", year + count), ("-", year - count)) for t in sketch.targets.of_year(y)]
    if not options:
        raise DeadEnd("the year has no target")
    sign, target = sketch.rng.choice(options)
    sketch.dated_target(f"{one} {sign} {two}", target.year, target)


def _add_offset_target(sketch: Sketch, reference: str, apart: int) -> None:
    """A target so many years before or after a year that the question states."""
    for _ in range(20):
        target = sketch.targets.any(sketch.rng)
        if target is None:
            break
        before = sketch.rng.random() < 0.7
        base = target.year + apart if before else target.year - apart
        if 1500 <= base <= 2026 and target.entity not in sketch.used:
            sketch.dated_target(f"{base} {'-' if before else '+'} {reference}", target.year, target)
            return
    raise DeadEnd("no target fits")


SCHEMAS: dict[str, tuple[tuple[Schema, float], ...]] = {
    "chain": (
        (chain_compare_early, 1.5),
        (chain_compare_late, 1.5),
        (chain_years_to_event, 2.0),
        (chain_years_between, 1.5),
        (chain_year_shift, 1.0),
        (chain_year_shift_early, 1.5),
        (chain_years_from_event, 0.7),
        (chain_selection, 1.0),
        (chain_tally, 2.5),
    ),
    "converging": (
        (converging_compare, 3.0),
        (converging_years_between, 2.0),
        (converging_years, 1.0),
        (converging_year_and_count, 1.0),
    ),
    "bridge": (
        (bridge_compare, 2.5),
        (bridge_years_between, 1.5),
        (bridge_years, 2.0),
        (bridge_numbers, 1.0),
        (bridge_founded_before, 1.0),
        (bridge_year_and_count, 1.0),
    ),
}


def schemas_of(topology: Topology) -> tuple[tuple[Schema, float], ...]:
    """The hand-made schemas of a topology, or the one that serves any graph of hops."""
    return SCHEMAS.get(topology.name) or ((functools.partial(sketch_any, depends_on=topology.depends_on), 1.0),)
