"""Choosing three of many: by plausibility, yet so that the answer's place among them says nothing."""

from __future__ import annotations

import random
from collections import Counter

from scipy import stats

from hopwright.distractors.ranking import MOST_CANDIDATES, OptionCandidate, choose_three


def candidates(*lengths: int) -> list[OptionCandidate]:
    return [
        OptionCandidate(f"N{number}".ljust(length, "x"), f"k{number}", traits=(length,))
        for number, length in enumerate(lengths)
    ]


def nothing_alike(one: str, other: str) -> float:
    return 0.0


def test_fewer_than_three_are_not_enough():
    assert choose_three(OptionCandidate("A", "a"), candidates(3, 4), [], random.Random(1)) is None


def test_the_place_of_the_answer_by_a_trait_is_uniform_where_the_candidates_allow_it():
    answer = OptionCandidate("N".ljust(9, "x"), "a", traits=(9,))
    pool = candidates(4, 5, 6, 12, 13, 14)
    places = Counter()
    for seed in range(800):
        three = choose_three(answer, pool, [nothing_alike], random.Random(seed))
        places[sum(pool[place].traits[0] < 9 for place in three)] += 1
    assert stats.chisquare([places[place] for place in range(4)]).pvalue > 0.001


def compare_keys(one: str, other: str) -> float:
    """The answer is somewhat like everything; three of the others are much like each other."""
    if "answer" in (one, other):
        return 1
    return 3 if one.startswith("near") and other.startswith("near") else 0


def test_the_answer_is_not_always_the_one_that_is_most_like_the_others():
    pool = [OptionCandidate(f"N{n}", f"{'near' if n < 3 else 'far'}{n}") for n in range(7)]
    ranks = Counter()
    for seed in range(400):
        three = choose_three(OptionCandidate("A1", "answer"), pool, [compare_keys], random.Random(seed))
        keys = ["answer", *(pool[place].key for place in three)]
        scores = [sum(compare_keys(one, other) for other in keys if other != one) for one in keys]
        ranks[sum(score < scores[0] for score in scores)] += 1
    assert ranks[3] < 0.6 * 400 and ranks[0] > 0.15 * 400


def test_plausible_ones_come_first_and_kinds_are_mixed():
    pool = [OptionCandidate(f"N{n}", f"{n}", closeness=9 if n < 4 else 0) for n in range(8)]
    chosen = choose_three(OptionCandidate("A1", "a"), pool, [nothing_alike], random.Random(1))
    assert chosen is not None and max(chosen) < 4
    kinds = ["sibling", "sibling", "sibling", "near_miss", "neighbour"]
    mixed = [OptionCandidate(f"N{n}", f"{n}", kind) for n, kind in enumerate(kinds)]
    chosen = choose_three(OptionCandidate("A1", "a"), mixed, [nothing_alike], random.Random(1))
    assert {mixed[place].kind for place in chosen} == {"sibling", "near_miss", "neighbour"}


def test_the_fixed_ones_are_always_taken_and_what_comes_late_never():
    pool = [OptionCandidate(f"N{n}", f"{n}", closeness=float(n)) for n in range(MOST_CANDIDATES + 4)]
    for seed in range(40):
        three = choose_three(OptionCandidate("A1", "a"), pool, [nothing_alike], random.Random(seed), fixed=2)
        assert three is not None and three[:2] == (0, 1) and three[2] < MOST_CANDIDATES


def test_an_answer_that_would_stand_out_by_form_gets_company():
    pool = [
        OptionCandidate("Rome", "1"),
        OptionCandidate("Oslo", "2"),
        OptionCandidate("Bern", "3"),
        OptionCandidate("Austin, Texas", "4"),
    ]
    for seed in range(20):
        three = choose_three(OptionCandidate("Dover, Delaware", "a"), pool, [nothing_alike], random.Random(seed))
        assert three is not None and 3 in three
