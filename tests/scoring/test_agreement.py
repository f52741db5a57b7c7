"""Coefficients against published worked examples, and intervals against what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from hopwright.scoring.agreement import (
    Level,
    _list_coincidences,
    _resample_alpha,
    _resample_fleiss,
    count_values,
    find_alpha,
    find_cohen,
    find_fleiss,
    measure,
)
from hopwright.scoring.intervals import Resamples, find_share

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C: four observers, twelve units, 0 missing.
FOUR_OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]
# Fleiss' kappa, the example with ten subjects, fourteen raters and five categories that Wikipedia works through.
FOURTEEN_RATERS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def four_observers():
    return count_values([[code - 1 for code in unit if code] for unit in zip(*FOUR_OBSERVERS, strict=True)], 5)


@pytest.mark.parametrize(("level", "published"), [("nominal", 0.743), ("ordinal", 0.815)])
def test_alpha_is_that_of_krippendorffs_worked_example(level: Level, published: float):
    assert find_alpha(four_observers(), level) == pytest.approx(published, abs=0.0006)


def test_fleiss_kappa_is_that_of_the_published_example():
    assert find_fleiss(np.array(FOURTEEN_RATERS)) == pytest.approx(0.210, abs=0.0006)


def test_cohens_kappa_is_that_of_the_published_example():
    # Fifty grant applications, two readers: yes/yes 20, yes/no 5, no/yes 10, no/no 15 (Wikipedia, Cohen's kappa).
    assert find_cohen(list_pairs([[20, 5], [10, 15]])) == pytest.approx(0.4)


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3))
def test_cohens_kappa_is_that_of_the_library(table: list[list[int]]):
    ours = find_cohen(list_pairs(table))
    if ours is not None:
        assert ours == pytest.approx(inter_rater.cohens_kappa(np.array(table), return_results=False), abs=1e-9)


def test_kappas_where_they_are_not_defined():
    assert find_fleiss(count_values([], 4)) is None
    assert find_fleiss(count_values([[0], [1]], 4)) is None
    assert find_fleiss(count_values([[0, 0], [0, 0]], 4)) is None
    assert find_fleiss(count_values([[0, 0], [0]], 4)) is None
    assert find_cohen([]) is None
    assert find_cohen([("A", "A"), ("A", "A")]) is None


def list_pairs(table: list[list[int]]) -> list[tuple[int, int]]:
    """A square table of counts as pairs of values."""
    return [(one, other) for one, row in enumerate(table) for other, count in enumerate(row) for _ in range(count)]


def test_wilsons_interval_is_that_of_the_published_example():
    # Newcombe (1998), table I: 15 of 148, Wilson without continuity correction.
    found = find_share(15, 148)
    assert (found.low, found.high) == (pytest.approx(0.0624, abs=1e-4), pytest.approx(0.1605, abs=1e-4))


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4), min_size=2, max_size=30),
    st.sampled_from(["nominal", "ordinal"]),
)
def test_own_sums_are_the_librarys_alpha(rows: list[list[int]], level: Level):
    """Every unit taken once is the sample itself: the resampling's formula must give what the library gives."""
    counts = count_values(rows, 5)
    counts = counts[counts.sum(axis=1) >= 2]
    expected = find_alpha(counts, level) if len(counts) else None
    if expected is None:
        return
    once = Resamples(np.arange(len(counts)), 1, 0)
    once._weights = [np.ones((1, len(counts)))]
    assert _resample_alpha(counts, level, once)[0] == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=2, max_size=30))
def test_own_sums_are_the_librarys_fleiss(rows: list[list[int]]):
    counts = count_values(rows, 3)
    if find_fleiss(counts) is None:
        return
    expected = inter_rater.fleiss_kappa(counts)
    assert find_fleiss(counts) == pytest.approx(expected, abs=1e-9)
    once = Resamples(np.arange(len(counts)), 1, 0)
    once._weights = [np.ones((1, len(counts)))]
    assert _resample_fleiss(counts, once)[0] == pytest.approx(expected, abs=1e-9)


def test_coincidences_are_those_of_the_worked_example():
    """The same source's table: 7 ones with ones, 4 twos with threes over both orders divided, 40 values in all."""
    table = _list_coincidences(four_observers()[four_observers().sum(axis=1) >= 2]).sum(axis=0)
    assert table.sum() == pytest.approx(40)
    assert table[0, 0] == pytest.approx(7)
    assert table[1, 1] == pytest.approx(10)
    assert table[1, 2] == table[2, 1] == pytest.approx(4 / 3)


def test_perfect_agreement_and_no_variation():
    agreed = measure(count_values([[0, 0], [1, 1], [2, 2]] * 10, 3), "nominal")
    assert (agreed.alpha.value, agreed.fleiss.value, agreed.percent.value) == (1.0, 1.0, 1.0)
    flat = measure(count_values([[4, 4]] * 10, 5), "ordinal")
    assert (flat.alpha.value, flat.fleiss.value, flat.percent.value, flat.within_one) == (None, None, 1.0, 1.0)


def test_nothing_rated_twice_is_nothing():
    empty = measure(count_values([[1], [2]], 5), "ordinal")
    assert (empty.units, empty.ratings, empty.alpha.value, empty.percent.value) == (0, 0, None, None)


def test_fleiss_is_left_out_where_raters_differ():
    assert measure(count_values([[0, 1], [0, 0, 1], [2, 2]], 3), "nominal").fleiss.value is None


def test_same_seed_same_interval_and_another_seed_another():
    rows = [[(number * 7) % 5, (number * 3) % 5] for number in range(60)]
    first, again = (measure(count_values(rows, 5), "ordinal", seed=1) for _ in range(2))
    assert first == again
    assert measure(count_values(rows, 5), "ordinal", seed=2).alpha != first.alpha


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    """Two raters, three codes, known probabilities: 95 % intervals hold the true alpha nearly as often."""
    rng = np.random.default_rng(5)
    truth = _draw(rng, 200_000)
    expected = find_alpha(truth, "nominal")
    hits = 0
    for trial in range(100):
        found = measure(_draw(rng, 150), "nominal", seed=trial, draws=300).alpha
        assert found.low is not None and found.high is not None
        hits += found.low <= expected <= found.high
    assert 87 <= hits <= 100


def test_units_of_a_cluster_are_drawn_together():
    """Five equal copies of each unit tell no more than one: with clusters the interval stays, without it shrinks."""
    rng = np.random.default_rng(3)
    counts = _draw(rng, 80)
    copies = np.repeat(counts, 5, axis=0)
    alone = measure(counts, "nominal", seed=4).alpha
    together = measure(copies, "nominal", np.repeat(np.arange(80), 5), seed=4).alpha
    apart = measure(copies, "nominal", seed=4).alpha
    assert together.high - together.low == pytest.approx(alone.high - alone.low, rel=0.02)
    assert apart.high - apart.low < 0.6 * (alone.high - alone.low)


def _draw(rng: np.random.Generator, units: int):
    """Units of three codes, seen rightly by each of two raters eight times in ten."""
    truth = rng.choice(3, units, p=[0.6, 0.3, 0.1])
    seen = np.where(rng.random((2, units)) < 0.8, truth, rng.choice(3, (2, units)))
    counts = np.zeros((units, 3), np.int64)
    for rater in seen:
        np.add.at(counts, (np.arange(units), rater), 1)
    return counts
