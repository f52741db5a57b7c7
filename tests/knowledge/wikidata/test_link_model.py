"""Probabilities of the bearers of a name, and of the outcome that none of them is meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.knowledge.wikidata.link_model import find_chances, weigh
from hopwright.knowledge.wikidata.linking import describe_alone

scores = st.lists(st.floats(-30, 30), min_size=1, max_size=8)


@given(scores, st.booleans())
def test_probabilities_keep_the_order_of_scores_and_sum_to_one_at_most(values: list[float], told: bool) -> None:
    chances = find_chances(values, describe_alone("", len(values)), told=told)
    total = sum(chances.candidates) + chances.absent
    assert total <= 1 + 1e-9 and min(*chances.candidates, chances.absent) >= 0
    if not told or len(values) == 1:
        assert total == pytest.approx(1)
    ranked = sorted(zip(values, chances.candidates, strict=True))
    assert [chance for _, chance in ranked] == sorted(chances.candidates)


@given(st.floats(-5, 5), st.floats(0.1, 5), st.booleans())
def test_what_speaks_for_the_only_bearer_speaks_against_nobody_being_meant(
    score: float, more: float, told: bool
) -> None:
    alone = describe_alone("", 1)
    less, greater = (find_chances([one], alone, told=told) for one in (score, score + more))
    assert greater.absent < less.absent


@pytest.mark.parametrize("told", [False, True])
def test_brackets_that_contradict_a_candidate_count_against_it(told: bool) -> None:
    plain = {"found": 1.0, "label": 1.0, "stripped": 1.0, "degree": 1.0}
    fitting = weigh(plain | {"year_said": 1.0}, told=told)
    assert fitting > weigh(plain, told=told) > weigh(plain | {"other_year_said": 1.0}, told=told)


@pytest.mark.parametrize("told", [False, True])
def test_a_label_says_more_than_an_alias_that_is_nothing_like_it(told: bool) -> None:
    alias = {"found": 1.0, "degree": 1.0}
    assert weigh(alias | {"label": 1.0}, told=told) > weigh(alias | {"alias_unlike": 1.0}, told=told)
