"""Annotations against the interface: the server takes anything, we do not."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.forms import load_interface, parse_interface
from annotation.schema import ReviewTaskKind
from annotation.validate import read_annotation
from hopwright.errors import InputError
from hopwright.records import Correction, Review, Score
from tests.annotation.reviews import annotate, choose, rate, write

DATA = {"item_id": "hw-12", "kind": "single_hop", "hop": 3, "item_hash": "abc"}


def read(annotation: dict[str, Any], data: dict[str, Any] = DATA) -> Review:
    kind = ReviewTaskKind(data["kind"])
    form = parse_interface(load_interface(kind, ReviewTaskKind(data["of"]) if "of" in data else None))
    return read_annotation(annotation, data, form, project=5, task=9, who="a-1")


def test_a_whole_annotation_becomes_a_review():
    review = read(
        annotate(
            choose("verdict", "Fix"), choose("errors", "Wrong answer", "Bad grammar"), rate("factuality", 2),
            rate("fluency", 4), write("fix_answer", "1906"), write("computation", "1906 - 1", "= 1905"),
            write("source_url", "https://example.org/a"), write("comment", " checked twice \n"),
        )
    )  # fmt: skip
    assert review == Review(
        item_id="hw-12", kind="single_hop", hop=3, item_hash="abc", annotator="a-1", project=5, task=9, annotation=7,
        created="2026-03-02T09:00:00.123456Z", updated="2026-03-02T09:05:00.000000Z", seconds=61.25, verdict="Fix",
        scores=(Score(criterion="factuality", value=2), Score(criterion="fluency", value=4)),
        errors=("Bad grammar", "Wrong answer"), corrections=(Correction(field="fix_answer", text="1906"),),
        computation="1906 - 1\n= 1905", source_url="https://example.org/a", comment="checked twice",
    )  # fmt: skip


def test_an_answer_given_blind_is_read_and_one_that_is_no_option_refused():
    form = parse_interface(load_interface(ReviewTaskKind.SINGLE_HOP, blind=True))

    def answer(*choices: str) -> dict[str, Any]:
        return {**choose("own_answer", *choices), "to_name": "blind"}

    def read_blind(*given: dict[str, Any]) -> Review:
        annotation = annotate(choose("verdict", "Retain"), *given)
        return read_annotation(annotation, DATA, form, project=5, task=9, who="a-1")

    assert read_blind().own_answer is None
    assert read_blind(answer("C")).own_answer == "C"
    review = read_blind(answer("None of these"), {**write("own_words", " Oslo "), "to_name": "blind"})
    assert (review.own_answer, review.own_words) == ("None of these", "Oslo")
    with pytest.raises(InputError):
        read_blind(answer("E"))
    with pytest.raises(InputError, match="2 of own_answer"):
        read_blind(answer("A", "B"))


def test_an_adjudication_is_about_the_kind_that_it_settles():
    data = {"item_id": "hw-12", "kind": "adjudication", "of": "single_hop", "hop": 3, "item_hash": "abc"}
    review = read(annotate(choose("verdict", "Retain"), rate("factuality", 5)), data)
    assert (review.kind, review.of, review.settles, review.unit) == (
        "adjudication", "single_hop", "single_hop", ("hw-12", "single_hop", 3),
    )  # fmt: skip
    with pytest.raises(InputError, match="no field 'obscurity'"):
        read(annotate(choose("verdict", "Retain"), rate("obscurity", 5)), data)


def test_stars_of_earlier_interfaces_are_scores_still():
    form = parse_interface(
        '<View><HyperText name="item" value="$html"/>'
        '<Choices name="verdict" toName="item"><Choice value="Retain"/></Choices>'
        '<Rating name="factuality" toName="item" maxRating="5"/></View>'
    )

    def stars(number: object) -> dict[str, Any]:
        value = {"rating": number}
        return {"id": "f", "from_name": "factuality", "to_name": "item", "type": "rating", "value": value}

    def read_stars(number: object) -> Review:
        answers = annotate(choose("verdict", "Retain"), stars(number))
        return read_annotation(answers, DATA, form, project=1, task=2, who="a1")

    review = read_stars(4)
    assert {one.criterion: one.value for one in review.scores} == {"factuality": 4}
    for wrong in (6, 0, 4.5, True):
        with pytest.raises(InputError):
            read_stars(wrong)


def test_a_skipped_task_says_nothing():
    review = read(annotate(was_cancelled=True))
    assert (review.skipped, review.verdict, review.scores) == (True, None, ())


@pytest.mark.parametrize(
    ("annotation", "problem"),
    [
        (annotate(), "it has no verdict"),
        (annotate(rate("factuality", 5)), "it has no verdict"),
        (annotate(choose("verdict", "Perhaps")), "Perhaps"),
        (annotate(choose("verdict", "Retain", "Fix")), "it chooses 2 of verdict"),
        (annotate(choose("verdict", "Retain"), write("planted", "x")), "the interface has no field 'planted'"),
        (annotate(choose("verdict", "Retain"), rate("obscurity", 5)), "the interface has no field 'obscurity'"),
        (
            annotate(choose("verdict", "Retain"), *(write(f"f{number}", "x") for number in range(5))),
            "no field 'f0', 'f1', 'f2' and 2 more",
        ),
        (annotate(choose("verdict", "Retain"), choose("errors", "Ugly")), "Ugly"),
        (annotate(choose("verdict", "Retain"), rate("factuality", 6)), "6"),
        (annotate(choose("verdict", "Retain"), rate("factuality", 0)), "0"),
        (annotate(choose("verdict", "Retain"), rate("factuality", 4.5)), "4.5"),
        (annotate(choose("verdict", "Retain"), rate("factuality", True)), "True"),
        (annotate(choose("verdict", "Retain"), choose("verdict", "Fix")), "it answers verdict twice"),
        (annotate(choose("verdict", "Retain"), {"from_name": "factuality"}), "."),
        (annotate(choose("verdict", "Retain"), {**rate("factuality", 3), "type": "rating"}), "."),
        (annotate(choose("verdict", "Retain"), {**rate("factuality", 3), "value": {"choices": ["3", "4"]}}), "."),
        (annotate(choose("verdict", "Retain"), {**rate("factuality", 3), "to_name": "elsewhere"}), "elsewhere"),
        (annotate(result="text"), "no list of answers"),
        (annotate(result=["text"]), "no list of answers"),
        (annotate(choose("verdict", "Retain"), created_at="yesterday"), "cannot be read"),
        (annotate(choose("verdict", "Retain"), lead_time=-4), "seconds"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(annotation: dict[str, Any], problem: str):
    with pytest.raises(InputError, match=problem) as caught:
        read(annotation)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("data", [{}, {"kind": "poem"}, {"kind": "adjudication"}, {"kind": "adjudication", "of": "x"}])
def test_task_that_is_none_of_ours(data: dict[str, Any]):
    form = parse_interface(load_interface(ReviewTaskKind.TWIN))
    with pytest.raises(InputError, match="does not say what kind"):
        read_annotation(annotate(choose("verdict", "Retain")), data, form, project=1, task=1, who="a-1")
