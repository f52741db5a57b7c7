"""Numbers written in words."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hopwright.text.matching import mentions_number
from hopwright.text.number_words import find_written_out


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("turned forty", {40}),
        ("a fortieth birthday", {40}),
        ("Seventy-five years after", {75}),
        ("the seventy-fifth birthday", {75}),
        ("twenty five cities", {25}),
        ("three of twelve", {3, 12}),
        ("the first and the third", set()),
        ("a country second to none", set()),
    ],
)
def test_numbers_in_words_are_read(text: str, numbers: set[int]) -> None:
    assert find_written_out(text) == {Decimal(number) for number in numbers}


@pytest.mark.parametrize("text", ["turned 75", "the 75th birthday", "seventy-five", "her seventy-fifth birthday"])
def test_an_age_is_stated_in_any_form(text: str) -> None:
    assert mentions_number(text, Decimal(75))
    assert not mentions_number(text, Decimal(70))
