"""Doubts about answers that are unique in a source and may not be so in the world."""

from __future__ import annotations

import pytest

from hopwright.knowledge.containment import Containment
from hopwright.knowledge.facts import GraphFacts
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.planning.open_world import OpenWorld
from hopwright.records import Compute, Constraint, Derivation, Lookup, ReverseLookup
from tests.worlds import DictGraph, DictKinds, settle_all

STATES = {
    "Q1": "Arden",
    "Q2": "Belmark",
    "Q3": "Corvia",
    "Q4": "Dunia",
    "Q5000": "Estra",
    "Q6": "Fara",
    "Q6256": "country",
}
BORDERS = [("Q2", "P47", "Q1"), ("Q3", "P47", "Q1"), ("Q4", "P47", "Q1"), ("Q6", "P47", "Q5000")]
YEARS = {"Q2": 1960, "Q3": 1971, "Q4": 1912, "Q6": 1971}
PLACES = [
    ("Q20", "P131", "Q21"), ("Q21", "P17", "Q1"), ("Q30", "P20", "Q20"), ("Q31", "P20", "Q21"), ("Q32", "P20", "Q22"),
]  # fmt: skip


def make(
    borders: list[tuple[str, str, str]] | None = None, years: dict[str, int] | None = None, *, settled: bool = True
) -> OpenWorld:
    triplets = [(state, "P31", "Q6256") for state in STATES if state != "Q6256"]
    triplets += [*(BORDERS if borders is None else borders), *PLACES]
    known = YEARS if years is None else years
    dates = [(state, "P571", f"{year}-01-01T00:00:00Z", "dateTime") for state, year in known.items()]
    graph = DictGraph({**STATES, "Q20": "Hill", "Q21": "Angeltown", "Q22": "Far"}, {}, triplets, dates)
    table = settle_all(default_table()) if settled else default_table()
    return OpenWorld(graph, table, DictKinds(graph), GraphFacts(graph, table))


def borders_arden(year: str = "1971") -> ReverseLookup:
    return ReverseLookup(property="P571", value=year, constraints=(Constraint(property="P47", value="Q1"),))


def test_a_year_singles_out_a_neighbour_where_all_is_known() -> None:
    assert make().find_doubt(borders_arden(), {}, "Q3") == ""


@pytest.mark.parametrize(
    ("world", "says"),
    [
        (make(years={**YEARS, "Q4": 1971}), "Dunia is of that year, too"),
        (make(years={name: year for name, year in YEARS.items() if name != "Q4"}), "year of Dunia is not known"),
        (make(borders=BORDERS[:3]), "whether Fara meets the condition is not known"),
        (make(settled=False), "the year of Belmark is not known"),
    ],
)
def test_each_rival_that_the_source_may_not_know_is_a_doubt(world: OpenWorld, says: str) -> None:
    assert says in world.find_doubt(borders_arden(), {}, "Q3")


@pytest.mark.parametrize(
    ("derivation", "says"),
    [
        (ReverseLookup(property="P571", value="1971"), "a year alone"),
        (
            ReverseLookup(property="P571", value="1971", constraints=(Constraint(property="P206", value="Q1"),)),
            "is not whole",
        ),
        (
            ReverseLookup(property="P57", value="Q1", constraints=(Constraint(property="P161", value="Q2"),)),
            "two open conditions",
        ),
    ],
)
def test_open_conditions_single_out_nobody(derivation: Derivation, says: str) -> None:
    assert says in make().find_doubt(derivation, {}, "Q3")


def test_a_disputed_year_of_independence_is_not_read() -> None:
    world = make(settled=False)
    asked = (
        Lookup(subject="Q3", property="P571"),
        Lookup(subject="hop1", property="P571"),
        Compute(expression="abs(year(value(P571, hop1)) - 1900)", kind="temporal"),
        Compute(expression="argmax(P571, hop1, Q2)", kind="comparison"),
    )
    assert all("no undisputed year" in world.find_doubt(one, {1: "Q3"}, 1971) for one in asked)
    assert not any(make().find_doubt(one, {1: "Q3"}, 1971) for one in asked)


@pytest.mark.parametrize(
    ("expression", "doubtful"),
    [
        ("argmax(P571, among(P47, hop1, Q31, Q32))", False),
        ("argmax(P571, after(P571, hop2, among(P47, hop1, Q31, Q32)))", False),
        ("argmin(P571, among(P47, Q31, hop1, Q32))", True),
        ("argmin(P571, before(P571, hop2, listed(P47, Q31, Q32, hop1)))", True),
    ],
)
def test_years_are_read_of_the_members_of_a_set_only(expression: str, doubtful: bool) -> None:
    """What the members share is no state whose year would have to be undisputed, nor is the year of an earlier hop."""
    doubt = make(settled=False).find_doubt(Compute(expression=expression, kind="comparison"), {1: "Q3", 2: 1950}, "Q31")
    assert ("no undisputed year" in doubt) is doubtful


@pytest.mark.parametrize(
    ("counted", "doubtful"),
    [
        ("count(object(P20, Q31) == hop1, object(P20, Q32) == hop1)", False),
        ("count(object(P20, Q30) == hop1, object(P20, Q32) == hop1)", True),
        ("count(object(P20, Q31) == hop2, object(P20, Q32) == hop2)", True),
    ],
)
def test_a_part_is_not_counted_beside_its_whole(counted: str, doubtful: bool) -> None:
    doubt = make().find_doubt(Compute(expression=counted, kind="counting"), {1: "Q21", 2: "Q20"}, 1)
    assert bool(doubt) is doubtful


def test_wholes_are_found_over_any_number_of_steps_and_circles_end() -> None:
    graph = DictGraph({}, {}, [*PLACES, ("Q1", "P361", "Q20")], [])
    places = Containment(graph, default_table().roles.containment)
    assert places.wholes("Q20") == {"Q21", "Q1"}
    assert places.overlap("Q20", "Q1") and not places.overlap("Q22", "Q1") and not places.overlap("Q1", "Q1")
