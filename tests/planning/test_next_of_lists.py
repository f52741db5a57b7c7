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
from tests.drafts import draft_ways, find_forms

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
            for _, work in whole.dates if whole.measure == RELEASE else ():
                for one in traversals.next_of_lists(work):
                    if one.whole != whole:
                        continue
                    (own,) = facts.scalars(work, RELEASE)
                    assert isinstance(own, dt.date)
                    between = [date for date, _ in whole.dates if min(own, one.date) < date < max(own, one.date)]
                    assert not between and (one.date > own) is one.later
                    form = NextOfList(RELEASE, whole.property, one.maker, work, one.later)
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
    own = r"(?:his|her|\{\d: the director\}'s|[\w.]+'s)"
    for item, _, form in asked:
        side, turn = ("right after", "last") if form.later else ("just before", "first")
        end = rf"{side} \{{\d: {own} {turn} collaboration with"
        assert re.search(end, item.marked), item.marked


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
    for item, place, _ in asked:
        hop = item.hops[place]
        own, *others = (str(facts.scalars(one or "", RELEASE)[0]) for one in (hop.answer_id, *_list_options(hop)))
        assert 0 < sum(date < own for date in others) < len(others), item.question


def _list_options(hop: Hop) -> list[str]:
    return [one.id for one in hop.distractors if one.id]


@pytest.fixture(scope="module")
def went_on(sample: GraphStore) -> list[tuple[Item, NextOfList]]:
    """Drafts that begin with what somebody made just before a named work, and what that hop computes."""
    bridges = draft_ways(sample, "bridge", "previous-of-work lead extend joint-of-both", 300)
    assert len(bridges) >= 15
    return [(item, form) for item, place, form in find_forms(bridges, NextOfList) if place == 0]


def test_what_came_just_before_was_made_with_somebody_for_the_last_time(
    went_on: list[tuple[Item, NextOfList]], sample: GraphStore
) -> None:
    """Nobody of that name had the part in anything later; one other person alone had it in what is named."""
    facts = GraphFacts(sample, TABLE)
    assert not any(form.later for _, form in went_on)
    for item, form in went_on:
        found, partner = item.hops[0].answer_id or "", item.hops[1].answer_id or ""
        lookup = item.hops[1].derivation
        assert isinstance(lookup, Lookup)
        credit = lookup.property
        listed = _list_from(form, facts)
        place = listed.index(found)
        assert listed[place - 1] == form.reference
        assert len(facts.objects(form.reference, credit)) == 1
        assert all(partner not in facts.objects(one, credit) for one in listed[:place])


def _list_from(form: NextOfList, facts: GraphFacts) -> list[str]:
    """The list of whoever made a named work, from its end on the side from which a hop goes on."""
    (owner,) = facts.objects(form.reference, form.maker)
    dated = sorted((str(facts.scalars(one, RELEASE)[0]), one) for one in facts.objects(owner, form.property))
    return [one for _, one in (dated if form.later else reversed(dated))]


def test_the_end_of_what_the_two_made_lies_beyond_what_came_beside_that(
    went_on: list[tuple[Item, NextOfList]], sample: GraphStore
) -> None:
    facts = GraphFacts(sample, TABLE)
    for item, form in went_on:
        joint = next(hop for hop in item.hops if "having" in str(getattr(hop.derivation, "expression", "")))
        listed = _list_from(form, facts)
        assert listed.index(joint.answer_id or "") > listed.index(item.hops[0].answer_id or "") + 1


def test_a_sentence_before_the_question_says_on_what_somebody_is_found(went_on: list[tuple[Item, NextOfList]]) -> None:
    """Of a previous film of a sentence's own subject nobody asks what it is previous to."""
    for item, _ in went_on:
        own = r"(?:his|her|the director's) previous film"
        told = rf'For ".*, its director replaced the \w+ of {own}\. (?P<asked>.*)'
        found = re.fullmatch(told, item.question)
        assert found and found["asked"] == "What was the first feature film that the two had made together?"


def test_the_first_step_names_a_director_only_where_the_question_does(went_on: list[tuple[Item, NextOfList]]) -> None:
    for item, _ in went_on:
        by_role = "the director of" in item.hops[0].question
        assert by_role is (item.topology == "bridge"), item.hops[0].question
