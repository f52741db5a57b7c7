"""How chains are worded by rule: a sentence a hop, and referents that are told apart."""

from __future__ import annotations

import pytest

from hopwright.planning.mention_steps import Step, StepKind
from hopwright.wording.rules.mention_wording import Given, Kind, NamedStep, word_chain


def name(kind: StepKind, *clues: str, place: str = "", follows: bool = False, quoted: str = "") -> NamedStep:
    """A step by the names that its question gives; `place` is one of a place."""
    persons: list[tuple[str, Kind]] = [(one, "person") for one in clues]
    places: list[tuple[str, Kind]] = [(place, "place")] if place else []
    named = (*persons, *places)
    numbers = tuple(range(len(named)))
    return NamedStep(Step(kind, numbers, follows, (0,), 9), named, quoted)


PERSON, PLACE = Given("Eve", "person"), Given("Bath", "place")


@pytest.mark.parametrize("key", ["a", "b", "c", "d"])
def test_three_persons_on_the_way_are_told_apart(key: str) -> None:
    steps = [
        name("companion", "Ann", "Bob"), name("last", follows=True), name("companion", "Cid", follows=True),
        name("place", "Dan", follows=True),
    ]  # fmt: skip
    sentences = word_chain(steps, [PERSON, PERSON, PERSON, PLACE], key).question.split(". ")
    assert len(sentences) == 4
    assert sentences[0].startswith(("In this excerpt, ", "In the excerpt, "))
    for sentence, given, found in zip(
        sentences, ("", "that person", "that other person", "that third person"),
        ("one other person", "one other person", "a third person", "place"), strict=True,
    ):  # fmt: skip
        assert given in sentence
        assert found in sentence
    assert sentences[-1].endswith("both Dan and that third person?")


def test_a_place_is_no_other_person() -> None:
    question = word_chain([name("place", "Ann"), name("voice", "Bob", follows=True)], [PLACE, PERSON], "k").question
    assert "one place" in question
    assert "and that place?" in question
    assert "other" not in question


@pytest.mark.parametrize("key", ["a", "b", "c", "d"])
def test_who_says_some_words_is_named_within_the_sentence(key: str) -> None:
    steps = [name("speaker", quoted="“No such thing!”"), name("companion", "Ann", place="Bath", follows=True)]
    question = word_chain(steps, [PERSON, PERSON], key).question
    assert question.endswith("both Ann and Bath as well as the person who says “No such thing!”?")
    assert ". " not in question


@pytest.mark.parametrize("key", ["a", "b", "c", "d"])
def test_no_other_person_is_asked_for_beside_that_other_person(key: str) -> None:
    steps = [name("companion", "Ann", "Bob"), name("last", follows=True), name("companion", "Cid", follows=True)]
    last = word_chain(steps, [PERSON, PERSON, PERSON], key).question.split(". ")[-1]
    assert last == "Who else is mentioned in the only paragraph that mentions both Cid and that other person?"
