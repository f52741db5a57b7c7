"""A correction is applied to a copy and must pass everything again."""

from __future__ import annotations

import pytest

from annotation.corrections import apply_corrections, examine_review, list_changes, recheck
from hopwright.checks import CheckContext, failures, run_checks
from hopwright.errors import InputError
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.records import Correction, Item, Review, Vote
from tests.annotation.reviews import make_review
from tests.builders import all_items, bridge_item, chain_item, converging_item
from tests.worlds import DictGraph, settle_all

GRAPH = DictGraph()
CONTEXT = CheckContext(settle_all(default_table()), graph=GRAPH)


def fix(item: Item, hop: int | None = None, **corrections: str) -> Review:
    """A review that corrects fields of a hop, or of the whole question."""
    return make_review(
        item.id,
        "multi_hop" if hop is None else "single_hop",
        hop,
        verdict="Fix",
        corrections=tuple(Correction(field=f"fix_{name}", text=text) for name, text in corrections.items()),
    )


@pytest.mark.parametrize("item", all_items(), ids=lambda item: item.topology)
def test_rewording_holds_and_touches_nothing_else(item: Item):
    reworded = item.question.replace("How many", "How very many").replace("take the one", "consider the one")
    found = examine_review(item, fix(item, question=reworded), CONTEXT)
    assert (found.problem, found.changed) == ("", ("question",))
    assert found.item == item.model_copy(update={"question": reworded, "checks": run_checks(found.item, CONTEXT)})


def test_rewording_a_hop_is_of_that_hop():
    item = chain_item()
    found = examine_review(item, fix(item, 3, question="In which year was Vestmark founded?"), CONTEXT)
    assert (found.problem, found.changed) == ("", ("hop 3: question",))
    assert found.item.hops[2].question == "In which year was Vestmark founded?"
    assert found.item.question == item.question


def test_a_better_distractor_holds_and_gets_its_entity():
    item = chain_item()
    letter = next(label for label, text in item.hops[1].options.items() if text == "Ostmark")
    found = examine_review(item, fix(item, 2, **{f"option_{letter.lower()}": "Karelund"}), CONTEXT)
    assert "repeat" in found.problem  # Karelund is an option already
    letter = next(label for label, text in item.hops[0].options.items() if text == "Rolf Ekman")
    found = examine_review(item, fix(item, 1, **{f"option_{letter.lower()}": "Mikel Arrate"}), CONTEXT)
    assert found.problem == ""
    assert [one.text for one in found.item.hops[0].distractors] == ["Tomas Ferreira", "Mikel Arrate", "Mia Sundt"]
    assert found.item.hops[0].distractors[1].id is None
    letter = next(label for label, text in item.hops[0].options.items() if text == "Tomas Ferreira")
    corrected = apply_corrections(item, 1, {f"fix_option_{letter.lower()}": "Ada Lindqvist"}, GRAPH)
    assert corrected.hops[0].distractors[0].id == "Q902"


def test_an_answer_that_the_derivation_does_not_give_breaks_the_chain():
    item = chain_item()
    found = examine_review(item, fix(item, 3, answer="1906"), CONTEXT)
    assert "hop 3: states '1906', but its derivation gives '1905'" in found.problem
    assert found.problem.count("hop 3: states '1906'") == 1
    # The hop after it rests on it, and no longer follows.
    assert "hop 4" in found.problem
    assert found.changed[:2] == ("hop 3: answer", "hop 3: option D")


def test_an_entity_that_is_another_breaks_the_chain():
    item = converging_item()
    found = examine_review(item, fix(item, answer="Port Sabel"), CONTEXT)
    assert "hop 4" in found.problem
    corrected = apply_corrections(item, None, {"fix_answer": "Port Sabel"}, GRAPH)
    assert (corrected.answer, corrected.hops[-1].answer, corrected.hops[-1].answer_id) == ("Port Sabel",) * 2 + (
        "Q908",
    )


def test_a_wrong_answer_can_be_put_right():
    """What a planted fault looks like: the correction makes it whole again, and nothing is held against it."""
    good = bridge_item()
    hop = good.hops[3]
    options = {**hop.options, hop.label: "129"}
    broken = good.model_copy(
        update={
            "answer": "129", "options": options,
            "hops": (*good.hops[:3], hop.model_copy(update={"answer": "129", "options": options})),
        }
    )  # fmt: skip
    assert failures(run_checks(broken, CONTEXT))
    found = examine_review(broken, fix(broken, answer="130"), CONTEXT)
    assert found.problem == ""
    assert failures(found.item.checks) == ()
    assert found.item.hops == good.hops


def test_the_last_hops_options_are_the_questions():
    item = chain_item()
    letter = next(label for label, text in item.options.items() if text == "105")
    for hop in (4, None):
        corrected = apply_corrections(item, hop, {f"fix_option_{letter.lower()}": "115"}, GRAPH)
        assert corrected.options == corrected.hops[-1].options
        assert corrected.options[letter] == "115"
        assert "115" in [one.text for one in corrected.hops[-1].distractors]
        assert recheck(item, corrected, CONTEXT).problem == ""


def test_right_option_and_answer_must_be_one():
    item = chain_item()
    name = f"option_{item.label.lower()}"
    assert apply_corrections(item, None, {f"fix_{name}": "96"}).answer == "96"
    found = examine_review(item, fix(item, answer="97", **{name: "98"}), CONTEXT)
    assert found.problem == "the right option reads '98', the answer '97'; make them the same"


@pytest.mark.parametrize(
    ("corrections", "problem"),
    [
        ({}, "no text was changed"),
        ({"question": "  " + chain_item().question + "\n"}, "no text was changed"),
        ({"question": "   "}, "the corrected question is empty"),
    ],
)
def test_a_fix_that_corrects_nothing_is_asked_back(corrections: dict[str, str], problem: str):
    item = chain_item()
    assert problem in examine_review(item, fix(item, **corrections), CONTEXT).problem


def test_only_a_fix_corrects():
    item = chain_item()
    review = fix(item, answer="1").model_copy(update={"verdict": "Retain"})
    assert examine_review(item, review, CONTEXT).item is item


def test_what_failed_before_is_not_held_against_a_correction():
    item = chain_item().model_copy(update={"id": "hw-0000000000000000"})
    assert [one.name for one in failures(run_checks(item, CONTEXT))] == ["identity"]
    found = examine_review(item, fix(item, 1, question="Who was it that directed Night Harbour?"), CONTEXT)
    assert found.problem == ""


def test_votes_on_the_old_wording_go():
    item = chain_item().model_copy(update={"votes": (Vote(model="popularity", option="A", right=False),)})
    assert apply_corrections(item, 1, {"fix_question": "Who, then, directed Night Harbour?"}).votes == ()
    assert apply_corrections(item, 1, {}).votes == item.votes


def test_hop_that_is_none():
    with pytest.raises(InputError, match="has no hop 5"):
        list_changes(chain_item(), 5, {"fix_answer": "x"})
