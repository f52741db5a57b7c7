"""Briefs, drawing by slot, the ledger of targets, necessity, domains and anchored hops."""

from __future__ import annotations

from collections import Counter

import pytest

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.anchor_resolution import AnchorResolver
from hopwright.planning.computation_forms import (
    Combinations,
    Difference,
    Extreme,
    ShiftedYear,
    read_form,
)
from hopwright.planning.domains import DomainIndex
from hopwright.planning.necessity import find_shortcut, iter_shortcuts
from hopwright.planning.plan import PlanStep
from hopwright.planning.plan_sampler import PlanSampler, SampledPlan
from hopwright.planning.planner import NoPlanError, Planner
from hopwright.planning.target_counter import TargetCode, TargetCounter, TargetFigure, list_missed, read_targets
from hopwright.planning.target_distribution import TargetDistribution, chance, draw_slot_spec, pick
from hopwright.records import Anchor, Compute, Constraint, Domain, Lookup, ReverseLookup
from hopwright.topologies import TOPOLOGIES

TABLE = default_table()
SHAPES = {"chain": 1.0, "converging": 1.0, "bridge": 1.0}

DRAWS_PILOTS = True


@pytest.fixture(scope="module")
def planner(sample: GraphStore) -> Planner:
    return Planner(WikidataSource(sample))


@pytest.fixture(scope="module")
def anchors(sample: GraphStore, planner: Planner) -> list[Anchor]:
    """Two look-ups that follow each other, as MuSiQue spells them out."""
    found = []
    for name in list(sample.entities())[::97]:
        for first in planner.traversals.lookups_from(name)[:1]:
            for second in planner.traversals.lookups_from(first.object)[:1]:
                if second.object == name or not planner.traversals.nameable(name):
                    continue
                label = sample.property_label
                found.append(
                    Anchor(
                        question_id=f"2hop__{name}",
                        question="?",
                        answer=sample.label(second.object),
                        sub_questions=(
                            f"{sample.label(name)} >> {label(first.property)}",
                            f"#1 >> {label(second.property)}",
                        ),
                        sub_answers=(sample.label(first.object), sample.label(second.object)),
                        sub_ids=("11", "22"),
                        entity=second.object,
                        entity_label=sample.label(second.object),
                    )
                )
    assert len(found) > 40
    return found[:60]


@pytest.fixture(scope="module")
def drawn(planner: Planner, sample: GraphStore, anchors: list[Anchor]) -> list[SampledPlan]:
    return _draw(PlanSampler(planner, TargetDistribution(SHAPES), 3, sample), anchors, range(40))


def _draw(drawer: PlanSampler, anchors: list[Anchor], slots: range) -> list[SampledPlan]:
    found = []
    for slot in slots:
        try:
            found.append(drawer.draw(anchors, slot))
        except NoPlanError:
            continue
    return found


def test_briefs_have_the_shares_wanted_in_any_stretch_of_slots() -> None:
    mix = TargetDistribution({"chain": 2.0, "bridge": 1.0}, kinds={"temporal": 3.0, "counting": 1.0})
    for start in (0, 1_000, 123_456):
        briefs = [draw_slot_spec(mix, 7, slot) for slot in range(start, start + 300)]
        assert abs(Counter(one.topology for one in briefs)["chain"] - 200) <= 6
        assert abs(Counter(one.kind for one in briefs)["temporal"] - 225) <= 6
        together = Counter((one.topology, one.kind) for one in briefs)
        assert abs(together["chain", "temporal"] - 150) <= 12  # the two are independent of each other


def test_a_brief_depends_on_seed_and_slot_alone() -> None:
    mix = TargetDistribution(SHAPES)
    assert draw_slot_spec(mix, 1, 5) == draw_slot_spec(mix, 1, 5)
    assert [draw_slot_spec(mix, 1, slot) for slot in range(9)] != [draw_slot_spec(mix, 2, slot) for slot in range(9)]
    assert chance(1, 2, "P31") == chance(1, 2, "P31") != chance(1, 3, "P31")


def test_picking_by_place() -> None:
    shares = {"a": 1.0, "b": 0.0, "c": 3.0}
    assert (pick(shares, 0.0), pick(shares, 0.3), pick(shares, 0.999), pick({}, 0.5)) == ("a", "c", "c", "")


def test_slots_give_plans_whatever_the_order(
    planner: Planner, sample: GraphStore, anchors: list[Anchor], drawn: list[SampledPlan]
) -> None:
    assert len(drawn) >= 20
    again = PlanSampler(planner, TargetDistribution(SHAPES), 3, sample)
    backwards = [one for slot in reversed(range(12)) for one in _draw(again, anchors, range(slot, slot + 1))]
    assert [one.plan.id for one in reversed(backwards)] == [one.plan.id for one in drawn[: len(backwards)]]
    assert Counter(one.plan.topology for one in drawn).keys() == SHAPES.keys()


@pytest.fixture(scope="module")
def kept(planner: Planner, sample: GraphStore) -> list[SampledPlan]:
    """Plans that keep hops of their anchors; few anchors allow that, so these are such as other plans begin with."""
    label = sample.property_label
    anchors: dict[str, Anchor] = {}
    for number in range(120):
        for shape in SHAPES:
            try:
                first = planner.draw(TOPOLOGIES[shape], "", f"anchors:{number}", tries=4).steps[0]
            except NoPlanError:
                continue
            fact, found = first.derivation, str(first.value)
            if isinstance(fact, Lookup) and first.answer_type == "entity":
                names = (sample.label(fact.subject), sample.label(found))
                anchors[found] = Anchor(
                    question_id=f"2hop__{fact.subject}", question="?", answer=names[1], sub_ids=("11", "22"),
                    sub_questions=("What is meant?", f"#1 >> {label(fact.property)}"), sub_answers=names,
                    entity=found, entity_label=names[1],
                )  # fmt: skip
    wanted = TargetDistribution(SHAPES, anchoring={"1": 1.0, "2": 1.0})
    drawn = _draw(PlanSampler(planner, wanted, 3, sample), list(anchors.values()), range(240))
    return [one for one in drawn if one.kept]


def test_kept_hops_are_the_anchors_own(kept: list[SampledPlan]) -> None:
    assert kept
    for one in kept:
        assert one.anchor is not None
        assert {id for _, id in one.kept} <= {"11", "22"}
        for index, id in one.kept:
            step = one.plan.steps[index - 1]
            assert not isinstance(step.derivation, Compute)
            if id == "22":
                assert step.value == one.anchor.entity


def test_the_ledger_adds_up_and_names_what_was_missed(
    planner: Planner, sample: GraphStore, drawn: list[SampledPlan]
) -> None:
    ledger = TargetCounter(PlanSampler(planner, TargetDistribution(SHAPES), 3, sample))
    for one in drawn:
        ledger.note(one)
    targets = read_targets(ledger.take(), TargetDistribution(SHAPES, answers={"entity": 1.0, "date": 9.0}))
    assert sum(one.reached for one in targets if one.dimension == "topology") == pytest.approx(1)
    missed = list_missed(targets)
    assert any(line.startswith("answer date") for line in missed)
    assert not ledger.take()


@pytest.mark.parametrize(
    "figure",
    [
        TargetFigure(TargetCode.ASKED, "band", "rare"),
        TargetFigure(TargetCode.REACHED, "domains", "History and Literature"),
        TargetFigure(TargetCode.MISSED, "answer", "date", "the entity has no full date"),
    ],
)
def test_a_figure_is_read_as_it_was_counted(figure: TargetFigure) -> None:
    assert TargetFigure.read(figure.key) == figure


def test_other_figures_of_a_manifest_are_no_targets() -> None:
    assert [TargetFigure.read(key) for key in ("plans", "plans on a claim", "slots without a plan")] == [None] * 3


def test_a_direct_fact_past_a_hop_is_a_shortcut(sample: GraphStore, planner: Planner) -> None:
    """Where S–P→A–Q→B and S is joined to B, the hop between can be left out."""
    found = clean = 0
    for entity in list(sample.entities())[::11]:
        for first in planner.traversals.lookups_from(entity):
            for second in planner.traversals.lookups_from(first.object):
                if second.object == entity:
                    continue  # no plan comes back to where it began
                steps = [
                    Lookup(subject=entity, property=first.property), Lookup(subject="hop1", property=second.property),
                ]  # fmt: skip
                shortcut = find_shortcut(steps, {1: first.object, 2: second.object}, sample, TABLE)
                around = {o for p, o in sample.out_edges(entity) if p not in TABLE.roles.uninformative}
                if second.object in around - {first.object}:
                    assert shortcut is not None and shortcut.hop == 2
                    found += 1
                elif shortcut is None:
                    clean += 1
        if found > 20 and clean > 20:
            return
    pytest.fail(f"{found} shortcuts, {clean} clean pairs")


def test_drawn_plans_have_no_shortcut(drawn: list[SampledPlan], sample: GraphStore, planner: Planner) -> None:
    for one in drawn:
        answers = {index: step.value for index, step in enumerate(one.plan.steps, start=1)}
        derivations = [step.derivation for step in one.plan.steps]
        assert find_shortcut(derivations, answers, sample, TABLE, planner.traversals.facts) is None


def test_what_a_year_singled_out_is_not_asked_for_that_year(sample: GraphStore) -> None:
    dated = ReverseLookup(property="P571", value="1920 + hop1", constraints=(Constraint(property="P463", value="Q1"),))
    steps = [Compute(expression="comb(7, 3)", kind="combinatorics"), dated]
    answers = {1: 35, 2: "Q222", 3: 1955}
    asked = [
        Lookup(subject="hop2", property="P571"),
        Compute(expression="abs(year(value(P571, hop2)) - year(value(P571, Q233)))", kind="temporal"),
    ]
    for last in asked:
        found = {(one.hop, one.kind) for one in iter_shortcuts([*steps, last], answers, sample, TABLE)}
        assert (3, "a value that is given") in found
    area = Lookup(subject="hop2", property="P2046")
    assert all(one.kind != "a value that is given" for one in iter_shortcuts([*steps, area], answers, sample, TABLE))


def test_domains_follow_property_and_class_and_say_why() -> None:
    class Nouns:
        def noun(self, id: str) -> str:
            return {"Q1": "painter", "Q2": "football club", "Q3": "country"}[id]

        def kind(self, id: str):  # type: ignore[no-untyped-def]
            return {"Q1": "person", "Q2": "team", "Q3": "country"}[id]

    index = DomainIndex(TABLE, Nouns())
    assert index.of_fact("P570", "Q1") == (Domain.ART, "date of death (P570) of painter")
    assert index.of_fact("P571", "Q2").domain is Domain.SPORTS
    assert index.of_fact("P571", "Q3").domain is TABLE.literal["P571"].domain
    steps = [
        PlanStep(Lookup(subject="Q1", property="P19"), "Q3", "entity"),
        PlanStep(Compute(expression="comb(7, 3)", kind="combinatorics"), 35, "number"),
        PlanStep(Compute(expression="hop2 * hop2", kind="arithmetic"), 1225, "number"),
    ]
    rulings = index.of_steps(steps)
    assert rulings[1].domain is Domain.SCIENCE and rulings[2] == (Domain.SCIENCE, "computes with the answer of hop 2")


def test_spelled_out_hops_are_resolved(sample: GraphStore, planner: Planner, anchors: list[Anchor]) -> None:
    reader = AnchorResolver(planner.traversals)
    hops = [reader.read(anchor) for anchor in anchors]
    assert sum(len(one) >= 1 for one in hops) > len(anchors) * 0.8
    for anchor, one in zip(anchors, hops, strict=True):
        if one:
            assert one[-1].id == "22" and one[-1].answer == anchor.entity
        if len(one) == 2:
            assert one[0].edge.object == one[0].answer and one[0].id == "11"


def test_forms_of_expressions() -> None:
    assert read_form("argmax(P2046, hop1, Q2)") == Extreme("P2046", ("hop1", "Q2"), True)
    assert read_form("1968 - 7 * hop3") == ShiftedYear("1968", False, 7, "hop3")
    assert read_form("count(object(P57, Q1) == hop2, object(P57, Q5) == hop2)") is None
    assert read_form("first_after(P990001, hop2)") is None
    assert read_form("abs(value(P2048, hop1) - value(P2048, Q9))") == Difference("P2048", ("hop1", "Q9"))
    assert read_form("comb(9, hop3)") == Combinations("9", "hop3")
    assert read_form("factorial(3)") is None
