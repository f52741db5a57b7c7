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
        sentences, ("", "hat person", "hat second person", "hat third person"),
        ("one other person", "a second person", "a third person", "which place"), strict=True,
    ):  # fmt: skip
        assert given in sentence
        assert found in sentence.lower()
    assert sentences[-1].endswith("?")


def test_a_place_is_no_other_person() -> None:
    steps = [name("place", "Ann"), name("first", follows=True), name("voice", "Bob", follows=True)]
    question = word_chain(steps, [PLACE, PERSON, PERSON], "k").question
    assert "one place" in question
    assert "names that place names one person." in question
    assert "other" not in question


@pytest.mark.parametrize("key", ["a", "b", "c", "d"])
@pytest.mark.parametrize(
    ("quoted", "told"),
    [("“No such thing!”", "“No such thing!” "), ("“No such thing”", "“No such thing.” "), ("“Is it?”", "“Is it?” ")],
)
def test_spoken_words_are_told_first_and_lead_to_that_speaker(key: str, quoted: str, told: str) -> None:
    steps = [name("speaker", quoted=quoted), name("companion", "Ann", place="Bath", follows=True)]
    question = word_chain(steps, [PERSON, PERSON], key).question
    assert question.startswith(f"Somebody in this excerpt says, {told}")
    assert "hat speaker" in question
    assert "ho else" in question
    assert question.endswith("?")


def test_a_second_speaker_is_told_from_the_first() -> None:
    steps = [name("speaker", quoted="“No.”"), name("voice", "Ann", follows=True), name("heard", follows=True)]
    question = word_chain(steps, [PERSON, PERSON, PERSON], "k").question
    assert "That speaker and Ann are named together in only one paragraph, which names a second speaker." in question
    last = question.split(". ")[-1]
    assert last == "Who else is named in the last paragraph in which that second speaker is named as speaking?"


@pytest.mark.parametrize("key", ["a", "b", "c", "d"])
def test_a_hop_asks_by_the_name_that_is_known(key: str) -> None:
    steps = [name("first", "Ann"), name("answered", follows=True), name("chapter", follows=True)]
    first, second, third = word_chain(steps, [PERSON, Given("Fay", "person")], key).hops
    assert first.endswith("who else is named in the first paragraph that names Ann?")
    assert second.endswith("after Eve is named as speaking for the last time, who is the next person to be so named?")
    assert third.endswith("what is the number of the chapter in which Fay is named for the last time?")
