"""Timelines: who holds a year, and the years that lead there."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hopwright.distractors.hop_task import OptionShortage
from hopwright.distractors.maker import DistractorMaker
from hopwright.knowledge.facts import GraphFacts
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.sparql import FactCheck, verify_facts, verify_items, verify_reverse
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import AgeAt, read_form
from hopwright.planning.dead_ends import PlanningDeadEnd
from hopwright.planning.domains import DomainIndex
from hopwright.planning.open_world import OpenWorld
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.temporal import age_in_year
from hopwright.planning.operations.timelines import holder
from hopwright.planning.plan import Plan, PlanStep
from hopwright.planning.plan_builder import PlanBuilder, StepOutput
from hopwright.planning.planner import NoPlanError, Planner
from hopwright.planning.relations import Relations
from hopwright.planning.target_distribution import SamplingPreferences
from hopwright.planning.traversals import GraphTraversals
from hopwright.records import Domain, Evidence, Hop, LiteralFact, Lookup, ReverseLookup
from hopwright.topologies import TOPOLOGIES
from tests.builders import chain_item
from tests.knowledge.wikidata.builders import make_store

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))

from sample.gathering import Merge
from sample.timelines import read_timelines

TABLE = default_table()
BIRTH, DEATH, PROFESSION = "P569", "P570", "Q36180"
PRIZE = next(id for id, entry in TABLE.literal.items() if entry.timeline == "us_president")
AUTHORS = [f"Q{number}" for number in range(101, 113)]
"""Authors, born three years apart from 1900 on, who died at 65; the n-th holds the year 1950 + n."""
READER = "Q200"
"""Somebody else, of 1920 to 1961, who turned 40 in a year of two holders."""
SHARED = 1960
TOWN, REALM = "Q300", TABLE.literal[PRIZE].realm
"""Where all of them are from, and its country, by whose presidents people tell the time there."""


def date(year: int, day: str = "03-04") -> str:
    return f"{year}-{day}T00:00:00Z"


class World:
    """A small world with one timeline, and what plans over it."""

    def __init__(self, folder: Path, held: Mapping[int, tuple[str, ...]]) -> None:
        first = "Anna Berta Carl Dora Emil Frida Georg Hilda Ivar Jonas Karin Lars".split()
        last = "Abel Brask Corell Dalin Ekman Frisch Grahn Holm Ibsen Juell Krook Lind".split()
        names = {one: [f"{a} {b}"] for one, a, b in zip(AUTHORS, first, last, strict=True)}
        names |= {READER: ["Otto Zander"], "Q5": ["human"], PROFESSION: ["writer"], TOWN: ["Bronwick"]}
        dates = [(one, PRIZE, year) for year, holders in held.items() for one in holders]
        dates += [(one, BIRTH, 1900 + 3 * place) for place, one in enumerate(AUTHORS)]
        dates += [(one, DEATH, 1965 + 3 * place) for place, one in enumerate(AUTHORS)]
        days = {READER: "01-01"}  # of the reader the years alone are known
        dates += [(READER, BIRTH, 1920), (READER, DEATH, 1961)]
        said = (("P31", "Q5"), ("P106", PROFESSION), ("P19", TOWN))
        self.held = held
        self.graph = make_store(
            folder,
            triplets=[*((one, p, o) for one in (*AUTHORS, READER) for p, o in said), (TOWN, "P17", REALM)],
            names=names,
            relations={"P31": ["instance of"], "P106": ["occupation"]},
            literals=[
                (one, property, "", "", date(year, days.get(one, "03-04")), "dateTime") for one, property, year in dates
            ],
        )
        self.source = WikidataSource(self.graph, TABLE)
        self.traversals = GraphTraversals(self.source)
        self.facts = GraphFacts(self.graph, TABLE)

    def builder(self, seed: int = 0) -> PlanBuilder:
        domains = DomainIndex(TABLE, self.source.kinds)
        rng = random.Random(seed)
        return PlanBuilder(self.traversals, domains, SamplingPreferences(), rng, relations=Relations(self.traversals))

    def read_birth(self, builder: PlanBuilder, person: str) -> StepOutput:
        """The step that looks up when a named person was born."""
        builder.name(person)
        (measure,) = (one for one in self.traversals.measures(person) if one.property == BIRTH)
        return builder.measure(person, measure)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    held = {1950 + place: (one,) for place, one in enumerate(AUTHORS[:10])}
    return World(tmp_path_factory.mktemp("timeline"), {**held, SHARED: (AUTHORS[10], AUTHORS[11])})


@pytest.fixture(scope="module")
def plans(sample: GraphStore) -> list[Plan]:
    """Plans of the sample that look somebody up in a timeline, or ask how old somebody turned in a year."""
    planner, drawn = Planner(WikidataSource(sample)), []
    focuses = [Domain.SCIENCE.value, ""]  # laureates are compared, and elsewhere whole lists come first
    for number in range(200):
        for name in ("chain-5", "chain-3", "converging-3", "bridge"):
            about = SamplingPreferences(focus=focuses[number % len(focuses)])
            try:
                drawn.append(planner.draw(TOPOLOGIES[name], "", f"timelines:{number}", preferences=about, tries=20))
            except NoPlanError:
                continue
    return drawn


def list_held(graph: GraphStore, timeline: str) -> dict[int, set[str]]:
    """Year → all its holders, read from the graph's literals."""
    held: dict[int, set[str]] = {}
    for entity in graph.literal_subjects(timeline):
        for literal in graph.literals(entity, timeline):
            held.setdefault(int(literal.value[:4]), set()).add(entity)
    return held


def list_steps(plans: list[Plan]) -> Iterator[tuple[Plan, PlanStep]]:
    return ((plan, step) for plan in plans for step in plan.steps)


def find_year(plan: Plan, reference: str) -> int:
    """The year that a reference of a plan stands for."""
    value = plan.steps[int(reference[3:]) - 1].value if reference.startswith("hop") else reference
    return int(str(value))


class TestHolders:
    def test_a_year_with_two_holders_is_never_used(self, world: World) -> None:
        assert set(world.traversals.timelines[PRIZE]) == set(range(1950, 1960))
        for seed in range(20):
            builder = world.builder(seed)
            birth = world.read_birth(builder, READER)
            with pytest.raises(PlanningDeadEnd, match="no timeline has a holder of that year"):
                holder(builder, [StepOutput("year", birth.ref, READER, SHARED, "year")], OperationContext())

    def test_the_only_holder_of_the_year_is_given(self, world: World) -> None:
        found = set()
        for seed in range(60):
            year = 1950 + seed % 10
            builder = world.builder(seed)
            birth = world.read_birth(builder, READER)
            one = holder(builder, [StepOutput("year", birth.ref, READER, year, "year")], OperationContext())
            assert (one.entity,) == world.held[year]
            assert builder.draft.steps[-1].derivation == ReverseLookup(property=PRIZE, value=birth.ref)
            found.add(one.entity)
        assert len(found) > 3

    def test_a_year_that_was_worked_out_leads_to_no_timeline_by_which_nobody_tells_the_time(
        self, plans: list[Plan]
    ) -> None:
        entered = {
            derivation.property
            for _, step in list_steps(plans)
            if isinstance(derivation := step.derivation, ReverseLookup)
            and TABLE.is_timeline(derivation.property)
            and not derivation.value.isdigit()
        }
        assert all(TABLE.literal[one].holder_when for one in entered)

    def test_every_holder_of_a_drawn_plan_is_the_only_one_that_the_graph_has(
        self, plans: list[Plan], sample: GraphStore
    ) -> None:
        looked_up = 0
        for plan, step in list_steps(plans):
            derivation = step.derivation
            if isinstance(derivation, ReverseLookup) and TABLE.is_timeline(derivation.property):
                held = list_held(sample, derivation.property)
                assert held[find_year(plan, derivation.value)] == {step.value}
                looked_up += 1
        assert looked_up >= 4


class TestYears:
    @pytest.mark.parametrize(("year", "age"), [(1915, 15), (1950, 50), (1964, 64), (1965, 0), (1914, 0), (1890, 0)])
    def test_nobody_is_asked_for_an_age_that_they_did_not_reach(self, world: World, year: int, age: int) -> None:
        builder = world.builder()
        builder.name(READER)
        inputs = [StepOutput("entity", "hop1", AUTHORS[0]), StepOutput("year", "hop2", READER, year, "year", DEATH)]
        for given in (inputs, inputs[::-1]):
            if age:
                assert age_in_year(builder, given, OperationContext()).number == age
            else:
                with pytest.raises(PlanningDeadEnd):
                    age_in_year(builder, given, OperationContext())

    def test_ages_of_drawn_plans_are_those_of_the_living(self, plans: list[Plan], sample: GraphStore) -> None:
        seen = 0
        for plan, step in list_steps(plans):
            form = read_form(getattr(step.derivation, "expression", ""))
            if not isinstance(form, AgeAt):
                continue
            person, (property, other) = find_moment(plan, form.birth)[1], find_moment(plan, form.then)
            assert int(str(step.value)) > 0
            days = [literal.value for literal in sample.literals(find_entity(plan, other), property)]
            assert min(int(day[:4]) for day in days) <= find_death(sample, find_entity(plan, person))
            seen += 1
        assert seen > 5


def find_moment(plan: Plan, moment: str | tuple[str, str]) -> tuple[str, str]:
    """The property and the entity (a reference) of an event, be it looked up by a hop of its own or not."""
    if not isinstance(moment, str):
        return moment
    derivation = plan.steps[int(moment[3:]) - 1].derivation
    assert isinstance(derivation, Lookup)
    return derivation.property, derivation.subject


def find_death(graph: GraphStore, person: str) -> int:
    """The latest year of death that the graph has of somebody; a late one for whoever may be alive."""
    return max((int(literal.value[:4]) for literal in graph.literals(person, DEATH)), default=2100)


def find_entity(plan: Plan, reference: str) -> str:
    """The entity that a reference of a plan stands for."""
    return str(plan.steps[int(reference[3:]) - 1].value) if reference.startswith("hop") else reference


def holder_hop(graph: GraphStore, answer: str, timeline: str, year: int) -> Hop:
    """Who holds a year, as a question of its own."""
    literal = LiteralFact(
        subject=answer, property=timeline, value=date(year), datatype="dateTime", subject_label=graph.label(answer),
        property_label="",
    )  # fmt: skip
    return Hop(
        index=1, question=f"Who was it in {year}?", answer=graph.label(answer), answer_type="entity", answer_id=answer,
        domain=Domain.HISTORY, depends_on=(), derivation=ReverseLookup(property=timeline, value=str(year)),
        evidence=Evidence.of(literals=(literal,)),
    )  # fmt: skip


class TestOptions:
    def test_they_are_holders_of_years_near_by(self, tmp_path: Path) -> None:
        near = {1950 + place: (one,) for place, one in enumerate(AUTHORS[:8])}
        world = World(tmp_path, near | {1700: (AUTHORS[8],)})
        for year, (answer,) in list(world.held.items())[:8]:
            for seed in range(5):
                maker = DistractorMaker(world.graph, TABLE, world.source.kinds, seed)
                made = maker.make(holder_hop(world.graph, answer, PRIZE, year), {}, (), "Who was it?")
                assert not isinstance(made, OptionShortage), made
                assert {one.id for one in made} < set(AUTHORS[:8]) - {answer}


class TestTruth:
    def test_the_open_world_has_no_doubt_about_a_timeline(self, world: World) -> None:
        unsure = OpenWorld(world.graph, TABLE, world.source.kinds, world.facts)
        assert unsure.find_doubt(ReverseLookup(property=PRIZE, value="1952"), {}, AUTHORS[2]) == ""
        assert unsure.find_doubt(ReverseLookup(property=PRIZE, value="hop1"), {1: 1952}, AUTHORS[2]) == ""
        assert unsure.find_doubt(ReverseLookup(property=BIRTH, value="1903"), {}, AUTHORS[1]) != ""

    def test_wikidata_is_not_asked_for_what_is_not_its_own(self, world: World) -> None:
        class Silent:
            settings = SimpleNamespace(batch_size=10)

            def select(self, query: str, **_: object) -> None:
                raise AssertionError(f"the endpoint was asked: {query}")

        hop = holder_hop(world.graph, AUTHORS[0], PRIZE, 1950)
        (literal,) = hop.evidence.literals
        client: Any = Silent()
        assert verify_reverse(client, hop).status == "unknown"
        check = FactCheck(AUTHORS[0], PRIZE, literal)
        assert verify_facts(client, [check])[check].status == "unknown"
        (verdict,) = verify_items(client, [chain_item().model_copy(update={"hops": (hop,)})])
        assert verdict.status == "unknown"


class TestFile:
    def test_a_year_is_left_out_of_which_one_holder_is_not_among_the_entities(self, tmp_path: Path) -> None:
        rows = [
            ("us_president", "1903", "Q1"), ("us_president", "1904", "Q1"), ("us_president", "1904", "Q2"),
            ("us_president", "1905", "Q1"), ("us_president", "1905", "Q99"), ("us_president", "1906", "Q2"),
            ("us_president", "1906", ""), ("pope", "1905", "Q2"),
        ]  # fmt: skip
        path = tmp_path / "timelines.tsv"
        lines = ["timeline\tyear\tentity\tlabel", *("\t".join((*row, "Somebody")) for row in rows)]
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        merge = Merge({"Q1": ["One"], "Q2": ["Two"]}, {}, set(), {}, {})
        read_timelines(path, merge)
        pope = next(id for id, entry in TABLE.literal.items() if entry.timeline == "pope")
        assert merge.timelines == {
            ("Q1", PRIZE, "1903"), ("Q1", PRIZE, "1904"), ("Q2", PRIZE, "1904"), ("Q2", pope, "1905"),
        }  # fmt: skip
        assert sum(merge.refused.values()) == 2

    def test_the_file_states_no_year_twice_and_only_timelines_of_the_table(self) -> None:
        path = Path(__file__).resolve().parents[2] / "scripts" / "sample" / "timelines.tsv"
        header, *lines = path.read_text("utf-8").splitlines()
        assert header == "timeline\tyear\tentity\tlabel"
        rows = [line.split("\t") for line in lines]
        assert {timeline for timeline, *_ in rows} <= {entry.timeline for entry in TABLE.literal.values()}
        stated = [(timeline, year, entity or label) for timeline, year, entity, label in rows]
        assert len(set(stated)) == len(stated) > 100
        assert all(year.isdigit() and len(year) <= 4 and label for _, year, _, label in rows)
