"""Look-ups and items held against a real SPARQL server."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.sparql import FactCheck, verify_facts, verify_items, verify_lookup, verify_reverse
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Evidence, Hop, LiteralFact, ReverseLookup, Triplet
from tests.builders import LABEL, LITERALS, TRIPLETS, all_items, chain_item
from tests.e2e.sparql.asking import AREA, BORN, MARKS, make_client
from tests.sparql_servers import Oxigraph, Statements

pytestmark = MARKS


def test_look_ups_are_held_against_the_live_graph(statements: str) -> None:
    client = make_client(statements, dialect="auto")
    assert verify_lookup(client, "Q931", "P57", "Q932").status == "confirmed"
    several = verify_lookup(client, "Q933", "P57", "Q932")
    assert (several.status, several.values) == ("different", ("Q932", "Q934"))
    assert verify_facts(client, [check := FactCheck("Q933", "P57", "Q932", alone=False)])[check].status == "confirmed"
    assert verify_lookup(client, "Q935", "P57", "Q932").values == ("Q934",)  # the old value is deprecated
    assert verify_lookup(client, "Q936", "P57", "Q932").values == ("Q934",)  # another one is preferred
    assert verify_lookup(client, "Q937", "P57", "Q932").status == "unknown"
    assert verify_lookup(client, "Q940", "P57", "Q932").status == "unknown"
    assert verify_lookup(client, "Q938", "P57", "Q939").status == "confirmed"  # both were merged into others
    assert verify_lookup(client, "Q1x} #", "P57", "Q932").note == "no ids of Wikidata"


@pytest.mark.parametrize(
    ("subject", "property", "value", "unit", "status"),
    [
        ("Q901", AREA, "+385000000", "Q25343", "confirmed"),
        ("Q901", AREA, "385", "Q712226", "confirmed"),
        ("Q901", AREA, "385", "Q25343", "different"),
        ("Q905", AREA, "12", "Q1234567", "unknown"),
        ("Q904", AREA, "7000000", "Q25343", "unknown"),
        ("Q911", BORN, "1905-07-03T00:00:00Z", "", "confirmed"),
        ("Q911", BORN, "1905-07-04T00:00:00Z", "", "different"),
        ("Q911", BORN, "1905-01-01T00:00:00Z", "", "confirmed"),
        ("Q913", BORN, "1905-07-04T00:00:00Z", "", "confirmed"),
        ("Q913", BORN, "1906-01-01T00:00:00Z", "", "different"),
        ("Q914", BORN, "1800-01-01T00:00:00Z", "", "unknown"),
    ],
)
def test_literals_are_compared_in_one_unit_and_to_their_precision(
    statements: str, subject: str, property: str, value: str, unit: str, status: str
) -> None:
    fact = LiteralFact(
        subject=subject, property=property, value=value, unit=unit, subject_label="", property_label="",
        datatype="dateTime" if property == BORN else "decimal",
    )  # fmt: skip
    assert verify_lookup(make_client(statements, dialect="statements"), subject, property, fact).status == status


def test_items_are_verified_hop_by_hop(tmp_path: Path) -> None:
    graph = Statements()
    for subject, property, object in TRIPLETS:
        graph.entity(subject, property, object if (subject, property) != ("Q902", "P27") else "Q909")
    for subject, property, value, datatype in LITERALS:
        if datatype == "dateTime":
            graph.time(subject, property, value, 9)
        else:
            graph.quantity(subject, property, value, "Q199")
    graph.entity("Q906", "P166", "Q950")
    for film in ("Q901", "Q906"):
        graph.entity(film, "P1411", "Q951")
    (tmp_path / "kg.nt").write_text("\n".join(graph.lines) + "\n")
    made_up = chain_item().model_copy(update={"variant": "counterfactual"})
    with Oxigraph(tmp_path, tmp_path / "kg.nt") as server:
        client = make_client(server.url, dialect="auto")
        chain, converging, bridge, twin = verify_items(client, [*all_items(), made_up])
        alone = verify_reverse(client, _reverse_hop("Q906", "P166", "Q950"))
        shared = verify_reverse(client, _reverse_hop("Q906", "P1411", "Q951"))
    assert [(hop.index, hop.status) for hop in chain.hops] == [(1, "confirmed"), (2, "different"), (3, "confirmed")]
    assert chain.status == "different" and chain.hops[1].verdicts[0].values == ("Q909",)
    assert converging.status == "different" and bridge.status == "confirmed"
    assert twin.status == "skipped" and twin.hops == ()
    assert alone.status == "confirmed"
    assert (shared.status, shared.values) == ("different", ("Q901", "Q906"))


def test_facts_of_the_sample_are_confirmed_by_a_server_of_the_sample(served_sample: str, sample: GraphStore) -> None:
    checks, units = [], {}
    for id in sorted({*sample.literal_subjects(BORN)[:200], *sample.literal_subjects(AREA)}):
        objects: dict[str, list[str]] = {}
        for property, other in sample.out_edges(id):
            objects.setdefault(property, []).append(other)
        checks += [FactCheck(id, property, found[0]) for property, found in objects.items() if len(found) == 1]
        facts = [fact for fact in sample.literals(id) if fact.datatype != "double"]
        table = default_table()
        facts = [fact for fact in facts if not (table.is_timeline(fact.property) or table.is_series(fact.property))]
        held = [fact.property for fact in facts]
        checks += [FactCheck(id, fact.property, fact) for fact in facts if held.count(fact.property) == 1]
        units |= {fact.property: fact.unit for fact in facts if fact.datatype == "decimal"}
    client = make_client(served_sample, truthy_units=units)
    verdicts = verify_facts(client, checks)
    assert len(verdicts) > 3000 and client.requests < 40
    assert [str(verdict) for verdict in verdicts.values() if verdict.status != "confirmed"] == []
    wrong = FactCheck("Q17", "P30", "Q46")
    assert str(verify_facts(client, [wrong])[wrong]) == "different: P30 of Q17 is Q48; expected Q46"


def _reverse_hop(answer: str, property: str, value: str) -> Hop:
    triplet = Triplet(
        subject=answer, property=property, object=value, subject_label=LABEL[answer], property_label="",
        object_label="",
    )  # fmt: skip
    base = chain_item().hops[0]
    return base.model_copy(
        update={
            "answer_id": answer,
            "derivation": ReverseLookup(property=property, value=value),
            "evidence": Evidence.of(triplets=(triplet,)),
        }
    )
