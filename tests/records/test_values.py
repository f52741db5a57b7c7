import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.errors import InputError
from hopwright.records.values import parse, render


@given(st.integers(-(10**12), 10**12))
def test_a_whole_number_is_read_back(number: int) -> None:
    assert parse(render(number), "number") == number


@given(st.decimals(-(10**9), 10**9, places=3, allow_nan=False, allow_infinity=False))
def test_a_decimal_is_read_back(number: Decimal) -> None:
    assert Decimal(parse(render(number), "number")) == number  # type: ignore[arg-type]


@given(st.dates())
def test_a_date_is_read_back(date: dt.date) -> None:
    assert parse(render(date), "date") == date


def test_years_have_no_separator() -> None:
    assert render(1968, year=True) == "1968"
    assert render(1968) == "1,968"


@pytest.mark.parametrize("text", ["", "twelve", "1968-01-01", "32 July 1990", "3 Juli 1990", "--3"])
def test_what_is_neither_number_nor_date_is_named(text: str) -> None:
    with pytest.raises(InputError, match=r"not a|no such day"):
        parse(text, "date")
    if not text[:1].isdigit():
        with pytest.raises(InputError, match="not a number"):
            parse(text, "number")


@pytest.mark.parametrize("text", ["INF", "-Infinity", "NaN", "sNaN", "1e999999", "1e-999999"])
def test_what_decimals_allow_and_no_answer_is_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse(text, "number")
