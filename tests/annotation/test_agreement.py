"""What is measured against what the annotators were made with."""

from __future__ import annotations

from statistics import fmean

import numpy as np
import pytest

from annotation.agreement import Agreement, is_own_answer_right, measure_agreement, measure_blind_answers
from annotation.annotators import Limits, Profile, find_objection, is_caught, profile_annotators
from annotation.decisions import latest_reviews
from annotation.schema import CRITERIA, NO_OPTION, OWN_ANSWER, VERDICT, GoldItem, ReviewTaskKind
from hopwright.records import CheckResult, Review
from tests.annotation.expected import expect_alpha
from tests.annotation.reviews import make_review
from tests.annotation.simulated import TEN, Annotator, Job, draw_truth, review, simulate, to_review
from tests.builders import chain_item

GRAPHS = ("chain", "converging", "bridge")
ITEMS = [f"hw-{number:016x}" for number in range(1172)]
TOPOLOGIES = {item: GRAPHS[number % 3] for number, item in enumerate(ITEMS)}


@pytest.fixture(scope="module")
def reviews() -> list[Review]:
    """1,172 questions, as many as in the paper, by two of ten annotators each."""
    return simulate([(item, ReviewTaskKind.MULTI_HOP, None) for item in ITEMS])


@pytest.fixture(scope="module")
def lines(reviews: list[Review]) -> list[Agreement]:
    return measure_agreement(reviews, TOPOLOGIES)


@pytest.mark.parametrize("criterion", [VERDICT, *CRITERIA[ReviewTaskKind.MULTI_HOP]])
def test_agreement_recovers_what_the_annotators_were_made_with(lines: list[Agreement], criterion: str):
    expected = expect_alpha(criterion)
    (found,) = [line.reliability for line in lines if (line.criterion, line.scope) == (criterion, "all")]
    assert found.units == 1172
    assert found.ratings == 2344
    assert found.alpha.low <= expected <= found.alpha.high
    assert found.alpha.value == pytest.approx(expected, abs=0.05)
    if criterion == VERDICT:  # with two raters for every unit, both correct chance in nearly the same way
        assert found.fleiss.value == pytest.approx(found.alpha.value, abs=0.002)


def test_lines_by_graph_and_by_pair_add_up(lines: list[Agreement]):
    by_graph = [line for line in lines if (line.criterion, line.scope) == (VERDICT, "topology")]
    assert [line.name for line in by_graph] == sorted(GRAPHS)
    assert sum(line.reliability.units for line in by_graph) == 1172
    pairs = [line for line in lines if (line.criterion, line.scope) == (VERDICT, "pair")]
    assert len(pairs) == 45
    assert sum(line.reliability.units for line in pairs) == 1172


def test_the_careless_agree_with_nobody(lines: list[Agreement]):
    pairs = [line for line in lines if (line.criterion, line.scope) == ("fluency", "pair")]
    careless = [line.reliability.alpha.value for line in pairs if "jun" in line.name]
    careful = [line.reliability.alpha.value for line in pairs if "jun" not in line.name and "ivo" not in line.name]
    assert fmean(careless) < 0.1  # below 0: dice are spread otherwise than the others' scores
    assert fmean(careful) > 0.6


def test_profiles_recover_bias_noise_pace_and_drift(reviews: list[Review]):
    profiles = {one.name: one for one in profile_annotators(reviews, {})}
    honest = [one for one in TEN if not one.careless and not one.drift]
    # What can be seen is a bias against the others' mean bias, and stars cut at five shrink it.
    expected = [one.bias for one in honest]
    found = [profiles[one.name].bias for one in honest]
    assert np.corrcoef(expected, found)[0, 1] > 0.95
    assert profiles["jun"].noise == max(one.noise for one in profiles.values())
    for one in TEN:
        assert profiles[one.name].median_seconds == pytest.approx(one.seconds, rel=0.15)
    assert profiles["ivo"].trend == pytest.approx(0.8, abs=0.3)
    assert profiles["ivo"].trend_p < 0.001
    assert [one.name for one in profiles.values() if any("over time" in said for said in one.concerns)] == ["ivo"]


def test_gold_catches_the_careless_one_and_nobody_else():
    gold = [make_gold(number) for number in range(20)]
    seen = [
        to_review(job, review(job, draw_truth(one.item_id, one.kind, None)), number)
        for number, (who, one) in enumerate((who, one) for who in TEN for one in gold)
        for job in [Job(who, one.item_id, one.kind, gold=one)]
    ]
    profiles = profile_annotators(seen, {}, gold, Limits(hurried_seconds=1))
    assert [one.name for one in profiles if one.concerns] == ["jun"]
    assert {one.gold_seen for one in profiles} == {20}
    skills = {one.name: one.skill for one in TEN if not one.careless}
    held = [one.gold.low <= skills[one.name] <= one.gold.high for one in profiles if one.name in skills]
    assert sum(held) >= 8  # of nine 95 % intervals


def test_gold_is_caught_by_a_tag_or_a_low_score_but_never_with_retain():
    gold = make_gold(0)
    job = Job(TEN[0], gold.item_id, gold.kind, gold=gold)
    caught = to_review(job, review(job, draw_truth(gold.item_id, gold.kind, None)), 1)
    assert is_caught(caught, gold)
    assert not is_caught(caught.model_copy(update={"verdict": "Retain"}), gold)
    assert is_caught(caught.model_copy(update={"scores": ()}), gold)
    assert is_caught(caught.model_copy(update={"errors": ()}), gold)
    assert not is_caught(caught.model_copy(update={"errors": (), "scores": ()}), gold)


def test_hurried_reviews_are_named():
    (profile,) = profile_annotators(simulate([("a", ReviewTaskKind.TWIN, None)], [Annotator("x", seconds=2)], 1), {})
    assert profile.hurried == 1.0
    assert "100% of the reviews took less than 10 s" in profile.concerns


def test_only_the_last_review_of_a_person_counts():
    first, second = simulate([("a", ReviewTaskKind.TWIN, None)], TEN[:2], 2)
    changed = first.model_copy(update={"annotation": 9, "updated": "2027-01-01T00:00:00.000000Z", "verdict": "Fix"})
    skipped = second.model_copy(update={"annotation": 10, "skipped": True, "verdict": None, "scores": ()})
    assert latest_reviews([changed, first, second, skipped]) == sorted([changed, second], key=lambda one: one.annotator)


def test_machine_and_annotator_agree_where_both_object():
    checks = (
        CheckResult(name="leakage", outcome="pass", reason="warning: hop 2: names its answer; hop 3: is long"),
        CheckResult(name="options", outcome="pass"),
    )
    item = chain_item().model_copy(update={"checks": checks})
    assert find_objection(item, (item.id, "single_hop", 2)) == "leakage: hop 2: names its answer"
    assert find_objection(item, (item.id, "single_hop", 3)) == "leakage: hop 3: is long"
    assert find_objection(item, (item.id, "single_hop", 1)) == ""
    assert find_objection(item, (item.id, "multi_hop", None)) != ""
    reviews = []
    for hop, verdict in ((1, "Retain"), (2, "Fix"), (3, "Discard"), (4, "Retain")):
        (one,) = simulate([(item.id, ReviewTaskKind.SINGLE_HOP, hop)], TEN[:1], 1)
        reviews.append(one.model_copy(update={"verdict": verdict, "annotation": hop}))
    assert profile_of(reviews, item).machine == pytest.approx(1.0)
    reviews[0] = reviews[0].model_copy(update={"verdict": "Fix"})
    assert profile_of(reviews, item).machine == pytest.approx(0.5)


def profile_of(reviews, item) -> Profile:
    (profile,) = profile_annotators(reviews, {item.id: item})
    return profile


def make_gold(number: int) -> GoldItem:
    return GoldItem(
        item_id=f"hw-gold{number:012x}", source="hw-0", kind=ReviewTaskKind.MULTI_HOP, fault="wrong_answer",
        tags=("Wrong answer",), criteria=("logical_integrity",),
    )  # fmt: skip


def test_answers_given_blind_are_measured_beside_the_verdicts():
    item = chain_item()
    wrong = next(label for label in "ABCD" if label != item.label)
    given = [
        make_review(item.id, annotator="a-1", own_answer=item.label),
        make_review(item.id, annotator="a-2", annotation=2, own_answer=wrong),
        make_review(item.id, annotator="a-3", annotation=3, own_answer=item.label, verdict="Discard"),
        make_review(item.id, annotator="a-4", annotation=4, own_answer=NO_OPTION, own_words=f"the {item.answer}!"),
        make_review(item.id, "adjudication", of="multi_hop", annotation=5, annotator="a-5"),
    ]
    (found,) = measure_blind_answers(given, {item.id: item})
    assert (found.kind, found.answers) == ("multi_hop", 4)
    assert found.right.value == 0.75
    assert found.right.low < 0.75 < found.right.high
    assert found.kept_right.value == pytest.approx(2 / 3)
    assert found.kept_wrong.value == 1
    lines = {line.criterion: line.reliability for line in measure_agreement(given, {}) if line.scope == "all"}
    assert (lines[OWN_ANSWER].units, lines[OWN_ANSWER].ratings) == (1, 4)
    assert lines[OWN_ANSWER].percent.value == pytest.approx(1 / 6), "one of six pairs chose alike"
    assert lines[VERDICT].percent.value == pytest.approx(1 / 2)
    open_reviews = [review.model_copy(update={"own_answer": None}) for review in given]
    assert measure_blind_answers(open_reviews, {item.id: item}) == []
    assert OWN_ANSWER not in {line.criterion for line in measure_agreement(open_reviews, {})}


def test_an_answer_in_own_words_is_right_by_any_name_of_the_answer():
    hop = chain_item().hops[0].model_copy(update={"answer": "Kyiv", "answer_aliases": ("Kiev",), "options": {}})
    item = chain_item().model_copy(update={"hops": (hop, *chain_item().hops[1:])})

    def says(words: str, answer: str = NO_OPTION) -> bool:
        return is_own_answer_right(
            make_review(item.id, "single_hop", hop.index, own_answer=answer, own_words=words), item
        )

    assert says("kiev.")
    assert not says("Lviv")
    assert not says("")
    assert not says("", "A"), "the hop has no options"
