"""Who came next in a list by years: held against the facts, and worded so that the year is right."""

from __future__ import annotations

import datetime as dt
import re

import pytest

from hopwright.knowledge.facts import GraphFacts
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import NextHolder
from hopwright.records import Item
from tests.drafts import draft_items, find_forms

TABLE = default_table()
ANNUAL = {name: entry for name, entry in TABLE.literal.items() if entry.annual}


@pytest.fixture(scope="module")
def asked(sample: GraphStore) -> list[tuple[Item, int, NextHolder]]:
    """Drafts that ask who came next, the place (from 0) of that hop, and what it computes."""
    return find_forms(draft_items(sample, 480), NextHolder)


def test_the_year_beside_a_death_has_that_holder_and_no_other(
    asked: list[tuple[Item, int, NextHolder]], sample: GraphStore
) -> None:
    facts = GraphFacts(sample, TABLE)
    assert len(asked) >= 3
    for item, place, form in asked:
        died = int(item.hops[int(form.reference[3:]) - 1].answer)
        beside = died + (1 if form.later else -1)
        chosen = item.hops[place].answer_id
        assert facts.subjects_of_scalar(form.timeline, beside) == (chosen,)
        assert beside not in TABLE.literal[form.timeline].reserved
        # Whoever is a year off arrives at somebody else.
        for other in (died, beside + (1 if form.later else -1)):
            assert facts.subjects_of_scalar(form.timeline, other) != (chosen,)


def test_whose_death_it_is_stands_in_the_list(
    asked: list[tuple[Item, int, NextHolder]], sample: GraphStore
) -> None:
    facts = GraphFacts(sample, TABLE)
    for item, _, form in asked:
        died = item.hops[int(form.reference[3:]) - 1]
        (fact,) = died.evidence.literals
        held = [one for one in facts.scalars(fact.subject, form.timeline) if isinstance(one, dt.date)]
        assert held, item.question


def test_a_question_says_the_side_and_a_sub_question_the_year(asked: list[tuple[Item, int, NextHolder]]) -> None:
    for item, place, form in asked:
        side = "after" if form.later else "before"
        assert f"the year {side} " in item.question
        died = item.hops[int(form.reference[3:]) - 1].answer
        # A prize that is given for a year may be given in the next.
        assert re.search(rf"\b(?:in|for) the year {side} {died}\?", item.hops[place].question)


@pytest.mark.parametrize("name", sorted(ANNUAL))
def test_every_such_list_can_be_asked_about(name: str) -> None:
    """What stands for the year goes with its preposition."""
    assert ANNUAL[name].timeline and not ANNUAL[name].years
    assert all(re.search(r"(?:in|for|of) \{y\}", one) for one in ANNUAL[name].holder_ask)
