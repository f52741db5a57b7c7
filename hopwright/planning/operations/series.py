"""Members of a series, such as the FIFA World Cups: the one that something belongs to alone, the first or the last.

A member is found by what it alone is known by, and never named. Where several are known by the same, as the missions
that one astronaut commanded, the first or the last of them is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

from hopwright.planning.dead_ends import DeadEnd, NothingBegins, PlanningDeadEnd
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.lookahead import satisfies_reader
from hopwright.planning.plan_builder import PlanBuilder, StepOutput
from hopwright.planning.random_draws import draw, draw_by_weights
from hopwright.records import Derivation, Lookup, ReverseLookup

_DRAWN = 24
_HUB = 3
"""Somebody whom the members of so many series share belongs to none of them, and is asked about in one alone."""


def named_member(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The member of a series that something named belongs to alone: the World Cup at which X was the top scorer."""
    focus = builder.preferences.focus
    table = builder.traversals.table
    pools = {
        name: edges
        for name, edges in builder.traversals.series_columns.items()
        if not focus or table.literal[name].domain == focus
    }
    if not pools:
        raise NothingBegins(DeadEnd.NO_SERIES)
    suits = satisfies_reader(builder, context)
    # A short series has soon been asked about enough.
    names, known = sorted(pools), builder.preferences.weights
    weights = [known.get(name, 1.0) * sum(map(len, pools[name].values())) ** 0.5 for name in names]
    for _ in range(_DRAWN):
        name = draw_by_weights(builder.rng, names, weights)
        edges = pools[name]
        edge = draw(builder.rng, edges[builder.prefer_name(list(edges))])
        if not builder.admits(edge.object) or not builder.admits(edge.subject) or not suits(edge.subject):
            continue
        builder.name(edge.object)
        return builder.walk(edge, edge.object, backward=True)
    raise PlanningDeadEnd(DeadEnd.NO_SERIES)


def end_member(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The first member of a series that has in one column what was found, or the last; several have it."""
    (state,) = inputs
    _refuse_family(builder)
    suits = satisfies_reader(builder, context)
    domain, table = builder.domain_of_step(state.ref), builder.traversals.table
    derivation = builder.find_derivation(state.ref)
    series = _find_series(builder, derivation)
    if not _is_known_member(builder, derivation):
        raise PlanningDeadEnd(DeadEnd.NO_SERIES)
    shared = builder.traversals.recurrences.get(state.entity, ())
    found = [
        (recurring, last, one)
        for recurring in shared
        # Whom a president chose for NASA has nothing to do with whom he chose for a court.
        if table.literal[recurring.series].domain == domain
        and (recurring.series == series if series else len(shared) < _HUB)
        for last in (False, True)
        if (recurring.last if last else recurring.first)
        and builder.admits(one := recurring.members[-1 if last else 0])
        and suits(one)
    ]
    if not found:
        raise PlanningDeadEnd(DeadEnd.NO_SERIES)
    if isinstance(derivation, Lookup):  # what a runner-up won is sooner asked than where else he came second
        found = [one for one in found if one[0].column != derivation.property] or found
    recurring, last, one = builder.prefer(found, lambda option: option[0].series)
    builder.take(one)
    expression = f"{'last_with' if last else 'first_with'}({recurring.series}, {recurring.column}, {state.ref})"
    return StepOutput("entity", builder.compute(expression, "comparison", one), one)


def _find_series(builder: PlanBuilder, derivation: Derivation | None) -> str:
    """The series in a column of which a hop looks something up; empty for any other hop."""
    entry = builder.traversals.table.entity.get(derivation.property) if isinstance(derivation, Lookup) else None
    return entry.series if entry is not None else ""


def _is_known_member(builder: PlanBuilder, derivation: Derivation | None) -> bool:
    """Whether what is shared was looked up of a member that the plan names, or that one thing alone is known by."""
    if not isinstance(derivation, Lookup) or not derivation.subject.startswith("hop"):
        return True
    return isinstance(builder.find_derivation(derivation.subject), ReverseLookup)


def _refuse_family(builder: PlanBuilder) -> None:
    """`The husband of X` is nobody whom a reader has to look for. Raises PlanningDeadEnd where a step finds kin."""
    steps = (one.derivation for one in builder.draft.steps)
    if any(isinstance(one, Lookup) and one.property in builder.traversals.roles.family for one in steps):
        raise PlanningDeadEnd(DeadEnd.NO_SERIES)
