import contextlib
import random
from collections import Counter
from collections.abc import Iterable

import pytest

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.execution import execute, hops_used, same
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.starting_points import _begins, _list_first
from hopwright.planning.plan import Plan, entities_of, named_entities
from hopwright.planning.plan_builder import PlanBuilder
from hopwright.planning.planner import NoPlanError, Planner
from hopwright.planning.target_distribution import SamplingPreferences
from hopwright.planning.traversals import spread
from hopwright.records import Compute, ReverseLookup
from hopwright.topologies import TOPOLOGIES, Topology

TABLE = default_table()
SHAPES = ("chain", "converging", "bridge")
SHORTER = ("chain-3", "converging-3")
"""Of four hops hardly any plan computes an age or a span of years."""


@pytest.fixture(scope="module")
def planner(sample: GraphStore) -> Planner:
    return Planner(WikidataSource(sample))


@pytest.fixture(scope="module")
def plans(planner: Planner) -> list[Plan]:
    drawn = draw_all(planner, [(name, "", f"test:{number}") for number in range(90) for name in SHAPES])
    assert len(drawn) > 40
    return drawn


@pytest.fixture(scope="module")
def anchored(planner: Planner, plans: list[Plan]) -> dict[str, Plan]:
    """Anchor → a plan around it. Of few entities a plan of three hops can begin: those found by plans are tried."""
    begun = [plan for plan in plans if plan.steps[0].answer_type == "entity"]
    found = [(plan.topology, str(plan.steps[0].value), plan.id) for plan in begun]
    drawn = {anchor: draw_all(planner, [(name, anchor, key)]) for name, anchor, key in found}
    around = {anchor: plan for anchor, one in drawn.items() for plan in one}
    assert len(around) > 15
    return around


def draw_all(planner: Planner, asked: Iterable[tuple[str, str, str]]) -> list[Plan]:
    """The plans that there are of (topology, anchor, key)."""
    drawn = []
    for name, anchor, key in asked:
        with contextlib.suppress(NoPlanError):
            drawn.append(planner.draw(TOPOLOGIES[name], anchor, key, tries=8))
    return drawn


def test_what_is_remembered_of_a_graph_changes_no_plan(planner: Planner, plans: list[Plan]) -> None:
    asked = [(name, "", f"test:{number}") for number in range(4) for name in SHAPES]
    known = draw_all(planner, asked)
    assert known
    anew = []
    for one in asked:
        forget(planner)
        anew += draw_all(planner, [one])
    assert anew == known


@pytest.mark.parametrize("readers", [("extend", "year"), ("number",), ("extend", "extend")])
def test_what_begins_plans_is_found_as_if_every_fact_of_a_sample_were_tried(
    planner: Planner, readers: tuple[str, ...]
) -> None:
    context = OperationContext(readers=readers)
    begins = _begins(start_sketch(planner), context)
    wanted = {}
    for name, edges in planner.relations.single.items():
        able = list(filter(begins, spread(edges, 120)))
        if len(edges) > 120 and able:
            able = list(edges) if len(able) > 24 else list(filter(begins, spread(edges, 480)))
        if able:
            wanted[name] = able
    found = _list_first(start_sketch(planner), context)
    assert {name: list(edges) for name, edges in found.pools.items()} == wanted != {}


def start_sketch(planner: Planner) -> PlanBuilder:
    """A sketch in which nothing is said yet."""
    return PlanBuilder(
        planner.traversals, planner.domains, SamplingPreferences(), random.Random(0), relations=planner.relations
    )


def forget(planner: Planner) -> None:
    """Make everything anew that is remembered between plans, but for what plans may begin with."""
    relations, traversals = planner.relations, planner.traversals
    for known in (relations.choosable, relations.beside, traversals.followed, traversals.paired, traversals.needs):
        known.clear()
    for owner in (relations, traversals, traversals.graph, traversals.facts):
        for held in vars(owner).values():
            if hasattr(held, "cache_clear"):
                held.cache_clear()


def test_running_a_plan_gives_its_values_and_nothing_else(
    plans: list[Plan], anchored: dict[str, Plan], planner: Planner
) -> None:
    for plan in (*plans, *anchored.values()):
        answers = {}
        for index, step in enumerate(plan.steps, start=1):
            answers[index] = execute(step.derivation, step.answer_type, answers, planner.traversals.facts, TABLE)
            assert same(answers[index], step.value)


def test_plans_have_their_topology_and_use_every_hop(plans: list[Plan], anchored: dict[str, Plan]) -> None:
    assert {plan.topology for plan in plans} == set(SHAPES)
    for plan in (*plans, *anchored.values()):
        needs = tuple(hops_used(step.derivation) for step in plan.steps)
        assert needs == TOPOLOGIES[plan.topology].depends_on
        assert {hop for need in needs for hop in need} == {1, 2, 3}


def test_a_plan_around_an_anchor_is_about_it(anchored: dict[str, Plan]) -> None:
    for anchor, plan in anchored.items():
        assert anchor in entities_of(plan)


def test_a_hop_computes_and_two_domains_are_spanned(plans: list[Plan], planner: Planner) -> None:
    asked = [(name, "", f"test:{number}") for number in range(60) for name in SHORTER]
    plans = [*plans, *draw_all(planner, asked)]
    for plan in plans:
        assert any(isinstance(step.derivation, Compute) for step in plan.steps)
        assert len({ruling.domain for ruling in planner.domains.of_steps(plan.steps)}) >= 2
    kinds = Counter(
        step.derivation.kind for plan in plans for step in plan.steps if isinstance(step.derivation, Compute)
    )
    assert {"comparison", "temporal"} <= set(kinds)


def test_no_answer_is_named_by_the_plan_but_one_chosen_of_several(plans: list[Plan]) -> None:
    for plan in plans:
        named = {entity for step in plan.steps for entity in named_entities(step.derivation)}
        assert not named & {step.value for step in plan.steps if not isinstance(step.derivation, Compute)}
        for step in plan.steps:
            if step.value in named:
                assert len(named_entities(step.derivation)) >= 3


def test_branches_start_from_what_belongs_together(plans: list[Plan], planner: Planner) -> None:
    for plan in plans:
        derivations = [step.derivation for step in plan.steps if not hops_used(step.derivation)]
        held = [one for one in derivations if isinstance(one, ReverseLookup) and TABLE.is_timeline(one.property)]
        joint = any("having(" in one.derivation.expression for one in plan.steps if isinstance(one.derivation, Compute))
        if joint:  # what belongs together are the two, not what they are found by
            continue
        if held:  # two holders who are compared are of one timeline, or got what they have on one occasion
            assert held == derivations
            together = {TABLE.literal[one.property].together_np for one in held}
            assert len({one.property for one in held}) == 1 or (len(together) == len({one.value for one in held}) == 1)
            assert len({(one.property, one.value) for one in held}) == len(held)
            continue
        roots = [named_entities(one) for one in derivations]
        found = [one.value for one in plan.steps if one.answer_type == "entity" and isinstance(one.value, str)]
        for place, root in enumerate(roots[1:], start=1):
            before = [entity for one in roots[:place] for entity in one] + found  # his mother, whoever he was
            near = max(planner.relations.related(one, other) for one in before for other in root)
            assert near > 0.3 or any(_worked_with(planner, other, one) for one in found for other in root)


def _worked_with(planner: Planner, partner: str, owner: str) -> bool:
    """Whether somebody had a part in a work of another's whole list."""
    graph = planner.traversals.graph
    listed = [work for name in TABLE.lists for work in graph.objects(owner, name)]
    return any(partner in graph.objects(work, credit) for work in listed for credit in TABLE.credits)


def test_the_same_key_draws_the_same_plan(planner: Planner, plans: list[Plan], sample: GraphStore) -> None:
    again = Planner(WikidataSource(sample))
    for name, topology in TOPOLOGIES.items():
        try:
            first = planner.draw(topology, "Q27", f"same:{name}")
        except NoPlanError as error:
            first = error.reasons
        try:
            second = again.draw(topology, "Q27", f"same:{name}")
        except NoPlanError as error:
            second = error.reasons
        assert first == second


def test_an_entity_without_facts_gives_reasons(planner: Planner) -> None:
    with pytest.raises(NoPlanError, match=r"no computation that may follow goes with"):
        planner.draw(TOPOLOGIES["chain"], "Q999999999", "nothing")


@pytest.mark.parametrize(
    "depends_on",
    [
        ((), (1,)),
        ((), (), (1, 2)),
        ((), (1,), (2,), (3,), (4,), (5,)),
        ((), (), (), (1, 2, 3)),
        ((), (), (1, 2), (3,), (4,)),
    ],
)
def test_any_graph_of_two_to_eight_hops_can_be_planned(
    planner: Planner, sample: GraphStore, depends_on: tuple[tuple[int, ...], ...]
) -> None:
    shape = Topology("another", "Chain", depends_on)
    for number in range(100):
        try:
            plan = planner.draw(shape, "", f"any:{number}", tries=30)
        except NoPlanError:
            continue
        assert tuple(hops_used(step.derivation) for step in plan.steps) == depends_on
        return
    pytest.fail("no anchor gave a plan")
