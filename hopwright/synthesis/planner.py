"""The planner: draws a plan for a topology around an anchor, and proves it before anything is worded."""

from __future__ import annotations

import random
from collections import Counter

from hopwright.errors import ExpressionError
from hopwright.graph.store import GraphStore
from hopwright.records import Compute
from hopwright.records.values import Value
from hopwright.synthesis.execution import execute, same
from hopwright.synthesis.kinds import KindIndex
from hopwright.synthesis.moves import HUB_DEGREE, Moves
from hopwright.synthesis.plan import Draft, Plan, domain_of, named_entities
from hopwright.synthesis.properties import PropertyTable
from hopwright.synthesis.schemas import Schema, schemas_of
from hopwright.synthesis.sketch import DeadEnd, Sketch
from hopwright.synthesis.targets import DatedTargets
from hopwright.synthesis.topologies import Topology

# A try costs about a tenth of a millisecond; most anchors offer a plan within ten.
TRIES = 40


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
        self.table = table
        self.min_domains = min_domains

    def draw(self, topology: Topology, anchor: str, key: str) -> Plan:
        """Draw one proven plan whose first steps involve `anchor` (a Q-id). Raises NoPlanError."""
        rng = random.Random(key)
        schemas = schemas_of(topology)
        # The larger a hub, the fewer plans it may take part in (one of degree d in (HUB_DEGREE / d) ** (2 / 3) of
        # them). Drawn once a plan, so that retries do not wear it down.
        ceiling = HUB_DEGREE / max(rng.random(), 1e-9) ** 1.5
        reasons: Counter[str] = Counter()
        failures: Counter[Schema] = Counter()
        patience = TRIES // len(schemas) + 2
        for _ in range(TRIES):
            left = [(one, weight) for one, weight in schemas if failures[one] < patience]
            if not left:
                break
            schema: Schema = rng.choices([one for one, _ in left], [weight for _, weight in left])[0]
            sketch = Sketch(self.moves, self.targets, rng, ceiling)
            try:
                schema(sketch, anchor)
                plan = Plan(topology.name, tuple(sketch.draft.steps))
                self._prove(plan, sketch.draft, topology)
                return plan
            except DeadEnd as dead_end:
                reasons[str(dead_end)] += 1
                failures[schema] += 1
        raise NoPlanError(reasons)

    def _prove(self, plan: Plan, draft: Draft, topology: Topology) -> None:
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
        if len({domain_of(step, self.table) for step in plan.steps}) < self.min_domains:
            raise DeadEnd("too few domains")
        numbers = [step.value for step in plan.steps if step.answer_type != "entity"]
        if len(set(map(str, numbers))) != len(numbers):
            raise DeadEnd("a number repeats")
