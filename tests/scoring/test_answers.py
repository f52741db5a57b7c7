"""The metrics against independent implementations, brute-force definitions and worked examples."""

from __future__ import annotations

import itertools
import random
import string
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.scoring.answers import (
    Range,
    TextScore,
    is_close,
    joint,
    normalise,
    overlap,
    read_range,
    read_year,
    score_text,
)

_WORDS = [
    "the",
    "a",
    "An",
    "Paris",
    "paris.",
    "Lionel",
    "Messi",
    "4",
    "August",
    "2002",
    "U.S.",
    "é",
    "New York",
    "—",
    "",
]


def draw_phrases(count: int) -> list[str]:
    draw = random.Random(7)
    letters = string.ascii_letters + string.digits + string.punctuation + "  éß"
    phrases = [" ".join(draw.choices(_WORDS, k=draw.randrange(1, 7))) for _ in range(count)]
    return phrases + ["".join(draw.choices(letters, k=draw.randrange(1, 25))) for _ in range(count)]


def test_exact_match_and_f1_are_those_of_torchmetrics_on_thousands_of_strings() -> None:
    from torchmetrics.functional.text import squad

    phrases = draw_phrases(1000)
    draw = random.Random(8)
    for given_answer in phrases:
        golds = [draw.choice(phrases), draw.choice([given_answer.upper(), given_answer, draw.choice(phrases)])]
        theirs = squad(
            [{"prediction_text": given_answer, "id": "1"}],
            [{"answers": {"answer_start": [0] * len(golds), "text": golds}, "id": "1"}],
        )
        scores = [score_text(given_answer, [gold]) for gold in golds]
        assert max(score.em for score in scores) * 100 == pytest.approx(float(theirs["exact_match"]))
        if all(normalise(text) for text in (given_answer, *golds)):
            # SQuAD 1.1 leaves F1 at 0 where nothing is left of both texts; SQuAD 2.0, and we, call that a match.
            assert max(score.f1 for score in scores) * 100 == pytest.approx(float(theirs["f1"]), abs=1e-3)


def test_the_example_of_cofca_whose_exact_match_fails() -> None:
    score = score_text("4 August 2002", ["2002"])
    assert score.em == 0
    assert score.f1 == pytest.approx(0.5)
    assert is_close("4 August 2002", "2002", "date")


def test_an_alias_counts() -> None:
    assert score_text("Messi", ["Lionel Messi", "Messi"]).em == 1


@given(st.text(max_size=30), st.text(max_size=30))
def test_scores_lie_between_0_and_1_and_a_text_matches_itself(one: str, other: str) -> None:
    score = score_text(one, [other])
    assert 0 <= score.f1 <= 1
    assert 0 <= score.precision <= 1
    assert score_text(one, [one]) == TextScore(1, 1, 1, 1)
    assert score.em <= score.f1
    assert score.f1 == pytest.approx(score_text(other, [one]).f1)


@pytest.mark.parametrize(
    ("given_answer", "gold", "kind", "close"),
    [
        ("1969", "1970", "date", True),
        ("1968", "1970", "date", False),
        ("3 July 1990", "4 March 1991", "date", True),
        ("between 1960 and 1970", "1960", "date", False),
        ("44 BC", "44 BC", "date", False),  # two digits are no year
        ("753 BC", "752 BC", "date", True),
        ("753 BC", "753", "date", False),
        ("1,000.05", "1000", "number", True),
        ("1000.2", "1000", "number", False),
        ("about 188 years", "188", "number", True),
        ("8 to 12", "10", "number", False),
        ("9-12", "8–12", "number", True),
        ("10-20", "8-12", "number", False),
        ("10", "8-12", "number", True),
        ("ten", "10", "number", False),
        ("Paris", "Paris", "entity", False),
    ],
)
def test_tolerance(given_answer: str, gold: str, kind: str, close: bool) -> None:
    assert is_close(given_answer, gold, kind) is close


@given(st.integers(-(10**9), 10**9), st.integers(-20, 20))
def test_numbers_are_read_as_they_are_written(number: int, tenths: int) -> None:
    assert read_range(f"{number:,}") == (Decimal(number), Decimal(number))
    assert is_close(f"{number + tenths / 10:.1f}", str(number), "number") is (abs(tenths) <= 1)


@given(st.integers(1000, 2999), st.integers(-3, 3))
def test_years_may_be_off_by_one(year: int, off: int) -> None:
    assert read_year(f"in {year}, they say") == year
    assert is_close(f"in {year + off}", str(year), "date") is (abs(off) <= 1)


_INTERVALS = st.tuples(st.integers(0, 50), st.integers(0, 50)).map(
    lambda pair: (Decimal(min(pair)), Decimal(max(pair)))
)


@given(_INTERVALS, _INTERVALS)
def test_overlap_is_the_share_of_unit_cells_in_both(one: Range, other: Range) -> None:
    cells = [set(range(int(low), int(high))) for low, high in (one, other)]
    span = max(one[1], other[1]) - min(one[0], other[0])
    wanted = len(cells[0] & cells[1]) / span if span else Decimal(1)
    assert float(overlap(one, other)) == pytest.approx(float(wanted))


_SCORES = st.tuples(st.sampled_from([0.0, 1.0]), st.floats(0, 1), st.floats(0, 1)).map(
    lambda parts: TextScore(parts[0], parts[1], parts[2], 0.0)
)


@given(st.lists(_SCORES, min_size=1, max_size=9))
def test_joint_scores_against_their_definition(scores: list[TextScore]) -> None:
    em, f1 = joint(scores)
    assert em == float(all(score.em == 1 for score in scores))
    precision = list(itertools.accumulate((score.precision for score in scores), lambda one, other: one * other))[-1]
    recall = list(itertools.accumulate((score.recall for score in scores), lambda one, other: one * other))[-1]
    wanted = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    assert f1 == pytest.approx(wanted)
    assert f1 <= 1
