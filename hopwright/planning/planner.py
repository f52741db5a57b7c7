"""The planner: draws a plan for a topology around an anchor, and proves it before anything is worded."""

from __future__ import annotations

import contextlib
import functools
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hopwright.errors import ExpressionError
from hopwright.knowledge.external.linking import link_claims
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.source import FactGraph, FactSource
from hopwright.planning.dead_ends import DeadEnd, NothingBegins, PlanningDeadEnd, describe_dead_end
from hopwright.planning.domains import DomainIndex
from hopwright.planning.execution import execute, same
from hopwright.planning.idle_choices import chooses_best_known, has_idle_choice, has_what_is_asked
from hopwright.planning.necessity import find_shortcut
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.lookahead import OUTWARD_LOOKUP, can_continue_from, can_precede
from hopwright.planning.plan import PartialPlan, Plan, entities_of, named_entities, stated_numbers
from hopwright.planning.plan_builder import PlanBuilder, StepOutput
from hopwright.planning.programs import Branch, OperationSequence, load_sequence_index
from hopwright.planning.random_draws import draw_by_weights
from hopwright.planning.relations import Relations
from hopwright.planning.target_distribution import SamplingPreferences, SlotSpec
from hopwright.planning.traversals import HUB_DEGREE, Edge, GraphTraversals
from hopwright.records import Claim, Compute, Lookup
from hopwright.records.values import Value
from hopwright.topologies import Topology

# A try costs about a tenth of a millisecond; most anchors offer a plan within ten.
TRIES = 30
# So many operations are tried at one place before the sketch is given up.
_PATIENCE = 4


class NoPlanError(Exception):
    """No plan could be drawn; `reasons` counts why its tries failed, by the codes of `DeadEnd`."""

    def __init__(self, reasons: Counter[str]) -> None:
        super().__init__("; ".join(f"{describe_dead_end(one)} ({count})" for one, count in reasons.most_common(3)))
        self.reasons = reasons


@dataclass(frozen=True)
class _SurveyKey:
    """A source, told from others by its graph and its table."""

    graph: FactGraph
    table: PropertyTable
    source: FactSource = field(compare=False)


@functools.lru_cache(maxsize=2)
def _survey(key: _SurveyKey) -> tuple[GraphTraversals, Relations, DomainIndex]:
    """What planners of one source share: finding out what can be asked of it takes seconds."""
    traversals = GraphTraversals(key.source)
    return traversals, Relations(traversals), DomainIndex(key.source.table, key.source.kinds)


class Planner:
    """Draws plans over one source. Deterministic: the same key gives the same plan."""

    def __init__(
        self,
        source: FactSource,
        *,
        min_domains: int = 2,
        claims: Sequence[Claim] = (),
    ) -> None:
        survey = _survey(_SurveyKey(source.graph, source.table, source))
        self.traversals, self.relations, self.domains = survey
        self.table = source.table
        self.min_domains = min_domains
        self.claims = link_claims(claims, source.graph)

    def draw(
        self,
        topology: Topology,
        anchor: str,
        key: str,
        spec: SlotSpec | None = None,
        *,
        preferences: SamplingPreferences | None = None,
        kept: Sequence[Edge] = (),
        tries: int = TRIES,
        refuse: Callable[[Plan], bool] | None = None,
        claimed: bool = False,
    ) -> Plan:
        """Draw one proven plan. Raises NoPlanError.

        anchor: a Q-id that the first steps involve; empty for a chain of the graph alone. kept: facts that the plan
        must look up, the second going on from the first (the anchor question's own hops). brief: what the plan must
        compute, and what type of answer it must end in. claimed: it rests on one of the planner's claims, else on none.
        The same arguments give the same plan.
        """
        rng = random.Random(key)
        wanted = spec or SlotSpec(topology.name)
        book = load_sequence_index(topology, preferences.odds if preferences else (), claimed)
        programs = book.find(wanted.kind, wanted.answer, str(len(kept)) if anchor else "")
        reasons: Counter[str] = Counter()
        if not programs:
            raise NoPlanError(Counter({DeadEnd.NO_PROGRAM.value: 1}))
        # The larger a hub, the fewer plans it may take part in (one of degree d in (HUB_DEGREE / d) ** (2 / 3) of
        # them). Drawn once a plan, so that retries do not wear it down.
        ceiling = HUB_DEGREE / max(rng.random(), 1e-9) ** 1.5
        liking = replace(preferences or SamplingPreferences(), ceiling=ceiling)
        if anchor and not (programs := self._fitting(programs, liking, anchor, kept)):
            raise NoPlanError(Counter({DeadEnd.NOTHING_WITH_ANCHOR.value: 1}))
        layouts = _lay_out(programs, kept) if anchor else [_Layout(book.root(wanted.kind, wanted.answer))]
        for number in range(tries):
            builder = PlanBuilder(self.traversals, self.domains, liking, rng, self.claims, self.relations)
            try:
                layout = draw_by_weights(rng, layouts, [one.weight for one in layouts]) if anchor else layouts[0]
                wished = min(liking.min_domains, len(topology.depends_on)) if number < 0.8 * tries else 0
                run_programs(layout, builder, anchor, reasons, max(self.min_domains, wished))
                plan = Plan(topology.name, tuple(builder.draft.steps))
                self._examine(plan, builder.draft, topology)
                if any(self.traversals.renown(one) > liking.max_renown for one in entities_of(plan)):
                    raise PlanningDeadEnd(DeadEnd.TOO_WELL_KNOWN)
                if refuse is not None and refuse(plan):
                    raise PlanningDeadEnd(DeadEnd.THEME_OVER_SHARE)
                self._prove(plan)
                return plan
            except PlanningDeadEnd as dead_end:
                reasons[dead_end.reason] += 1
        raise NoPlanError(reasons)

    def can_start(
        self, topology: Topology, anchor: str, kept: Sequence[Edge], preferences: SamplingPreferences
    ) -> bool:
        """Whether a plan can go on from an anchor, for as far as its own neighbourhood tells."""
        programs = load_sequence_index(topology).find(anchoring=str(len(kept)))
        starts = load_sequence_index(topology).starts(str(len(kept)))
        builder = self._start_with_kept_facts(anchor, kept, preferences)
        return bool(programs) and (not starts or any(can_continue_from(builder, names, anchor) for names in starts))

    def _start_with_kept_facts(
        self, anchor: str, kept: Sequence[Edge], preferences: SamplingPreferences
    ) -> PlanBuilder:
        """A sketch in which nothing is said yet, but what the anchor's own hops name is in use."""
        builder = PlanBuilder(self.traversals, self.domains, preferences, random.Random(0), relations=self.relations)
        ends = {anchor, *(end for edge in kept for end in (edge.subject, edge.object))}
        with contextlib.suppress(PlanningDeadEnd):  # two of them share a word: planning will say so
            builder.take(*sorted(ends))
        return builder

    def _fitting(
        self, programs: Sequence[OperationSequence], preferences: SamplingPreferences, anchor: str, kept: Sequence[Edge]
    ) -> tuple[OperationSequence, ...]:
        """The programs in which what is known of the anchor suits the operation that reads it."""
        builder = self._start_with_kept_facts(anchor, kept, preferences)
        verdicts: dict[tuple[str, ...] | None, bool] = {None: True}
        found = []
        for program in programs:
            names = program.names_after_anchor(len(kept))
            if names not in verdicts:
                verdicts[names] = names is None or can_continue_from(builder, names, anchor)
            if verdicts[names]:
                found.append(program)
        return tuple(found)

    def _examine(self, plan: Plan, draft: PartialPlan, topology: Topology) -> None:
        """What a plan shows by itself, before it is run. Raises PlanningDeadEnd."""
        if draft.depends_on() != topology.depends_on:
            raise PlanningDeadEnd(DeadEnd.OTHER_DEPENDENCIES)
        # The winner of a comparison is one of the compared, so only what is looked up must be new.
        looked_up = [s.value for s in plan.steps if s.answer_type == "entity" and not isinstance(s.derivation, Compute)]
        named = {entity for step in plan.steps for entity in named_entities(step.derivation)}
        if len(set(looked_up)) != len(looked_up) or not named.isdisjoint(looked_up):
            raise PlanningDeadEnd(DeadEnd.ENTITY_REPEATS)
        numbers = [step.value for step in plan.steps if step.answer_type != "entity"]
        numbers += [claim.number for claim in plan.claims]
        if len(set(map(str, numbers))) != len(numbers):
            raise PlanningDeadEnd(DeadEnd.NUMBER_REPEATS)
        if {number for step in plan.steps for number in stated_numbers(step.derivation)} & set(map(str, numbers)):
            raise PlanningDeadEnd(DeadEnd.ANSWER_STATED)

    def _prove(self, plan: Plan) -> None:
        """Run the plan against the graph. Raises PlanningDeadEnd when it is not exactly what it says it is."""
        answers: dict[int, Value] = {}
        for index, step in enumerate(plan.steps, start=1):
            try:
                value = execute(
                    step.derivation, step.answer_type, answers, self.traversals.facts, self.table, step.claims
                )
            except ExpressionError as error:
                raise PlanningDeadEnd(DeadEnd.NOT_PROVEN, str(error).split(" ")[0]) from None
            if not same(value, step.value):
                raise PlanningDeadEnd(DeadEnd.ANOTHER_VALUE)
            if self.traversals.open_world.find_doubt(step.derivation, answers, value):
                raise PlanningDeadEnd(DeadEnd.DOUBTFUL_IN_WORLD)
            answers[index] = value
        if has_idle_choice(plan, answers, self.traversals.facts, self.table):
            raise PlanningDeadEnd(DeadEnd.IDLE_CHOICE)
        if chooses_best_known(plan, self.traversals.facts, self.table, self.traversals.renown):
            raise PlanningDeadEnd(DeadEnd.TOO_WELL_KNOWN)
        if has_what_is_asked(plan, answers, self.traversals.facts):
            raise PlanningDeadEnd(DeadEnd.NAMED_HAS_IT)
        derivations = [step.derivation for step in plan.steps]
        if shortcut := find_shortcut(derivations, answers, self.traversals.graph, self.table, self.traversals.facts):
            raise PlanningDeadEnd(DeadEnd.SHORTCUT, shortcut.kind)


@dataclass(slots=True)
class _Layout:
    """Programs into which an anchor comes at the same place.

    `start`: the place (from 0) that begins with the anchor, -1 for none; `forced`: place → the fact to look up there;
    `hopeless`: ways to begin that failed already, each a bit.
    """

    root: Branch
    weight: float = 1.0
    start: int = -1
    forced: Mapping[int, Edge] = field(default_factory=dict)
    hopeless: int = 0


def run_programs(
    layout: _Layout, builder: PlanBuilder, anchor: str, reasons: Counter[str], min_domains: int = 0
) -> list[StepOutput]:
    """Add one step per hop by one of the programs, decided hop by hop: an operation that fails gives way to another.

    An operation fails, too, after which the plan could no longer span so many domains. Raises PlanningDeadEnd where no
    operation goes along; `reasons` counts the failures on the way.
    """
    branch = layout.root
    states: list[StepOutput] = []
    while True:
        place = branch.place
        dead = layout.hopeless if place == 0 else 0
        mark = builder.mark()
        for _ in range(_PATIENCE):
            way = branch.choose(builder.rng, dead)
            while way >= 0 and not _inputs_suffice(branch.ways[way], place, builder, states):
                dead |= 1 << way
                way = branch.choose(builder.rng, dead)
            if way < 0:
                raise PlanningDeadEnd(DeadEnd.NO_FITTING_COMPUTATION)
            program = branch.ways[way]
            try:
                state = _run(program, place, builder, states, anchor if place == layout.start else "", layout.forced)
                left = len(program.operations) - place - 1
                # One domain is touched in any case: counting them is for the last hops.
                if left + 1 < min_domains and builder.count_domains() + left < min_domains:
                    raise PlanningDeadEnd(DeadEnd.TOO_FEW_DOMAINS)
                states.append(state)
                break
            except PlanningDeadEnd as dead_end:
                reasons[dead_end.reason] += 1
                builder.reset(mark)
                dead |= 1 << way
                # What an anchor does not suit, it will not suit the next time either.
                if place == 0 and (anchor or isinstance(dead_end, NothingBegins)):
                    layout.hopeless |= 1 << way
        else:
            raise PlanningDeadEnd(DeadEnd.NO_OPERATION_GOES_ON)
        if branch.last:
            return states
        branch = branch.follow(program)


def _run(
    program: OperationSequence,
    place: int,
    builder: PlanBuilder,
    states: Sequence[StepOutput],
    anchor: str,
    forced: Mapping[int, Edge],
) -> StepOutput:
    operation = program.operations[place]
    here = program.contexts[place]
    partners = program.partners[place]
    if partners or anchor or forced:
        reader = program.readers[place]
        here = OperationContext(
            readers=here.readers,
            partners=tuple(states[one] for one in partners),
            anchor=anchor,
            forced=forced.get(place) or (forced.get(reader) if operation.name.startswith("compare") else None),
            branch=here.branch,
        )
    return operation.build(builder, [states[need - 1] for need in program.depends_on[place]], here)


def _inputs_suffice(program: OperationSequence, place: int, builder: PlanBuilder, states: Sequence[StepOutput]) -> bool:
    """Whether a single entity that an operation reads has what it needs."""
    needs = program.depends_on[place]
    if len(needs) != 1 or states[needs[0] - 1].type != "entity":
        return True
    name = program.operations[place].name
    before = builder.draft.steps[needs[0] - 1].derivation
    if name == "extend" and isinstance(before, Lookup) and before.property in builder.traversals.roles.within:
        name = OUTWARD_LOOKUP
    names = program.names_from(place) if name == program.operations[place].name else (name, *program.names_after(place))
    return can_precede(builder, names)(states[needs[0] - 1].entity)


def _lay_out(programs: Sequence[OperationSequence], kept: Sequence[Edge]) -> list[_Layout]:
    """The programs by where an anchor comes in, and which hops look up the facts to keep."""
    found: dict[tuple[int, tuple[int, ...]], list[OperationSequence]] = {}
    for program in programs:
        if len(kept) == 2:
            place: tuple[int, tuple[int, ...]] = (-1, program.pairs[0])
        elif len(kept) == 1:
            place = (-1, program.roots[:1])
        else:
            place = (program.roots[0] if program.roots else 0, ())
        found.setdefault(place, []).append(program)
    return [
        _Layout(Branch(alike), sum(one.weight for one in alike), start, dict(zip(places, kept, strict=True)))
        for (start, places), alike in found.items()
    ]
