import datetime as dt
import random
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.counterfactual.shifts import (
    LAST_YEAR,
    DateShift,
    draw_date_shift,
    read_year,
    set_date,
    set_number,
    shift_date,
    shift_number,
)

SEEDS = st.integers(0, 10**6)
DATES = st.dates(dt.date(1, 1, 1), dt.date(LAST_YEAR, 12, 31))


@given(SEEDS, st.lists(DATES, min_size=1, max_size=4), st.integers(-45, 45).filter(bool), st.integers(0, 4))
def test_dates_of_one_owner_move_together_and_stay_in_their_era(
    seed: int, dates: list[dt.date], base: int, jitter: int
) -> None:
    raws = [f"{date.isoformat()}T00:00:00Z" for date in dates]
    move = draw_date_shift(random.Random(seed), base, jitter, [(date.year, LAST_YEAR) for date in dates])
    moved = [dt.date.fromisoformat(shift_date(raw, move)[:10]) for raw in raws]
    for old, new in zip(dates, moved, strict=True):
        assert new.year - old.year == move.years
        assert new.year <= LAST_YEAR
        assert old.year < 1895 or new.year >= 1895
        assert len(str(new.year)) == len(str(old.year)) or old.year < 100 or new.year > old.year
        assert ((old.month, old.day) == (1, 1)) == ((new.month, new.day) == (1, 1))
    for (old, new), (old2, new2) in zip(
        zip(dates, moved, strict=True), zip(dates[1:], moved[1:], strict=False), strict=False
    ):
        if old.year < old2.year:
            assert new < new2


@given(SEEDS, st.integers(1, 10**9), st.integers(0, 6), st.booleans())
def test_a_number_keeps_its_magnitude_and_format(seed: int, core: int, zeros: int, gentle: bool) -> None:
    raw = f"+{core}{'0' * zeros}"
    new = shift_number(random.Random(seed), raw, gentle=gentle)
    assert new != raw
    assert new.startswith("+") and new[1:].isdigit() and int(new) > 0
    if int(raw) > 12:
        assert len(new) == len(raw)
        assert len(new.rstrip("0")) <= max(len(raw.rstrip("0")), 3)
        assert 0.5 < int(new) / int(raw) < 2 or int(raw) < 100


@given(SEEDS, st.decimals(Decimal("0.001"), Decimal("99.999"), places=3))
def test_a_fraction_keeps_its_places_and_its_whole_digits(seed: int, value: Decimal) -> None:
    new = shift_number(random.Random(seed), f"{value}", gentle=False)
    assert Decimal(new) > 0 and Decimal(new) != value
    assert len(new.split(".")[1]) == 3
    assert Decimal(new) < 10 ** len(str(int(value)))


def test_exponents_are_written_out() -> None:
    assert float(shift_number(random.Random(1), "2.55303e+09", gentle=False)) != 2.55303e9
    with pytest.raises(ValueError, match="not a stored number"):
        shift_number(random.Random(1), "many", gentle=False)


@given(DATES, st.integers(1000, LAST_YEAR))
def test_a_date_can_be_given_a_year(date: dt.date, year: int) -> None:
    raw = set_date(f"{date.isoformat()}T00:00:00Z", year)
    assert read_year(raw) == year
    assert raw.endswith("T00:00:00Z")
    assert dt.date.fromisoformat(raw[:10])


def test_a_date_can_be_set_and_years_before_1_are_no_dates() -> None:
    assert set_date("1905-01-01T00:00:00Z", dt.date(1912, 3, 4)) == "1912-03-04T00:00:00Z"
    assert read_year("-0044-03-15T00:00:00Z") is None
    with pytest.raises(ValueError, match="not a stored date"):
        shift_date("-0044-03-15T00:00:00Z", DateShift(3))


@pytest.mark.parametrize(("scale", "wanted"), [("1", 35), ("0.000001", 385000), ("0.001", Decimal("1.5"))])
def test_a_number_can_be_set_through_its_scale(scale: str, wanted: int | Decimal) -> None:
    raw = set_number("+7", Decimal(scale), wanted)
    assert raw.startswith("+")
    assert Decimal(raw) * Decimal(scale) == wanted
