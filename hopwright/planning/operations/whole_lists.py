"""Choices and counts in lists that the source holds in full: the operas of a composer, the children of a queen.

Something that happened to another parts such a list: the first opera that a composer brought out after a librettist had
died. Whatever else stands in the list meets every condition that the question states.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hopwright.planning.dead_ends import DeadEnd, PlanningDeadEnd
from hopwright.planning.expressions import is_later
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.lookahead import satisfies_reader
from hopwright.planning.operations.operation_inputs import full_date
from hopwright.planning.operations.starting_points import (
    draw_ends_beside,
    draw_list_ends,
    has_unlisted_between,
    list_ends,
    list_makers,
)
from hopwright.planning.plan_builder import PlanBuilder, StepOutput
from hopwright.planning.traversals import WholeList, read_year
from hopwright.records import Lookup, ReverseLookup
from hopwright.records.values import Scalar
from hopwright.settings import LATEST_YEAR

_MOST_JOINED = 200
_WITHIN_MEMORY = 25
"""Years in which a death was in the news that readers remember."""
_FEWEST_COUNTED = 2
_FEWEST_BESIDE = 2
"""What is chosen from as many and more came out first or last of `several`."""
_FEWEST_TO_COUNT_IN = 8
_MOST_COUNTED = 12
_CLOSEST = dt.timedelta(days=60)
"""What lies nearer to a moment may be on its other side by another country's release, or a festival."""
_LONGEST_GAP = dt.timedelta(days=5 * 365)
"""So long may lie between a moment and what comes next to it on either side: else whoever knows the decade knows it."""


class _Part(NamedTuple):
    """What of a list lies after a moment, or before it; the nearest to the moment first."""

    whole: WholeList
    later: bool
    members: tuple[tuple[dt.date, str], ...]
    gap: dt.timedelta
    """Between what lies next to the moment on either side."""

    @property
    def function(self) -> str:
        return "after" if self.later else "before"


def next_of_its(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The first of a list of what the plan found after a moment that it found, or the last before it."""
    moment, owner = sorted(inputs, key=lambda state: state.type == "entity")
    return _choose(builder, owner.entity, owner.ref, moment, context)


def next_of_owner(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The same of a list of somebody whom the plan names."""
    owner = _find_named(builder)
    return _choose(builder, owner, owner, inputs[0], context)


def end_of_its(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The first or the last of a list of what the plan found."""
    (owner,) = inputs
    suits = satisfies_reader(builder, context)
    ends = [
        end
        for end in list_ends(builder, owner.entity)
        # A part of a film, or one with two directors, may have come first.
        if not builder.traversals.table.entity[end.whole.property].besides
        and not states_year(builder, owner.ref, end.date)
        and builder.admits(end.work)
        and suits(end.work)
    ]
    if not ends:
        raise PlanningDeadEnd(DeadEnd.NO_WHOLE_LIST)
    end = builder.rng.choice(ends)
    return _take(builder, end.write(owner.ref), end.work)


def end_of_named(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The first or the last of a list of somebody whom the plan names: Sidney Lumet's last film."""
    for end in draw_list_ends(builder, context):
        if builder.admits(end.owner) and builder.admits(end.work):
            builder.name(end.owner)
            return _take(builder, end.write(end.owner), end.work)
    raise PlanningDeadEnd(DeadEnd.NO_WHOLE_LIST)


def end_beside_work(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The first or the last of whoever made a work that the plan names: the debut of the director of "Klute"."""
    for start in draw_ends_beside(builder, context):
        if builder.admits(start.named) and builder.admits(start.end.work):
            builder.name(start.named)
            return _take(builder, start.write(), start.end.work)
    raise PlanningDeadEnd(DeadEnd.NO_WHOLE_LIST)


def _take(builder: PlanBuilder, expression: str, work: str) -> StepOutput:
    """A step that chooses a work by an expression."""
    builder.take(work)
    return StepOutput("entity", builder.compute(expression, "comparison", work), work)


def count_of_its(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """How many of a list of what the plan found come after a moment that it found, or before it."""
    moment, owner = sorted(inputs, key=lambda state: state.type == "entity")
    return _count(builder, owner.entity, owner.ref, moment)


def count_of_named(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The same of a list of somebody whom the plan names."""
    owner = _find_named(builder)
    return _count(builder, owner, owner, inputs[0])


def _find_named(builder: PlanBuilder) -> str:
    """Whom a plan may name as the owner of a list: what it speaks of already, or who made that."""
    for topic in builder.topics[:1]:
        if builder.traversals.whole_lists(topic):
            return topic
        makers = [one for one in list_makers(builder, topic) if builder.traversals.whole_lists(one)]
        if len(makers) == 1 and builder.admits(makers[0]):
            builder.name(makers[0])
            return makers[0]
    raise PlanningDeadEnd(DeadEnd.NO_WHOLE_LIST)


def _choose(
    builder: PlanBuilder, owner: str, reference: str, moment: StepOutput, context: OperationContext
) -> StepOutput:
    suits = satisfies_reader(builder, context)
    when = _read(builder, moment)
    died = full_date(builder, owner, builder.traversals.roles.death)
    if died is not None and isinstance(when, dt.date) and died <= when:
        raise PlanningDeadEnd(DeadEnd.NOT_ALIVE_THEN)  # whose last work that is needs no date
    if moment.of == builder.traversals.roles.death and (
        read_year(when) > LATEST_YEAR - _WITHIN_MEMORY or builder.is_well_known(moment.entity)
    ):
        raise PlanningDeadEnd(DeadEnd.KNOWN_DEATH)
    parts = [
        part for part in _list_parts(builder, owner, when) if _belongs(builder, part.whole, owner, reference, moment)
    ]
    for part in builder.rng.sample(parts, len(parts)):
        (date, nearest), *others = part.members
        if not others or not _are_told_apart(date, others[0][0]) or part.gap > _LONGEST_GAP:
            continue
        if isinstance(when, dt.date) and min(abs(date - when), part.gap - abs(date - when)) < _CLOSEST:
            continue
        if sum(one not in builder.topics for _, one in others) < _FEWEST_BESIDE:
            continue  # of two, the first is just the other one
        if _is_next_to_named(builder, part.whole, nearest) or has_unlisted_between(builder, owner, when, date):
            continue
        if builder.traversals.nameable(nearest) and builder.admits(nearest) and suits(nearest):
            members = f"all({part.whole.property}, {reference})"
            parted = f"{part.function}({part.whole.measure}, {moment.ref}, {members})"
            return _take(builder, f"{'argmin' if part.later else 'argmax'}({part.whole.measure}, {parted})", nearest)
    raise PlanningDeadEnd(DeadEnd.NO_WHOLE_LIST)


def _is_next_to_named(builder: PlanBuilder, whole: WholeList, chosen: str) -> bool:
    """Whether a list has what is chosen right beside something that the question names: then no date is needed."""
    places = {one: place for place, (_, one) in enumerate(whole.dates)}
    return any(abs(places[one] - places[chosen]) == 1 for one in builder.topics if one in places)


def _count(builder: PlanBuilder, owner: str, reference: str, moment: StepOutput) -> StepOutput:
    parts = [
        part
        for part in _list_parts(builder, owner, _read(builder, moment))
        if not builder.traversals.table.entity[part.whole.property].partial
        # Whether a concert film counts is open where there are works beside the list.
        and not builder.traversals.table.entity[part.whole.property].besides
        # So it is whether a reworked opera, or a third of a trilogy, is one of its own.
        and all(builder.traversals.kinds.kind(one) != "work" for _, one in part.members)
        and len(part.whole.dates) >= _FEWEST_TO_COUNT_IN
        and _belongs(builder, part.whole, owner, reference, moment)
        and _FEWEST_COUNTED <= len(part.members) <= min(_MOST_COUNTED, len(part.whole.dates) - _FEWEST_COUNTED)
    ]
    if full_date(builder, owner, builder.traversals.roles.death) is None:
        parts = [part for part in parts if not part.later]  # who lives may bring out more
    if not parts:
        raise PlanningDeadEnd(DeadEnd.NO_WHOLE_LIST)
    part = builder.rng.choice(parts)
    parted = f"{part.function}({part.whole.measure}, {moment.ref}, all({part.whole.property}, {reference}))"
    size = len(part.members)
    return StepOutput("amount", builder.compute(f"size({parted})", "counting", size), number=size)


def _read(builder: PlanBuilder, moment: StepOutput) -> Scalar:
    """The date or the year that a step found."""
    value = builder.draft.steps[int(moment.ref[3:]) - 1].value
    assert not isinstance(value, str)
    return value


def _belongs(builder: PlanBuilder, whole: WholeList, owner: str, reference: str, moment: StepOutput) -> bool:
    """Whether a list has to do with what parts it: works are of the one who is called their maker, and only of kin a
    birth is taken, or anything that parts somebody's children.
    """
    graph, roles = builder.traversals.graph, builder.traversals.roles
    members = [one for _, one in whole.dates]
    if builder.traversals.kinds.kind(owner) != "person":
        return False  # what a club won after a manager's death is nothing that anybody asks
    if moment.of == roles.birth or builder.traversals.kinds.kind(members[0]) == "person":
        joined = [*graph.out_edges(owner), *graph.in_edges_spread(owner, _MOST_JOINED)]
        if not any(property in roles.kinship and end == moment.entity for property, end in joined):
            return False
    made, part = builder.find_derivation(reference), _find_part(builder, moment)
    if not isinstance(made, Lookup):  # of whoever is named, only the death of kin marks anything in their work
        return not part or part in roles.kinship
    if made.property in builder.traversals.table.credits:
        return False  # some direct what they write, but they are not asked for as its writers
    if builder.traversals.table.entity[made.property].told_role:
        # The novelist whose novel was filmed is asked for as the author of novels; who photographed it is no concern.
        return part in roles.adapters | roles.kinship
    if part and not builder.traversals.table.entity[part].told_role and part not in roles.kinship:
        return False  # the death of who wrote one of a director's films marks nothing in the others
    # Whoever conducted most of his own operas is meant as their composer, and is asked for as such.
    return all((made.property, owner) in graph.out_edges(one) for one in members)


def _find_part(builder: PlanBuilder, moment: StepOutput) -> str:
    """The property by which the plan found the one to whom a moment belongs; empty of somebody who is named."""
    when = builder.find_derivation(moment.ref)
    found = builder.find_derivation(when.subject) if isinstance(when, Lookup) else None
    return found.property if isinstance(found, Lookup) else ""


def _list_parts(builder: PlanBuilder, owner: str, when: Scalar) -> Iterator[_Part]:
    """What lies after a moment, and what before it, of each list that has something on either side."""
    for whole in builder.traversals.whole_lists(owner):
        if sides := builder.traversals.part(whole, when):
            before, after = sides
            gap = after[0][0] - before[-1][0]
            yield _Part(whole, True, after, gap)
            yield _Part(whole, False, before[::-1], gap)


def states_year(builder: PlanBuilder, reference: str, date: dt.date) -> bool:
    """Whether what a hop finds is the holder of a year that the question states, and the date is of that year.

    Of who won at Wimbledon in 2003 nobody has to find out what came first.
    """
    held = builder.find_derivation(reference)
    return isinstance(held, ReverseLookup) and held.value == str(date.year)


def _are_told_apart(one: dt.date, other: dt.date) -> bool:
    """Whether it is certain which of two dates is the earlier."""
    return is_later(one, other) is not None
