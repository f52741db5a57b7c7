from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hopwright.records import LABELS, CheckResult, Item, Vote
from hopwright.release.statistics import _test_evenness, describe
from tests.builders import all_items, bridge_item, chain_item, converging_item


def test_counts_of_the_three_builders() -> None:
    figures = describe(all_items())
    assert figures.items == 3
    assert {name: share.count for name, share in figures.topologies.items()} == {
        "Bridge": 1,
        "Chain": 1,
        "Converging": 1,
    }
    assert sum(share.count for share in figures.domains.values()) == 12
    assert figures.domains["History and Literature"].count == 5
    assert {number: share.count for number, share in figures.domains_per_item.items()} == {2: 2, 3: 1}
    assert figures.mean_domains == pytest.approx(7 / 3)
    assert {kind: share.count for kind, share in figures.computations.items()} == {
        "comparison": 1,
        "temporal": 2,
    }
    assert figures.items_with_computation.share == 1
    assert {kind: share.count for kind, share in figures.answer_types.items()} == {"number": 2, "entity": 1}
    assert figures.question_words.minimum == min(len(item.question.split()) for item in all_items())
    assert figures.twins == 0


def test_answers_with_ids_of_our_own_are_counted() -> None:
    item = bridge_item()
    entities = [hop for hop in item.hops if hop.answer_id]
    assert (describe([item]).entity_answers, describe([item]).own_ids) == (len(entities), 0)
    hops = tuple(hop.model_copy(update={"answer_id": "Q3449648901"}) if hop.answer_id else hop for hop in item.hops)
    assert describe([item.model_copy(update={"hops": hops})]).own_ids == len(entities) > 0


def test_largest_answer_and_opening() -> None:
    figures = describe([chain_item(), chain_item(), bridge_item()])
    assert figures.distinct_answers == 2
    assert (figures.largest_answer.value, figures.largest_answer.count) == ("95", 2)
    assert figures.largest_answer.share == pytest.approx(2 / 3)
    assert figures.openings["How many years"].count == 3
    assert figures.distinct_openings == 1


def test_voters_and_checks() -> None:
    item = chain_item().model_copy(
        update={
            "votes": (
                Vote(model="prior", option="A", right=True),
                Vote(model="overlap", option="B", right=False),
            ),
            "checks": (
                CheckResult(name="leakage", outcome="pass"),
                CheckResult(name="domains", outcome="fail", reason="one domain"),
                CheckResult(name="rare", outcome="skip", reason="no table"),
            ),
        }
    )
    figures = describe([item, item.model_copy(update={"votes": (Vote(model="prior", option="B", right=False),)})])
    assert figures.voters["prior"].accuracy == pytest.approx(0.5)
    assert figures.voters["overlap"].right == 0
    assert {right: share.count for right, share in figures.right_votes.items()} == {0: 1, 1: 1}
    assert figures.failed_checks == 2
    assert (figures.checks["leakage"].passed, figures.checks["rare"].skipped) == (2, 2)


def test_uniform_letters_pass_and_skewed_ones_do_not() -> None:
    def letters(pattern: str) -> list[Item]:
        return [chain_item().model_copy(update={"label": letter}) for letter in pattern]

    even, skewed = describe(letters("ABCD" * 20)).letters_p, describe(letters("A" * 60 + "BCD" * 7)).letters_p
    assert even == pytest.approx(1.0)
    assert skewed is not None and skewed < 0.001


@given(st.lists(st.integers(0, 5000), min_size=2, max_size=6).filter(any))
def test_how_even_letters_are_is_what_scipy_says(counts: list[int]) -> None:
    assert _test_evenness(counts) == float(stats.chisquare(counts).pvalue)


def test_nothing_gives_zeros() -> None:
    figures = describe([])
    assert figures.items == 0
    assert figures.letters_p is None
    assert figures.letters == dict.fromkeys(LABELS, 0)
    assert figures.largest_answer.count == 0


def test_one_pass_over_a_generator_is_enough() -> None:
    assert describe(item for item in all_items()) == describe(all_items())


@given(st.lists(st.sampled_from([chain_item(), converging_item(), bridge_item()]), max_size=20))
def test_shares_add_up_and_order_does_not_matter(items: list[Item]) -> None:
    figures = describe(items)
    assert figures == describe(list(reversed(items)))
    for table in (figures.topologies, figures.domains, figures.answer_types, figures.domains_per_item):
        assert sum(share.share for share in table.values()) == pytest.approx(1.0 if items else 0.0)  # type: ignore[attr-defined]
    assert sum(figures.letters.values()) == len(items) == figures.items


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60))
def test_word_quartiles_match_their_definition(lengths: list[int]) -> None:
    words = describe(
        chain_item().model_copy(update={"question": " ".join(["w"] * length)}) for length in lengths
    ).question_words
    ordered = sorted(lengths)
    assert (words.minimum, words.maximum) == (ordered[0], ordered[-1])
    assert words.mean == pytest.approx(sum(lengths) / len(lengths))
    for percent, found in (
        (25, words.lower_quartile),
        (50, words.median),
        (75, words.upper_quartile),
        (95, words.percentile_95),
    ):
        below = Counter(length <= found for length in lengths)[True]
        strictly = Counter(length < found for length in lengths)[True]
        assert below * 100 >= percent * len(lengths) > strictly * 100
