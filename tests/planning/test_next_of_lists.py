"""What comes right after a work, or before it, in the list of whoever made it: found, proven, worded and told."""

from __future__ import annotations

import datetime as dt
import re

import pytest

from hopwright.knowledge.facts import GraphFacts
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import Extreme, NextOfList, read_computation, read_form
from hopwright.planning.expressions import evaluate
from hopwright.planning.traversals import GraphTraversals
from hopwright.records import Hop, Item, Lookup
from hopwright.wording.llm.computed import describe_computation
from tests.drafts import draft_items, draft_ways, find_forms

TABLE = default_table()
RELEASE = TABLE.roles.release


@pytest.fixture(scope="module")
def asked(sample: GraphStore) -> list[tuple[Item, int, NextOfList]]:
    """Drafts that ask for what comes next in a list, the place (from 0) of that hop, and what it computes."""
    drafts = draft_ways(sample, "converging", "lead joint-of-both next-after-joint", 200)
    found = find_forms(drafts, NextOfList)
    assert len(found) >= 20
    return found


def test_an_expression_is_read_as_it_is_written() -> None:
    for reference in ("hop3", "Q212129"):
        for later in (True, False):
            form = NextOfList(RELEASE, "P990207", "P57", reference, later)
            assert read_form(form.write()) == form


def test_it_stands_right_beside_in_the_whole_list(sample: GraphStore) -> None:
    traversals = GraphTraversals(WikidataSource(sample))
    facts, checked = traversals.facts, 0
    for owner in sorted(traversals.list_owners):
        for whole in traversals.whole_lists(owner):
            for _, work in whole.dates:
                for one in traversals.next_of_lists(work):
                    if one.whole != whole:
                        continue
                    (own,) = facts.scalars(work, whole.measure)
                    assert isinstance(own, dt.date)
                    between = [date for date, _ in whole.dates if min(own, one.date) < date < max(own, one.date)]
                    assert not between and (one.date > own) is one.later
                    form = NextOfList(whole.measure, whole.property, one.maker, work, one.later)
                    assert evaluate(form.write(), {}, facts) == one.work
                    checked += 1
    assert checked > 1_000


def test_after_what_two_made_last_comes_something_else(
    asked: list[tuple[Item, int, NextOfList]], sample: GraphStore
) -> None:
    facts = GraphFacts(sample, TABLE)
    for item, place, form in asked:
        before = item.hops[int(form.reference[3:]) - 1]
        chosen = read_computation(before.derivation)
        assert isinstance(chosen, Extreme) and chosen.members is not None and chosen.largest is form.later
        partners = facts.objects(before.answer_id or "", chosen.members.credit)
        assert set(partners).isdisjoint(facts.objects(item.hops[place].answer_id or "", chosen.members.credit))


def test_it_is_asked_beside_the_end_of_what_two_made(asked: list[tuple[Item, int, NextOfList]]) -> None:
    own = r"(?:his|her|the \w+'s|\{\d: the \w+\}'s|[\w.]+'s)"
    for item, _, form in asked:
        side, turn = ("right after", "last") if form.later else ("just before", "first")
        work = TABLE.entity[form.property].collaboration
        assert re.search(rf"{side} \{{\d: {own} {turn} {work} with", item.marked), item.marked


def test_nothing_is_offered_as_what_follows_itself(
    asked: list[tuple[Item, int, NextOfList]], sample: GraphStore
) -> None:
    for item, place, form in asked:
        hop, own = item.hops[place], form.reference
        itself = item.hops[int(own[3:]) - 1].answer
        assert itself not in [one.text for one in hop.distractors], hop.question


def test_it_is_said_plainly(asked: list[tuple[Item, int, NextOfList]], sample: GraphStore) -> None:
    for item, place, form in asked:
        hops = {hop.index: hop for hop in item.hops}
        told = describe_computation(item.hops[place], hops, sample.label, TABLE)
        assert f"what comes right {'after' if form.later else 'before'}" in told


def test_the_answer_stands_beside_the_last_of_two_now_and_then(asked: list[tuple[Item, int, NextOfList]]) -> None:
    """Else whoever sees the options of all hops finds it among them, or strikes out what stands there."""
    offered = [
        item.hops[place].answer_id in {one.id for one in item.hops[int(form.reference[3:]) - 1].distractors}
        for item, place, form in asked
    ]
    assert 0.05 < sum(offered) / len(offered) < 0.6


def test_options_came_out_before_the_answer_and_after_it(
    asked: list[tuple[Item, int, NextOfList]], sample: GraphStore
) -> None:
    facts = GraphFacts(sample, TABLE)
    for item, place, form in asked:
        hop = item.hops[place]
        own, *others = (str(facts.scalars(one or "", form.measure)[0]) for one in (hop.answer_id, *_list_options(hop)))
        assert 0 < sum(date < own for date in others) < len(others), item.question


def _list_options(hop: Hop) -> list[str]:
    return [one.id for one in hop.distractors if one.id]


def test_whoever_does_not_go_on_finds_an_option(sample: GraphStore) -> None:
    """Who scored the last film of two is offered as who scored the next, if nobody scored the one that is named so."""
    facts = GraphFacts(sample, TABLE)
    offered = []
    for item in draft_ways(sample, "chain", "lead joint-with-named next-after-joint extend", 200):
        last, final = item.hops[1], item.hops[3]
        assert isinstance(final.derivation, Lookup) and isinstance(item.hops[0].derivation, Lookup)
        held, named = (
            facts.objects(one, final.derivation.property)
            for one in (last.answer_id or "", item.hops[0].derivation.subject)
        )
        if len(held) == 1 and held[0] != final.answer_id and held[0] not in named:
            offered.append(held[0] in _list_options(final))
    assert len(offered) > 10 and sum(offered) / len(offered) > 0.85


def test_of_what_others_bring_out_nobody_says_that_its_author_made_it(sample: GraphStore) -> None:
    drafts = draft_ways(sample, "chain", "lead joint-with-named next-after-joint extend", 200)
    brought = [
        (item, form)
        for item, _, form in (*find_forms(drafts, NextOfList), *find_forms(draft_items(sample), NextOfList))
        if TABLE.entity[form.property].brings != ("make", "made")
    ]
    assert len(brought) >= 5
    for item, form in brought:
        assert not re.search(r"\bma[dk]e\b", item.question), item.question
        assert any(one in item.question for one in TABLE.entity[form.property].brings), item.question
