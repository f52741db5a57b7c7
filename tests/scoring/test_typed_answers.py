"""Typed answers against InfoSeek's rules written down by hand, and MMhops' lists of times."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopwright.scoring.typed_answers import TypedAnswer, judge_answer, list_accepted, read_quantity

_NUMBERS = st.decimals(min_value=-10_000, max_value=10_000, places=2, allow_nan=False)
_POSITIVE = st.decimals(min_value=0, max_value=10_000, places=2, allow_nan=False)


def judge_by_hand(given_text: str, gold: Fraction) -> bool:
    """InfoSeek: right in [0.9 g, 1.1 g]; a range inside that interval, or with half of the union in common."""
    bounds = [Fraction(part) for part in given_text.split(" to ")]
    low, high = sorted((gold * Fraction(9, 10), gold * Fraction(11, 10)))
    if len(bounds) == 1:
        return low <= bounds[0] <= high
    first, last = bounds
    if low <= first and last <= high:
        return True
    if first == last:
        return False
    shared = max(Fraction(0), min(last, high) - max(first, low))
    union = max(last, high) - min(first, low)
    return union > 0 and shared / union >= Fraction(1, 2)


@settings(max_examples=1500, deadline=None)
@given(gold=_NUMBERS, factor=st.integers(min_value=850, max_value=1150))
def test_single_numbers_are_judged_as_infoseek_does(gold: object, factor: int) -> None:
    exact = Fraction(str(gold))
    said = f"{float(exact * factor / 1000):.6f}"
    assert judge_answer(said, TypedAnswer(str(gold), "number")) is judge_by_hand(said, exact)


@settings(max_examples=1500, deadline=None)
@given(gold=_POSITIVE, low=st.integers(min_value=0, max_value=1500), width=st.integers(min_value=0, max_value=600))
def test_ranges_are_judged_as_infoseek_does(gold: object, low: int, width: int) -> None:
    exact = Fraction(str(gold))
    first, last = exact * low / 1000, exact * (low + width) / 1000
    said = f"{float(first):.4f} to {float(last):.4f}"
    assert judge_answer(said, TypedAnswer(str(gold), "number")) is judge_by_hand(said, exact)


@pytest.mark.parametrize(
    ("said", "relative", "absolute"),
    [
        ("1000", True, True),
        ("1099", True, False),
        ("1101", False, False),
        ("1000.1", True, True),
        ("none", False, False),
    ],
)
def test_the_two_protocols_differ_in_what_they_allow(said: str, relative: bool, absolute: bool) -> None:
    gold = TypedAnswer("1,000", "number")
    assert judge_answer(said, gold, "infoseek") is relative
    assert judge_answer(said, gold, "absolute") is absolute


def test_a_day_is_accepted_in_every_order_that_mmhops_lists() -> None:
    listed = [
        "1 January 1981", "January 1 1981", "1981 January 1", "1 1 1981", "1981 1 1", "1981", "1 January 1980",
        "January 1 1980", "1980 January 1", "1 1 1980", "1980 1 1", "1980", "1 January 1982", "January 1 1982",
        "1982 January 1", "1 1 1982", "1982 1 1", "1982",
    ]  # fmt: skip
    assert set(listed) == set(list_accepted(TypedAnswer("1 January 1981", "date")))
    assert judge_answer("January 1, 1981.", TypedAnswer("1 January 1981", "date"))
    assert not judge_answer("2 January 1981", TypedAnswer("1 January 1981", "date"))


def test_a_year_may_be_one_off_and_is_no_quantity() -> None:
    year = TypedAnswer("1897", "number", "year")
    assert [one for one in range(1890, 1905) if judge_answer(str(one), year)] == [1896, 1897, 1898]


@pytest.mark.parametrize(
    ("said", "unit", "number"),
    [
        ("1.2 million km²", "square kilometres", 1_200_000),
        ("about 100 square miles", "square kilometres", 258.9988110336),
        ("12,345 sq km", "square kilometres", 12_345),
        ("10 miles", "kilometres", 16.09344),
        ("7", "", 7),
    ],
)
def test_units_and_words_for_numbers_are_read(said: str, unit: str, number: float) -> None:
    read = read_quantity(said, unit)
    assert read is not None
    assert float(read[0]) == pytest.approx(number)


def test_a_name_is_taken_by_its_aliases() -> None:
    gold = TypedAnswer("Democratic Republic of the Congo", "entity", aliases=("DR Congo",))
    assert judge_answer("the DR Congo", gold)
    assert not judge_answer("Congo", gold)
