"""How chains are worded by rule: a sentence a hop, and referents that are told apart."""

from __future__ import annotations

import pytest

from hopwright.planning.mention_steps import Step, StepKind
from hopwright.wording.rules.mention_wording import Given, Kind, NamedStep, word_chain


def name(
    kind: StepKind, *clues: str, place: str = "", follows: bool = False, quoted: str = "", chapter: int = 0,
    final: bool = False, volume: str = "",
) -> NamedStep:  # fmt: skip
    """A step by the names that its question gives; `place` is one of a place."""
    persons: list[tuple[str, Kind]] = [(one, "person") for one in clues]
    places: list[tuple[str, Kind]] = [(place, "place")] if place else []
    named = (*persons, *places)
    numbers = tuple(range(len(named)))
    step = Step(kind, numbers, follows, (0,), 9, quotation=0 if quoted else -1, chapter=chapter, final=final)
    return NamedStep(step, named, quoted, volume)


PERSON, PLACE = Given("Eve", "person"), Given("Bath", "place")


def test_three_persons_on_the_way_are_told_apart() -> None:
    steps = [
        name("companion", "Ann", "Bob"), name("last", follows=True, final=True), name("companion", "Cid", follows=True),
        name("place", "Dan", follows=True),
    ]  # fmt: skip
    sentences = word_chain(steps, [PERSON, PERSON, PERSON, PLACE]).question.split(". ")
    assert len(sentences) == 4
    for sentence, given, found in zip(
        sentences, ("", "that person", "that second person", "that third person"),
        ("one other person", "a second person", "a third person", "which place"), strict=True,
    ):  # fmt: skip
        assert given in sentence
        assert found in sentence.lower()
    assert sentences[-1].endswith("?")


def test_a_place_is_no_other_person() -> None:
    steps = [name("place", "Ann", "Cid"), name("first", follows=True), name("voice", "Bob", follows=True)]
    question = word_chain(steps, [PLACE, PERSON, PERSON]).question
    assert "one place" in question
    assert "names that place names one person." in question
    assert "other" not in question


@pytest.mark.parametrize(
    ("quoted", "told"),
    [("“No such thing!”", "“No such thing!” "), ("“No such thing”", "“No such thing.” "), ("“Is it?”", "“Is it?” ")],
)
def test_spoken_words_are_told_first_and_lead_to_that_speaker(quoted: str, told: str) -> None:
    steps = [name("speaker", quoted=quoted), name("companion", "Ann", place="Bath", follows=True)]
    question = word_chain(steps, [PERSON, PERSON]).question
    assert question.startswith(f"Somebody in this excerpt says, {told}")
    assert "that speaker" in question
    assert "ho else" in question
    assert question.endswith("?")


def test_a_second_speaker_is_told_from_the_first() -> None:
    steps = [
        name("speaker", quoted="“No.”"), name("answered", follows=True, chapter=3),
        name("mentioned", follows=True, chapter=5, final=True),
    ]  # fmt: skip
    question = word_chain(steps, [PERSON, PERSON, PERSON]).question
    assert "In Chapter 3, after that speaker is first named as the speaker, a second speaker is the next" in question
    last = question.split(". ")[-1]
    assert last == "In Chapter 5, whose name does that second speaker say when last named as the speaker?"


@pytest.mark.parametrize("kind", ["reply", "mentioned", "site"])
@pytest.mark.parametrize("follows", [False, True])
def test_who_speaks_the_words_is_not_said(kind: StepKind, follows: bool) -> None:
    step = name(kind, quoted="“It rains”")
    steps = [step, name("chapter", follows=True)] if follows else [step]
    question = word_chain(steps, [PLACE if kind == "site" else PERSON][: len(steps) - 1]).question
    assert "the words “It rains”" in question
    assert question.endswith("?")


@pytest.mark.parametrize(("final", "end"), [(False, "first"), (True, "last")])
def test_a_chapter_has_a_first_and_a_last_time(final: bool, end: str) -> None:
    asked = word_chain([name("teller", place="Bath", chapter=2, final=final)], []).question
    assert asked == f"In Chapter 2, who is the {end} to say the name of Bath?"


def test_a_chapter_is_told_by_its_volume() -> None:
    asked = word_chain([name("teller", place="Bath", chapter=2, volume="Volume II")], []).question
    assert asked == "In Volume II, Chapter 2, who is the first to say the name of Bath?"


def test_who_says_the_words_is_not_asked_for() -> None:
    steps = [name("reply", quoted="“It rains”"), name("chapter", follows=True)]
    alone, chain = (word_chain(steps[:end], [PERSON] * (end - 1)).question for end in (1, 2))
    assert alone.endswith("who is the next speaker to be named, other than whoever says them?")
    assert "one speaker, other than whoever says them, is the next to be named." in chain


def test_a_hop_asks_by_the_name_that_is_known() -> None:
    steps = [name("first", "Ann"), name("answered", follows=True, final=True), name("chapter", follows=True)]
    first, second, third = word_chain(steps, [PERSON, Given("Fay", "person")]).hops
    assert first == "Who else is named in the paragraph where this excerpt first names Ann?"
    assert second.startswith("In this excerpt, after Eve is last named as the speaker, ")
    assert second.endswith("who is the next other speaker to be named?")
    assert third == "In which chapter does this excerpt name Fay for the last time?"
