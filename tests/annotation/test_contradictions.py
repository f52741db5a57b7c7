"""Reviews whose answers contradict each other."""

from __future__ import annotations

import re

import pytest

from annotation.accepted import find_problems
from annotation.contradictions import find_contradiction
from annotation.correction_requests import list_questions
from hopwright.checks import CheckContext
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.records import Correction, Review
from tests.annotation.reviews import make_review, scores
from tests.builders import chain_item
from tests.worlds import DictGraph, settle_all

CONTEXT = CheckContext(settle_all(default_table()), graph=DictGraph())
ITEM = chain_item()
LOW = scores("multi_hop", 1, 1, 1, 1, 1)


def review(**changes: object) -> Review:
    return make_review(ITEM.id, **changes)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"errors": ("Wrong answer",), "scores": LOW}, "Retain, but “Wrong answer” is tagged"),
        ({"scores": scores("multi_hop", 5, 5, 2, 5, 5)}, r"below 3 \(obscurity, no leak 2\)"),
        ({"verdict": "Fix", "errors": ("Bad grammar",)}, "nothing is corrected"),
        (
            {
                "verdict": "Fix",
                "errors": ("Bad grammar",),
                "corrections": (Correction(field="fix_question", text=ITEM.question),),
            },
            "nothing is corrected",
        ),
    ],
)
def test_answers_that_contradict_the_verdict_are_told(changes: dict[str, object], problem: str) -> None:
    assert re.search(problem, find_contradiction(review(**changes), ITEM))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"scores": scores("multi_hop", 3, 3, 3, 3, 3)},
        {"verdict": "Discard", "scores": LOW, "errors": ("Wrong answer",)},
        {"verdict": "Fix", "errors": ("Bad grammar",), "comment": "The comma is only a matter of taste."},
        {
            "verdict": "Fix",
            "errors": ("Bad grammar",),
            "corrections": (Correction(field="fix_question", text=ITEM.question + "!"),),
        },
        {"skipped": True, "verdict": None, "scores": ()},
    ],
)
def test_answers_that_fit_the_verdict_pass(changes: dict[str, object]) -> None:
    assert find_contradiction(review(**changes), ITEM) == ""


def test_a_contradiction_goes_back_to_its_author_with_the_reason() -> None:
    told = review(errors=("Wrong answer",), scores=LOW)
    problems = find_problems([told, review(annotator="a-2", annotation=2)], {ITEM.id: ITEM}, CONTEXT)
    assert list(problems) == [told.key]
    ((question,),) = list_questions([told], problems).values()
    assert question.startswith("Verdict: Retain. Correction: none. Why it comes back: the verdict is Retain")
