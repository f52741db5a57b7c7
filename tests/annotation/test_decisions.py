"""From reviews to decisions, case by case."""

from __future__ import annotations

from dataclasses import replace

import pytest

from annotation.accepted import (
    ORPHANED,
    REVIEW_CHECK,
    Decided,
    decide_all,
    list_conflicts,
    list_used,
    table_of_scores,
)
from annotation.decisions import ItemDecision, Thresholds, UnitDecision, decide_item, decide_unit
from annotation.review_collection import CollectedReviews, CurrentTask
from annotation.schema import ReviewTaskKind, task_key
from hopwright.checks import CheckContext
from hopwright.errors import InputError
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.records import Correction, Item, Review
from tests.annotation.reviews import make_review, scores
from tests.builders import bridge_item, chain_item
from tests.worlds import DictGraph, settle_all

CONTEXT = CheckContext(settle_all(default_table()), graph=DictGraph())
USUAL = Thresholds()
ITEM = chain_item()
UNIT = (ITEM.id, "multi_hop", None)
REWORDED = ITEM.question.replace("How many", "How very many")


def one(annotator: str, verdict: str = "Retain", values: tuple[int, ...] = (5, 5, 5, 5, 5), **changes) -> Review:
    number = int(annotator[-1])
    return make_review(
        ITEM.id, "multi_hop", None, annotator, annotation=number, verdict=verdict,
        scores=scores("multi_hop", *values), **changes,
    )  # fmt: skip


def fixed(annotator: str, text: str = REWORDED, values: tuple[int, ...] = (4, 4, 4, 2, 4)) -> Review:
    return one(annotator, "Fix", values, corrections=(Correction(field="fix_question", text=text),))


def decide(*reviews: Review, thresholds: Thresholds = USUAL, problems=None, wanted: int = 2) -> UnitDecision:
    return decide_unit(UNIT, reviews, ITEM, wanted, thresholds, problems or {})


def test_two_who_retain_agree_and_their_scores_are_averaged():
    found = decide(one("a-1"), one("a-2", values=(4, 5, 3, 5, 4)))
    assert (found.state, found.verdict, found.counted, found.settled) == ("agreed", "Retain", True, False)
    assert list(found.scores.values()) == [4.5, 5, 4, 5, 4.5]


def test_too_few_reviews_wait():
    assert (decide(one("a-1")).state, decide(one("a-1")).reason) == ("waiting", "1 of 2 reviews")
    assert decide(one("a-1"), one("a-2"), wanted=3).state == "waiting"
    assert decide(one("a-1"), wanted=1).state == "agreed"


@pytest.mark.parametrize(
    ("reviews", "reason"),
    [
        ((one("a-1"), fixed("a-2")), "verdicts differ: Fix, Retain"),
        ((one("a-1"), one("a-2"), one("a-3", "Discard")), "verdicts differ: Discard, Retain"),
        ((one("a-1"), one("a-2", values=(5, 5, 2, 5, 5))), "scores of obscurity, no leak are 2 and 5"),
        ((fixed("a-1"), fixed("a-2", REWORDED + "!")), "corrections differ"),
    ],
)
def test_what_reviewers_differ_on_is_in_conflict(reviews: tuple[Review, ...], reason: str):
    assert (decide(*reviews).state, decide(*reviews).reason) == ("conflict", reason)


def test_the_gap_of_scores_is_a_parameter():
    apart = (one("a-1"), one("a-2", values=(5, 5, 3, 5, 5)))
    assert decide(*apart).state == "agreed"
    assert decide(*apart, thresholds=Thresholds(score_gap=1)).state == "conflict"


def test_who_discards_need_not_agree_how_bad_it_is():
    assert decide(one("a-1", "Discard"), one("a-2", "Discard", (1, 1, 1, 1, 1))).verdict == "Discard"


def test_equal_corrections_agree_but_scores_of_the_old_text_do_not_count():
    padded = fixed("a-2", f"  {REWORDED}\n")
    found = decide(fixed("a-1"), padded)
    assert (found.state, found.verdict, dict(found.corrections)) == ("agreed", "Fix", {"fix_question": REWORDED})
    assert not found.counted


def test_a_correction_that_does_not_hold_waits_for_its_author():
    problems = {("a-2", 1, 2): "recomputation: hop 3: no"}
    both = (fixed("a-1"), fixed("a-2"))
    assert (decide(*both, problems=problems).state, decide(*both, problems=problems).reason) == (
        "returned", "recomputation: hop 3: no",
    )  # fmt: skip
    impatient = Thresholds(settle_returned=True)
    assert decide(*both, problems=problems, thresholds=impatient).state == "conflict"
    # Where verdicts differ anyway, an adjudicator sees both.
    assert decide(one("a-1"), fixed("a-2"), problems=problems).state == "conflict"


def test_an_adjudicator_settles_it_and_the_last_word_counts():
    first = one("a-8", "Discard", (1, 1, 1, 1, 1)).model_copy(update={"kind": "adjudication", "of": "multi_hop"})
    last = one("a-9", "Retain", (5, 4, 4, 4, 4)).model_copy(
        update={"kind": "adjudication", "of": "multi_hop", "updated": "2027-01-01T00:00:00.000000Z"}
    )
    found = decide(one("a-1"), fixed("a-2"), first, last)
    assert (found.state, found.verdict, found.settled, found.counted) == ("agreed", "Retain", True, True)
    assert found.scores["logical_integrity"] == 5
    assert found.reviews == (last,)
    back = decide(one("a-1"), fixed("a-2"), last, problems={("a-9", 1, 9): "no"})
    assert (back.state, back.reason) == ("returned", "no")


def unit(state: str = "agreed", verdict: str = "Retain", values=(5.0,), kind: str = "multi_hop", hop=None, **changes):
    names = {"multi_hop": ("logical_integrity", "obscurity"), "single_hop": ("factuality", "fluency")}[kind]
    given = dict(zip(names, values, strict=False))
    return UnitDecision((ITEM.id, kind, hop), state, "why", verdict, scores=given, **changes)


@pytest.mark.parametrize(
    ("units", "state", "check", "reason"),
    [
        ([unit()], "accepted", "", ""),
        ([unit(), unit(verdict="Discard")], "rejected", "discarded", "the question"),
        ([unit("waiting", ""), unit(verdict="Discard")], "rejected", "discarded", "the question"),
        ([unit("waiting", "")], "open", "waiting_for_reviews", "the question: why"),
        ([unit("waiting", ""), unit("returned", "")], "open", "returned_to_annotator", "the question: why"),
        ([unit("returned", ""), unit("conflict", "")], "open", "in_adjudication", "the question: why"),
        ([unit(values=(3.5, 4.0))], "rejected", "below_mean", "mean of the criteria 3.75, below 4"),
        ([unit(values=(5, 2.5))], "rejected", "below_floor", "the question: obscurity, no leak 2.50, below 3"),
        (
            [unit(), unit(kind="single_hop", hop=2, values=(2, 5))],
            "rejected",
            "below_floor",
            "hop 2: factuality 2.00, below 3",
        ),
        ([unit(), unit(verdict="Fix", values=(1, 1))], "accepted", "", ""),
        ([unit(verdict="Fix", values=(5, 5))], "open", "in_adjudication", "nobody scored what it reads now"),
        ([unit(verdict="Fix", values=(5, 5), settled=True)], "accepted", "", ""),
    ],
)
def test_an_item_is_as_good_as_its_units(units: list[UnitDecision], state: str, check: str, reason: str):
    found = decide_item(ITEM.id, units, USUAL)
    assert (found.state, found.check) == (state, check)
    assert reason in found.reason


def test_a_criterion_counts_once_however_many_hops_it_has():
    hops = [unit(kind="single_hop", hop=hop, values=(3, 5)) for hop in (1, 2, 3, 4)]
    assert decide_item(ITEM.id, [*hops, unit(values=(5, 5))], USUAL).mean == pytest.approx((3 + 5 + 5 + 5) / 4)


def test_a_discard_keeps_its_reasons():
    given = one("a-1", "Discard", errors=("Broken chain", "Answer leaks"), comment="Hop 2 is not needed.")
    found = decide_item(ITEM.id, [decide(given, one("a-2", "Discard", errors=("Broken chain",)))], USUAL)
    assert found.reason == "the question: Answer leaks, Broken chain; Hop 2 is not needed."


def gather(reviews: list[Review], *items: Item, kinds=(ReviewTaskKind.MULTI_HOP,), wanted: int = 2) -> CollectedReviews:
    tasks = {}
    for item in items:
        for kind in kinds:
            hops = [hop.index for hop in item.hops] if kind is ReviewTaskKind.SINGLE_HOP else [None]
            named = ReviewTaskKind.TWIN if item.variant == "counterfactual" else kind
            tasks |= {(named.value, task_key(item.id, hop)): CurrentTask("h", wanted) for hop in hops}
    return CollectedReviews(tuple(reviews), (), (), tasks)


def run(reviews: list[Review], *items: Item, **options) -> list[Decided]:
    return decide_all(gather(reviews, *items, **options), {item.id: item for item in items}, CONTEXT, USUAL)


def test_an_accepted_item_says_who_looked_at_it_and_what_was_corrected():
    hop = [
        make_review(ITEM.id, "single_hop", number, who, annotation=10 * number + place)
        for number in (1, 2, 3, 4)
        for place, who in enumerate(("a-1", "a-2"))
    ]
    (plain,) = run([one("a-1"), one("a-2"), *hop], ITEM, kinds=(ReviewTaskKind.SINGLE_HOP, ReviewTaskKind.MULTI_HOP))
    assert plain.decision.state == "accepted"
    assert plain.item.checks[-1].reason == "2 experts"
    assert plain.item.model_copy(update={"checks": ITEM.checks}) == ITEM
    (corrected,) = run(
        [fixed("a-1"), fixed("a-2"), *hop], ITEM, kinds=(ReviewTaskKind.SINGLE_HOP, ReviewTaskKind.MULTI_HOP)
    )
    assert corrected.item.question == REWORDED
    assert (corrected.item.checks[-1].name, corrected.item.checks[-1].reason) == (
        REVIEW_CHECK, "2 experts; corrected: question",
    )  # fmt: skip
    assert list_used([corrected]) == sorted([fixed("a-1"), fixed("a-2"), *hop], key=lambda one: one.annotation)


def test_corrections_that_hold_alone_must_hold_together():
    """Each option is free by itself; both at once are the same option twice."""
    wrong = [letter for letter in "ABCD" if letter != ITEM.hops[0].label]
    given = []
    for unit_kind, hop, letter in (("single_hop", 1, wrong[0]), ("multi_hop", None, None)):
        for place, who in enumerate(("a-1", "a-2")):
            field = f"fix_option_{letter.lower()}" if letter else "fix_question"
            text = "Mikel Arrate" if letter else REWORDED
            given.append(
                make_review(
                    ITEM.id, unit_kind, hop, who, verdict="Fix", annotation=len(given) + place,
                    corrections=(Correction(field=field, text=text),),
                )
            )  # fmt: skip
    rest = [make_review(ITEM.id, "single_hop", hop, who) for hop in (2, 3, 4) for who in ("a-1", "a-2")]
    (found,) = run([*given, *rest], ITEM, kinds=(ReviewTaskKind.SINGLE_HOP, ReviewTaskKind.MULTI_HOP))
    assert found.decision.state == "accepted"
    assert found.item.checks[-1].reason == f"2 experts; corrected: question, hop 1: option {wrong[0]}"


def test_a_twin_is_accepted_only_with_its_original():
    twin = bridge_item().model_copy(update={"id": "hw-twin", "variant": "counterfactual", "twin": ITEM.id})
    twins = [make_review(twin.id, "twin", None, who) for who in ("a-1", "a-2")]
    both = run([one("a-1"), one("a-2"), *twins], ITEM, twin)
    assert [found.decision.state for found in both] == ["accepted", "accepted"]
    dropped = run([one("a-1", "Discard"), one("a-2", "Discard"), *twins], ITEM, twin)
    assert [found.decision.check for found in dropped] == ["discarded", ORPHANED]
    (alone,) = run(twins, twin)
    assert (alone.decision.check, alone.decision.reason) == (ORPHANED, f"its original {ITEM.id} is not under review")


def test_what_goes_to_an_adjudicator():
    (found,) = run([one("a-1"), one("a-2", "Discard")], ITEM)
    ((item, conflict),) = list_conflicts([found])
    assert (item.id, conflict.unit, conflict.reason) == (ITEM.id, UNIT, "verdicts differ: Discard, Retain")
    (unscored,) = run([fixed("a-1"), fixed("a-2")], ITEM)
    assert [one.unit for _, one in list_conflicts([unscored])] == [UNIT]
    assert list_conflicts([replace(found, decision=ItemDecision(ITEM.id, "accepted"))]) == []


def test_the_table_is_of_accepted_items_only():
    other = bridge_item()
    good = [one("a-1", values=(5, 4, 5, 5, 4)), one("a-2", values=(4, 4, 5, 5, 5))]
    second = [review.model_copy(update={"item_id": other.id, "annotation": 5}) for review in (one("a-3"), one("a-4"))]
    table = {row.criterion: row for row in table_of_scores(run([*good, *second], ITEM, other))}
    assert (table["logical_integrity"].items, table["logical_integrity"].mean) == (2, 4.75)
    assert table["logical_integrity"].deviation == pytest.approx(0.5 / 2**0.5)
    assert table["contextual_consistency"].mean == 4.5
    bad = [review.model_copy(update={"verdict": "Discard"}) for review in second]
    assert {row.items for row in table_of_scores(run([*good, *bad], ITEM, other))} == {1}


def test_a_task_of_an_item_that_is_gone_is_said_so():
    with pytest.raises(InputError, match="which the run does not have"):
        decide_all(gather([], ITEM), {}, CONTEXT, USUAL)
