from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.knowledge.documents.values import find_dates, find_quantities, find_values


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("born 13 March 1963 in Medias", [("13 March 1963", 1963, 3, 13)]),
        ("(September 24, 936 – March 26, 983)", [("September 24, 936", 936, 9, 24), ("March 26, 983", 983, 3, 26)]),
        ("the 1st of May, 1999", [("1st of May, 1999", 1999, 5, 1)]),
        ("on 1999-01-12 or 24.9.1936", [("1999-01-12", 1999, 1, 12), ("24.9.1936", 1936, 9, 24)]),
        ("9/24/1936 and 24/9/1936", [("9/24/1936", 1936, 9, 24), ("24/9/1936", 1936, 9, 24)]),
        ("on 3/4/1999", [("3/4/1999", 1999, 0, 0)]),
        ("in Sept. 1980", [("Sept. 1980", 1980, 9, 0)]),
        ("from 1992–2002", [("1992", 1992, 0, 0), ("2002", 2002, 0, 0)]),
        ("in the 1990s, 1,990 of 44 BC, $1990, no. 19901, 31 May 101 BC", []),
    ],
)
def test_dates_are_read_in_every_common_form(text: str, found: list[tuple[str, int, int, int]]) -> None:
    assert [(text[one.start : one.end], one.year, one.month, one.day) for one in find_dates(text)] == found


DAYS = st.dates(min_value=dt.date(1000, 1, 2), max_value=dt.date(2099, 12, 31))


@given(DAYS, st.sampled_from(["{d} {m} {y}", "{m} {d}, {y}"]))
def test_every_day_is_found_and_is_itself_alone(date: dt.date, form: str) -> None:
    (found,) = find_dates(f"It happened on {form.format(d=date.day, m=date.strftime('%B'), y=date.year)}.")
    assert found.is_of(date)
    assert not found.is_of(date - dt.timedelta(days=1))


def test_a_date_says_as_much_as_it_does() -> None:
    (month,) = find_dates("May 1999")
    assert month.is_of(dt.date(1999, 5, 3))
    assert not month.is_of(dt.date(1999, 6, 3))


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("1,498,232 people", "1498232", ""),
        ("some 1.5 million people", "1498232", ""),
        ("12.3 km²", "12300000", "square metre"),
        ("4.7 sq mi", "12200000", "square metre"),
        ("2,628 metres", "2628", "metre"),
        ("2628m high", "2628", "metre"),
        ("8,622 ft", "2628", "metre"),
        ("85 kg", "85", "kilogram"),
    ],
)
def test_a_number_says_a_value_in_its_own_rounding_and_unit(text: str, value: str, unit: str) -> None:
    found = find_quantities(text)[0]
    assert found.is_of(Decimal(value), unit)
    assert not found.is_of(Decimal(value), "second")
    assert not found.is_of(Decimal(value) * Decimal("1.2"), unit)


def test_a_round_number_does_not_say_what_is_far_from_it() -> None:
    assert not find_quantities("1 million")[0].is_of(Decimal(1_400_000))
    assert not find_quantities("$ 500")[0].is_of(Decimal(500))


def test_dates_are_no_numbers_and_measures_no_years() -> None:
    dates, numbers = find_values("On 13 March 1963 he ran 1900 metres; 1963 people came.")
    assert [date.year for date in dates] == [1963, 1963]
    assert [(int(one.value), one.unit) for one in numbers] == [(1900, "metre"), (1963, "")]
