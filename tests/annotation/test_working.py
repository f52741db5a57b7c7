from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.export import render_item
from annotation.schema import ReviewTaskKind
from annotation.worked_computations import lay_out, spell_factors, write_worked_steps
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Compute, Item
from tests.builders import bridge_item, chain_item, converging_item
from tests.drafts import draft_items, draft_others
from tests.wording.test_every_form import EXAMPLES

CODE = re.compile(r"\b(?:[a-z]+_)?[a-z]+\(|\bhop\d|\b[PQ]\d+\b|==|\bcl-[a-p]{16}")
"""A function, a reference, an id: what nobody should have to read."""
OLDER = (
    "count(value(P2046, Q903) > value(P2046, Q909), value(P2046, Q903) > 5)", "count(year(value(P571, Q909)) < hop2)",
    "count(object(P36, Q903) == hop3, object(P36, Q909) == Q903)", "hop2 * hop3", "3 * hop2", "comb(hop2, 2)",
    "max(hop2, hop3) - min(hop2, hop3)", "round(mean(value(P2046, Q903), value(P2046, Q909)), 1)",
    "value(P2046, Q903) + value(P2046, Q909)", 'hop2 + claim("cl-abcdefghijklmnop")', "comb(7, 4)", "perm(5, 2)",
    "size(after(P577, hop2, all(P161, Q1)))",
    "size(having(P86, hop2, all(P161, hop1)))", "size(all(P99999, hop1)) - size(all(P47, hop2))", "factorial(4)",
    "round(size(all(P47, hop1)) / hop2, 1)", "value(P1082, argmax(P2046, hop1, hop2)) + 1", "size(later(P577, hop1))",
    "newer(P577, hop1) + 2", "value(P99999, Q99999)", "size(all(P47))", "argmax(P2046, Q1, Q2)", "hop2 if hop3 else 1",
)  # fmt: skip
"""Forms that no plan makes any more, and functions of no version."""


def with_expression(item: Item, expression: str, answer: str, unit: str = "") -> Item:
    """The item whose last hop computes that."""
    last = item.hops[-1].model_copy(
        update={"derivation": Compute(expression=expression, kind="arithmetic"), "answer": answer, "unit": unit}
    )
    return item.model_copy(update={"hops": (*item.hops[:-1], last)})


@pytest.mark.parametrize(
    ("expression", "answer", "unit", "lines"),
    [
        ("hop2 - hop3", "130", "years", ["hop 2 − hop 3", "= 1951 − 1821", "= 130 years"]),
        ("abs(hop3 - hop2)", "130", "", ["|hop 3 − hop 2|", "= |1821 − 1951|", "= |−130|", "= 130"]),
        ("hop2 - (hop3 - 21)", "151", "", ["hop 2 − (hop 3 − 21)", "= 1951 − (1821 − 21)", "= 1951 − 1800", "= 151"]),
        (
            "2 * (hop2 - 1900) + 1",
            "103",
            "",
            ["2 × (hop 2 − 1900) + 1", "= 2 × (1951 − 1900) + 1", "= 2 × 51 + 1", "= 102 + 1", "= 103"],
        ),
        (
            "abs(hop2 - year(value(P571, Q909)))",
            "130",
            "",
            [
                "|hop 2 − year of inception of Iria|",
                "= |1951 − year of inception of Iria|",
                "= |1951 − 1821|",
                "= |130|",
                "= 130",
            ],
        ),
        ("comb(7, 4)", "35", "", ["7 choose 4", "= (7 × 6 × 5 × 4) / (4 × 3 × 2 × 1) = 840 / 24", "= 35"]),
        ("perm(5, 2)", "20", "", ["ordered choices of 2 out of 5", "= 5 × 4", "= 20"]),
        ("factorial(4)", "24", "", ["4!", "= 4 × 3 × 2 × 1", "= 24"]),
        ("count(hop2 > 1900, hop3 > 1900)", "1", "", ["1951 > 1900: yes", "1821 > 1900: no", "how many: 1"]),
        (
            "round(mean(hop2, hop3), 1)",
            "1,886",
            "",
            ["(hop 2 + hop 3) / 2, to 1 decimal place", "= (1951 + 1821) / 2, to 1 decimal place", "= 1,886"],
        ),
        (
            "count(year(value(P571, Q909)) < hop2)",
            "1",
            "",
            ["year of inception of Iria < 1951: 1821 < 1951: yes", "how many: 1"],
        ),
    ],
)
def test_a_computation_is_worked_out_line_by_line(expression: str, answer: str, unit: str, lines: list[str]) -> None:
    item = with_expression(bridge_item(), expression, answer, unit)
    assert list(write_worked_steps(item.hops[-1], item)) == lines


def test_a_count_says_what_is_counted_in_plain_words() -> None:
    item = with_expression(bridge_item(), "size(all(P47, hop1))", "6")
    counted = f"number of countries that share a land border with {item.hops[0].answer}"
    assert list(write_worked_steps(item.hops[-1], item)) == [counted, "= 6"]


@pytest.mark.parametrize("expression", [*(one for held in EXAMPLES.values() for one, _ in held), *OLDER])
def test_no_working_shows_code(expression: str) -> None:
    for item in (bridge_item(), converging_item()):
        item = with_expression(item, expression, "7")
        lines = write_worked_steps(item.hops[-1], item)
        assert lines[-1].endswith("7")
        assert not [line for line in lines if CODE.search(line)]


def test_no_page_shows_code(sample: GraphStore) -> None:
    items = draft_items(sample, 60)
    for item in items:
        pages = [render_item(item, ReviewTaskKind.SINGLE_HOP, hop.index) for hop in item.hops]
        for page in (*pages, render_item(item, ReviewTaskKind.MULTI_HOP)):
            shown = html.unescape(re.sub(r"<[^>]*>", " ", page)).replace("(s)", "")
            assert not CODE.search(shown), CODE.findall(shown)


def test_a_comparison_shows_what_each_has() -> None:
    item = converging_item()
    assert write_worked_steps(item.hops[2], item) == (
        "area of Vestmark = 385,000 square kilometres",
        "area of Iria = 92,000 square kilometres",
        "larger: Vestmark",
    )


def test_a_choice_from_a_set_shows_what_every_member_has(sample: GraphStore) -> None:
    chosen = [
        (write_worked_steps(hop, item), hop)
        for item in draft_others(sample, "chain-5")
        for hop in item.hops
        if isinstance(hop.derivation, Compute) and hop.derivation.expression.startswith("arg")
        if "all(" in hop.derivation.expression
    ]
    assert chosen
    for (*members, last), hop in chosen:
        assert len(members) > 1 and not any("not known" in line or "all(" in line for line in members)
        assert last.endswith(f"est: {hop.answer}") and any(f" of {hop.answer} = " in line for line in members)


def test_a_count_shows_every_condition_with_its_numbers() -> None:
    item = converging_item()
    count = "count(value(P2046, Q903) > value(P2046, Q909), object(P36, Q903) == hop3, value(P1082, Q903) > 5)"
    hops = (*item.hops, with_expression(item, count, "1").hops[-1].model_copy(update={"depends_on": (3,)}))
    item = item.model_copy(update={"hops": hops})
    assert list(write_worked_steps(hops[-1], item)) == [
        "area of Vestmark > area of Iria: 385,000 > 92,000: yes",
        "capital of Vestmark = Ostrava Bay: no",
        "population of Vestmark > 5: not known",
        "how many: 1",
    ]


def test_a_stated_answer_that_is_wrong_is_shown_as_stated() -> None:
    item = with_expression(chain_item(), "2000 - hop3", "96", "years")
    assert write_worked_steps(item.hops[-1], item)[-1] == "= 96 years"


def test_a_look_up_has_no_working() -> None:
    assert write_worked_steps(chain_item().hops[0], chain_item()) == ()


@given(st.text(max_size=40))
def test_an_expression_that_makes_no_sense_still_ends_in_the_answer(expression: str) -> None:
    item = with_expression(bridge_item(), expression, "130")
    assert write_worked_steps(item.hops[-1], item)[-1].endswith("130")


def test_more_factors_than_a_reader_would_follow_are_not_spelt_out() -> None:
    assert spell_factors("comb(40, 20)") == ""
    assert spell_factors("comb(3, 7)") == ""
    assert spell_factors("hop1 + 2") == ""


def test_a_working_is_laid_out_in_rows() -> None:
    assert lay_out(["hop 2 − 1899", "= 1975 − 1899", "= 76 years"]) == [
        ("hop 2 − 1899", "= 1975 − 1899"),
        ("", "= 76 years"),
    ]
    assert lay_out(["area of Iria = 92,000", "larger: Vestmark"]) == [
        ("area of Iria", "92,000"),
        ("larger", "Vestmark"),
    ]
    assert lay_out([]) == []
