"""Years between events of people who were close, and ages at them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.planning.dead_ends import PlanningDeadEnd
from hopwright.planning.domains import DomainIndex
from hopwright.planning.operations.base import OperationContext
from hopwright.planning.operations.temporal import apart
from hopwright.planning.plan_builder import PlanBuilder
from hopwright.planning.relations import Relations
from hopwright.planning.target_distribution import SamplingPreferences
from hopwright.planning.traversals import GraphTraversals
from tests.knowledge.wikidata.builders import make_store

BIRTH, DEATH, ADVISOR = "P569", "P570", "P184"
PUPIL, TEACHER, STRANGER = "Q101", "Q102", "Q103"
LIVES = {PUPIL: (1900, 1970), TEACHER: (1870, 1950), STRANGER: (1880, 1955)}


@pytest.fixture(scope="module")
def traversals(tmp_path_factory: pytest.TempPathFactory) -> GraphTraversals:
    folder: Path = tmp_path_factory.mktemp("close")
    people = {PUPIL: "Anna Abel", TEACHER: "Otto Zander", STRANGER: "Ivar Krook"}
    graph = make_store(
        folder,
        triplets=[*((one, "P31", "Q5") for one in people), (PUPIL, ADVISOR, TEACHER)],
        names={**{one: [name] for one, name in people.items()}, "Q5": ["human"]},
        relations={"P31": ["instance of"], ADVISOR: ["doctoral advisor"]},
        literals=[
            (one, property, "", "", f"{year}-03-04T00:00:00Z", "dateTime")
            for one, years in LIVES.items()
            for property, year in zip((BIRTH, DEATH), years, strict=True)
        ],
    )
    return GraphTraversals(WikidataSource(graph, default_table()))


def measure_apart(traversals: GraphTraversals, one: tuple[str, str], other: tuple[str, str]) -> object:
    """The years between two events, each a person and a property, in a plan that looks both up."""
    domains = DomainIndex(default_table(), traversals.kinds)
    relations = Relations(traversals)
    builder = PlanBuilder(traversals, domains, SamplingPreferences(), random.Random(1), relations=relations)
    looked_up = []
    for person, property in (one, other):
        builder.name(person)
        (measure,) = (found for found in traversals.measures(person) if found.property == property)
        looked_up.append(builder.measure(person, measure))
    return apart(builder, looked_up, OperationContext()).number


@pytest.mark.parametrize(("event", "years"), [(BIRTH, 30), (DEATH, 20)])
def test_births_and_deaths_of_two_who_were_close_are_set_apart(
    traversals: GraphTraversals, event: str, years: int
) -> None:
    assert measure_apart(traversals, (PUPIL, event), (TEACHER, event)) == years
    assert measure_apart(traversals, (TEACHER, event), (PUPIL, event)) == years


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((PUPIL, BIRTH), (STRANGER, BIRTH)),  # nothing ties them
        ((PUPIL, DEATH), (STRANGER, DEATH)),
        ((TEACHER, BIRTH), (PUPIL, DEATH)),  # the teacher had died long before
    ],
)
def test_strangers_and_those_who_had_died_are_not(
    traversals: GraphTraversals, one: tuple[str, str], other: tuple[str, str]
) -> None:
    with pytest.raises(PlanningDeadEnd):
        measure_apart(traversals, one, other)
