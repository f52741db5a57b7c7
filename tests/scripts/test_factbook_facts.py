"""What the Factbook's texts are read as, and which of it becomes a fact."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))

from sample.days import Day
from sample.factbook_facts import find_facts, read_capital, read_independence, read_language, read_point
from sample.factbook_links import World

RULES = {
    "languages": {"Japanese": ["Q5287", "Japanese"]},
    "currencies": {},
    "states": {"contested": []},
    "contested_borders": [],
}
NAMES = {
    "Q17": ["Japan"], "Q1490": ["Tokyo"], "Q34600": ["Kyoto"], "Q30": ["United States of America", "United States"],
    "Q61": ["Washington, D.C."], "Q258": ["South Africa"], "Q3926": ["Pretoria"], "Q99": ["Tokyo"],
}  # fmt: skip
STATE = {"P31": {"Q3624078"}}


def make_world(facts: Mapping[str, Mapping[str, set[str]]], texts: Mapping[str, str] | None = None) -> World:
    kinds = {"Q17": "country", "Q30": "country", "Q258": "country", "Q99": "work"}
    return World(NAMES, facts, {}, texts or {}, lambda id: kinds.get(id, "place"), lambda id: kinds.get(id, "city"))


def make_record(name: str, capital: str, **more: Any) -> dict[str, Any]:
    government = {
        "Country name": {"conventional short form": {"text": name}},
        "Capital": {"name": {"text": capital}},
        "Independence": {"text": "3 May 1947"},
    }
    return {"path": name, "Government": government, **more}


def border(other: str) -> dict[str, Any]:
    return {"Geography": {"Land boundaries": {"border countries": {"text": f"{other} 1,200 km"}}}}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Washington, D.C.", ["Washington, D.C."]),
        ("Tripoli (Tarabulus)", ["Tripoli", "Tarabulus"]),
        ("Santiago; note - Valparaiso is the seat of the national legislature", ["Santiago"]),
        ("Chisinau in Romanian (Kishinev in Russian)", ["Chisinau"]),
        ("San Marino (city)", ["San Marino"]),
        ("Pretoria (administrative capital); Cape Town (legislative capital)", []),
        ("Gitega (political capital), Bujumbura (commercial capital)", []),
        ("no official capital; government offices in the Yaren District", []),
        ("", []),
    ],
)
def test_a_capital_is_read_where_one_is_named(text: str, names: Sequence[str]) -> None:
    assert read_capital(text) == list(names)


def test_points_have_a_name_and_a_height() -> None:
    assert read_point("Tahat 2,908 m") == (["Tahat"], "2908")
    assert read_point("Margherita Peak on Mount Stanley 5,110 m")[0][1] == "Margherita Peak"
    assert read_point("Kilimanjaro (highest point in Africa) 5,895 m") == (["Kilimanjaro"], "5895")
    assert read_point("Dead Sea -431 m") == (["Dead Sea"], "-431")
    assert read_point("unnamed elevation 675 m; located 2.5 km southeast of a town") == ([], "")
    assert read_point("3.6 km W. of Al-Salmi Border Post 300 m") == ([], "")


def test_only_one_plain_date_is_an_independence() -> None:
    assert read_independence("5 July 1962 (from France)") == Day(1962, 7, 5)
    assert read_independence("24 September 1973 (declared); 10 September 1974 (from Portugal)") is None
    assert read_independence("1839 (from the Netherlands)") is None


def test_only_one_official_language_is_the_official_language() -> None:
    assert read_language("Croatian (official) 95.2%, Serbian 1.2%") == "Croatian"
    assert read_language("Arabic (official), French (lingua franca), Tamazight (official)") == ""
    assert read_language("Dutch (official), Frisian (official in Fryslan province)") == ""


def test_a_former_capital_gives_way_and_is_told() -> None:
    facts = {
        "Q17": {**STATE, "P36": {"Q1490"}},
        "Q1490": {"P17": {"Q17"}, "P31": {"Q5119"}},
        "Q34600": {"P17": {"Q17"}, "P1376": {"Q17"}},
    }
    found = find_facts([make_record("Japan", "Tokyo")], make_world(facts), RULES)
    assert ("Q17", "P36", "Q1490") in found.edges
    assert found.gone == {("Q34600", "P1376", "Q17")}
    assert [(subject, kept) for subject, _, _, kept in found.disagreements] == [("Q17", "Q1490")]


def test_of_several_seats_none_is_the_capital() -> None:
    facts = {"Q258": {**STATE, "P36": {"Q3926"}}, "Q3926": {"P17": {"Q258"}}}
    record = make_record("South Africa", "Pretoria (administrative capital); Cape Town (legislative capital)")
    found = find_facts([record], make_world(facts), RULES)
    assert not [edge for edge in found.edges if edge[1] == "P36"]
    assert found.gone == {("Q258", "P36", "Q3926")} and found.disagreements[0][3] == "neither"


def test_a_city_of_another_country_is_not_taken() -> None:
    facts = {"Q17": STATE, "Q30": STATE, "Q1490": {"P17": {"Q30"}}}
    found = find_facts([make_record("Japan", "Tokyo")], make_world(facts), RULES)
    assert not found.edges and found.refused["P36: capital not linked"] == 1
    # Neither is one of which nothing is known while something else has the name.
    assert not find_facts([make_record("Japan", "Tokyo")], make_world({"Q17": STATE}), RULES).edges


def test_borders_need_both_countries() -> None:
    both = [make_record("Japan", "", **border("South Africa")), make_record("South Africa", "", **border("Japan"))]
    world = make_world({"Q17": STATE, "Q258": STATE})
    assert {("Q17", "P47", "Q258"), ("Q258", "P47", "Q17")} <= set(find_facts(both, world, RULES).edges)
    one = [make_record("Japan", "", **border("South Africa")), make_record("South Africa", "")]
    assert not find_facts(one, world, RULES).edges
