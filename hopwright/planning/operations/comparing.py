"""Computations that choose one of several entities that belong together: the first, the last, the largest."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence

from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.lookahead import satisfies_reader, weigh_roots
from hopwright.planning.operations.operation_inputs import (
    MAX_ENTITIES_CONSIDERED,
    are_apart,
    draw_others,
    find_input,
    full_year,
    list_shared,
    read_value,
)
from hopwright.planning.plan_builder import PlanBuilder, PlanningDeadEnd, StepOutput
from hopwright.planning.random_draws import draw
from hopwright.planning.relations import Group
from hopwright.records.values import Scalar

_TRIED = 40
_NAMED = 4
_MOST_WORDS = 10


def compare(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Whichever of several entities has the largest or the smallest value of a property."""
    shared = list_shared(builder, [state.entity for state in inputs], comparing=True)
    weights = builder.preferences.weights
    shared.sort(key=lambda name: builder.rng.random() ** (1 / weights.get(name, 1.0)), reverse=True)
    wanted = context.forced  # an anchor's hop that goes on from the winner
    suits = satisfies_reader(builder, context)
    for property in shared[:6]:
        values = {state.entity: read_value(builder, state.entity, property) for state in inputs}
        ranked = sorted(inputs, key=lambda state: values[state.entity])
        for largest in builder.rng.sample((True, False), 2):
            winner = ranked[-1] if largest else ranked[0]
            if wanted is not None and winner.entity not in (wanted.subject, wanted.object):
                continue
            if suits(winner.entity):
                name = "argmax" if largest else "argmin"
                expression = f"{name}({property}, {', '.join(state.ref for state in inputs)})"
                ref = builder.compute(expression, "comparison", winner.entity)
                return StepOutput("entity", ref, winner.entity)
    raise PlanningDeadEnd("the entities have nothing to compare them by")


def first_of(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """The first or last, largest or smallest, of four named entities that share something."""
    suits = satisfies_reader(builder, context)
    for group in _draw_groups(builder):
        pool = [one for one in group.members if builder.admits(one)]
        if len(pool) < _NAMED or not builder.admits(group.shared):
            continue
        if context.branches and full_year(builder, group.shared, builder.traversals.roles.death) is None:
            continue  # the other branch starts from what they share
        for property in _shuffled(builder, _properties(builder, pool)):
            values = _values(builder, pool, property)
            for winner in _able(builder, values, suits):
                for largest in builder.rng.sample((True, False), 2):
                    behind = [one for one in values if (values[one] < values[winner]) == largest and one != winner]  # type: ignore[operator]
                    others = draw_others(builder, behind, _NAMED - 1, [winner, group.shared])
                    named = _shorten(builder, [winner, *others])
                    if len(named) >= 3 and are_apart(builder, named, property):
                        builder.rng.shuffle(named)
                        return _choose(builder, group, group.shared, named, winner, property, largest)
    raise PlanningDeadEnd("nothing to choose from that belongs together")


def first_by(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Of four named entities the first or last that shares something with others through the entity that is read."""
    (state,) = inputs
    suits = satisfies_reader(builder, context)
    groups = builder.relations.groups_sharing(state.entity)
    for group in builder.rng.sample(groups, len(groups)):
        pool = [one for one in group.members if builder.admits(one)]
        for property in _shuffled(builder, _properties(builder, pool)):
            values = _values(builder, pool, property)
            for winner in _able(builder, values, suits):
                largest = builder.rng.random() < 0.4
                behind = [one for one in values if (values[one] < values[winner]) == largest and one != winner]  # type: ignore[operator]
                mine = [winner, *draw_others(builder, behind, builder.rng.choice((1, 1, 2)), [winner])]
                theirs = _strangers(builder, mine, group, property, _NAMED - len(mine)) if len(mine) > 1 else None
                if theirs is None:
                    continue
                named = builder.rng.sample([*mine, *theirs], _NAMED)
                # The date alone must not tell: one of the others comes before the winner.
                if _extreme(builder, named, property, largest) != winner:
                    return _choose(builder, group, state.ref, named, winner, property, largest)
    raise PlanningDeadEnd("nothing else belongs to the entity")


def _choose(
    builder: PlanBuilder, group: Group, shared: str, named: Sequence[str], winner: str, property: str, largest: bool
) -> StepOutput:
    """Append the step that chooses the winner among the named."""
    builder.name(*((shared,) if shared.startswith("Q") else ()), *(one for one in named if one != winner))
    builder.take(winner)
    set = f"{'among' if group.outward else 'listed'}({group.property}, {shared}, {', '.join(named)})"
    ref = builder.compute(f"{_function(largest)}({property}, {set})", "comparison", winner)
    return StepOutput("entity", ref, winner)


def first_after(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Of four named works or people that belong with the plan's topic, the first after (or last before) a year."""
    (state,) = inputs
    for topic in builder.topics:
        for group in builder.relations.groups_of(topic)[:6]:
            pool = [one for one in group.members if builder.admits(one)]
            if len(pool) < _NAMED or group.shared in builder.used:
                continue
            for property in _properties(builder, pool, dates=True):
                dated = [one for one in pool if _year(builder, one, property) not in (None, state.whole)]
                for _ in range(4):
                    named = draw_others(builder, dated, _NAMED)
                    if len(named) < _NAMED or not are_apart(builder, named, property):
                        break
                    later = builder.rng.random() < 0.5
                    side = [one for one in named if (_year(builder, one, property) > state.whole) == later]  # type: ignore[operator]
                    if not 2 <= len(side) < _NAMED:
                        continue
                    winner = _extreme(builder, side, property, not later)
                    builder.name(group.shared, *(one for one in named if one != winner))
                    builder.take(winner)
                    inner = f"{'after' if later else 'before'}({property}, {state.ref}, {_write(group, named)})"
                    ref = builder.compute(f"{_function(not later)}({property}, {inner})", "comparison", winner)
                    return StepOutput("entity", ref, winner)
    raise PlanningDeadEnd("nothing dated belongs with the topic")


def first_by_after(builder: PlanBuilder, inputs: Sequence[StepOutput], context: OperationContext) -> StepOutput:
    """Of four named entities the first after (or last before) a year that is tied to the entity that is read."""
    then, state = find_input(inputs, "year"), find_input(inputs, "entity")
    groups = builder.relations.groups_sharing(state.entity)
    for group in builder.rng.sample(groups, len(groups)):
        pool = [one for one in group.members if builder.admits(one)]
        for property in _shuffled(builder, _properties(builder, pool, dates=True)):
            dated = [one for one in pool if _year(builder, one, property) not in (None, then.whole)]
            mine = draw_others(builder, dated, 3)
            theirs = _strangers(builder, mine, group, property, _NAMED - 3) if len(mine) == 3 else None
            if theirs is None or _year(builder, theirs[0], property) == then.whole:
                continue
            named = builder.rng.sample([*mine, *theirs], _NAMED)
            for later in builder.rng.sample((True, False), 2):
                side = [one for one in named if (_year(builder, one, property) > then.whole) == later]  # type: ignore[operator]
                ours = [one for one in side if one in mine]
                if not ours or len(ours) == 3 or len(side) == _NAMED:
                    continue
                winner = _extreme(builder, ours, property, not later)
                # Whoever overlooks the year, or the tie, comes to another one.
                if winner in (
                    _extreme(builder, mine, property, not later),
                    _extreme(builder, side, property, not later),
                ):
                    continue
                builder.name(*(one for one in named if one != winner))
                builder.take(winner)
                set = f"{'among' if group.outward else 'listed'}({group.property}, {state.ref}, {', '.join(named)})"
                inner = f"{'after' if later else 'before'}({property}, {then.ref}, {set})"
                ref = builder.compute(f"{_function(not later)}({property}, {inner})", "comparison", winner)
                return StepOutput("entity", ref, winner)
    raise PlanningDeadEnd("nothing dated belongs to the entity")


def _draw_groups(builder: PlanBuilder) -> Iterator[Group]:
    """Groups around what the plan names already, or around entities drawn anew."""
    for topic in builder.topics:
        yield from builder.relations.groups_of(topic)
    if builder.topics:
        return
    pools = builder.relations.pools
    names, weights = weigh_roots(builder, pools)
    for name in builder.rng.choices(names, weights, k=_TRIED) if any(weights) else ():
        yield draw(builder.rng, pools[name])


def _strangers(builder: PlanBuilder, mine: Sequence[str], group: Group, property: str, size: int) -> list[str] | None:
    """Dated entities akin to some that belong to a group, which do not belong to it themselves."""
    found = list_strangers(builder, mine, group, size, property)
    return found if found is not None and are_apart(builder, [*mine, *found], property) else None


def list_strangers(
    builder: PlanBuilder, mine: Sequence[str], group: Group, size: int, property: str = ""
) -> list[str] | None:
    """So many entities akin to some of a group, that have another value where these share one; None for too few."""
    graph = builder.traversals.graph
    near: dict[str, None] = {}
    for one in mine:
        for other in builder.relations.kin(one):
            if builder.traversals.kinds.sort(other) != builder.traversals.kinds.sort(one):
                continue
            held = graph.objects(other, group.property) if group.outward else graph.subjects(group.property, other)
            if held and group.shared not in held and (not property or _year(builder, other, property) is not None):
                near[other] = None
    found = draw_others(builder, list(near), size, mine)
    return found if len(found) == size else None


def _shorten(builder: PlanBuilder, named: list[str]) -> list[str]:
    """Without the last of four, where their names are many words."""
    words = sum(len(builder.traversals.graph.label(one).split()) for one in named)
    return named[:-1] if words > _MOST_WORDS else named


def _able(builder: PlanBuilder, values: Mapping[str, Scalar], suits: Callable[[str], bool]) -> list[str]:
    """Some of the entities from which the plan can go on, in a drawn order."""
    able = [one for one in values if suits(one)]
    return builder.rng.sample(able, min(3, len(able)))


def _properties(builder: PlanBuilder, pool: Sequence[str], *, dates: bool = False, all: bool = False) -> list[str]:
    """Properties by which enough of a pool can be compared."""
    counts: dict[str, int] = {}
    for one in pool[:MAX_ENTITIES_CONSIDERED]:
        kind = builder.traversals.kinds.kind(one)
        for measure in builder.traversals.measures(one):
            if not measure.entry.is_comparable(kind) or (dates and not isinstance(measure.value, dt.date)):
                continue
            counts[measure.property] = counts.get(measure.property, 0) + 1
    least = len(pool) if all else 2
    return sorted(name for name, count in counts.items() if count >= least)


def _values(builder: PlanBuilder, pool: Sequence[str], property: str) -> dict[str, Scalar]:
    return {one: m.value for one in pool for m in builder.traversals.measures(one) if m.property == property}


def _year(builder: PlanBuilder, entity: str, property: str) -> int | None:
    for measure in builder.traversals.measures(entity):
        if measure.property == property and isinstance(measure.value, dt.date):
            return measure.value.year
    return None


def _extreme(builder: PlanBuilder, entities: Sequence[str], property: str, largest: bool) -> str:
    values: dict[str, Scalar] = {one: read_value(builder, one, property) for one in entities}
    ranked = sorted(entities, key=lambda one: values[one])
    return ranked[-1] if largest else ranked[0]


def _function(largest: bool) -> str:
    return "argmax" if largest else "argmin"


def _write(group: Group, members: Sequence[str]) -> str:
    return f"{'among' if group.outward else 'listed'}({group.property}, {group.shared}, {', '.join(members)})"


def _shuffled(builder: PlanBuilder, properties: Sequence[str]) -> list[str]:
    weights = builder.preferences.weights
    return sorted(properties, key=lambda name: builder.rng.random() ** (1 / weights.get(name, 1.0)), reverse=True)
