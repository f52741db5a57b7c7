"""What stopping early can save at all: the figures of docs/gpu.md are worked out, not measured."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.difficulty_bound import PAPER, RULE, expect_adaptive, find_cap, find_dropped, list_chances, weaken
from hopwright.difficulty.ordering import order_by_accuracy, order_by_chances

shares = st.floats(0, 1)


def test_at_omanics_share_of_dropped_items_no_way_saves_35_percent() -> None:
    assert find_cap(PAPER) == pytest.approx((1 + PAPER) / 4) == pytest.approx(0.312, abs=0.001)
    assert find_cap(0.4) == pytest.approx(0.35)


@given(st.lists(shares, min_size=4, max_size=4), shares)
def test_chances_are_those_of_the_accuracies(accuracies: list[float], shared: float) -> None:
    chances = list_chances(accuracies, shared)
    assert sum(chances.values()) == pytest.approx(1)
    for voter, accuracy in enumerate(accuracies):
        assert sum(chance for row, chance in chances.items() if row[voter]) == pytest.approx(accuracy)


@given(st.lists(shares, min_size=4, max_size=4), shares)
def test_choosing_after_every_answer_lies_between_one_order_and_the_bound(
    accuracies: list[float], shared: float
) -> None:
    chances = list_chances(accuracies, shared)
    adaptive = 1 - expect_adaptive(chances) / 4
    assert order_by_chances(list(chances.items()), [1.0] * 4, RULE).saved <= adaptive + 1e-9
    assert adaptive <= find_cap(find_dropped(chances)) + 1e-9


def test_voters_that_share_all_luck_reach_the_bound() -> None:
    """The second best is asked first: is it right, so is the best; is it wrong, so are the two others."""
    chances = list_chances([0.25, 0.33, 0.42, 0.5], 1.0)
    assert find_dropped(chances) == pytest.approx(0.42)
    assert 1 - expect_adaptive(chances) / 4 == pytest.approx(find_cap(0.42))


def test_voters_that_err_independently_save_far_less() -> None:
    chances = list_chances([0.5] * 4, 0.0)
    # Two right at once 1/4, sealed by the third 3/8, by the fourth 3/8: 3.125 votes.
    assert expect_adaptive(chances) == pytest.approx(3.125)
    order = order_by_accuracy([0.25, 0.33, 0.42, 0.5], [1.0] * 4, RULE)
    assert order.saved == pytest.approx(
        order_by_chances(list(list_chances([0.25, 0.33, 0.42, 0.5], 0.0).items()), [1.0] * 4, RULE).saved
    )
    weak = weaken([0.25, 0.33, 0.42, 0.5], 0.0, PAPER)
    assert find_dropped(list_chances(weak, 0.0)) == pytest.approx(PAPER)
