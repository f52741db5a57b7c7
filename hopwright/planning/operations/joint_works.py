"""What two made together: the first film of a director with a cinematographer, or how many there are."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from hopwright.planning.computation_forms import EndOfMaker, Extreme, NextOfList, read_computation
from hopwright.planning.dead_ends import DeadEnd, PlanningDeadEnd
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.lookahead import (
    FEWEST_CHOSEN_FROM,
    FEWEST_OTHERS,
    FEWEST_THEIRS,
    REMEMBERED,
    list_joint,
    list_joint_counts,
    satisfies_reader,
)
from hopwright.planning.operations.starting_points import draw_joint_works, has_unlisted_between
from hopwright.planning.operations.whole_lists import states_year
from hopwright.planning.plan_builder import PlanBuilder, StepOutput
from hopwright.planning.traversals import Edge, JointCount, JointWork
from hopwright.records import Lookup

_T = TypeVar("_T")
_FEWEST_BESIDE = 3
"""So many others of a list must be left to be taken for what is chosen from it."""
_FEWEST_BEYOND = 2
"""So much lies beyond what came next, and is offered beside it."""
_Option = tuple[JointWork, str, str]
"""With what the owner of the list and the partner are referred to."""


def joint_of_both(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Of two whom the plan found."""
    return _choose(
        builder,
        context,
        (
            (joint, owner.ref, partner.ref)
            for owner, partner in itertools.permutations(inputs, 2)
            for joint in builder.traversals.joint_works(owner.entity)
            if joint.partner == partner.entity
            # Of somebody's first film, the first with its editor would be that one.
            and ((own := _find_worked_on(builder, partner.ref)) is None or joint.largest is not own.largest)
        ),
    )


def joint_with_named(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Of somebody whom the plan found, and of another whom it names."""
    (found,) = inputs

    def refer(entity: str) -> str:
        return found.ref if entity == found.entity else entity

    joint = list_joint(builder, found.entity)
    own = _find_worked_on(builder, found.ref)
    if isinstance(own, Extreme) and own.members is not None:
        joint = [one for one in joint if one.owner == own.members.shared]
        # Of somebody's first film, the first with its editor would be that one.
        joint = [one for one in joint if one.largest is not own.largest]
    else:  # a film of another director would be a mere name for whoever shot it
        joint = [one for one in joint if not builder.topics or builder.topics[0] in _list_works(one)]
    return _choose(builder, context, [(one, refer(one.owner), refer(one.partner)) for one in joint])


def _list_works(joint: JointWork) -> frozenset[str]:
    """All of the whole list of the owner."""
    return frozenset(work for _, work in joint.whole.dates)


def _find_worked_on(builder: PlanBuilder, reference: str) -> Extreme | EndOfMaker | None:
    """The choice of what somebody made first, or last, on which whoever a hop finds worked; None for others."""
    part = builder.find_derivation(reference)
    form = read_computation(builder.find_derivation(part.subject)) if isinstance(part, Lookup) else None
    if isinstance(form, Extreme):
        return form if form.members is not None and not form.members.partner else None
    return form if isinstance(form, EndOfMaker) else None


def joint_of_named(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Of two whom the plan names."""
    found = draw_joint_works(builder, context)
    return _choose(builder, context, ((joint, joint.owner, joint.partner) for joint in found))


def next_after_joint(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """What the maker of the last of several works brought out next, or just before the first of them."""
    (found,) = inputs
    suits = satisfies_reader(builder, context)
    chosen = read_computation(builder.find_derivation(found.ref))
    assert isinstance(chosen, Extreme) and chosen.members is not None
    (when,) = builder.traversals.facts.scalars(found.entity, chosen.property)
    if not chosen.largest and chosen.members.credit in builder.traversals.roles.crew:
        raise PlanningDeadEnd(DeadEnd.NOTHING_TOGETHER)  # before they designed a film for him, some drew for another
    for one in builder.traversals.next_of_lists(found.entity):
        if one.later is not chosen.largest or one.whole.property != chosen.members.property:
            continue
        if not builder.admits(one.work) or not builder.traversals.nameable(one.work) or not suits(one.work):
            continue
        near = [date for date, _ in one.whole.list_near(one.work) if date != one.date]
        if sum((date > one.date) is one.later for date in near) < _FEWEST_BEYOND:
            continue  # what came out before the work that is named comes next for nobody
        if has_unlisted_between(builder, one.owner, when, one.date):
            continue
        builder.take(one.work)
        form = NextOfList(one.whole.measure, one.whole.property, one.maker, found.ref, one.later)
        return StepOutput("entity", builder.compute(form.write(), "comparison", one.work), one.work)
    raise PlanningDeadEnd(DeadEnd.NOTHING_TOGETHER)


def count_joint_of_both(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """How many works two made together whom the plan found."""
    return _count(
        builder,
        (
            (joint, owner.ref, partner.ref)
            for owner, partner in itertools.permutations(inputs, 2)
            for joint in builder.traversals.joint_counts(owner.entity)
            if joint.partner == partner.entity
        ),
    )


def count_joint_with_named(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """How many works somebody whom the plan found made with another whom it names."""
    (found,) = inputs

    def refer(entity: str) -> str:
        return found.ref if entity == found.entity else entity

    joint = list_joint_counts(builder, found.entity)
    return _count(builder, [(one, refer(one.owner), refer(one.partner)) for one in joint])


def _count(builder: PlanBuilder, options: Iterable[tuple[JointCount, str, str]]) -> StepOutput:
    for joint, owner, partner in _shuffle(builder, options):
        named = [one for one in (owner, partner) if not one.startswith("hop")]
        if not all(map(builder.admits, named)) or not _is_found_as_partner(builder, partner, joint.credit):
            continue
        if not _is_found_as_maker(builder, owner, joint.whole.property, joint.owner, joint.works[0]):
            continue
        builder.name(*named)
        members = f"having({joint.credit}, {partner}, all({joint.whole.property}, {owner}))"
        size = len(joint.works)
        return StepOutput("amount", builder.compute(f"size({members})", "counting", size), number=size)
    raise PlanningDeadEnd(DeadEnd.NOTHING_TOGETHER)


def _choose(builder: PlanBuilder, context: OperationContext, options: Iterable[_Option]) -> StepOutput:
    suits = satisfies_reader(builder, context)
    for joint, owner, partner in _shuffle(builder, options):
        named = [one for one in (owner, partner) if not one.startswith("hop")]
        new = [one for one in named if one not in builder.topics]
        if not all(map(builder.admits, (*new, joint.work))) or not suits(joint.work):
            continue
        if not _is_found_as_partner(builder, partner, joint.credit) or _is_told_by_other(builder, owner, partner):
            continue
        if not _is_found_as_maker(builder, owner, joint.whole.property, joint.owner, joint.work):
            continue
        if _is_stated(builder, owner, joint):
            continue
        # Two are enough where the question neither names nor finds one of them.
        fewest = FEWEST_CHOSEN_FROM - (not _list_known(builder, joint))
        if len(joint.works) < fewest or joint.date.year >= REMEMBERED or not _leaves_choice(builder, joint):
            continue
        builder.name(*named)
        builder.take(joint.work)
        members = f"having({joint.credit}, {partner}, all({joint.whole.property}, {owner}))"
        expression = f"{'argmax' if joint.largest else 'argmin'}({joint.whole.measure}, {members})"
        return StepOutput("entity", builder.compute(expression, "comparison", joint.work), joint.work)
    raise PlanningDeadEnd(DeadEnd.NOTHING_TOGETHER)


def _leaves_choice(builder: PlanBuilder, joint: JointWork) -> bool:
    """Whether enough lies on that side of a work of the two, which the plan names or finds, on which their end lies:
    whoever reads of a film of 1960 knows that their first film is none that came out later. Some of it lies beyond the
    end, where others took part.
    """
    if not (known := _list_known(builder, joint)):
        return True
    bound = max(known) if joint.largest else min(known)
    left = _list_beyond(joint, bound)
    if not set(joint.works).isdisjoint(builder.topics) and sum(one in joint.works for one in left) < FEWEST_THEIRS:
        return False  # of one film that they made before the one that is named, it is the first anyway
    return len(left) > _FEWEST_BESIDE and bool(_list_beyond(joint, joint.date))


def accept_of_joint(builder: PlanBuilder, state: StepOutput) -> Callable[[Edge], bool] | None:
    """Which facts are asked of the first or the last that two made; None of anything else.

    Whoever takes another of the list for it finds something else, among what lies on either side, and three such things
    in all: they are the wrong options.
    """
    form = read_computation(builder.find_derivation(state.ref))
    if not isinstance(form, Extreme) or form.members is None or not form.members.partner:
        return None
    chosen = (state.entity, form.members.credit, form.largest)
    owners = builder.traversals.graph.subjects(form.members.property, state.entity)
    joint = next(
        one
        for owner in owners
        for one in builder.traversals.joint_works(owner)
        if (one.work, one.credit, one.largest) == chosen
    )
    known = _list_known(builder, joint)
    near = [
        (date, one)
        for date, one in joint.whole.list_near(joint.work)
        if one not in builder.topics and (not known or (date > min(known) if joint.largest else date < max(known)))
    ]
    objects = builder.traversals.graph.objects

    def accepts(edge: Edge) -> bool:
        if any(edge.object in objects(one, edge.property) for one in joint.works if one != joint.work):
            return False
        told = {value for one in builder.topics for value in objects(one, edge.property)}
        sides: dict[bool, set[str]] = {True: set(), False: set()}
        for date, one in near:
            if len(held := objects(one, edge.property)) == 1 and held[0] != edge.object and held[0] not in told:
                sides[date > joint.date].add(held[0])
        return all(sides.values()) and len(sides[True] | sides[False]) >= FEWEST_OTHERS

    return accepts


def _list_beyond(joint: JointWork, moment: dt.date) -> list[str]:
    """What of the whole list lies on that side of a moment on which the end of the two lies."""
    return [one for date, one in joint.whole.dates if date != moment and (date > moment) is joint.largest]


def _list_known(builder: PlanBuilder, joint: JointWork) -> list[dt.date]:
    """The dates of those works of the two that the plan names or finds."""
    told = {*builder.topics, *builder.list_found()}.intersection(joint.works)
    return [date for date, one in joint.whole.dates if one in told]


def _is_told_by_other(builder: PlanBuilder, owner: str, partner: str) -> bool:
    """Whether one of the two who is named tells who the other is: a cinematographer who worked for one director, or the
    director of a film that the plan has to find, unless it is found as the first or the last of that director.
    """
    if owner.startswith("hop"):
        return not partner.startswith("hop")
    if partner.startswith("hop") and _find_worked_on(builder, partner) is not None:
        return False
    edges, makers = builder.traversals.graph.out_edges, builder.traversals.makers
    return any(end == owner and property in makers for one in builder.list_found() for property, end in edges(one))


def _is_stated(builder: PlanBuilder, owner: str, joint: JointWork) -> bool:
    """Whether the question states the year of what is chosen, as that in which its owner is found: a final that is won
    in 1989 is the last one before anybody has looked for it.
    """
    return owner.startswith("hop") and states_year(builder, owner, joint.date)


def _shuffle(builder: PlanBuilder, options: Iterable[_T]) -> list[_T]:
    held = list(options)
    return builder.rng.sample(held, len(held))


def _find_part(builder: PlanBuilder, reference: str) -> str:
    """The property by which a plan finds somebody; empty where it names them, or finds them otherwise."""
    step = builder.find_derivation(reference)
    return step.property if isinstance(step, Lookup) else ""


def _is_found_as_partner(builder: PlanBuilder, partner: str, credit: str) -> bool:
    """Whether a plan names a partner, or finds them in the part that they had, or in one that goes with it."""
    part = _find_part(builder, partner)
    return part in ("", credit, *builder.traversals.table.entity[credit].found_by)


def _is_found_as_maker(builder: PlanBuilder, owner: str, whole: str, maker: str, work: str) -> bool:
    """Whether a plan finds the owner of a list in the part in which they made what is on it, if it finds them."""
    part, table = _find_part(builder, owner), builder.traversals.table
    if part in table.credits and part != table.entity[whole].maker:
        return False  # some direct what they write, but they are not asked for as its writers
    return not part or (part, maker) in builder.traversals.graph.out_edges(work)
