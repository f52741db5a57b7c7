"""`In X's lifetime` is read as `before X's death`, with the marks where they were."""

from __future__ import annotations

import pytest

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.wording.llm.lifetimes import name_deaths, name_deaths_of
from hopwright.wording.llm.text_constraints import TextConstraintBuilder
from hopwright.wording.llm.vocabulary import Vocabulary
from hopwright.wording.llm.wording_checks import WordingChecker
from hopwright.wording.marks import read_marks
from tests.drafts import draft_deaths


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("out in {2: the lifetime of {1: the novelist}}?", "out before {2: the death of {1: the novelist}}?"),
        ("out in {2: {1: the story's author}'s lifetime}?", "out before {2: {1: the story's author}'s death}?"),
        ("out during {2: {1: his} lifetime}?", "out before {2: {1: his} death}?"),
        ("out in Francis's lifetime?", "out before Francis's death?"),
        ("Once in a lifetime, who wrote it?", "Once in a lifetime, who wrote it?"),
        ("made in London in the city's heyday", "made in London in the city's heyday"),
    ],
)
def test_lifetimes_are_read_as_what_comes_before_a_death(said: str, read: str) -> None:
    assert name_deaths(said) == read == name_deaths(read)


def test_the_rules_say_lifetimes_and_mean_the_plan(sample: GraphStore) -> None:
    vocabulary = Vocabulary(default_table())
    checker = WordingChecker(vocabulary, TextConstraintBuilder(vocabulary, sample))
    told = [item for item in draft_deaths(sample) if "lifetime" in item.question]
    assert told
    for item in told:
        subs = [hop.question for hop in item.hops]
        assert checker.read(item, subs, item.question, marked=item.marked) == [], item.marked
        turned = item.marked.replace(" last ", " first ", 1).replace(" in {", " after {", 1)
        if read_marks(turned).text != item.question and " after {" in turned:
            wrong = turned.replace("the lifetime of", "the death of").replace("lifetime", "death")
            assert checker.read(item, subs, read_marks(wrong).text, marked=wrong), wrong
        read = name_deaths_of(item)
        assert "lifetime" not in read.question and read_marks(read.marked).text == read.question
