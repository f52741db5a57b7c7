"""Where a plan can begin: the facts and groups on which the operations that follow can go on, found once and kept.

A plan begins with something of its domain (`focus`). What can begin it depends on the operations that follow, so that
is what the lists are kept by: whichever plan asks first, they are the same.
"""

from __future__ import annotations

import datetime as dt
import functools
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from hopwright.planning.computation_forms import EndOfMaker
from hopwright.planning.dead_ends import DeadEnd, NothingBegins, PlanningDeadEnd
from hopwright.planning.expressions import is_later
from hopwright.planning.memory import Memory
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.lookahead import (
    FEWEST_CHOSEN_FROM,
    FEWEST_OTHERS,
    FEWEST_THEIRS,
    JOINT_OPERATIONS,
    LIST_OPERATIONS,
    NAMED_LIST_OPERATIONS,
    OUTWARD_LOOKUP,
    REMEMBERED,
    can_precede,
    list_beside,
    list_entered,
    list_joint,
)
from hopwright.planning.operations.operation_inputs import (
    full_date,
    has_full_date,
    list_closed_set,
    list_events,
)
from hopwright.planning.plan_builder import PlanBuilder
from hopwright.planning.random_draws import draw, draw_several
from hopwright.planning.relations import Group, StartPools
from hopwright.planning.traversals import (
    MAX_POOL,
    Edge,
    JointWork,
    UsableLiteral,
    WholeList,
    read_year,
    spread,
)
from hopwright.records.values import Scalar

_DRAWN = 16
_OF_ONE = 0.95
_SAMPLED = 120
_OFTEN = _SAMPLED // 5
_SMALLEST_GROUP = 4
_TO_END, _ON_TO_END = ("end-member",), ("extend", "end-member")
_BETWEEN = 3
"""So much lies between a work that a plan names and the first or the last of its list: whoever is asked for that one
knows on which side of the other it lies."""
_MANY = 300
"""Where fewer facts begin such plans, they are taken so much more seldom: the same few would fill slot after slot."""
_MANY_ENDS = 100
"""The same of first and last works: they are few, and each begins a question that readers like."""
_SOON = 3
"""So many times as there are other parts is one of a plan's own part looked for."""
_KEPT = 20_000
"""So many groups, or facts, are remembered for each sequence of operations, with what was found out of them."""
_ENTITIES = 100_000
_T = TypeVar("_T")


class ClosedChoice(NamedTuple):
    """The member of a closed set (all that `property` lists of `owner`) that has the most or the least of a measure."""

    property: str
    owner: str
    members: tuple[str, ...]
    measure: str
    largest: bool
    winner: str


class ListEnd(NamedTuple):
    """What came first of a whole list, or last."""

    owner: str
    whole: WholeList
    largest: bool
    date: dt.date
    work: str

    def write(self, owner: str) -> str:
        """The expression that chooses it; `owner` is what its owner is referred to with."""
        choose = "argmax" if self.largest else "argmin"
        return f"{choose}({self.whole.measure}, all({self.whole.property}, {owner}))"


class EndBesideWork(NamedTuple):
    """What came first, or last, of the whole list of whoever made a work (`named`) that a plan names."""

    named: str
    maker: str
    """The property of which its owner is the only object that the named work has."""
    end: ListEnd

    def write(self) -> str:
        """The expression that finds it."""
        whole = self.end.whole
        return EndOfMaker(whole.measure, whole.property, self.maker, self.named, self.end.largest).write()


class ChoosableGroup(NamedTuple):
    """A group of which one member can be chosen by a property; `able` are the members from which a plan can go on."""

    group: Group
    property: str
    able: tuple[str, ...]


def draw_first_edge(builder: PlanBuilder, context: OperationContext) -> Edge:
    """A fact to begin a plan with. Raises PlanningDeadEnd where none suits."""
    return _draw_edge(builder, context, lambda edge: True)


def draw_paired_edge(builder: PlanBuilder, context: OperationContext) -> Edge:
    """A fact beside which another stands whose object goes with its own: the director and the composer of a film.

    Raises PlanningDeadEnd where none suits.
    """
    close = builder.rng.random() < _OF_ONE

    def has_partner(edge: Edge) -> bool:
        return any(
            builder.admits(other.object) and (other.subject == edge.subject or builder.admits(other.subject))
            for other in list_beside(builder, context.readers, edge, close=close)
        )

    return _draw_edge(builder, context, has_partner)


def draw_dated(builder: PlanBuilder, readers: tuple[str, ...]) -> UsableLiteral:
    """A dated event of something of the domain, whose year the readers can take. Raises PlanningDeadEnd without one."""

    def find() -> dict[str, tuple[UsableLiteral, ...]]:
        found: dict[str, list[UsableLiteral]] = {}
        traversals = builder.traversals
        enter = functools.cache(functools.partial(list_entered, builder, readers))
        dated = [name for name, entry in traversals.table.literal.items() if entry.event and entry.value != "number"]
        for name in dated:
            for entity in spread(traversals.graph.literal_subjects(name), MAX_POOL):
                if traversals.nameable(entity) and not traversals.is_hub(entity):
                    found.setdefault(name, []).extend(one for one in enter(entity) if one.property == name)
        return {name: tuple(events) for name, events in found.items() if events}

    starts = _focus(builder, ("dated", *readers), find, lambda one: one.entity)
    if not starts.pools:
        raise NothingBegins(DeadEnd.NO_DATED_START)
    for name in _draw_names(builder, starts):
        one = draw(builder.rng, starts.pools[name])
        if builder.admits(one.entity):
            return one
    raise PlanningDeadEnd(DeadEnd.START_IN_USE)


def list_holders(
    builder: PlanBuilder, readers: tuple[str, ...], *, anywhere: bool = False
) -> Mapping[str, Sequence[tuple[int, str]]]:
    """Timeline → years and their holders from whom the readers can go on. Raises NothingBegins where there are none.

    `anywhere`: also timelines of other domains than that in which the plan begins.
    """

    def find() -> dict[str, tuple[tuple[int, str], ...]]:
        suits = can_precede(builder, readers)
        literal = builder.traversals.table.literal
        # Who reigned is told by what happened then, never by a bare year.
        idle = {name for name, entry in literal.items() if entry.holder_when} | builder.traversals.roles.seldom
        timelines = {name: held for name, held in builder.traversals.timelines.items() if name not in idle}
        found = {name: tuple(one for one in held.items() if suits(one[1])) for name, held in timelines.items()}
        return {name: held for name, held in found.items() if held}

    found = _remember(builder, ("holders", *readers), find).pools
    focus = "" if anywhere else builder.preferences.focus
    literal = builder.traversals.table.literal
    pools = {name: held for name, held in found.items() if not focus or literal[name].domain == focus}
    if not pools:
        raise NothingBegins(DeadEnd.NO_TIMELINE_START)
    return pools


def draw_groups(builder: PlanBuilder, context: OperationContext) -> Iterator[ChoosableGroup]:
    """Ways to choose one of a group that a plan can begin with, in a drawn order; groups of a property drawn alike."""
    starts = _focus(builder, ("groups",), lambda: builder.relations.pools, lambda one: one.members[0])
    if not starts.pools:
        raise NothingBegins(DeadEnd.NO_GROUP_START)
    choosable = _choosable(builder, context.readers)
    for name in _draw_names(builder, starts):
        if found := choosable[draw(builder.rng, starts.pools[name])]:
            yield from builder.rng.sample(found, len(found))


def draw_closed_sets(builder: PlanBuilder, context: OperationContext) -> list[ClosedChoice]:
    """Some of the sets that are known to the last, of which one member has the most or the least of something."""

    def find() -> dict[str, tuple[ClosedChoice, ...]]:
        wanted = can_precede(builder, context.readers)
        return {
            name: tuple(
                one
                for owner in builder.relations.owners(name)
                for one in list_closed_choices(builder, name, owner)
                if wanted(one.winner)
            )
            for name in sorted(builder.traversals.table.closed)
        }

    starts = _focus(builder, ("closed", *context.readers), find, lambda one: one.owner)
    found = [one for choices in starts.pools.values() for one in choices]
    if not found:
        raise NothingBegins(DeadEnd.NO_CLOSED_SET_START)
    return builder.rng.sample(found, min(_DRAWN, len(found)))


def draw_joint_works(builder: PlanBuilder, context: OperationContext) -> list[JointWork]:
    """Some of what two people made together, from which the operations that follow can go on; raises NothingBegins."""

    def find() -> dict[str, tuple[JointWork, ...]]:
        wanted, traversals = can_precede(builder, context.readers), builder.traversals
        joint = (one for owner in sorted(traversals.list_owners) for one in traversals.joint_works(owner))
        return _pool((one for one in joint if wanted(one.work)), lambda one: one.credit)

    starts = _focus(builder, ("joint", *context.readers), find, lambda one: one.owner)
    return _draw_some(builder, starts, lambda one: one.owner, DeadEnd.NOTHING_TOGETHER)


def draw_list_ends(builder: PlanBuilder, context: OperationContext) -> list[ListEnd]:
    """Some of what came first or last of somebody's lists, from which the operations that follow can go on; raises
    NothingBegins.
    """

    def find() -> dict[str, tuple[ListEnd, ...]]:
        wanted = can_precede(builder, context.readers)
        return _pool((end for end in _iter_sure_ends(builder) if wanted(end.work)), lambda end: end.whole.property)

    # Whatever the domain: who designed a film, and wrote it, is asked of what somebody directed.
    starts = _remember(builder, ("ends", *context.readers), find)
    return _draw_some(builder, starts, lambda end: end.owner, DeadEnd.NO_WHOLE_LIST)


def draw_ends_beside(builder: PlanBuilder, context: OperationContext) -> list[EndBesideWork]:
    """Some works with what their makers brought out first or last, from which the operations that follow can go on;
    raises NothingBegins.
    """

    def find() -> dict[str, tuple[EndBesideWork, ...]]:
        wanted = can_precede(builder, context.readers)
        able = (end for end in _iter_sure_ends(builder) if wanted(end.work))
        return _pool((one for end in able for one in _iter_beside(builder, end)), lambda one: one.end.whole.property)

    starts = _remember(builder, ("beside", *context.readers), find)
    return _draw_some(builder, starts, lambda one: one.end.owner, DeadEnd.NO_WHOLE_LIST)


def _pool(found: Iterable[_T], name: Callable[[_T], str]) -> dict[str, tuple[_T, ...]]:
    """What is found by a name that each has."""
    pools: dict[str, list[_T]] = {}
    for one in found:
        pools.setdefault(name(one), []).append(one)
    return {key: tuple(held) for key, held in pools.items()}


def _iter_beside(builder: PlanBuilder, end: ListEnd) -> Iterator[EndBesideWork]:
    """The works of a list by which a plan can name whoever's it is, when it goes on from one of its ends: between the
    two lies something to choose from.
    """
    traversals = builder.traversals
    works = [one for _, one in end.whole.dates]
    objects, makers = traversals.graph.objects, sorted(traversals.makers)
    for named in works[: -_BETWEEN - 1] if end.largest else works[_BETWEEN + 1 :]:
        # Who wrote what he directed is its director.
        maker = next((one for one in makers if list(objects(named, one)) == [end.owner]), "")
        if maker and traversals.nameable(named):
            yield EndBesideWork(named, maker, end)


def has_unlisted_between(builder: PlanBuilder, owner: str, when: Scalar, chosen: dt.date) -> bool:
    """Whether something that some would put on a list came out between a moment and what is chosen by it."""
    ends = sorted((read_year(when), chosen.year))
    return any(ends[0] <= year <= ends[1] for year in builder.traversals.table.unlisted.get(owner, ()))


def list_ends(builder: PlanBuilder, owner: str) -> Iterator[ListEnd]:
    """The first and the last of each list of an owner that has such ends, where it is certain which that is."""
    traversals = builder.traversals
    for whole in traversals.whole_lists(owner):
        entry = traversals.table.entity[whole.property]
        if not entry.ends or whole.measure != entry.ordered_by[0]:
            continue
        for largest, ((date, work), (beside, _)) in ((False, whole.dates[:2]), (True, whole.dates[:-3:-1])):
            if (largest and entry.ends == "first") or is_later(date, beside) is None:
                continue
            if traversals.nameable(work):
                yield ListEnd(owner, whole, largest, date, work)


def _iter_sure_ends(builder: PlanBuilder) -> Iterator[ListEnd]:
    """What came first or last of people's lists beyond doubt, and was made with somebody who made more with them."""
    kind = builder.traversals.kinds.kind
    for owner in sorted(builder.traversals.list_owners):
        for end in list_ends(builder, owner) if kind(owner) == "person" else ():
            if _is_first_of_all(builder, end) and list_end_partners(builder, owner, end.work, largest=end.largest):
                yield end


def _is_first_of_all(builder: PlanBuilder, end: ListEnd) -> bool:
    """Whether nothing beside a list may have come before its first, or after its last: a part of a film, say, one with
    two directors, or a documentary.
    """
    table = builder.traversals.table
    if (besides := table.entity[end.whole.property].besides) and builder.traversals.graph.objects(end.owner, besides):
        return False
    unlisted = table.unlisted.get(end.owner, ())
    return not any(year >= end.date.year if end.largest else year <= end.date.year for year in unlisted)


def list_end_partners(builder: PlanBuilder, owner: str, work: str, *, largest: bool) -> set[tuple[str, str]]:
    """Who alone had a part (a property) in what an owner made first, or last, and made enough with them to choose from,
    of which the other end is certain. Whoever takes another of the list for it finds others in that part.
    """
    objects = builder.traversals.graph.objects

    def count_others(joint: JointWork) -> int:
        parts = [objects(one, joint.credit) for _, one in joint.whole.list_near(work)]
        return sum(bool(held) and joint.partner not in held for held in parts)

    return {
        (joint.credit, joint.partner)
        for joint in builder.traversals.joint_works(owner)
        if joint.largest is not largest
        and len(joint.works) >= FEWEST_CHOSEN_FROM
        and list(objects(work, joint.credit)) == [joint.partner]
        and count_others(joint) >= FEWEST_OTHERS
    }


def list_closed_choices(builder: PlanBuilder, property: str, owner: str) -> list[ClosedChoice]:
    """Every way to choose one of a closed set by what all of it have, where the choice is beyond doubt."""
    members = list_closed_set(builder, property, owner)
    if len(members) < _SMALLEST_GROUP:
        return []
    kind = builder.traversals.kinds.kind
    values = [
        {m.property: m.value for m in builder.traversals.measures(one) if m.entry.is_comparable(kind(one))}
        for one in members
    ]
    found = []
    for measure in sorted(frozenset.intersection(*map(frozenset, values))):
        ranked = sorted(zip((one[measure] for one in values), members, strict=True))
        for largest, (first, second) in ((False, ranked[:2]), (True, ranked[:-3:-1])):
            if builder.traversals.differ(measure, first[0], second[0]):
                found.append(ClosedChoice(property, owner, members, measure, largest, first[1]))
    return found


def list_choosable(builder: PlanBuilder, group: Group, readers: tuple[str, ...]) -> Sequence[ChoosableGroup]:
    """What of a group can be chosen by each property that several of it have, such as is never disputed."""
    return _choosable(builder, readers)[group]


def _choosable(builder: PlanBuilder, readers: tuple[str, ...]) -> Memory[Group, Sequence[ChoosableGroup]]:
    known = builder.relations.choosable
    if (found := known.get(readers)) is None:
        found = known[readers] = Memory(functools.partial(_find_choosable, builder, readers), _KEPT)
    return found  # type: ignore[return-value]


def _find_choosable(builder: PlanBuilder, readers: tuple[str, ...], group: Group) -> Sequence[ChoosableGroup]:
    if not (measured := builder.relations.measured(group)):
        return ()
    wanted = can_precede(builder, readers)
    return [
        ChoosableGroup(group, property, able)
        for property, members in measured
        if (able := tuple(one for one in members if wanted(one)))
    ]


def _begins(builder: PlanBuilder, context: OperationContext) -> Callable[[Edge], bool]:
    """Whether operations can follow on a fact."""
    known, key = builder.relations.begun, (context.readers, context.branch)
    if (verdicts := known.get(key)) is None:
        here = OperationContext(readers=context.readers, branch=context.branch)
        verdicts = known[key] = Memory(functools.partial(_can_begin, builder, here), _KEPT)
    return verdicts.__getitem__


def _can_begin(builder: PlanBuilder, context: OperationContext, edge: Edge) -> bool:
    return (
        _follows_on(builder, context.readers, edge.property)(edge.object)
        and _have_more(builder, context.readers, edge)
        and _are_told_apart(builder, edge)
        and _is_dated(builder, edge, context)
    )


def _have_more(builder: PlanBuilder, readers: tuple[str, ...], edge: Edge) -> bool:
    """Whether a partner who is found on a named work made several of the same list, where the end of them is asked for;
    and something lies beyond that end, where it is what comes next.
    """
    if readers[:1] != ("joint-with-named",):
        return True
    traversals, goes_on = builder.traversals, readers[1:2] == ("next-after-joint",)

    def leads_on(joint: JointWork) -> bool:
        known = edge.property in (joint.credit, *traversals.table.entity[joint.credit].found_by)
        if joint.partner != edge.object or not known or edge.subject not in joint.works:
            return False
        place = joint.works.index(edge.subject)
        beyond = len(joint.works) - 1 - place if joint.largest else place
        if len(joint.works) < FEWEST_CHOSEN_FROM or beyond < FEWEST_THEIRS or joint.date.year >= REMEMBERED:
            return False
        return not goes_on or any(one.later is joint.largest for one in traversals.next_of_lists(joint.work))

    return any(leads_on(joint) for joint in list_joint(builder, edge.object))


def _follows_on(builder: PlanBuilder, readers: tuple[str, ...], property: str) -> Callable[[str], bool]:
    """Whether operations can follow on the object of a fact: one that says in what something lies is not followed by
    another such.
    """
    if readers[:1] == ("extend",) and property in builder.traversals.roles.within:
        return can_precede(builder, (OUTWARD_LOOKUP, *readers[1:]))
    return can_precede(builder, readers)


def _list_first(builder: PlanBuilder, context: OperationContext) -> StartPools[Edge]:
    """Property → facts among which to look for one on which the operations follow.

    Where many do, these are all facts of the property; where few do, just those.
    """
    find = functools.partial(_find_first, builder, context)
    if _leads_into_series(context.readers):  # what is asked about is the series, not whoever leads into it
        return _focus(builder, ("first", *context.readers), find, lambda edge: edge.object, _find_series_domains)
    return _focus(builder, ("first", context.branch, *context.readers), find, lambda edge: edge.subject)


def _find_first(builder: PlanBuilder, context: OperationContext) -> dict[str, Sequence[Edge]]:
    # They are few, and a sample would miss them.
    if place := _find_place_of_list(context.readers):
        few = _list_beside_lists(builder, place)
    else:
        few = _list_ways_into_series(builder, context.readers) or _list_ways_to_joint(builder, context.readers)
    if place or few:
        begins = functools.partial(_can_begin, builder, context)
        return {name: able for name, edges in few.items() if (able := tuple(filter(begins, edges)))}
    found: dict[str, Sequence[Edge]] = {}
    for name, edges in builder.relations.single.items():
        most = None if len(edges) <= _SAMPLED else _OFTEN + 1
        able = tuple(itertools.islice(_iter_able(builder, context, name, _SAMPLED), most))
        if most is None:
            found[name] = able
        elif len(able) > _OFTEN:
            found[name] = edges
        elif able:
            found[name] = tuple(_iter_able(builder, context, name, 4 * _SAMPLED))
    return {name: able for name, able in found.items() if able}


def _iter_able(builder: PlanBuilder, context: OperationContext, property: str, most: int) -> Iterator[Edge]:
    """Of the facts of a property, taken evenly, those with which a plan can begin."""
    follows = _follows_on(builder, context.readers, property)
    for edge in builder.relations.told_apart(property, most):
        if follows(edge.object) and _is_dated(builder, edge, context):
            yield edge


def _leads_into_series(readers: Sequence[str]) -> bool:
    """Whether the operations that follow find several members of a series by what they share."""
    return tuple(readers[:2]) == _ON_TO_END or tuple(readers[:1]) == _TO_END


def _list_ways_into_series(builder: PlanBuilder, readers: Sequence[str]) -> Mapping[str, Sequence[Edge]]:
    """Property → the facts that lead to what members of a series share: few, and a sample would miss them.

    Empty where the operations that follow do not enter a series.
    """
    if not _leads_into_series(readers):
        return {}
    key = ("ways into series", readers[0])
    return _remember(builder, key, functools.partial(_find_ways_into_series, builder, readers)).pools


def _find_ways_into_series(builder: PlanBuilder, readers: Sequence[str]) -> dict[str, list[Edge]]:
    traversals = builder.traversals
    values = set(traversals.recurrences)
    if tuple(readers[:2]) == _ON_TO_END:
        values = {edge.subject for value in values for edge in traversals.lookups_to(value)}
    return _list_lookups_to(builder, values)


def _list_ways_to_joint(builder: PlanBuilder, readers: Sequence[str]) -> Mapping[str, Sequence[Edge]]:
    """Property → the facts that lead to those who made works with others: few as well.

    Empty where the operation that follows does not choose what two made.
    """
    if not readers or readers[0] not in JOINT_OPERATIONS:
        return {}
    return _remember(builder, ("ways to joint",), functools.partial(_find_ways_to_joint, builder)).pools


def _find_ways_to_joint(builder: PlanBuilder) -> dict[str, list[Edge]]:
    joint = builder.traversals.joint_owners
    return _list_lookups_to(builder, {owner for held in joint.values() for owner in held}.union(joint))


def _list_lookups_to(builder: PlanBuilder, entities: Iterable[str]) -> dict[str, list[Edge]]:
    found: dict[str, list[Edge]] = {}
    for entity in sorted(entities):
        for edge in builder.traversals.lookups_to(entity):
            found.setdefault(edge.property, []).append(edge)
    return found


def _find_series_domains(builder: PlanBuilder, value: str) -> frozenset[str]:
    """The domains of the series into which something leads: by what it is, or by what is known of it."""
    traversals = builder.traversals
    found = (value, *(edge.object for edge in traversals.lookups_from(value)))
    series = {recurring.series for one in found for recurring in traversals.recurrences.get(one, ())}
    return frozenset(str(traversals.table.literal[one].domain) for one in series)


def _find_domain(builder: PlanBuilder, entity: str) -> frozenset[str]:
    return frozenset({str(builder.domain_of(entity))})


def _focus(
    builder: PlanBuilder,
    key: tuple[str, ...],
    find: Callable[[], Mapping[str, Sequence[_T]]],
    subject: Callable[[_T], str],
    domains: Callable[[PlanBuilder, str], frozenset[str]] = _find_domain,
) -> StartPools[_T]:
    """What is found, or of it what belongs to the plan's domain; both are kept."""
    if not (focus := builder.preferences.focus):
        return _remember(builder, key, find)
    narrow = functools.partial(_narrow, builder, focus, key, find, subject, domains)
    return _remember(builder, (focus, *key), narrow)


def _narrow(
    builder: PlanBuilder,
    focus: str,
    key: tuple[str, ...],
    find: Callable[[], Mapping[str, Sequence[_T]]],
    subject: Callable[[_T], str],
    domains: Callable[[PlanBuilder, str], frozenset[str]],
) -> dict[str, Sequence[_T]]:
    """What of all that is found belongs to a domain."""
    known = builder.relations.domains
    if (domains_of := known.get(domains.__name__)) is None:
        domains_of = known[domains.__name__] = Memory(functools.partial(domains, builder), _ENTITIES)
    found = _remember(builder, key, find).pools.items()
    kept = ((name, tuple(one for one in options if focus in domains_of[subject(one)])) for name, options in found)
    return {name: options for name, options in kept if options}


def _remember(
    builder: PlanBuilder, key: tuple[str, ...], find: Callable[[], Mapping[str, Sequence[_T]]]
) -> StartPools[_T]:
    """What is found, kept by a key."""
    known = builder.relations.starts
    if (starts := known.get(key)) is None:
        starts = known[key] = StartPools(find(), builder.traversals.roles.seldom)
    return starts


def _draw_edge(builder: PlanBuilder, context: OperationContext, suits: Callable[[Edge], bool]) -> Edge:
    """One of the facts that may be taken and suit, rather of the band that the plan is to be of."""
    starts, begins = _list_first(builder, context), _begins(builder, context)
    if builder.preferences.scarcity * _MANY >= starts.size:
        raise NothingBegins(DeadEnd.NO_START)
    pools, admits = starts.pools, builder.admits
    band, band_of, degree = builder.preferences.band, builder.preferences.band_of, builder.traversals.degree
    other: Edge | None = None
    for name in _draw_names(builder, starts):
        edge = _draw_of_part(builder, pools[name], lambda edge: edge.subject)
        in_band = not band or band_of(degree(edge.subject)) == band
        if other is not None and not in_band:
            continue  # of those of another band the first that suits is taken
        if not (admits(edge.subject) and admits(edge.object) and begins(edge) and suits(edge)):
            continue
        if in_band:
            return edge
        other = edge
    if other is None:
        raise PlanningDeadEnd(DeadEnd.START_IN_USE_OR_ALONE)
    return other


def _draw_some(builder: PlanBuilder, starts: StartPools[_T], owner: Callable[[_T], str], missing: DeadEnd) -> list[_T]:
    """Something of some of the properties that a plan may begin with. Raises NothingBegins where that is too little."""
    if builder.preferences.scarcity * _MANY_ENDS >= starts.size:
        raise NothingBegins(missing)
    return [_draw_of_part(builder, starts.pools[one], owner) for one in _draw_names(builder, starts)]


def _draw_of_part(builder: PlanBuilder, options: Sequence[_T], subject: Callable[[_T], str]) -> _T:
    """One of the options, of the plan's part of all makers where one is soon found."""
    number, parts = builder.preferences.part
    one = draw(builder.rng, options)
    for _ in range(_SOON * (parts - 1)):
        if builder.traversals.owner_marks[subject(one)] % parts == number:
            break
        one = draw(builder.rng, options)
    return one


def _draw_names(builder: PlanBuilder, starts: StartPools[_T]) -> Sequence[str]:
    """Some of the properties that a plan may begin with, each drawn anew; none where all are closed to the plan."""
    reached = starts.reach(builder.preferences.weights)
    return draw_several(builder.rng, starts.names, reached, _DRAWN) if reached else ()


def _is_dated(builder: PlanBuilder, edge: Edge, context: OperationContext) -> bool:
    """Whether another branch can begin with the subject's own date, where one does, and be set beside what follows."""
    if context.branch == "named-birth":
        birth, death = builder.traversals.roles.birth, builder.traversals.roles.death
        born, then = full_date(builder, edge.subject, birth), full_date(builder, edge.object, death)
        return born is not None and then is not None and born < then
    if context.branch == "named-date":
        return any(
            has_full_date(measure) and measure.property != builder.traversals.roles.birth
            for measure in builder.traversals.measures(edge.subject)
        )
    return context.branch != "named-year" or bool(list_events(builder, edge.subject))


def _find_place_of_list(readers: Sequence[str]) -> str:
    """Where the whole list stands that the operations after a fact need: at its object, at another fact's beside it, or
    at its subject or whoever made that, whom the plan then names; empty where they need none, or only later on.
    """
    if not NAMED_LIST_OPERATIONS.isdisjoint(readers):
        return "named"
    if not LIST_OPERATIONS.isdisjoint(readers[:1]) or readers[:1] == ("end-of-its",):
        return "object"
    return "beside" if readers[0] in ("date", "year") and not LIST_OPERATIONS.isdisjoint(readers[1:]) else ""


def _list_beside_lists(builder: PlanBuilder, place: str) -> Mapping[str, Sequence[Edge]]:
    """Property → the facts that have a whole list at a place (see `_find_place_of_list`)."""
    return _remember(builder, ("beside lists", place), functools.partial(_find_beside_lists, builder, place)).pools


def _find_beside_lists(builder: PlanBuilder, place: str) -> dict[str, Sequence[Edge]]:
    owners = builder.traversals.list_owners
    near = _find_owners_near(builder, place)
    found = {}
    for name, edges in builder.relations.single.items():
        # Who was on a throne before or after is no reason to look at what somebody wrote.
        if "office" not in builder.traversals.table.entity[name].circles:
            at_object = place == "object"
            found[name] = tuple(
                one
                for one in edges
                if (one.object in owners if at_object else _has_list(builder, one, place, near.get(one.subject, ())))
            )
    return {name: edges for name, edges in found.items() if edges}


def _find_owners_near(builder: PlanBuilder, place: str) -> dict[str, set[str]]:
    """Subject → those who have a whole list, of what facts about it have at a place besides their objects."""
    traversals = builder.traversals
    found: dict[str, set[str]] = {one: {one} for one in traversals.list_owners} if place == "named" else {}
    for owner in traversals.list_owners:
        for property in traversals.graph.in_properties(owner):
            if place == "beside" or property in traversals.makers:
                for subject in traversals.graph.subjects(property, owner):
                    found.setdefault(subject, set()).add(owner)
    return found


def _has_list(builder: PlanBuilder, edge: Edge, place: str, near: Collection[str]) -> bool:
    """Whether what happens to the object of a fact parts a whole list near it."""
    traversals, roles = builder.traversals, builder.traversals.roles
    if traversals.kinds.kind(edge.object) not in traversals.living:
        return False
    owners = set(near)
    owners.discard(edge.object)
    if not owners:
        return False
    moments = [m.value for m in traversals.measures(edge.object) if m.property in (roles.death, roles.birth)]
    lists = [whole for owner in owners for whole in traversals.whole_lists(owner)]
    return any(traversals.part(whole, moment) for whole in lists for moment in moments)


def list_makers(builder: PlanBuilder, work: str) -> list[str]:
    """Those who made a work, as an author or a director did."""
    made = builder.traversals.makers
    return [end for property, end in builder.traversals.graph.out_edges(work) if property in made]


def _are_told_apart(builder: PlanBuilder, edge: Edge) -> bool:
    """Whether the names of a fact's ends share no telling word."""
    return builder.traversals.tokens(edge.subject).isdisjoint(builder.traversals.tokens(edge.object))
