"""Whether operations can follow on an entity, and where to find entities on which they can."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Mapping, Sequence

from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.operation_inputs import (
    has_full_date,
    list_events,
    list_numbers,
    list_shared,
    list_ways,
)
from hopwright.planning.plan_builder import PlanBuilder, PlanningDeadEnd
from hopwright.planning.random_draws import draw
from hopwright.planning.traversals import Edge, spread
from hopwright.records import Lookup

OUTWARD_LOOKUP = "extend-outward"
"""A look-up that may not say in what its subject lies: one that does has come before it."""
_REMEMBERED = 150_000
"""So many answers to "can these operations follow on this entity" are kept."""
SAME_SORT_OPERATIONS = frozenset({"compare", "between-two", "total-two", "compare-three"})
_PARALLEL = SAME_SORT_OPERATIONS | {"year", "date", "extend"}
_MEASURED = frozenset({"year", "date", "number", "rate"})
_PAIRED = 12
_OF_ONE = 0.65
_SELDOM = 0.2
_SAMPLED = 1500
_KIN = 8


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
    if context.reader not in _MEASURED:
        return None
    wanted = satisfies_reader(builder, context)
    for _ in range(30):
        dated = context.reader in ("year", "date")
        measure = builder.targets.random_event(builder.rng) if dated else builder.targets.random_number(builder.rng)
        if measure is None:
            break
        entity = measure.entity
        if not builder.admits_random_property(measure.property):
            continue
        if builder.traversals.lookups_to(entity) and builder.admits(entity) and wanted(entity):
            return entity
    return None


def draw_paired_edge(builder: PlanBuilder, context: OperationContext) -> Edge:
    """A fact beside which another stands whose object goes with its own: the director and the composer of a film."""
    close = builder.rng.random() < _OF_ONE
    pools = _list_paired(builder, context.readers, close=close) or _list_paired(builder, context.readers, close=False)
    names, weights = weigh_roots(builder, pools)
    for name in builder.rng.choices(names, weights, k=_PAIRED) if any(weights) else ():
        edge = draw(builder.rng, pools[name])
        if builder.admits(edge.subject) and builder.admits(edge.object):
            for other in _list_beside(builder, context.reader, edge, close=close):
                if builder.admits(other.object) and (other.subject == edge.subject or builder.admits(other.subject)):
                    return edge
    raise PlanningDeadEnd("no two facts of one topic go together")


def _list_paired(builder: PlanBuilder, readers: tuple[str, ...], *, close: bool) -> dict[str, tuple[Edge, ...]]:
    """Property → facts from which a branch may start, where operations follow and another branch can start beside.

    `close`: the other branch starts from the very same entity.
    """
    known = builder.relations.paired
    key = (*readers, str(close))
    if key not in known:
        wanted = can_precede(builder, readers)
        reader = readers[0] if readers else ""
        found = {}
        for name, edges in builder.relations.single.items():
            able = (edge for edge in spread(edges, _SAMPLED) if wanted(edge.object))
            if kept := tuple(edge for edge in able if _list_beside(builder, reader, edge, close=close)):
                found[name] = kept
        known[key] = found
    return known[key]


def _list_beside(builder: PlanBuilder, reader: str, edge: Edge, *, close: bool) -> list[Edge]:
    """The facts of an entity, or of its kin, whose objects a reader can take together with that of a fact."""
    kind = builder.traversals.kinds.kind
    paired = reader in _PARALLEL
    return [
        other
        for other in (
            builder.traversals.lookups_from(edge.subject) if close else _edges_around(builder, (edge.subject,))
        )
        if other.object != edge.object
        and (other.subject == edge.subject or (paired and other.property == edge.property))
        and kind(other.object) == kind(edge.object)
        and fits_partner(builder, reader, edge.object, other.object)
        and _are_distinct(builder, *{edge.subject, other.subject}, edge.object, other.object)
    ]


def weigh_roots(builder: PlanBuilder, pools: Mapping[str, Sequence[object]]) -> tuple[list[str], list[float]]:
    """The properties that a plan may begin with, and their weights: every domain by its share, then by their size."""
    table, known = builder.traversals.table.entity, builder.preferences.weights
    names = [name for name in sorted(pools) if name in table]
    sizes = {name: len(pools[name]) ** 0.5 for name in names}
    totals: dict[str, float] = {}
    for name in names:
        totals[table[name].domain] = totals.get(table[name].domain, 0.0) + sizes[name]
    domains = builder.preferences.domains
    return names, [
        known.get(name, 1.0)
        * (_SELDOM if name in builder.traversals.roles.seldom else 1.0)
        * domains.get(table[name].domain, 1.0)
        * sizes[name]
        / totals[table[name].domain] ** 0.9
        for name in names
    ]


def _are_distinct(builder: PlanBuilder, *entities: str) -> bool:
    """Whether no two names share a telling word."""
    words = [word for one in entities for word in builder.traversals.tokens(one)]
    return len(set(words)) == len(words)


def list_partners(builder: PlanBuilder, context: OperationContext) -> list[tuple[float, Edge]]:
    """Facts of the plan's topics, and of their kin, whose objects go with what the other branch found.

    Each with how closely it belongs to the topic.
    """
    # Of two that are compared one wins, and only of that one more is asked.
    first = context.reader in SAME_SORT_OPERATIONS and bool(context.partners)
    wanted = can_precede(builder, context.readers[:1] if first else context.readers)
    partner = context.partners[0] if context.partners else None
    found = []
    for edge in _edges_around(builder, builder.topics):
        if not builder.admits(edge.object) or not wanted(edge.object):
            continue
        known = edge.subject in builder.topics
        if not known and not (builder.admits(edge.subject) and _is_parallel(builder, context.reader, edge)):
            continue
        if partner is not None and not fits_partner(builder, context.reader, partner.entity, edge.object):
            continue
        found.append((builder.relations.related(builder.topics[0], edge.subject), edge))
    return found


def _is_parallel(builder: PlanBuilder, reader: str, edge: Edge) -> bool:
    """Whether of another than the topic the same is asked as of the topic, so that the two can be compared."""
    first = builder.draft.steps[0].derivation
    return reader in _PARALLEL and isinstance(first, Lookup) and first.property == edge.property


def fits_partner(builder: PlanBuilder, reader: str, one: str, other: str) -> bool:
    """Whether a reader can take two entities together; anything goes with a year or a date."""
    if not one or reader not in SAME_SORT_OPERATIONS:
        return True
    kinds = builder.traversals.kinds
    if one == other or kinds.kind(one) != kinds.kind(other) or kinds.kind(one) == "country":
        return False
    if reader == "between-two":
        return bool(list_events(builder, one).keys() & list_events(builder, other).keys())
    return bool(list_shared(builder, [one, other], comparing=reader.startswith("compare")))


def _edges_around(builder: PlanBuilder, topics: Sequence[str]) -> list[Edge]:
    """Look-ups of the topics, then of those that belong with them."""
    traversals = builder.traversals
    kin = [other for topic in topics for other in builder.relations.kin(topic)[:_KIN]]
    return [edge for one in dict.fromkeys((*topics, *kin)) for edge in traversals.lookups_from(one)]


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
            if verdict and readers[0].startswith("compare"):  # it may win, and then something has to follow
                verdict = _can_follow(builder, readers[1:], entity)
            elif verdict and readers[0] == "first-by":
                verdict = any(
                    sum(map(builder.traversals.is_dated, group.members)) >= 3
                    and any(
                        _can_follow(builder, readers[1:], one)
                        for one in group.members
                        if builder.traversals.is_dated(one)
                    )
                    for group in builder.relations.groups_sharing(entity)
                )
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
    if reader in ("year", "between-two"):
        return lambda entity: any(isinstance(m.value, dt.date) and m.entry.event for m in measures(entity))
    if reader == "date":
        return lambda entity: any(has_full_date(m) for m in measures(entity))
    if reader == "number":
        return lambda entity: bool(list_numbers(builder, entity))
    if reader in ("compare", "compare-three"):
        return lambda entity: any(m.entry.more and m.entry.less for m in measures(entity))
    if reader == "total-two":
        return lambda entity: (
            builder.traversals.kinds.kind(entity) == "nature"
            and any(list_ways(builder, m.property, 2) for m in measures(entity))
        )
    if reader == "rate":
        return lambda entity: any(m.entry.per for m in measures(entity))
    if reader in ("age", "turned"):
        return lambda entity: (
            {builder.traversals.roles.birth, builder.traversals.roles.death} <= {m.property for m in measures(entity)}
        )
    if reader in ("first-by", "first-by-after", "count-by"):
        return lambda entity: any(len(group.members) >= 4 for group in builder.relations.groups_sharing(entity))
    return lambda entity: True
