"""A schema for any directed acyclic graph of hops, built from what each hop's readers need.

A hop that is read together with others gives a year (or, when it joins years itself, a number of years); the others
give entities. It is plainer than the hand-made schemas of the 4-hop topologies, and serves every other one.
"""

from __future__ import annotations

from typing import Literal

from hopwright.synthesis.sketch import DeadEnd, Sketch

Role = Literal["entity", "year", "amount"]
_State = tuple[Role, str, str, int]  # role, reference, entity, year or amount


def sketch_any(sketch: Sketch, anchor: str, depends_on: tuple[tuple[int, ...], ...]) -> None:
    """Add one step per hop of the graph. Raises DeadEnd where the graph of facts does not go along."""
    roles = _roles(depends_on)
    states: list[_State] = []
    for index, needs in enumerate(depends_on):
        inputs = [states[need - 1] for need in needs]
        last = index == len(depends_on) - 1
        if not inputs:
            states.append(_root(sketch, anchor if index == 0 else None, roles[index]))
        elif len(inputs) == 1:
            states.append(_step(sketch, inputs[0], roles[index], last=last))
        else:
            states.append(_join(sketch, inputs, roles[index], last=last))


def _roles(depends_on: tuple[tuple[int, ...], ...]) -> list[Role]:
    roles: list[Role] = ["entity"] * len(depends_on)
    for needs in depends_on:
        if len(needs) >= 2:
            for need in needs:
                roles[need - 1] = "amount" if len(depends_on[need - 1]) >= 2 else "year"
    for index, needs in enumerate(depends_on):
        if len(needs) >= 2 and all(roles[need - 1] == "year" for need in needs):
            roles[index] = "amount"
    if all(len(needs) < 2 for needs in depends_on):
        # A plain chain computes a distance in years as soon as it can, and goes on from what that distance leads to.
        if len(roles) <= 3:
            roles[-2:] = ["year", "amount"]
        else:
            cycle: tuple[Role, ...] = ("entity", "year", "amount", "entity")
            roles = [cycle[index % 4] for index in range(len(roles))]
    return roles


def _root(sketch: Sketch, anchor: str | None, role: Role) -> _State:
    if role == "entity":
        if anchor is None:
            event = sketch.targets.random_event(sketch.rng)
            if event is None:
                raise DeadEnd("no dated entity")
            reference, entity = sketch.lead(event.entity)
        else:
            reference, entity = sketch.start(anchor)
        return "entity", reference, entity, 0
    if anchor is None:
        reference, year = sketch.named_year(1950)
    else:
        sketch.claim(anchor)
        reference, year = sketch.year(anchor, anchor)
    return "year", reference, "", year


def _step(sketch: Sketch, state: _State, role: Role, *, last: bool) -> _State:
    held, reference, entity, number = state
    if held == "entity":
        if role == "year":
            reference, year = sketch.year(reference, entity)
            return "year", reference, "", year
        if last:
            sketch.finish(reference, entity)
            return "entity", "", "", 0
        reference, entity = sketch.extend(reference, entity)
        return "entity", reference, entity, 0
    if held == "year" and role == "amount":
        reference, amount = sketch.years_to_named(reference, number)
        return "amount", reference, "", amount
    target = sketch.targets.near(number, sketch.rng) if held == "year" else sketch.targets.any(sketch.rng)
    if target is None or abs(target.year - number) < 2:
        raise DeadEnd("no target near the year")
    if held == "year":
        sign = "+" if target.year > number else "-"
        value = f"{reference} {sign} {abs(target.year - number)}"
    else:
        value = f"{target.year + number} - {reference}"
        if target.year + number > 2026:
            value = f"{target.year - number} + {reference}"
    if role == "year":
        return "year", sketch.add_year(value, target.year), "", target.year
    return "entity", sketch.dated_target(value, target.year, target), target.entity, 0


def _join(sketch: Sketch, inputs: list[_State], role: Role, *, last: bool) -> _State:
    years = [state for state in inputs if state[0] == "year"]
    amounts = [state for state in inputs if state[0] == "amount"]
    if len(years) == len(inputs):
        reference, amount = sketch.years_apart([(state[1], state[3]) for state in years])
        if role == "amount" or last:
            return "amount", reference, "", amount
        raise DeadEnd("years joined give no entity")
    if len(years) == 1 and len(amounts) == 1:
        (_, year_at, _, year), (_, amount_at, _, amount) = years[0], amounts[0]
        for sign, moved in (("+", year + amount), ("-", year - amount)):
            targets = sketch.targets.of_year(moved)
            if targets and role == "entity":
                target = sketch.rng.choice(targets)
                value = f"{year_at} {sign} {amount_at}"
                return "entity", sketch.dated_target(value, moved, target), target.entity, 0
        raise DeadEnd("the year has no target")
    raise DeadEnd("no way to join these")
