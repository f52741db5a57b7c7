"""What the command line shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hopwright.errors import InputError
from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.inspect import find, info, render_find, render_info, render_ingest, render_show, show
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from tests.builders import TRIPLETS
from tests.knowledge.wikidata.builders import write_corpus


def test_info_counts_what_is_there(sample: GraphStore) -> None:
    about = info(sample, top=5, verify=True)
    assert json.loads(json.dumps(about)) == about
    triplets = sum(len(sample.edges(property)) for property in sample.properties())
    entities = list(sample.entities())
    literals = sum(len(sample.literals(one)) for one in entities)
    assert (about["triplets"], about["entities"], about["literals"]) == (triplets, len(entities), literals)
    assert min(triplets, len(entities), literals) > 20_000
    assert about["top_properties"][0] == {
        "property": "P31", "label": "instance of", "count": len(sample.edges("P31")),
    }  # fmt: skip
    most = about["literal_coverage"][0]
    assert most["count"] == len(sample.literal_subjects(most["property"]))
    assert all(most["count"] >= len(sample.literal_subjects(one)) for one in default_table().literal)
    assert about["degree"]["p100"] == max(map(sample.degree, sample.entities()))
    text = render_info(about)
    assert f"{triplets:,}" in text and "instance of" in text


def test_find_shows_candidates(sample: GraphStore) -> None:
    found = find(sample, "Ireland")
    assert found[0]["label"] == "Ireland" and found[0]["degree"] == sample.degree(found[0]["id"])
    assert "Ireland" in render_find("Ireland", found)
    assert "no entity is named 'xyzzy'" in render_find("xyzzy", find(sample, "xyzzy"))


def test_show_gives_the_neighbourhood_with_labels(world: GraphStore) -> None:
    entity = show(world, "Q903")
    assert entity["label"] == "Vestmark" and entity["aliases"] == ["Kingdom of Vestmark"]
    assert {
        "property": "P36",
        "property_label": "capital",
        "other": "Q904",
        "other_label": "Ostrava Bay",
    } in entity["out"]
    assert (entity["facts_out"], entity["facts_in"]) == (2, 1)
    text = render_show(entity)
    assert "capital (P36) → Ostrava Bay (Q904)" in text and "country of citizenship (P27) ← Ada Lindqvist" in text
    assert "1 more" in render_show(show(world, "Q903", most=1))
    with pytest.raises(InputError, match="hopwright graph find"):
        show(world, "Q1")


def test_a_date_of_1_january_reads_as_the_year_that_it_stands_for(world: GraphStore) -> None:
    assert "inception (P571) = 1905" in render_show(show(world, "Q903"))
    assert "date of birth (P569) = 12 April 1951" in render_show(show(world, "Q902"))
    (literal,) = [one for one in show(world, "Q903")["literals"] if one["property"] == "P571"]
    assert literal["value"] == "1905-01-01T00:00:00Z"


def test_an_alias_has_no_quotes_left_of_a_list(sample: GraphStore) -> None:
    """The sample's names come from a table whose quoted fields were cut at their commas."""
    found = show(sample, "Q9916")["aliases"]
    assert "Ike" in found and 'Dwight David "Ike" Eisenhower' in found
    assert not [name for name in found if name.count('"') % 2]


def test_ingest_report_lists_malformed_lines(tmp_path: Path) -> None:
    raw = write_corpus(tmp_path / "raw", triplets=[*TRIPLETS, TRIPLETS[0], ("Q1", "P1", "x")])
    report = ingest(raw, tmp_path / "store", max_malformed=0.2)
    text = render_ingest(report)
    assert "1 repeated triplets" in text and "wikidata5m_all_triplet.txt:21: no Q-id in column 3" in text
    assert "up to date" in render_ingest(ingest(raw, tmp_path / "store", max_malformed=0.2))
    about = info(GraphStore.open(tmp_path / "store"))
    assert len(about["malformed_lines"]) == 1 and "1 malformed lines" in render_info(about)


def test_an_id_is_found_in_either_case(sample: GraphStore) -> None:
    for id in ("Q183", "q183", " Q183 "):
        (found,) = find(sample, id)
        assert (found["id"], found["label"], found["matched"]) == ("Q183", "Germany", "id")
    assert find(sample, "Q999999999999") == []


def test_what_begins_so_is_suggested_and_said_to_be_a_guess(sample: GraphStore) -> None:
    found = find(sample, "germ")
    assert "Q183" in [one["id"] for one in found]
    assert all(one["matched"].removeprefix("like ").casefold().startswith("germ") for one in found)
    assert len(find(sample, "germa", most=3)) == 3
    text = render_find("germ", found)
    assert text.splitlines()[0] == "no entity is named 'germ'; is one of these meant?"


@pytest.mark.parametrize(("slip", "id"), [("Germnay", "Q183"), ("Grmany", "Q183"), ("Zermany", "Q183")])
def test_a_slip_of_the_pen_is_forgiven(slip: str, id: str, sample: GraphStore) -> None:
    assert id in [one["id"] for one in find(sample, slip)]


@pytest.mark.parametrize("name", ["", "  ", "(.*", "[[", "xyzzy plugh", "\\"])
def test_what_is_no_name_finds_nothing(name: str, sample: GraphStore) -> None:
    assert find(sample, name) == []
