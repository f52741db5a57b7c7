"""Whether operations can follow on an entity, and where to find entities on which they can."""

from __future__ import annotations

import datetime as dt
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence

from hopwright.planning.memory import Memory
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.operation_inputs import (
    full_date,
    has_full_date,
    list_closed_set,
    list_events,
    list_in_common,
    list_numbers,
    list_shared,
)
from hopwright.planning.plan_builder import PlanBuilder
from hopwright.planning.traversals import Edge, JointCount, JointWork, UsableLiteral
from hopwright.records import Lookup
from hopwright.records.values import BROUGHT_OUT

OUTWARD_LOOKUP = "extend-outward"
"""A look-up that may not say in what its subject lies: one that does has come before it."""
_KEPT = 30_000
"""So many entities, pairs or facts are remembered for each sequence of operations, with what was found out of them."""
SAME_SORT_OPERATIONS = frozenset({"compare", "compare-three"})
OF_BOTH = frozenset({"joint-of-both", "count-joint"})
"""Operations on what two made together whom the plan finds."""
JOINING_OPERATIONS = SAME_SORT_OPERATIONS | OF_BOTH | {"neighbour-of-both", "difference"}
"""Operations that cannot take any two entities."""
LIST_OPERATIONS = frozenset({"next-of-its", "next-of-its-in-year", "count-of-its"})
"""Operations that part a whole list of what another branch finds."""
NAMED_LIST_OPERATIONS = frozenset({"next-of-named", "count-of-named"})
"""Operations on a whole list of what the plan names."""
JOINT_OPERATIONS = frozenset({"joint-of-both", "joint-with-named", "joint-of-named"})
"""Operations that choose what two people made together."""
COUNTING_JOINT = frozenset({"count-joint", "count-joint-with-named"})
"""Operations that count what two people made together."""
CHOOSING_FROM_LISTS = JOINT_OPERATIONS | {
    "next-of-its", "next-of-its-in-year", "next-of-named", "end-of-its", "end-of-named", "end-beside-work"
}  # fmt: skip
"""Operations that choose one of a whole list by its date, which nothing asks for afterwards."""
FEWEST_CHOSEN_FROM = 3
"""What two made together is chosen from so many: of two films, of which the question names one, the first is just the
other one.
"""
FEWEST_OTHERS = 3
"""So much else of a list leads to another answer than what is chosen from it: as many wrong options are needed."""
FEWEST_THEIRS = 2
"""So many works of two lie on that side of one that is named on which the end that is asked for lies."""
REMEMBERED = 2000
"""Who wrote or photographed what came out from this year on, many know without looking it up."""
_PARALLEL = JOINING_OPERATIONS | {"year", "date", "extend"}
_FEWEST = 3
_WELL = 6
"""By so many years those who know roughly when something was are wrong."""


def satisfies_reader(builder: PlanBuilder, context: OperationContext) -> Callable[[str], bool]:
    """Whether an entity has what the operation that reads it needs."""
    return can_precede(builder, context.readers)


def can_precede(builder: PlanBuilder, readers: Sequence[str]) -> Callable[[str], bool]:
    """Whether an entity has what the operations that follow need, look-ups looked through to what comes after them."""
    key = tuple(readers)
    known = builder.traversals.followed
    if (verdicts := known.get(key)) is None:
        # It looks at nothing of the builder but its graph, which is that of all others.
        verdicts = known[key] = Memory(functools.partial(_find_whether_follows, builder, key), _KEPT)
    return verdicts.__getitem__


def can_continue_from(builder: PlanBuilder, readers: tuple[str, ...], entity: str) -> bool:
    """Whether operations can follow on an entity in this very plan: what it leads to has to be free as well."""
    if readers[:1] != ("extend",):
        return can_precede(builder, readers)(entity)
    edges = [(edge.property, edge.object) for edge in builder.traversals.lookups_from(entity)]
    edges += [(edge.property, edge.subject) for edge in builder.traversals.reverse_from(entity)]
    return any(
        builder.admits(other) and can_precede(builder, _follow(builder, readers, property))(other)
        for property, other in edges
    )


def list_beside(builder: PlanBuilder, readers: tuple[str, ...], edge: Edge, *, close: bool) -> Sequence[Edge]:
    """The facts of an entity, or of its kin, whose objects the readers can take together with that of a fact."""
    known, key = builder.relations.beside, (readers, close)
    if (found := known.get(key)) is None:
        found = known[key] = Memory(functools.partial(_find_beside, builder, readers, close), _KEPT)
    return found[edge]


def _find_beside(builder: PlanBuilder, readers: tuple[str, ...], close: bool, edge: Edge) -> Sequence[Edge]:
    kind = builder.traversals.kinds.kind
    reader = readers[0] if readers else ""
    if reader in OF_BOTH:
        return list_joint_partners(builder, readers, edge.object, edge.subject)
    paired = reader in _PARALLEL
    return [
        other
        for other in (
            builder.traversals.lookups_from(edge.subject) if close else builder.relations.edges_around(edge.subject)
        )
        if other.object != edge.object
        and _are_of_one_circle(builder, edge.subject, edge.property, other)
        and (other.subject == edge.subject or (paired and other.property == edge.property))
        and kind(other.object) == kind(edge.object)
        and fits_partner(builder, readers, edge.object, other.object)
        and _are_distinct(builder, *{edge.subject, other.subject}, edge.object, other.object)
        and (reader != "compare" or _belong_together(builder, edge.subject, other.subject))
    ]


def list_joint_partners(builder: PlanBuilder, readers: Sequence[str], entity: str, topic: str) -> list[Edge]:
    """Facts of the topic that lead to those with whom somebody made works: a second film would only disguise a name."""
    traversals = builder.traversals
    joint: list[JointWork] | list[JointCount]
    if readers[0] == "count-joint":
        joint = list_joint_counts(builder, entity)
    else:
        suits = can_precede(builder, readers[1:])
        joint = [one for one in list_joint(builder, entity) if one.work != topic and suits(one.work)]
    found: dict[Edge, None] = {}
    for one in joint:
        ours = entity == one.owner
        edges = [edge for edge in traversals.lookups_to(one.partner if ours else one.owner) if edge.subject == topic]
        if not edges:
            continue
        if ours:
            parts = {one.credit, *traversals.table.entity[one.credit].found_by}
        else:
            other = min(work for _, work in one.whole.dates if work != topic)
            parts = {property for property, end in traversals.graph.out_edges(other) if end == one.owner}
            parts -= set(traversals.table.credits)
        found |= dict.fromkeys(edge for edge in edges if edge.property in parts)
    return list(found)


def _are_of_one_circle(builder: PlanBuilder, subject: str, property: str, other: Edge) -> bool:
    """Whether what two facts lead to belongs together, where both are of one subject: parents do, or two wives."""
    entity = builder.traversals.table.entity
    if subject != other.subject or property not in entity:
        return True
    return entity[property].goes_with(entity[other.property])


def _are_distinct(builder: PlanBuilder, *entities: str) -> bool:
    """Whether no two names share a telling word."""
    words = [word for one in entities for word in builder.traversals.tokens(one)]
    return len(set(words)) == len(words)


def list_partners(builder: PlanBuilder, context: OperationContext) -> list[tuple[float, Edge]]:
    """Facts of the plan's topics, and of their kin, whose objects go with what the other branch found.

    Each with how closely it belongs to the topic.
    """
    # Of two that are compared one wins, and only of that one more is asked.
    first = context.reader in JOINING_OPERATIONS and bool(context.partners)
    wanted = can_precede(builder, context.readers[:1] if first else context.readers)
    partner = context.partners[0] if context.partners else None
    first_step = builder.draft.steps[0].derivation if builder.draft.steps else None
    found = []
    for edge in builder.relations.edges_around(*builder.topics):
        known = edge.subject in builder.topics
        # Of most that belong with the topics nothing is asked that is asked of these.
        if not known and (context.reader in LIST_OPERATIONS or not _is_parallel(builder, context.reader, edge)):
            continue
        if not builder.admits(edge.object) or not wanted(edge.object):
            continue
        if isinstance(first_step, Lookup) and not _are_of_one_circle(
            builder, first_step.subject, first_step.property, edge
        ):
            continue
        if not known and not builder.admits(edge.subject):
            continue
        if not known and context.reader == "compare" and not _belong_together(builder, builder.topics[0], edge.subject):
            continue
        if partner is not None and not fits_partner(builder, context.readers, partner.entity, edge.object):
            continue
        found.append((builder.relations.related(builder.topics[0], edge.subject), edge))
    return found


def list_parallel(builder: PlanBuilder, context: OperationContext) -> list[tuple[float, Edge]]:
    """Facts that say of others of the topic's sort what the first step says of it, where the two lead to one thing.

    Each with how closely it belongs to the topic. Elsewhere there are none: strangers are not compared.
    """
    first = builder.draft.steps[0].derivation
    if context.reader != "neighbour-of-both" or not context.partners or not isinstance(first, Lookup):
        return []
    sort = builder.traversals.kinds.sort
    alike = [
        edge
        for edge in builder.relations.single.get(first.property, ())
        if sort(edge.subject) == sort(first.subject)
        and fits_partner(builder, context.readers, context.partners[0].entity, edge.object)
        and builder.admits(edge.subject)
        and builder.admits(edge.object)
    ]
    return [(builder.relations.related(first.subject, edge.subject), edge) for edge in alike]


def _is_parallel(builder: PlanBuilder, reader: str, edge: Edge) -> bool:
    """Whether of another than the topic the same is asked as of the topic, so that the two can be compared."""
    first = builder.draft.steps[0].derivation
    return reader in _PARALLEL and isinstance(first, Lookup) and first.property == edge.property


def _belong_together(builder: PlanBuilder, one: str, other: str) -> bool:
    """Whether anybody sees why two are named in one breath: of works, that they are of one year or of one maker."""
    traversals = builder.traversals
    if traversals.kinds.kind(one) not in BROUGHT_OUT or not traversals.roles.made:
        return True
    years = [set(list_events(builder, work).values()) for work in (one, other)]
    joining = traversals.roles.made | traversals.roles.adapted
    makers = [
        {end for property, end in traversals.graph.out_edges(work) if property in joining} for work in (one, other)
    ]
    return not years[0].isdisjoint(years[1]) or not makers[0].isdisjoint(makers[1])


def fits_partner(builder: PlanBuilder, readers: Sequence[str], one: str, other: str) -> bool:
    """Whether readers can take two entities together; anything goes with a year or a date.

    What is asked of the one that wins a comparison must be known of the other as well, and be something else there.
    """
    if not one or not readers or readers[0] not in JOINING_OPERATIONS:
        return True
    known, key = builder.traversals.paired, tuple(readers)
    if (verdicts := known.get(key)) is None:
        verdicts = known[key] = Memory(functools.partial(_can_pair, builder, key), _KEPT)
    return verdicts[one, other]


def _can_pair(builder: PlanBuilder, readers: tuple[str, ...], pair: tuple[str, str]) -> bool:
    one, other = pair
    kinds = builder.traversals.kinds
    if readers[0] == "count-joint":
        return any(
            {joint.owner, joint.partner} == {one, other}
            for owner in (one, other)
            for joint in builder.traversals.joint_counts(owner)
        )
    if readers[0] == "joint-of-both":
        return any(
            {joint.owner, joint.partner} == {one, other} and can_precede(builder, readers[1:])(joint.work)
            for owner in (one, other)
            for joint in builder.traversals.joint_works(owner)
        )
    if readers[0] == "neighbour-of-both":
        return any(can_precede(builder, readers[1:2])(shared) for _, shared in list_in_common(builder, one, other))
    if one == other or kinds.kind(one) != kinds.kind(other) or kinds.kind(one) == "country":
        return False
    shared = list_shared(builder, [one, other], comparing=True)
    if readers[0] == "difference":
        return not builder.traversals.roles.exact.isdisjoint(shared)
    return bool(shared) and _can_ask_of_both(builder, readers[1:2], shared, one, other)


def _can_ask_of_both(builder: PlanBuilder, readers: Sequence[str], shared: Sequence[str], one: str, other: str) -> bool:
    if tuple(readers) == ("extend",):
        mine = {edge.property: edge.object for edge in builder.traversals.lookups_from(one)}
        noun = builder.traversals.kinds.noun
        return any(
            mine.get(edge.property, edge.object) != edge.object and noun(mine[edge.property]) == noun(edge.object)
            for edge in builder.traversals.lookups_from(other)
        )
    if readers and readers[0] in ("year", "date"):  # one date to compare by, another to ask for
        dated = {m.property for m in builder.traversals.measures(one) if isinstance(m.value, dt.date)}
        dated &= {m.property for m in builder.traversals.measures(other) if isinstance(m.value, dt.date)}
        return len(dated | set(shared)) >= 2 and bool(dated)
    return True


def list_entered(builder: PlanBuilder, readers: Sequence[str], entity: str) -> list[UsableLiteral]:
    """The dated events of an entity whose year the readers can take: a timeline has to lead on from it."""
    found = [m for m in builder.traversals.measures(entity) if isinstance(m.value, dt.date) and m.entry.event]
    roles = builder.traversals.roles
    if builder.traversals.kinds.kind(entity) == "person":  # who reigned when a pope's reign ended is nobody's question
        found = [m for m in found if m.property in (roles.birth, roles.death)]
    if readers[:1] == ("holder",):
        after = readers[1:]
        return [m for m in found if isinstance(m.value, dt.date) and leads_on(builder, after, m.value.year, entity)]
    return found


def list_parting(builder: PlanBuilder, readers: Sequence[str], entity: str) -> list[UsableLiteral]:
    """The dated events of an entity by which the readers can part a list: a death, or the birth of a child."""
    found = [m for m in builder.traversals.measures(entity) if isinstance(m.value, dt.date) and m.entry.event]
    roles = builder.traversals.roles
    if builder.traversals.kinds.kind(entity) != "person":
        return found
    lookup = builder.draft.steps[-1].derivation if builder.draft.steps else None
    entry = builder.traversals.table.entity.get(lookup.property) if isinstance(lookup, Lookup) else None
    child = entry is not None and "offspring" in entry.circles
    return [m for m in found if m.property == roles.death or (child and m.property == roles.birth)]


def leads_on(builder: PlanBuilder, readers: Sequence[str], year: int, entity: str) -> bool:
    """Whether a timeline that a year of an entity may lead to has a holder of it on whom the readers can follow."""
    known, key = builder.traversals.entered, tuple(readers)
    if (names := known.get(key)) is None:
        names = known[key] = Memory(functools.partial(_list_led_to, builder, key), _KEPT)
    return any(may_enter(builder, name, entity) for name in names[year])


def _list_led_to(builder: PlanBuilder, readers: tuple[str, ...], year: int) -> tuple[str, ...]:
    """The timelines with a holder in a year on whom the readers can follow."""
    suits = can_precede(builder, readers)
    held = builder.traversals.timelines.items()
    return tuple(name for name, by in held if is_told_by_year(by, year) and suits(by[year]))


def is_told_by_year(held: Mapping[int, str], year: int) -> bool:
    """Whether only who knows a year well knows who held it: somebody else did a few years before or after."""
    around = range(year - _WELL, year + _WELL + 1)
    return year in held and any(held.get(other, held[year]) != held[year] for other in around)


def may_enter(builder: PlanBuilder, timeline: str, entity: str) -> bool:
    """Whether the year of an entity's event may lead to a timeline: only to one by which people tell the time there.

    Who was on the throne when a novelist was born is asked of the novelist's own country; who won a cup is not asked.
    """
    entry = builder.traversals.table.literal[timeline]
    return bool(entry.holder_when) and (not entry.realm or entry.realm in builder.traversals.countries(entity))


def _find_whether_follows(builder: PlanBuilder, readers: tuple[str, ...], entity: str) -> bool:
    if not readers:
        return True
    name = readers[0]
    if name in ("extend", OUTWARD_LOOKUP):
        return _can_look_up(builder, readers, entity)
    if not _need_of(builder, name)(entity):
        return False
    if name == "year" and len(readers) > 1:
        return bool(list_entered(builder, readers[1:], entity))
    after = can_precede(builder, readers[1:])
    if name.startswith("compare"):  # it may win, and then something has to follow
        return after(entity)
    traversals = builder.traversals
    if name in ("most-of-its", "neighbour-of-both"):
        return any(after(one) for name in traversals.table.closed for one in list_closed_set(builder, name, entity))
    if name == "end-member":
        recurring = traversals.recurrences.get(entity, ())
        return any(after(one.members[place]) for one in recurring for place in (0, -1))
    if name == "next-after-joint":
        return any(after(one.work) for one in traversals.next_of_lists(entity))
    if name in JOINT_OPERATIONS:
        return any(after(joint.work) for joint in list_joint(builder, entity))
    if name in CHOOSING_FROM_LISTS:
        lists = [one.dates for one in traversals.whole_lists(entity)]
        if name == "end-of-its":
            lists = [(dates[0], dates[-1]) for dates in lists]
        return any(after(one) for dates in lists for _, one in dates)
    return True


def _can_look_up(builder: PlanBuilder, readers: tuple[str, ...], entity: str) -> bool:
    """Whether a look-up leads from an entity to another on which the operations after it can follow."""
    within, outward = builder.traversals.roles.within, readers[0] == OUTWARD_LOOKUP
    after = can_precede(builder, readers[1:])
    after_within = can_precede(builder, _follow(builder, readers, next(iter(within), "")))
    forward = ((edge.property, edge.object) for edge in builder.traversals.lookups_from(entity))
    backward = ((edge.property, edge.subject) for edge in builder.traversals.reverse_from(entity))
    for property, end in itertools.chain(forward, backward):
        if outward and property in within:
            continue
        if after_within(end) if property in within else after(end):
            return True
    return False


def list_joint(builder: PlanBuilder, entity: str) -> list[JointWork]:
    """What somebody made together with others, whichever of them has the list."""
    traversals = builder.traversals
    owners = (entity, *traversals.joint_owners.get(entity, ()))
    return [joint for owner in owners for joint in traversals.joint_works(owner) if entity in (owner, joint.partner)]


def list_joint_counts(builder: PlanBuilder, entity: str) -> list[JointCount]:
    """All that somebody made together with each of others, whichever of them has the list."""
    traversals = builder.traversals
    owners = (entity, *traversals.joint_owners.get(entity, ()))
    return [joint for owner in owners for joint in traversals.joint_counts(owner) if entity in (owner, joint.partner)]


def _follow(builder: PlanBuilder, readers: tuple[str, ...], property: str) -> tuple[str, ...]:
    """What is left to follow after a look-up along a property."""
    if property in builder.traversals.roles.within and readers[1:2] == ("extend",):
        return (OUTWARD_LOOKUP, *readers[2:])
    return readers[1:]


def _need_of(builder: PlanBuilder, reader: str) -> Callable[[str], bool]:
    """What an operation needs of the entity that it reads."""
    known = builder.traversals.needs
    if (need := known.get(reader)) is None:
        # It looks at nothing of the builder but its graph, which is that of all others.
        need = known[reader] = _find_need(builder, reader)
    return need


def _find_need(builder: PlanBuilder, reader: str) -> Callable[[str], bool]:
    measures = builder.traversals.measures
    if reader == "year":
        return lambda entity: any(isinstance(m.value, dt.date) and m.entry.event for m in measures(entity))
    if reader == "date":
        return lambda entity: any(has_full_date(m) for m in measures(entity))
    if reader == "number":
        return lambda entity: bool(list_numbers(builder, entity))
    if reader in ("compare", "compare-three"):
        kind = builder.traversals.kinds.kind
        return lambda entity: any(m.entry.is_comparable(kind(entity)) for m in measures(entity))
    if reader == "age-in-year":
        birth = builder.traversals.roles.birth
        return lambda entity: birth in list_events(builder, entity)
    if reader == "age-found":
        return lambda entity: full_date(builder, entity, builder.traversals.roles.birth) is not None
    if reader == "age-at-death":
        dates = (builder.traversals.roles.birth, builder.traversals.roles.death)
        return lambda entity: all(full_date(builder, entity, one) is not None for one in dates)
    if reader == "difference":
        return lambda entity: any(m.property in builder.traversals.roles.exact for m in measures(entity))
    if reader == "rate":
        return lambda entity: any(m.entry.per for m in measures(entity))
    if reader in ("joint-of-both", "joint-with-named"):
        return lambda entity: bool(list_joint(builder, entity))
    if reader in ("count-joint", "count-joint-with-named"):
        return lambda entity: bool(list_joint_counts(builder, entity))
    if reader == "next-after-joint":
        return lambda entity: bool(builder.traversals.next_of_lists(entity))
    if reader in LIST_OPERATIONS or reader == "end-of-its":
        return lambda entity: bool(builder.traversals.whole_lists(entity))
    if reader == "end-member":
        return lambda entity: entity in builder.traversals.recurrences
    if reader in ("count-all", "most-of-its"):
        closed = builder.traversals.table.closed
        return lambda entity: any(len(list_closed_set(builder, name, entity)) >= _FEWEST for name in closed)
    if reader == "neighbour-of-both":
        closed = builder.traversals.table.closed
        return lambda entity: any(list_closed_set(builder, name, entity) for name in closed)
    return lambda entity: True
