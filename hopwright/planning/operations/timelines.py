"""Look-ups in timelines: who or what holds a year, and the years that lead there.

A timeline is a list that works of reference give in full, such as the hosts of the Olympic Games by year. So a year
that was worked out singles out an answer whose rivals are all of the same kind and of neighbouring years.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopwright.planning.dead_ends import DeadEnd, PlanningDeadEnd
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.lookahead import fits_partner, is_told_by_year, may_enter, satisfies_reader
from hopwright.planning.operations.starting_points import draw_dated, list_holders
from hopwright.planning.plan_builder import PlanBuilder, StepOutput
from hopwright.planning.random_draws import draw
from hopwright.records import Lookup, ReverseLookup

_NEIGHBOURS = 3
"""Years that lie between two holders of one timeline who are compared, at most."""


def holder(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Who or what holds the year that is read, in a timeline by which people tell the time."""
    (state,) = inputs
    suits = satisfies_reader(builder, context)
    found = {
        name: one
        for name, held in builder.traversals.timelines.items()
        if (one := held.get(state.whole)) is not None
        and is_told_by_year(held, state.whole)
        and builder.admits(one)
        and suits(one)
        and may_enter(builder, name, state.entity)
    }
    if not found:
        raise PlanningDeadEnd(DeadEnd.NO_HOLDER_OF_YEAR)
    drawn = builder.prefer(list(found), str)
    return _add(builder, drawn, state.ref, found[drawn])


def named_holder(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Who or what holds a year that the question states; beside another, of the same timeline and of years nearby."""
    partner = context.partners[0] if context.partners else None
    pools = list_holders(builder, context.readers, anywhere=partner is not None)
    if partner is None:
        name = builder.prefer_name(list(pools))
        found = {name: [held for held in pools[name] if builder.admits(held[1])]}
    else:
        found = _list_partners(builder, context, partner, pools)
    if not any(found.values()):
        raise PlanningDeadEnd(DeadEnd.NO_HOLDER)
    name = builder.prefer_name([one for one, held in found.items() if held])
    year, holder = draw(builder.rng, found[name])
    return _add(builder, name, str(year), holder)


def _list_partners(
    builder: PlanBuilder,
    context: OperationContext,
    partner: StepOutput,
    pools: Mapping[str, Sequence[tuple[int, str]]],
) -> dict[str, list[tuple[int, str]]]:
    """Whom to set beside a holder: those of what is given together with it, or of its timeline some years later."""
    derivation = builder.find_derivation(partner.ref)
    if isinstance(derivation, Lookup) and derivation.subject.startswith("hop"):  # an event of a holder's life
        derivation = builder.find_derivation(derivation.subject)
    if not isinstance(derivation, ReverseLookup) or not derivation.value.isdigit():
        raise PlanningDeadEnd(DeadEnd.HOLDERS_COMPARED_AS_THEY_ARE)
    own, near = derivation.property, int(derivation.value)

    def list_fitting(name: str, apart: int) -> list[tuple[int, str]]:
        return [
            (year, one)
            for year, one in pools.get(name, ())
            if 0 <= year - near <= apart
            and builder.admits(one)
            and fits_partner(builder, context.readers, partner.entity, one)
        ]

    together = {name: list_fitting(name, 0) for name in _list_given_beside(builder, own)}
    if any(together.values()):
        return together
    return {own: list_fitting(own, _NEIGHBOURS)}


def _list_given_beside(builder: PlanBuilder, timeline: str) -> list[str]:
    """The other timelines of what is given together with what a timeline lists: the other prizes of a ceremony."""
    literal = builder.traversals.table.literal
    together = literal[timeline].together_np
    return [
        one for one in builder.traversals.timelines if one != timeline and literal[one].together_np == together != ()
    ]


def named_event(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The year of an event of somebody or something named, from which a timeline is entered."""
    measure = draw_dated(builder, context.readers)
    builder.name(measure.entity)
    return builder.measure(measure.entity, measure)


def _add(builder: PlanBuilder, timeline: str, year: str, found: str) -> StepOutput:
    builder.take(found)
    step = ReverseLookup(property=timeline, value=year)
    return StepOutput("entity", builder.add(step, found), found)
