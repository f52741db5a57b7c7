"""Racehorses, which trainers, jockeys and owners bring out together as others do works."""

from __future__ import annotations

import re

import pytest

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import Extreme, read_computation
from hopwright.records import Item, Lookup
from tests.drafts import draft_ways

TABLE = default_table()


@pytest.fixture(scope="module")
def drafted(sample: GraphStore) -> list[tuple[Item, Extreme]]:
    """Questions on what two people of racing won together, and what they choose."""
    items = draft_ways(sample, "converging", "lead joint-of-both extend", 200, "Sports and Games")
    chosen = [(item, read_computation(item.hops[2].derivation)) for item in items]
    return [
        (item, form)
        for item, form in chosen
        if isinstance(form, Extreme)
        and form.members is not None
        and TABLE.entity[form.members.property].object == ("animal",)
    ]


def test_they_are_asked_about(drafted: list[tuple[Item, Extreme]]) -> None:
    assert len(drafted) >= 4
    assert len({item.hops[2].answer for item, _ in drafted}) >= 3


def test_the_owner_of_a_list_is_found_in_their_part(drafted: list[tuple[Item, Extreme]]) -> None:
    """A trainer's list is found by who trained the named horse, though a trainer may be a partner in a jockey's."""
    for item, form in drafted:
        members = form.members
        assert members is not None
        finding = item.hops[int(members.shared[3:]) - 1].derivation
        partner = item.hops[int(members.partner[3:]) - 1].derivation
        assert isinstance(finding, Lookup) and finding.property == TABLE.entity[members.property].maker
        assert isinstance(partner, Lookup) and partner.property == members.credit != finding.property


def test_a_horse_is_called_a_classic_winner_and_bears_no_quotation_marks(drafted: list[tuple[Item, Extreme]]) -> None:
    for item, _ in drafted:
        assert '"' not in item.question
        assert "of the Classic winner " in item.question
        assert all("the Classic winner " in item.hops[place].question for place in (0, 1, 3))


def test_what_both_had_is_said_in_a_sentence_of_its_own(drafted: list[tuple[Item, Extreme]]) -> None:
    for item, form in drafted:
        assert form.members is not None
        credit = TABLE.entity[form.members.credit].role
        maker = TABLE.entity[TABLE.entity[form.members.property].maker].role
        pair = rf"(?:The {maker} and the {credit}|The {credit} and the {maker}) of the Classic winner "
        assert re.match(pair, item.question), item.question
        assert re.search(r" had more than one .+ together\. ", item.question), item.question
