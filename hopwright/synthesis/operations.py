"""The operations that a plan is made of: what each takes, what it gives, and how it adds its step to a sketch.

A look-up goes from entity to entity or to a literal; a computation joins, measures, counts or chooses. Any graph of
hops is planned by choosing operations whose types fit together (see `programs`).
"""

from __future__ import annotations

import datetime as dt
import functools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from hopwright.records.values import Scalar
from hopwright.synthesis.expressions import evaluate
from hopwright.synthesis.moves import Edge, Measure, spread
from hopwright.synthesis.sketch import WITHIN, DeadEnd, Sketch, State, Type
from hopwright.synthesis.targets import Target

# Values that do change, but whose order practically does not: area, population.
_LASTING = frozenset({"P2046", "P1082"})
# Roots that count committees: (n, k) with results between 6 and 126, small enough to serve as a number of years.
_COMMITTEES = [
    (n, k) for n in range(4, 12) for k in range(2, 5) if k < n - 1 and 6 <= math.comb(n, k) <= 126
]  # fmt: skip
LATEST = 2026
EARLIEST = 1500
_CENTENARIAN = 100
# Whether a film is about something, or something lies somewhere, is no question to count over a list.
_DULL = frozenset({"P921", "P138", "P6885", "P7938"})
_LOOKED_AT = 120
# Fewer than so many do not give a list in which some of them stand beside others.
_SHARERS = 3
OUTWARD = "extend-outward"
"""A look-up that may not say in what its subject lies: one that does has come before it."""
_MODERN = 1950
_REMEMBERED = 500_000
"""So many answers to "can these operations follow on this entity" are kept."""
_PROPERTY_OF = operator.attrgetter("property")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the plan an operation stands.

    `readers`: the operations that read its result, and what they give, in turn (none for the last); `partners`: what
    that reader also reads and is there
    already; `anchor`: the entity to start from; `forced`: the fact that this hop must look up.
    """

    readers: tuple[str, ...] = ()
    partners: tuple[State, ...] = ()
    anchor: str = ""
    forced: Edge | None = None

    @property
    def reader(self) -> str:
        """The operation that reads its result; empty for the last."""
        return self.readers[0] if self.readers else ""


Builder = Callable[[Sketch, Sequence[State], Place], State]


@dataclass(frozen=True, slots=True)
class Operation:
    """One kind of hop. `takes` are the types of its inputs; `kind` is set for computations."""

    name: str
    takes: tuple[Type, ...]
    gives: Type
    kind: str
    weight: float
    build: Builder
    final: float = 1.0
    """How readily it is the last hop; 0 for never."""
    inner: bool = True
    """Whether it may be another hop than the last."""


# ---------------------------------------------------------------- look-ups


def lead(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """A named subject's fact, or an entity found by two of its facts."""
    if place.forced is not None:
        return sketch.walk(place.forced)
    wanted = suits_reader(sketch, place)
    if place.partners and place.reader in _OF_LIKE:
        return sketch.lead(_find_like(sketch, place.partners[0].entity, place.reader))
    if place.anchor and wanted(place.anchor) and sketch.moves.lookups_to(place.anchor):
        return sketch.lead(place.anchor)
    if place.anchor:
        # The anchor itself is asked about.
        sketch.claim(place.anchor)
        return sketch.extend(State("entity", place.anchor, place.anchor), wanted)
    if (entity := _find_measured(sketch, place)) is not None:
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
    if place.partners and place.reader in _OF_LIKE:
        partner = place.partners[0]
        return sketch.extend(
            state, lambda entity: wanted(entity) and _are_like(sketch, partner.entity, entity, place.reader)
        )
    return sketch.extend(state, wanted)


def year(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """The year of an entity's event."""
    found = [m for m in sketch.moves.measures(inputs[0].entity) if isinstance(m.value, dt.date) and m.entry.event]
    if place.reader == "age":
        found = [m for m in found if _year(m) >= _MODERN]
    if place.partners and place.partners[0].type == "year":
        near = [m for m in found if 2 <= abs(_year(m) - place.partners[0].whole) <= 300]
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
    return sketch.measure(inputs[0].ref, _choose_number(sketch, inputs[0].entity, place))


def named_year(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """The year of a named entity's event; the anchor's where it has one."""
    measure = _event_near(sketch, place.partners, place.anchor, _MODERN if place.reader == "age" else EARLIEST)
    sketch.claim(measure.entity)
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
        measure = _random_measure(sketch, place)
    sketch.claim(measure.entity)
    return sketch.measure(measure.entity, measure)


def dated(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """What a year, or a year some years away from it, singles out."""
    (state,) = inputs
    wanted = suits_reader(sketch, place)
    for _ in range(20):
        target = sketch.targets.near(state.whole, sketch.rng, within=60)
        if target is None:
            break
        if not wanted(target.entity) or sketch.refuses_target(target) or not _lets_in(sketch, target):
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
        if _lets_in(sketch, target) and (value := _offset(sketch, state, target.year)):
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
            value = _offset(sketch, other, target.year)
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
    target = sketch.prefer(targets, _PROPERTY_OF)
    return sketch.dated(str(target.year), target, constraint=inputs[0].ref)


def dated_by_both(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """What lies so many years before or after a looked-up year."""
    base, offset = _sorted(inputs, "year"), _sorted(inputs, "amount")
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


# ---------------------------------------------------------------- computations: comparison


def compare(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """Whichever of several entities has the largest or the smallest value of a property."""
    shared = _shared(sketch, [state.entity for state in inputs], comparing=True)
    weights = sketch.taste.weights
    shared.sort(key=lambda name: sketch.rng.random() ** (1 / weights.get(name, 1.0)), reverse=True)
    wanted = place.forced  # an anchor's hop that goes on from the winner
    for property in shared[:6]:
        values = {state.entity: _value(sketch, state.entity, property) for state in inputs}
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


# ---------------------------------------------------------------- computations: counting


def ahead(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """How many of several named entities have more, or less, of something than an entity."""
    (state,) = inputs
    property = _comparable_property(sketch, state.entity)
    mine = _value(sketch, state.entity, property)
    more = sketch.rng.random() < 0.5
    pool = sketch.moves.measured(property, sketch.moves.kinds.sort(state.entity))
    others, count = _draw_sides(
        sketch,
        [one for one in spread(pool, _LOOKED_AT) if one != state.entity],
        lambda other: (
            (value > mine) == more  # type: ignore[operator]
            if sketch.moves.differ(property, mine, value := _value(sketch, other, property))
            else None
        ),
        _least_count(place),
    )
    sketch.claim(*others)
    sign = ">" if more else "<"
    conditions = [f"value({property}, {other}) {sign} value({property}, {state.ref})" for other in others]
    return _counted(sketch, conditions, count, place)


def later(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """How many of several named entities have their event after, or before, a looked-up year."""
    (state,) = inputs
    seed = _event_near(sketch, inputs, "")
    pool = sketch.moves.measured(seed.property, sketch.moves.kinds.sort(seed.entity))
    after = sketch.rng.random() < 0.5
    others, count = _draw_sides(
        sketch,
        spread(pool, _LOOKED_AT),
        lambda other: (
            (held > state.whole) == after
            if (held := _value(sketch, other, seed.property).year) != state.whole  # type: ignore[union-attr]
            else None
        ),
        _least_count(place),
    )
    sketch.claim(*others)
    sign = ">" if after else "<"
    return _counted(
        sketch, [f"year(value({seed.property}, {other})) {sign} {state.ref}" for other in others], count, place
    )


def members(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """How many of several named subjects have an entity as their one object of a property."""
    (state,) = inputs
    by_property = sketch.moves.shared_by(state.entity)
    usable = [one for one, edges in by_property.items() if len(edges) >= _SHARERS and one not in _DULL]
    if not usable:
        raise DeadEnd("too few have the entity as theirs")
    property = sketch.prefer_name(usable)
    edges = by_property[property]
    sort = sketch.moves.kinds.sort(sketch.rng.choice(edges).subject)
    mine = [edge.subject for edge in edges if sketch.moves.kinds.sort(edge.subject) == sort]
    theirs = [edge.subject for edge in sketch.moves.alike(property, sort) if edge.object != state.entity]
    size = sketch.rng.choice((4, 4, 5, 5, 6))
    ours = _draw_others(sketch, mine, size - 1)
    least = _least_count(place)
    if len(ours) < least:
        raise DeadEnd("too few have the entity as theirs")
    count = sketch.rng.randint(least, len(ours))
    ours = ours[:count]
    others = _draw_others(sketch, theirs, size - count, ours)
    if len(ours) + len(others) < size:
        raise DeadEnd("too few to name beside it")
    listed = [*ours, *others]
    sketch.rng.shuffle(listed)
    sketch.claim(*listed)
    return _counted(sketch, [f"object({property}, {one}) == {state.ref}" for one in listed], count, place)


# ---------------------------------------------------------------- computations: temporal


def between(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """The years between the same event of two entities; of one, and of a named one of its sort."""
    one = inputs[0]
    mine = _events(sketch, one.entity)
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
        sketch.claim(other)
    theirs = _events(sketch, other)
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
    measure = _event_near(sketch, inputs, "")
    sketch.claim(measure.entity)
    years = abs(_year(measure) - state.whole)
    expression = f"abs({state.ref} - year(value({measure.property}, {measure.entity})))"
    return State("amount", sketch.compute(expression, "temporal", years, "years"), number=years, unit="years")


def age_named(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """How old a named person turned in a looked-up year."""
    (state,) = inputs
    for _ in range(30):
        measure = sketch.targets.random_event(sketch.rng, property="P569")
        if measure is None:
            break
        years = state.whole - _year(measure)
        if 4 <= years <= _CENTENARIAN and sketch.admits(measure.entity) and _lived(sketch, measure.entity, state.whole):
            sketch.claim(measure.entity)
            expression = f"{state.ref} - year(value(P569, {measure.entity}))"
            return State("amount", sketch.compute(expression, "temporal", years, "years"), number=years, unit="years")
    raise DeadEnd("nobody was born in time")


def shift(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """A year so many years before or after a looked-up year: an amount of another hop, or a stated one."""
    base = _sorted(inputs, "year")
    if len(inputs) == 2:
        offset = _sorted(inputs, "amount")
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


# ---------------------------------------------------------------- computations: arithmetic


def total(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """Sum, difference or mean of the same number of several entities; with one input, also of named ones."""
    entities, refs = [state.entity for state in inputs], [state.ref for state in inputs]
    wanted = sketch.rng.choice((2, 3, 3)) if len(inputs) == 1 else len(inputs)
    shared = [p for p in _shared(sketch, entities, comparing=False) if _hows(sketch, p, wanted)]
    if not shared:
        raise DeadEnd("the entities have no number in common")
    property = sketch.prefer_name(shared)
    if len(inputs) == 1:
        others = _draw_others(sketch, _list_comparable(sketch, entities[0], property), wanted - 1)
        if len(others) < wanted - 1:
            raise DeadEnd("too few to name beside it")
        sketch.claim(*others)
        entities += others
        refs += others
        order = list(range(len(refs)))
        sketch.rng.shuffle(order)
        refs, entities = [refs[i] for i in order], [entities[i] for i in order]
    how = sketch.rng.choice(_hows(sketch, property, wanted))
    values = [f"value({property}, {ref})" for ref in refs]
    entry = sketch.moves.table.literal[property]
    digits = entry.decimals
    if how == "sum":
        expression = " + ".join(values)
    elif how == "difference":
        expression = f"abs({values[0]} - {values[1]})"
    elif how == "mean":
        digits = min(entry.decimals + 1, 2)
        expression = f"round(mean({', '.join(values)}), {digits})"
    else:
        ranked = sorted(range(2), key=lambda i: -Decimal(_value(sketch, entities[i], property)))  # type: ignore[arg-type]
        digits = 1
        expression = f"round({values[ranked[0]]} / {values[ranked[1]]}, 1)"
    result = _evaluate(sketch, expression)
    if how in ("mean", "ratio") and _places(result) != digits:
        raise DeadEnd("the quotient is too round")
    if result == 0 or (how == "ratio" and not Decimal("1.2") <= result <= 300):
        raise DeadEnd("the result says nothing")
    unit = "" if how == "ratio" else entry.unit
    ref = sketch.compute(expression, "arithmetic", result, unit)
    return State("number", ref, number=result, unit=unit)


def rate(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """One number of an entity divided by another: goals a match."""
    found = [m for m in sketch.moves.measures(inputs[0].entity) if m.entry.per and not isinstance(m.value, dt.date)]
    for measure in found:
        per = next((m for m in sketch.moves.measures(inputs[0].entity) if m.property == measure.entry.per), None)
        if per is None or isinstance(per.value, dt.date) or not per.value:
            continue
        expression = f"round(value({measure.property}, {inputs[0].ref}) / value({per.property}, {inputs[0].ref}), 2)"
        result = _evaluate(sketch, expression)
        if _places(result) == 2:
            return State("number", sketch.compute(expression, "arithmetic", result), number=result)
    raise DeadEnd("the entity has no rate")


def add(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """The sum or the difference of two looked-up numbers of the same property."""
    one, other = inputs
    if one.of != other.of or one.entity == other.entity:
        raise DeadEnd("the numbers are of different things")
    hows = [how for how in _hows(sketch, one.of, 2) if how in ("sum", "difference")]
    if not hows:
        raise DeadEnd("the numbers are not added")
    how = sketch.rng.choice(hows)
    expression = f"{one.ref} + {other.ref}" if how == "sum" else f"abs({one.ref} - {other.ref})"
    a, b = Decimal(one.number), Decimal(other.number)
    result = _tidy(a + b if how == "sum" else abs(a - b))
    if result == 0:
        raise DeadEnd("the result says nothing")
    return State("number", sketch.compute(expression, "arithmetic", result, one.unit), number=result, unit=one.unit)


def product(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """Two counts multiplied."""
    one, other = inputs
    if one.unit == "years" or other.unit == "years" or not 2 <= one.whole * other.whole <= 5000:
        raise DeadEnd("the product says nothing")
    result = one.whole * other.whole
    return State("amount", sketch.compute(f"{one.ref} * {other.ref}", "arithmetic", result), number=result)


# ---------------------------------------------------------------- computations: combinatorics


def committees(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """A root that counts committees."""
    n, k = sketch.rng.choice(_COMMITTEES)
    count = math.comb(n, k)
    return State("amount", sketch.compute(f"comb({n}, {k})", "combinatorics", count), number=count)


def choose_of(sketch: Sketch, inputs: Sequence[State], place: Place) -> State:
    """Pairs (or threes) out of as many as a hop says, or that many out of a stated number."""
    (state,) = inputs
    count = int(state.number)
    if state.number != count:
        raise DeadEnd("the number does not suit a choice")
    if 1 <= count <= 5 and state.unit != "years":
        n = sketch.rng.choice([n for n in range(7, 16) if n > count + 2])
        expression, value = f"comb({n}, {state.ref})", math.comb(n, count)
    elif 6 <= count <= 400:
        size = sketch.rng.choice((2, 2, 3)) if count <= 60 else 2
        expression, value = f"comb({state.ref}, {size})", math.comb(count, size)
    else:
        raise DeadEnd("the number does not suit a choice")
    return State("ways", sketch.compute(expression, "combinatorics", value), number=value)


# ---------------------------------------------------------------- what a reader needs


_OF_LIKE = frozenset({"compare", "between-two", "total-two", "compare-three"})


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
        return lambda entity: any(_has_full_date(m) for m in measures(entity))
    if reader == "number":
        return lambda entity: bool(_numbers(sketch, entity))
    if reader in ("ahead", "compare", "compare-three"):
        return lambda entity: any(m.entry.more and m.entry.less for m in measures(entity))
    if reader in ("total", "total-two"):
        return lambda entity: any(_hows(sketch, m.property, 2) for m in measures(entity))
    if reader == "rate":
        return lambda entity: any(m.entry.per for m in measures(entity))
    if reader == "members":
        shared_by = sketch.moves.shared_by
        return lambda entity: any(len(e) >= _SHARERS and one not in _DULL for one, e in shared_by(entity).items())
    if reader in ("dated-stated", "dated-among"):
        return lambda entity: bool(sketch.targets.conditioned(entity))
    return lambda entity: True


_MEASURED = frozenset({"year", "date", "number", "ahead", "compare", "compare-three", "total", "between", "rate"})


def _find_measured(sketch: Sketch, place: Place) -> str | None:
    """An entity with a literal that the reader can use, and to which a question leads: such are rarer than facts."""
    if place.reader in ("dated-among", "dated-stated"):
        for _ in range(20):
            target = sketch.targets.any(sketch.rng)
            if target is None or sketch.refuses_target(target) or not _lets_in(sketch, target):
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


def _find_like(sketch: Sketch, entity: str, reader: str) -> str:
    """Another entity of the same sort that can be compared, or that has an event in common."""
    if reader == "between-two":
        properties = sorted(_events(sketch, entity))
    elif reader == "total-two":
        properties = [m.property for m in sketch.moves.measures(entity) if _hows(sketch, m.property, 2)]
    else:
        properties = [m.property for m in sketch.moves.measures(entity) if m.entry.more and m.entry.less]
    if not properties:
        raise DeadEnd("nothing to compare the entity by")
    for _ in range(10):
        other = sketch.moves.comparable(entity, sketch.rng.choice(properties), sketch.rng)
        if other is not None and sketch.admits(other) and sketch.moves.lookups_to(other):
            return other
    raise DeadEnd("nothing comparable")


def _are_like(sketch: Sketch, one: str, other: str, reader: str) -> bool:
    if one == other or sketch.moves.kinds.sort(one) != sketch.moves.kinds.sort(other):
        return False
    if reader == "between-two":
        return bool(_events(sketch, one).keys() & _events(sketch, other).keys())
    return bool(_shared(sketch, [one, other], comparing=reader.startswith("compare")))


def _shared(sketch: Sketch, entities: Sequence[str], *, comparing: bool) -> list[str]:
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


def _comparable_property(sketch: Sketch, entity: str) -> str:
    found = [measure for measure in sketch.moves.measures(entity) if measure.entry.more and measure.entry.less]
    if not found:
        raise DeadEnd("nothing to compare the entity by")
    # What does not change over the years makes the better question, where there is any.
    lasting = [measure for measure in found if measure.entry.stable or measure.property in _LASTING]
    return sketch.prefer_measure(lasting if lasting and sketch.rng.random() < 0.5 else found).property


def _choose_number(sketch: Sketch, entity: str, place: Place) -> Measure:
    found = _numbers(sketch, entity)
    if place.reader == "choose":
        found = [m for m in found if isinstance(m.value, int) and 6 <= m.value <= 400]
    if place.reader == "add":
        found = [m for m in found if any(how in ("sum", "difference") for how in _hows(sketch, m.property, 2))]
        if place.partners:
            found = [m for m in found if m.property == place.partners[0].of]
    if not found:
        raise DeadEnd("the entity has no number that suits")
    return sketch.prefer_measure(found)


def _numbers(sketch: Sketch, entity: str) -> list[Measure]:
    return [
        m for m in sketch.moves.measures(entity) if m.entry.stable and m.entry.ask and not isinstance(m.value, dt.date)
    ]


def _random_measure(sketch: Sketch, place: Place) -> Measure:
    for _ in range(30):
        measure = sketch.targets.random_number(sketch.rng)
        if measure is None:
            break
        if not sketch.lets_in(measure.property) or not sketch.admits(measure.entity):
            continue
        try:
            return _choose_number(sketch, measure.entity, place)
        except DeadEnd:
            continue
    raise DeadEnd("no named number suits")


def _event_near(sketch: Sketch, near: Sequence[State], anchor: str, since: int = EARLIEST) -> Measure:
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
        if _year(measure) >= since and all(2 <= abs(_year(measure) - one) <= 300 for one in years):
            return measure
    raise DeadEnd("no event near the year")


def _events(sketch: Sketch, entity: str) -> dict[str, int]:
    return {
        measure.property: measure.value.year
        for measure in sketch.moves.measures(entity)
        if isinstance(measure.value, dt.date) and measure.entry.event
    }


def _draw_others(sketch: Sketch, pool: Sequence[str], size: int, taken: Sequence[str] = ()) -> list[str]:
    """At most so many different entities of a pool that may be named together, and beside those taken."""
    others: list[str] = []
    words = {token for one in taken for token in sketch.moves.tokens(one)}
    for other in sketch.rng.sample(pool, min(len(pool), _LOOKED_AT if size > 1 else _LOOKED_AT // 4)):
        if other in others or other in taken or not sketch.admits(other):
            continue
        tokens = sketch.moves.tokens(other)
        if words.isdisjoint(tokens):
            words |= tokens
            others.append(other)
            if len(others) == size:
                break
    return others


def _draw_sides(
    sketch: Sketch, pool: Sequence[str], counts: Callable[[str], bool | None], least: int
) -> tuple[list[str], int]:
    """Some entities that count and some that do not (None: neither), mixed; and how many of them count."""
    size = sketch.rng.choice((4, 4, 5, 5, 6))
    wanted = sketch.rng.randint(least, size - 1)
    sides: dict[bool, list[str]] = {True: [], False: []}
    for other in sketch.rng.sample(pool, min(len(pool), _LOOKED_AT)):
        if (verdict := counts(other)) is not None:
            sides[verdict].append(other)
    ours = _draw_others(sketch, sides[True], wanted)
    theirs = _draw_others(sketch, sides[False], size - wanted, ours)
    if len(ours) + len(theirs) < size:
        raise DeadEnd("too few to name beside it")
    others = [*ours, *theirs]
    sketch.rng.shuffle(others)
    return others, wanted


def _list_comparable(sketch: Sketch, entity: str, property: str) -> list[str]:
    """Entities of the same sort whose value of a property differs clearly from this one's."""
    moves = sketch.moves
    mine = _value(sketch, entity, property)
    pool = spread(moves.measured(property, moves.kinds.sort(entity)), _LOOKED_AT)
    return [one for one in pool if one != entity and moves.differ(property, mine, _value(sketch, one, property))]


def _least_count(place: Place) -> int:
    """A count that is multiplied into years has to be two at least."""
    return 2 if place.reader.startswith("dated") else 1


def _counted(sketch: Sketch, conditions: Sequence[str], count: int, place: Place) -> State:
    expression = f"count({', '.join(conditions)})"
    if len(expression) > 480:
        raise DeadEnd("the list is too long")
    return State("amount", sketch.compute(expression, "counting", count), number=count)


def _offset(sketch: Sketch, state: State, year: int) -> str:
    """An expression that leads from an amount to a year: `1968 - hop3`, `1900 + 7 * hop3`; empty when none fits."""
    if state.whole == 1:
        return ""
    times = sketch.rng.choice((3, 4, 5, 6, 7, 8, 9, 11, 12)) if state.whole <= 6 else 1
    for before in sketch.rng.sample((True, False), 2):
        base = year + times * state.whole if before else year - times * state.whole
        if EARLIEST <= base <= LATEST and base != year:
            return f"{base} {'-' if before else '+'} {f'{times} * ' if times > 1 else ''}{state.ref}"
    return ""


def _hows(sketch: Sketch, property: str, size: int) -> list[str]:
    """The ways in which so many entities' numbers of a property may be joined: those that the table words."""
    entry = sketch.moves.table.literal[property]
    if not entry.stable:
        return []
    ways = [("sum", entry.combined), ("mean", entry.mean)]
    if size == 2:
        ways += [("difference", entry.differ), ("ratio", entry.ratio)]
    return [how for how, words in ways if words]


def _value(sketch: Sketch, entity: str, property: str) -> Scalar:
    for measure in sketch.moves.measures(entity):
        if measure.property == property:
            return measure.value
    raise DeadEnd("the entity lacks the property")


def _evaluate(sketch: Sketch, expression: str) -> int | Decimal:
    answers = {index: step.value for index, step in enumerate(sketch.draft.steps, start=1)}
    value = evaluate(expression, answers, sketch.moves.facts)
    assert isinstance(value, int | Decimal)
    return _tidy(Decimal(value))


def _sorted(inputs: Sequence[State], type: Type) -> State:
    return next(state for state in inputs if state.type == type)


def _lets_in(sketch: Sketch, target: Target) -> bool:
    return sketch.lets_in(target.property, target.condition.property)


def _year(measure: Measure) -> int:
    assert isinstance(measure.value, dt.date)
    return measure.value.year


def _has_full_date(measure: Measure) -> bool:
    value = measure.value
    exact = isinstance(value, dt.date) and (value.month, value.day) != (1, 1)
    return exact and measure.entry.value == "date" and bool(measure.entry.ask)


def _lived(sketch: Sketch, person: str, year: int) -> bool:
    """Whether nothing speaks against the person's being alive in the year."""
    death = _events(sketch, person).get("P570")
    return death is None or death >= year


def _places(number: int | Decimal) -> int:
    exponent = Decimal(number).as_tuple().exponent
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0


def _tidy(number: Decimal) -> int | Decimal:
    return int(number) if number == number.to_integral_value() else number.normalize()


OPERATIONS: tuple[Operation, ...] = (
    Operation("lead", (), "entity", "", 8.0, lead, final=0),
    Operation("named-year", (), "year", "", 1.6, named_year, final=0),
    Operation("named-number", (), "number", "", 1.2, named_number, final=0),
    Operation("committees", (), "amount", "combinatorics", 1.0, committees, final=0),
    Operation("extend", ("entity",), "entity", "", 5.0, extend),
    Operation("year", ("entity",), "year", "", 1.5, year),
    Operation("date", ("entity",), "date", "", 1.0, date, inner=False),
    Operation("number", ("entity",), "number", "", 1.2, number),
    Operation("dated", ("year",), "entity", "", 0.5, dated),
    Operation("dated-by-amount", ("amount",), "entity", "", 0.6, dated_by_amount),
    Operation("dated-stated", ("entity",), "entity", "", 0.15, dated_stated),
    Operation("dated-among", ("entity", "amount"), "entity", "", 0.6, dated_among),
    Operation("dated-among", ("entity", "year"), "entity", "", 0.4, dated_among),
    Operation("dated-by-both", ("year", "amount"), "entity", "", 0.5, dated_by_both),
    Operation("compare", ("entity", "entity"), "entity", "comparison", 0.7, compare),
    Operation("compare-three", ("entity", "entity", "entity"), "entity", "comparison", 0.7, compare),
    Operation("ahead", ("entity",), "amount", "counting", 1.6, ahead, final=0.04),
    Operation("later", ("year",), "amount", "counting", 1.0, later, final=0.04),
    Operation("members", ("entity",), "amount", "counting", 2.6, members, final=0.04),
    Operation("between", ("entity",), "amount", "temporal", 0.6, between),
    Operation("between-two", ("entity", "entity"), "amount", "temporal", 0.6, between),
    Operation("apart", ("year", "year"), "amount", "temporal", 1.0, apart),
    Operation("apart-three", ("year", "year", "year"), "amount", "temporal", 1.0, apart),
    Operation("apart-named", ("year",), "amount", "temporal", 0.8, apart_named),
    Operation("age", ("year",), "amount", "temporal", 1.0, age_named),
    Operation("shift", ("year",), "year", "temporal", 0.6, shift, final=0.3),
    Operation("shift-both", ("year", "amount"), "year", "temporal", 0.8, shift, final=0.5),
    Operation("total", ("entity",), "number", "arithmetic", 1.2, total, inner=False),
    Operation("total-two", ("entity", "entity"), "number", "arithmetic", 1.0, total, inner=False),
    Operation("rate", ("entity",), "number", "arithmetic", 1.0, rate, inner=False),
    Operation("add", ("number", "number"), "number", "arithmetic", 1.0, add, inner=False),
    Operation("product", ("amount", "amount"), "amount", "arithmetic", 0.8, product),
    Operation("choose", ("amount",), "ways", "combinatorics", 1.0, choose_of, inner=False),
)
