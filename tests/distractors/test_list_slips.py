"""Wrong options from a list lie before and after the right one, in numbers that nobody can tell."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from hopwright.distractors.list_slips import draw_earlier, spread_sides


@given(st.lists(st.integers(-50, 50), unique=True, max_size=20), st.integers(0, 3))
def test_so_many_of_the_first_three_are_earlier(places: list[int], earlier: int) -> None:
    nearest = sorted((place for place in places if place), key=abs)
    names = [str(place) for place in nearest]
    ordered = spread_sides(names, lambda one: int(one) < 0, earlier)
    assert sorted(ordered) == sorted(names)
    before, after = (sum((place < 0) is side for place in nearest) for side in (True, False))
    if before >= earlier and after >= 3 - earlier:
        assert sum(int(one) < 0 for one in ordered[:3]) == earlier


def test_there_are_wrong_ones_on_either_side() -> None:
    drawn = Counter(draw_earlier(f"Q{number}") for number in range(4_000))
    assert set(drawn) == {1, 2} and all(1_800 < count < 2_200 for count in drawn.values())
