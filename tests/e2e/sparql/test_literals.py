"""Literals and names from a real SPARQL server."""

from __future__ import annotations

import gzip
from pathlib import Path

from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.sparql import (
    FetchedLiteral,
    count_namesakes,
    known_literal_properties,
    list_namesakes,
    write_literals,
)
from hopwright.knowledge.wikidata.store import GraphStore
from tests.conftest import ROOT
from tests.e2e.sparql.asking import AREA, BORN, BUILT, HEIGHT, HOSTILE, MARKS, PLACE, fetch_literals, make_client

pytestmark = MARKS
KILOMETRE, METRE = "Q828224", "Q11573"


def are_comparable(one: FetchedLiteral, other: FetchedLiteral) -> bool:
    kept = not one.apart and not other.apart
    return kept and (one.fact.datatype, one.fact.unit) == (other.fact.datatype, other.fact.unit)


def test_every_literal_of_the_sample_comes_back_as_it_was(
    served_sample: str, sample: GraphStore, tmp_path: Path
) -> None:
    properties = known_literal_properties(sample)
    ids = {id for property in properties for id in sample.literal_subjects(property)}
    units = {
        fact.property: fact.unit
        for id in ids
        for fact in sample.literals(id)
        if fact.datatype == "decimal"
    }  # fmt: skip
    report = write_literals(
        make_client(served_sample, truthy_units=units), ids, properties, tmp_path / "a.tsv.gz", store=sample
    )
    want = [
        "\t".join((fact.subject, fact.property, fact.property_label, fact.unit, fact.value, fact.datatype))
        for id in sorted(ids)
        for fact in sample.literals(id)
    ]
    got = gzip.decompress((tmp_path / "a.tsv.gz").read_bytes()).decode().splitlines()
    assert report.apart == {} and report.literals == len(want) > 10_000
    # The server drops plus signs and trailing zeros, and lengths come in metres; everything else is the same text.
    assert sorted(map(_canonical, got)) == sorted(map(_canonical, want))


def test_a_graph_takes_in_what_was_fetched(served_sample: str, sample: GraphStore, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in ("all_triplet", "entity", "relation"):
        file = f"wikidata5m_{name}.txt.gz"
        (corpus / file).write_bytes((ROOT / "data/sample" / file).read_bytes())
    dates = [p for p in known_literal_properties(sample) if sample.literals(sample.literal_subjects(p)[0])]
    people = sample.literal_subjects(BORN)
    write_literals(make_client(served_sample), people, dates, corpus / "attribute_literals.tsv", store=sample)
    ingest(corpus, tmp_path / "store")
    again = GraphStore.open(tmp_path / "store")
    for id in people[:50]:
        born = [fact for fact in sample.literals(id) if fact.property == BORN]
        assert [fact for fact in again.literals(id) if fact.property == BORN] == born


def test_plain_numbers_without_a_known_unit_are_kept_apart(
    served_sample: str, sample: GraphStore, tmp_path: Path
) -> None:
    report = write_literals(make_client(served_sample), ["Q17", "Q183"], [AREA, BUILT], tmp_path / "a.tsv")
    assert report.apart == {"the endpoint gives no unit": report.apart["the endpoint gives no unit"]}
    assert AREA not in (tmp_path / "a.tsv").read_text() and BUILT in (tmp_path / "a.tsv").read_text()
    assert AREA in report.apart_file.read_text()


def test_statements_are_ranked_and_their_units_made_comparable(statements: str) -> None:
    client = make_client(statements, dialect="auto")
    ids = [f"Q{number}" for number in range(901, 930)]
    harvest = fetch_literals(client, ids, [AREA, HEIGHT, BORN, PLACE])
    assert harvest.origin == "endpoint" and harvest.note == ""
    by_id: dict[str, list] = {}
    for literal in harvest.literals:
        by_id.setdefault(literal.fact.subject, []).append(literal)
    km, m, hectare, odd = (by_id[id][0] for id in ("Q901", "Q902", "Q903", "Q905"))
    assert (km.fact.value, km.fact.unit) == (m.fact.value, m.fact.unit) == ("385000000", "Q25343")
    assert (km.original, km.original_unit) in (("385", "Q712226"), ("+385", "Q712226"))
    assert are_comparable(km, m)
    assert len(by_id["Q903"]) == 1 and hectare.fact.value == "1000000" and hectare.rank == "preferred"
    assert "Q904" not in by_id
    assert "unknown unit" in odd.apart and not are_comparable(odd, km) and not are_comparable(odd, odd)
    feet, cm = by_id["Q906"][0], by_id["Q907"][0]
    assert feet.fact.value == cm.fact.value == "3.048" and are_comparable(feet, cm) and not are_comparable(feet, km)


def test_dates_keep_their_precision(statements: str) -> None:
    harvest = fetch_literals(make_client(statements, dialect="statements"), [f"Q{n}" for n in range(911, 918)], [BORN])
    found = {literal.fact.subject: literal for literal in harvest.literals}
    values = {id: (literal.fact.value[:10], literal.precision) for id, literal in found.items()}
    assert values["Q911"] == ("1905-07-03", 11)
    assert values["Q912"] == ("1905-01-01", 10) and values["Q913"] == ("1905-01-01", 9)
    assert values["Q915"] == ("1609-01-01", 11)  # a day of the old calendar is nobody's gold answer
    assert "century" in found["Q914"].apart and found["Q913"].apart == ""
    assert "Q916" not in found  # the preferred value is "unknown", so no normal one may stand in
    assert found["Q917"].fact.value == "-0043-03-15T00:00:00Z"


def test_coordinates_come_in_two_parts_and_from_earth_only(statements: str) -> None:
    harvest = fetch_literals(make_client(statements, dialect="statements"), ["Q921", "Q922"], [PLACE])
    earth = {literal.fact.unit: literal.fact.value for literal in harvest.literals if not literal.apart}
    assert {unit: float(value) for unit, value in earth.items()} == {"Latitude": 51.5, "Longtiude": -0.125}
    assert all("Q111" in literal.apart for literal in harvest.literals if literal.fact.subject == "Q922")


def test_the_dialect_is_found_out(served_sample: str, statements: str) -> None:
    assert make_client(statements, dialect="auto").has_statements()
    assert not make_client(served_sample, dialect="auto").has_statements()


def test_names_are_counted_and_nothing_can_be_injected(served_sample: str, sample: GraphStore) -> None:
    client = make_client(served_sample)
    counts = count_namesakes(client, ["Hancock County", "Nobody Of That Name", "Twin Peak", *HOSTILE])
    homonyms = [match for match in sample.matches("Hancock County") if match.by_label]
    assert counts["Hancock County"].labelled == len(homonyms) >= 6 and counts["Hancock County"].is_ambiguous
    assert counts["Nobody Of That Name"].total == 0
    # Two by label (one of them in all languages), one by alias; the disambiguation page does not count.
    assert (counts["Twin Peak"].labelled, counts["Twin Peak"].aliased) == (2, 1)
    for number, name in enumerate(HOSTILE[:-1]):
        assert counts[name].total == 1, name
        assert list_namesakes(client, name) == {f"Q{10**9 + number}": ""}
    assert list_namesakes(client, "Japan")["Q17"] == "country in East Asia"


def _canonical(line: str) -> tuple[str, ...]:
    subject, property, label, unit, value, datatype = line.split("\t")
    if datatype == "dateTime":
        return subject, property, label.strip(), unit, value, datatype
    metres = 1_000 if unit == KILOMETRE else 1
    unit = METRE if unit == KILOMETRE else unit
    return subject, property, label.strip(), unit, f"{float(value) * metres:.12g}", datatype
