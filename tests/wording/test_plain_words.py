"""What honest wordings say, and no rule may take for a fault."""

from __future__ import annotations

import dataclasses

import pytest

from hopwright.checks.case import CheckedItem
from hopwright.checks.grammar import find_form_problems
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.wording.llm.directions import find_sides, find_wrong_age
from hopwright.wording.llm.text_constraints import TextConstraintBuilder, TextConstraints
from hopwright.wording.llm.vocabulary import Vocabulary
from hopwright.wording.llm.wording_checks import find_unexpected_names
from tests.drafts import draft_items


@pytest.fixture(scope="module")
def place(sample: GraphStore) -> TextConstraints:
    """The constraints of a whole question."""
    return TextConstraintBuilder(Vocabulary(default_table()), sample).lay_out(draft_items(sample)[0])[-1]


@pytest.mark.parametrize(
    ("said", "side"),
    [
        ("the first edition at which that athlete won", True),
        ("the first edition won by a team with him as captain", True),
        ("the first edition of the World Athletics Championships", True),
        ("the first edition of the novel", False),
        ("the first of them", True),
    ],
)
def test_the_first_edition_of_a_series_is_one_of_several_and_of_a_book_none(said: str, side: bool) -> None:
    assert ("first" in find_sides(said)) is side


def test_nouns_of_the_plan_may_stand_in_the_plural_and_nothing_else(place: TextConstraints) -> None:
    told = dataclasses.replace(place, nouns=frozenset({"Tour", "American"}))
    assert list(find_unexpected_names(told, "where the first of those Tours of an American rider began")) == []
    assert list(find_unexpected_names(told, "where the first of those Giros of a French rider began")) == [
        "Giros",
        "French",
    ]


def test_a_title_that_asks_ends_a_question(sample: GraphStore) -> None:
    case = CheckedItem(draft_items(sample)[0])
    assert list(find_form_problems('Who directed the film "Who\'s Afraid of Virginia Woolf?"', case)) == []
    assert list(find_form_problems('Who directed the film "Boom!"', case)) == ["does not end with a question mark"]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("How old did the player honoured at the end of the ◦ live to be?", True),
        ("How old was the player at the end of that year, when he died?", False),
        ("Which age did the player reach in the year he died?", False),
    ],
)
def test_the_end_of_a_named_event_is_not_the_end_of_a_year(text: str, right: bool) -> None:
    assert (find_wrong_age(frozenset({"on a day"}), text) == "") is right
