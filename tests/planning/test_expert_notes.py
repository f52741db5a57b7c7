"""What an expert is asked to verify is what this hop leaves open."""

from __future__ import annotations

import pytest

from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.expert_notes import write_expert_note
from hopwright.planning.plan import PlanStep
from hopwright.records import Compute, Constraint, Lookup, ReverseLookup
from hopwright.records.model import GraphDerivation
from tests.builders import chain_item


@pytest.fixture(scope="module")
def source(sample: GraphStore) -> WikidataSource:
    return WikidataSource(sample, default_table(), KindIndex(sample))


def note(source: WikidataSource, derivation: GraphDerivation) -> str:
    return write_expert_note(PlanStep(derivation, "Q183", "entity"), chain_item().hops[:3], source)


def test_a_single_condition_is_named_with_what_is_known_of_it(source: WikidataSource) -> None:
    said = note(source, ReverseLookup(property="P36", value="Q64"))
    assert said.startswith("Nothing else may be found, outside the graph either, whose “capital” is Berlin. ")
    assert source.completeness.explain("P36") in said
    assert f"is {chain_item().hops[1].answer}." in note(source, ReverseLookup(property="P36", value="hop2"))


def test_each_of_several_conditions_is_named_and_judged(source: WikidataSource) -> None:
    conditions = (Constraint(property="P30", value="Q46"), Constraint(property="P571", value="1900 + hop3"))
    said = note(source, ReverseLookup(property="P36", value="Q64", constraints=conditions))
    year = chain_item().hops[2].answer
    europe = source.graph.label("Q46")
    assert (
        f"all of this is true: “capital” is Berlin, “continent” is {europe} and “inception” is 1900 + {year}." in said
    )
    for property in ("P36", "P30", "P571"):
        assert f"“{default_table().label(property)}” by itself: {source.completeness.explain(property)}" in said


def test_nothing_is_asked_where_nothing_is_open(source: WikidataSource) -> None:
    table = default_table()
    timeline = next(one for one in table.literal if table.is_timeline(one))
    for derivation in (
        Lookup(subject="Q183", property="P36"),
        Compute(expression="hop1 + 1", kind="arithmetic"),
        ReverseLookup(property=timeline, value="1950"),
    ):
        assert note(source, derivation) == ""
