"""Choices and counts in whole lists, held against the facts themselves."""

from __future__ import annotations

import datetime as dt
import re

import pytest

from hopwright.errors import ExpressionError
from hopwright.knowledge.facts import GraphFacts
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import Extreme, GroupSize, Members, read_form
from hopwright.planning.execution import run_plan
from hopwright.planning.expressions import evaluate, is_later
from hopwright.planning.traversals import FEWEST_LISTED, GraphTraversals
from hopwright.records import Compute, Item
from tests.drafts import draft_ways, find_computations

TABLE = default_table()
_PARTED = re.compile(r"\b(after|before)\((P\d+), (hop\d), all\((P\d+), (hop\d|Q\w+)\)\)")


@pytest.fixture(scope="module")
def parted(sample: GraphStore) -> list[tuple[Item, int]]:
    """Drafts, and the place (from 0) of their hop that parts a list."""
    bridges = draft_ways(sample, "bridge", "lead year date next-of-its next-of-its-in-year count-of-its", 500)
    chains = draft_ways(sample, "chain", "lead date next-of-named extend")
    return find_computations((*bridges, *chains), _PARTED)


@pytest.mark.parametrize(
    ("date", "moment", "later"),
    [
        ("1876-03-06", "1876-03-05", True), ("1876-03-04", "1876-03-05", False), ("1876-03-05", "1876-03-05", None),
        ("1876-01-01", "1876-03-05", None), ("1877-01-01", "1876-03-05", True), ("1875-12-31", "1876-01-01", False),
    ],
)  # fmt: skip
def test_a_bare_year_tells_nothing_about_a_day_of_it(date: str, moment: str, later: bool | None) -> None:
    assert is_later(dt.date.fromisoformat(date), dt.date.fromisoformat(moment)) is later


def test_of_a_year_only_others_are_before_or_after() -> None:
    assert [is_later(dt.date(year, 5, 1), 1876) for year in (1875, 1876, 1877)] == [False, None, True]


def test_forms_of_parted_lists() -> None:
    members = Members("P990201", "hop3", outward=False)
    assert read_form("argmin(P990150, after(P990150, hop2, all(P990201, hop3)))") == Extreme(
        "P990150", (), False, members, "hop2", True
    )
    assert read_form("size(before(P990150, hop2, all(P990201, hop3)))") == GroupSize(members, "P990150", "hop2", False)


def test_what_is_chosen_comes_next_to_the_moment(parted: list[tuple[Item, int]], sample: GraphStore) -> None:
    """By the facts alone: nothing of the list lies between the moment and what is chosen, and something beyond it."""
    facts = GraphFacts(sample, TABLE)
    assert len(parted) >= 20
    owners = set()
    for item, place in parted:
        hop = item.hops[place]
        answers = run_plan(item.hops[: place + 1], facts, TABLE)
        assert isinstance(hop.derivation, Compute)
        match = _PARTED.search(hop.derivation.expression)
        assert match is not None
        side, measure, moment, listed, owner = match.groups()
        when = answers[int(moment[3:])]
        whose = str(answers[int(owner[3:])]) if owner.startswith("hop") else owner
        members = sample.objects(whose, listed)
        dates = {one: facts.scalars(one, measure)[0] for one in members}
        assert len(members) >= FEWEST_LISTED
        assert all(isinstance(one, dt.date) for one in dates.values())
        assert isinstance(when, int | dt.date)
        sides = {one: is_later(date, when) for one, date in dates.items() if isinstance(date, dt.date)}
        assert all(later is not None or dates[one] == when for one, later in sides.items()), item.question
        found = [one for one, later in sides.items() if later is (side == "after")]
        assert 0 < len(found) < len(members)
        if hop.answer_type == "number":
            assert answers[hop.index] == len(found)
            continue
        nearest = (min if side == "after" else max)(found, key=lambda one: (dates[one], one))  # type: ignore[return-value,arg-type]
        assert answers[hop.index] == nearest
        assert sum(dates[one] == dates[nearest] for one in found) == 1, item.question
        owners.add(whose)
        chosen = dates[nearest]
        assert isinstance(chosen, dt.date)
        span = sorted((chosen.year, when.year if isinstance(when, dt.date) else when))
        assert not any(span[0] <= year <= span[1] for year in TABLE.unlisted.get(whose, ())), item.question
    assert owners & TABLE.unlisted.keys()


def test_wrong_options_are_of_the_same_list(parted: list[tuple[Item, int]], sample: GraphStore) -> None:
    facts = GraphFacts(sample, TABLE)
    for item, place in parted:
        hop = item.hops[place]
        assert isinstance(hop.derivation, Compute)
        match = _PARTED.search(hop.derivation.expression)
        if hop.answer_type != "entity" or match is None:
            continue
        answers = run_plan(item.hops[: place + 1], facts, TABLE)
        whose = str(answers[int(match[5][3:])]) if match[5].startswith("hop") else match[5]
        assert {one.id for one in hop.distractors} <= set(sample.objects(whose, match[4])), item.question


def test_a_date_that_cannot_be_told_from_the_moment_is_an_error(sample: GraphStore) -> None:
    traversals = GraphTraversals(WikidataSource(sample))
    owner = min(traversals.list_owners)
    whole = traversals.whole_lists(owner)[0]
    facts = GraphFacts(sample, TABLE)
    with pytest.raises(ExpressionError, match="before or after"):
        evaluate(
            f"size(after({whole.measure}, hop1, all({whole.property}, {owner})))", {1: whole.dates[0][0].year}, facts
        )


def test_works_lie_within_five_years_and_off_the_turn_of_a_year(
    parted: list[tuple[Item, int]], sample: GraphStore
) -> None:
    """A book bears the year after the one in which it came out, and who knows the decade knows no more than that."""
    facts = GraphFacts(sample, TABLE)
    near = 0
    for item, place in parted:
        hop = item.hops[place]
        assert isinstance(hop.derivation, Compute)
        match = _PARTED.search(hop.derivation.expression)
        assert match is not None
        _, measure, moment, listed, owner = match.groups()
        answers = run_plan(item.hops[: place + 1], facts, TABLE)
        when = answers[int(moment[3:])]
        whose = str(answers[int(owner[3:])]) if owner.startswith("hop") else owner
        dates = sorted(facts.scalars(one, measure)[0] for one in sample.objects(whose, listed))
        if not isinstance(when, dt.date):
            continue
        for one in dates:
            assert isinstance(one, dt.date)
            if TABLE.literal[measure].distance > 1 and (one.month, one.day) == (1, 1):
                apart = max(one - when, when - dt.date(one.year, 12, 31))
                assert apart > dt.timedelta(days=90), item.question
                near += apart < dt.timedelta(days=500)
        if hop.answer_type == "entity":
            before, after = ([one for one in dates if is_later(one, when) is later] for later in (False, True))  # type: ignore[arg-type]
            assert min(after) - max(before) <= dt.timedelta(days=5 * 365), item.question  # type: ignore[operator]
    assert near >= 3
