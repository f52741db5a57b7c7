"""Which names of a list give the next one away."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.text.numbered_names import find_counted_on


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["34th Academy Awards", "35th Academy Awards", "36th Academy Awards"], [0, 1]),
        (["Super Bowl VIII", "Super Bowl IX", "Super Bowl X"], [0, 1]),
        (["1st G7 summit", "2nd G7 summit", "3rd G8 summit"], [0]),
        (["1983 Cup", "1987 Cup", "1992 Cup", "1996 Cup"], [0, 2]),
        (["Mercury-Atlas 9", "Gemini 8", "Gemini 9A"], [1]),
        (["1950 election", "1951 election", "1955 election", "1964 election"], [0]),
        (["Alan Greenspan", "Ben Bernanke", "Janet Yellen"], []),
        (["Dr. No", "Goldfinger"], []),
        (["1996 Games"], []),
        ([], []),
    ],
)  # fmt: skip
def test_names_that_count_on_are_found(names: list[str], found: list[int]) -> None:
    assert find_counted_on(names) == found


@given(st.integers(1, 300), st.integers(1, 9), st.integers(2, 12))
def test_a_regular_list_is_counted_on_throughout(start: int, step: int, size: int) -> None:
    names = [f"Congress {start + step * place}" for place in range(size)]
    assert find_counted_on(names) == list(range(size - 1))


@given(st.lists(st.text(max_size=20), max_size=8))
def test_any_names_have_an_answer(names: list[str]) -> None:
    assert all(0 <= place < len(names) - 1 for place in find_counted_on(names))
