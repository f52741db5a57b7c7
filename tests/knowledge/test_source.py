"""A source of facts is one class: the real planner draws and proves plans from a tiny one that is defined here."""

from __future__ import annotations

import itertools

import pytest

from hopwright.knowledge.facts import GraphFacts
from hopwright.knowledge.properties import EntityProperty, LiteralProperty, PropertyRoles, PropertyTable
from hopwright.knowledge.source import FactSource
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.evidence import evidence_for
from hopwright.planning.execution import execute, same
from hopwright.planning.planner import Planner
from hopwright.records import Compute, Domain, LiteralFact
from hopwright.records.values import EntityKind, Value
from hopwright.topologies import TOPOLOGIES

MAKER, HOME, FOUNDED, BORN, SITE, BUILT, DRAWN = "P1", "P2", "P3", "P4", "P5", "P6", "P7"
_FIRST = (
    "Alva Brun Cato Dora Egil Frode Gisa Hedda Ivar Jorun Kaja Lasse Mona Nils Odda Per Runa Signe Tuva Ulf".split()
)
_LAST = "Ask Bø Cort Dahl Ek Foss Gran Holt Ibs Juul Krog Lie Moe Næss Orre Prytz Ree Skog Tveit Ulv".split()
_TOWNS = "Abbdal Brokvik Clagnes Dremby Eistrup".split()


class SmallWorld:
    """Twenty machines, who made and drew them, and five towns where these lived and those stood: a FactSource."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.facts: list[tuple[str, str, str]] = []
        self.dates: list[tuple[str, str, str]] = []
        for place, town in enumerate(_TOWNS):
            self.names[f"Q{300 + place}"] = town
            self.dates.append((f"Q{300 + place}", FOUNDED, f"{1500 + 37 * place}-05-02T00:00:00Z"))
        for place, (first, last) in enumerate(zip(_FIRST, _LAST, strict=True)):
            machine, maker = f"Q{100 + place}", f"Q{200 + place}"
            # The titles of works are of three words: shorter ones are those of several.
            title = f"{last}ograph {last[::-1].title()}eon {last}axis"
            self.names |= {machine: title, maker: f"{first} {first[::-1].title()}"}
            self.facts += [(machine, MAKER, maker), (maker, HOME, f"Q{300 + place % 5}")]
            self.facts += [(machine, SITE, f"Q{300 + place // 4}"), (machine, DRAWN, f"Q{200 + (place + 7) % 20}")]
            self.dates.append((maker, BORN, f"{1810 + 3 * place}-03-04T00:00:00Z"))
            self.dates.append((machine, BUILT, f"{1850 + 7 * place % 60}-05-06T00:00:00Z"))
        self.graph = self.kinds = self.completeness = self
        self.table = PropertyTable(
            {
                MAKER: EntityProperty(
                    label="maker", domain=Domain.SCIENCE, subject=("work",), object=("person",),
                    ask=("Who made {s}?",), np=("the maker of {s}",), predicate=("was made by {o}",),
                ),
                HOME: EntityProperty(
                    label="home", domain=Domain.HISTORY, subject=("person",), object=("place",),
                    ask=("Where did {s} live?",), np=("the home of {s}",), predicate=("lived in {o}",),
                ),
                DRAWN: EntityProperty(
                    label="draughtsman", domain=Domain.ART, subject=("work",), object=("person",),
                    ask=("Who drew {s}?",), np=("the draughtsman of {s}",), predicate=("was drawn by {o}",),
                ),
                SITE: EntityProperty(
                    label="site", domain=Domain.ART, subject=("work",), object=("place",),
                    ask=("Where did {s} stand?",), np=("the site of {s}",), predicate=("stood in {o}",),
                ),
            },
            {
                FOUNDED: LiteralProperty(
                    label="founded", domain=Domain.HISTORY, value="date", subject=("place",),
                    ask=("When was {s} founded?",), year_ask=("In what year was {s} founded?",),
                    year_np=("the year in which {s} was founded",), event=("the founding of {s}",),
                    more=("was founded later",), less=("was founded earlier",),
                ),
                BORN: LiteralProperty(
                    label="born", domain=Domain.HISTORY, value="date", subject=("person",),
                    ask=("When was {s} born?",), year_ask=("In what year was {s} born?",),
                    year_np=("the year in which {s} was born",), event=("the birth of {s}",),
                    more=("was born later",), less=("was born earlier",),
                ),
                BUILT: LiteralProperty(
                    label="built", domain=Domain.SCIENCE, value="date", subject=("work",),
                    ask=("When was {s} built?",), year_ask=("In what year was {s} built?",),
                    year_np=("the year in which {s} was built",), event=("the building of {s}",),
                    more=("was built later",), less=("was built earlier",),
                ),
            },
            roles=PropertyRoles(birth=BORN, ties=frozenset({HOME, SITE})),
        )  # fmt: skip

    def __contains__(self, id: str) -> bool:
        return id in self.names

    def label(self, id: str) -> str:
        return self.names.get(id, "")

    def aliases(self, id: str) -> tuple[str, ...]:
        return ()

    def bearers(self, name: str, *, by_label: bool = False) -> tuple[str, ...]:
        return tuple(id for id, label in self.names.items() if label == name)

    def knows_name(self, name: str) -> bool:
        return bool(self.bearers(name))

    def property_label(self, property: str) -> str:
        return self.table.label(property)

    def property_aliases(self, property: str) -> tuple[str, ...]:
        return ()

    def page_url(self, id: str) -> str:
        return f"https://small.example/{id}"

    def degree(self, id: str) -> int:
        return sum(id in (s, o) for s, _, o in self.facts)

    def objects(self, subject: str, property: str) -> tuple[str, ...]:
        return tuple(o for s, p, o in self.facts if (s, p) == (subject, property))

    def subjects(self, property: str, object: str) -> tuple[str, ...]:
        return tuple(s for s, p, o in self.facts if (p, o) == (property, object))

    def out_edges(self, subject: str) -> tuple[tuple[str, str], ...]:
        return tuple((p, o) for s, p, o in self.facts if s == subject)

    def in_properties(self, object: str) -> list[str]:
        return list(dict.fromkeys(property for property, _ in self.in_edges_spread(object, 1_000_000)))

    def in_edges_spread(self, object: str, most: int) -> tuple[tuple[str, str], ...]:
        return tuple((p, s) for s, p, o in self.facts if o == object)[:most]

    def sample_edges(self, property: str, most: int) -> tuple[tuple[str, str], ...]:
        return tuple((s, o) for s, p, o in self.facts if p == property)[:most]

    def sample_objects(self, property: str, most: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(o for _, o in self.sample_edges(property, 1000)))[:most]

    def literals(self, subject: str, property: str = "") -> tuple[LiteralFact, ...]:
        return tuple(
            LiteralFact(
                subject=s, property=p, value=value, datatype="dateTime", subject_label=self.label(s), property_label=p
            )
            for s, p, value in self.dates
            if s == subject and property in ("", p)
        )

    def literal_subjects(self, property: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(s for s, p, _ in self.dates if p == property))

    def kind(self, id: str) -> EntityKind:
        kinds: dict[str, EntityKind] = {"1": "work", "2": "person", "3": "place"}
        return kinds[id[1]]

    def sort(self, id: str) -> str:
        return self.kind(id)

    def noun(self, id: str) -> str:
        return {"work": "machine", "person": "engineer", "place": "town"}[self.kind(id)]

    def phrase(self, id: str) -> str:
        return self.label(id)

    def allows_counting(self, property: str) -> bool:
        return False

    def allows_reverse(self, property: str) -> bool:
        return False

    def explain(self, property: str) -> str:
        return "Nobody has counted them."


@pytest.mark.parametrize("name", ["chain-2", "chain-3", "converging-3"])
def test_the_planner_draws_and_proves_plans_from_any_source(name: str) -> None:
    world: FactSource = SmallWorld()
    planner = Planner(world, min_domains=1)
    facts = GraphFacts(world.graph, world.table)
    drawn = {planner.draw(TOPOLOGIES[name], "", f"{name}:{number}") for number in range(8)}
    assert len(drawn) >= 3
    for plan in drawn:
        answers: dict[int, Value] = {}
        for index, step in enumerate(plan.steps, start=1):
            answers[index] = execute(step.derivation, step.answer_type, answers, facts, world.table)
            assert same(answers[index], step.value)
            evidence = evidence_for(step, answers, world.graph, world.table)
            assert all((t.subject, t.property, t.object) in world.facts for t in evidence.triplets)
            assert evidence.wikipedia_url.startswith("https://small.example/Q") or isinstance(step.derivation, Compute)


def test_what_wikidata_and_a_small_world_promise_is_the_same(sample: GraphStore) -> None:
    small: FactSource = SmallWorld()
    large: FactSource = WikidataSource(sample)
    for source, subject in ((small, "Q100"), (large, large.graph.sample_edges(large.table.roles.country, 1)[0][0])):
        graph = source.graph
        edges = graph.out_edges(subject)
        assert edges and subject in graph and graph.degree(subject) >= len(edges)
        properties = [property for property, _ in edges]
        assert len(list(itertools.groupby(properties))) == len(set(properties))  # facts of one property are together
        for property, object in edges:
            assert object in graph.objects(subject, property)
            assert subject in graph.subjects(property, object)
        assert graph.objects("Q0", properties[0]) == graph.literals("Q0") == () and graph.label("Q0") == ""
        assert not source.completeness.allows_counting("P0") and not source.completeness.allows_reverse("P0")
        assert subject in graph.bearers(graph.label(subject), by_label=True)
