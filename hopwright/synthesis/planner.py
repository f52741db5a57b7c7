"""The planner: draws a plan for a topology around an anchor, and proves it before anything is worded."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hopwright.errors import ExpressionError
from hopwright.graph.store import GraphStore
from hopwright.records import Compute
from hopwright.records.values import Value
from hopwright.synthesis.domains import DomainIndex
from hopwright.synthesis.execution import execute, same
from hopwright.synthesis.kinds import KindIndex
from hopwright.synthesis.mix import Brief, Taste
from hopwright.synthesis.moves import HUB_DEGREE, Edge, Moves
from hopwright.synthesis.necessity import find_shortcut
from hopwright.synthesis.operations import Place, suits
from hopwright.synthesis.plan import Draft, Plan, named_entities, stated_numbers
from hopwright.synthesis.programs import Program, open_book
from hopwright.synthesis.properties import PropertyTable
from hopwright.synthesis.sketch import DeadEnd, Sketch, State
from hopwright.synthesis.targets import DatedTargets
from hopwright.synthesis.topologies import Topology

# A try costs about a tenth of a millisecond; most anchors offer a plan within ten.
TRIES = 30
# What failed so often at a place, with the same operations to follow, is not tried there again.
_PATIENCE = 3


class NoPlanError(Exception):
    """No plan could be drawn; `reasons` counts why the sketches failed."""

    def __init__(self, reasons: Counter[str]) -> None:
        super().__init__("; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(3)))
        self.reasons = reasons


class Planner:
    """Draws plans over one graph. Deterministic: the same key gives the same plan."""

    def __init__(self, graph: GraphStore, table: PropertyTable, kinds: KindIndex, *, min_domains: int = 2) -> None:
        self.moves = Moves(graph, table, kinds)
        self.targets = DatedTargets(self.moves)
        self.domains = DomainIndex(table, kinds)
        self.table = table
        self.min_domains = min_domains

    def draw(
        self,
        topology: Topology,
        anchor: str,
        key: str,
        brief: Brief | None = None,
        *,
        taste: Taste | None = None,
        kept: Sequence[Edge] = (),
        tries: int = TRIES,
        refuse: Callable[[Plan], bool] | None = None,
    ) -> Plan:
        """Draw one proven plan. Raises NoPlanError.

        anchor: a Q-id that the first steps involve; empty for a chain of the graph alone. kept: facts that the plan
        must look up, the second going on from the first (the anchor question's own hops). brief: what the plan must
        compute, and what type of answer it must end in. The same arguments give the same plan.
        """
        rng = random.Random(key)
        wanted = brief or Brief(topology.name)
        programs = open_book(topology).find(wanted.kind, wanted.answer, str(len(kept)) if anchor else "")
        reasons: Counter[str] = Counter()
        if not programs:
            raise NoPlanError(Counter({"no sequence of operations gives that in this topology": 1}))
        # The larger a hub, the fewer plans it may take part in (one of degree d in (HUB_DEGREE / d) ** (2 / 3) of
        # them). Drawn once a plan, so that retries do not wear it down.
        ceiling = HUB_DEGREE / max(rng.random(), 1e-9) ** 1.5
        liking = replace(taste or Taste(), ceiling=ceiling)
        if anchor and not (programs := self._fitting(programs, liking, anchor, kept)):
            raise NoPlanError(Counter({"nothing that is computed there goes with the anchor": 1}))
        weights = list(itertools.accumulate(program.weight for program in programs))
        hopeless: Counter[object] = Counter()
        number = 0
        for program in rng.choices(programs, cum_weights=weights, k=8 * tries):
            if number >= tries:
                break
            if any(hopeless[key] >= _PATIENCE for key in program.keys):
                continue
            number += 1
            sketch = Sketch(self.moves, self.targets, self.domains, liking, rng)
            try:
                run_program(program, sketch, anchor, kept)
                plan = Plan(topology.name, tuple(sketch.draft.steps))
                self._prove(plan, sketch.draft, topology, liking.min_domains if number < 0.8 * tries else 0)
                if refuse is not None and refuse(plan):
                    raise DeadEnd("its theme is over its share")
                return plan
            except DeadEnd as dead_end:
                reasons[str(dead_end)] += 1
                if (place := len(sketch.draft.steps)) < len(program.keys):
                    hopeless[program.keys[place]] += 1
        raise NoPlanError(reasons)

    def _fitting(
        self, programs: Sequence[Program], taste: Taste, anchor: str, kept: Sequence[Edge]
    ) -> tuple[Program, ...]:
        """The programs in which what is known of the anchor suits the operation that reads it."""
        sketch = Sketch(self.moves, self.targets, self.domains, taste, random.Random(0))
        verdicts: dict[tuple[str, ...], bool] = {}
        found = []
        for program in programs:
            if len(kept) == 2:
                place = program.pairs[0][1]
            elif program.roots:
                place = program.roots[0]
            else:
                found.append(program)
                continue
            names = program.names_after(place)[:2]
            if names not in verdicts:
                verdicts[names] = suits(sketch, names)(anchor)
            if verdicts[names]:
                found.append(program)
        return tuple(found)

    def _prove(self, plan: Plan, draft: Draft, topology: Topology, min_domains: int) -> None:
        """Run the plan against the graph. Raises DeadEnd when it is not exactly what it claims to be."""
        if draft.depends_on() != topology.depends_on:
            raise DeadEnd("the dependencies are not the topology's")
        answers: dict[int, Value] = {}
        for index, step in enumerate(plan.steps, start=1):
            try:
                value = execute(step.derivation, step.answer_type, answers, self.moves.facts, self.table)
            except ExpressionError as error:
                raise DeadEnd(f"not proven: {str(error).split(' ')[0]}") from None
            if not same(value, step.value):
                raise DeadEnd("not proven: another value")
            answers[index] = value
        # The winner of a comparison is one of the compared, so only what is looked up must be new.
        looked_up = [s.value for s in plan.steps if s.answer_type == "entity" and not isinstance(s.derivation, Compute)]
        named = {entity for step in plan.steps for entity in named_entities(step.derivation)}
        if len(set(looked_up)) != len(looked_up) or named & {step.value for step in plan.steps}:
            raise DeadEnd("an entity repeats")
        if len({ruling.domain for ruling in self.domains.of_steps(plan.steps)}) < max(self.min_domains, min_domains):
            raise DeadEnd("too few domains")
        numbers = [step.value for step in plan.steps if step.answer_type != "entity"]
        if len(set(map(str, numbers))) != len(numbers):
            raise DeadEnd("a number repeats")
        if {number for step in plan.steps for number in stated_numbers(step.derivation)} & set(map(str, numbers)):
            raise DeadEnd("the question states an answer")
        derivations = [step.derivation for step in plan.steps]
        if shortcut := find_shortcut(derivations, answers, self.moves.graph, self.table):
            raise DeadEnd(f"a shortcut: {shortcut.kind}")


def run_program(program: Program, sketch: Sketch, anchor: str, kept: Sequence[Edge]) -> list[State]:
    """Add one step per hop. Raises DeadEnd where the graph of facts does not go along."""
    forced = _place_kept(program, sketch, kept)
    start = program.roots[0] if anchor and not kept and program.roots else -1
    if anchor and start < 0 and not kept:
        start = 0 if program.operations[0].name == "named-year" else -1
    states: list[State] = []
    for place, operation in enumerate(program.operations):
        inputs = [states[need - 1] for need in program.depends_on[place]]
        reader = program.readers[place]
        partners: tuple[State, ...] = ()
        if reader >= 0:
            needs = program.depends_on[reader]
            partners = tuple(states[need - 1] for need in needs if need - 1 < place and need - 1 != place)
        here = Place(
            readers=program.names_after(place),
            partners=partners,
            anchor=anchor if place == start else "",
            forced=forced.get(place) or (forced.get(reader) if operation.name.startswith("compare") else None),
        )
        states.append(operation.build(sketch, inputs, here))
    return states


def _place_kept(program: Program, sketch: Sketch, kept: Sequence[Edge]) -> Mapping[int, Edge]:
    """Which hops look up the facts to keep: place (from 0) → fact."""
    if len(kept) == 2:
        root, following = program.pairs[0]
        return {root: kept[0], following: kept[1]}
    if len(kept) == 1:
        return {program.roots[0]: kept[0]}
    return {}
