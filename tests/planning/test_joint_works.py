"""What two people made together, held against the facts by brute force."""

from __future__ import annotations

import datetime as dt
import re

import pytest

from hopwright.errors import ExpressionError, InputError
from hopwright.knowledge.facts import GraphFacts
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import Extreme, GroupSize, Members, read_form
from hopwright.planning.execution import execute, run_plan
from hopwright.planning.expressions import evaluate
from hopwright.planning.traversals import GraphTraversals, JointWork
from hopwright.records import Compute, Item, Lookup
from hopwright.stages.drafting import Synthesizer
from tests.drafts import draft_items, find_computations

TABLE = default_table()
_JOINT = re.compile(r"arg(min|max)\((P\d+), having\((P\d+), (hop\d|Q\w+), all\((P\d+), (hop\d|Q\w+)\)\)\)")


@pytest.fixture(scope="module")
def traversals(sample: GraphStore) -> GraphTraversals:
    return GraphTraversals(WikidataSource(sample))


@pytest.fixture(scope="module")
def joint(traversals: GraphTraversals) -> list[JointWork]:
    return [one for owner in sorted(traversals.list_owners) for one in traversals.joint_works(owner)]


@pytest.fixture(scope="module")
def drafted(sample: GraphStore) -> list[tuple[Item, int]]:
    """Drafts, and the place (from 0) of their hop that asks for a joint work."""
    return find_computations(draft_items(sample), _JOINT)


def test_form_of_joint_works() -> None:
    members = Members("P990207", "hop1", outward=False, credit="P86", partner="hop2")
    assert read_form("argmin(P577, having(P86, hop2, all(P990207, hop1)))") == Extreme("P577", (), False, members)
    assert read_form("argmin(P577, having(P86, hop2, hop1))") is None
    assert read_form("size(having(P86, hop2, all(P990207, hop1)))") == GroupSize(members)


def test_no_other_work_can_come_before_the_first(joint: list[JointWork], sample: GraphStore) -> None:
    """By years and days alone, whatever a bare year stands for: all that could be earlier is by others."""
    facts = GraphFacts(sample, TABLE)
    assert len(joint) >= 150
    assert len({one.owner for one in joint}) >= 30
    for one in joint:
        works = sample.objects(one.owner, one.whole.property)
        credited = {work: sample.objects(work, one.credit) for work in works}
        assert credited[one.work] == (one.partner,)
        (own,) = _list_days(facts, one, [one.work])
        for work in set(works) - {one.work}:
            (days,) = _list_days(facts, one, [work])
            earlier = days[0] <= own[1] if not one.largest else days[1] >= own[0]
            assert not earlier or (credited[work] and one.partner not in credited[work])
        others = [work for work in works if one.partner in credited[work]]
        assert len(others) >= 2
        spans = _list_days(facts, one, [work for work in works if work != one.work])
        outside = [span for span in spans if (span[0] > own[1] if one.largest else span[1] < own[0])]
        assert outside, "the partner makes no difference"


def _list_days(facts: GraphFacts, joint: JointWork, works: list[str]) -> list[tuple[dt.date, dt.date]]:
    """The first and the last day on which each may have come out."""
    found = []
    for work in works:
        (day,) = facts.scalars(work, joint.whole.measure)
        assert isinstance(day, dt.date)
        found.append(_list_span(day))
    return found


def test_what_is_proven_is_what_the_expression_gives(joint: list[JointWork], sample: GraphStore) -> None:
    facts = GraphFacts(sample, TABLE)
    for one in joint:
        function = "argmax" if one.largest else "argmin"
        members = f"having({one.credit}, hop2, all({one.whole.property}, hop1))"
        expression = f"{function}({one.whole.measure}, {members})"
        assert evaluate(expression, {1: one.owner, 2: one.partner}, facts) == one.work


def test_all_that_two_made_together_is_counted(traversals: GraphTraversals, sample: GraphStore) -> None:
    """Of every work on the list it is known with whom it was made, and the partner made some of them, not all."""
    counts = [one for owner in sorted(traversals.list_owners) for one in traversals.joint_counts(owner)]
    assert len(counts) >= 60
    for one in counts:
        works = sample.objects(one.owner, one.whole.property)
        theirs = {work for work in works if one.partner in sample.objects(work, one.credit)}
        assert set(one.works) == theirs
        assert 2 <= len(theirs) < len(works)
        assert all(sample.objects(work, one.credit) for work in works)
        expression = f"size(having({one.credit}, hop2, all({one.whole.property}, hop1)))"
        assert evaluate(expression, {1: one.owner, 2: one.partner}, GraphFacts(sample, TABLE)) == len(theirs)


def _list_span(date: dt.date) -> tuple[dt.date, dt.date]:
    """The first and the last day that a date may stand for."""
    return (date, date.replace(month=12, day=31)) if (date.month, date.day) == (1, 1) else (date, date)


def test_nothing_is_chosen_where_nobody_worked_with_them(joint: list[JointWork], sample: GraphStore) -> None:
    one = joint[0]
    expression = f"argmin({one.whole.measure}, having({one.credit}, hop2, all({one.whole.property}, hop1)))"
    with pytest.raises(ExpressionError, match="argmin of nothing"):
        evaluate(expression, {1: one.owner, 2: one.work}, GraphFacts(sample, TABLE))


def test_partners_are_found_in_the_part_that_they_had(drafted: list[tuple[Item, int]]) -> None:
    """Who wrote a film's music is asked for as its composer, not as somebody's husband."""
    assert len(drafted) >= 20
    for item, place in drafted:
        hop = item.hops[place]
        assert isinstance(hop.derivation, Compute)
        match = _JOINT.match(hop.derivation.expression)
        assert match is not None
        if match[4].startswith("hop"):
            source = item.hops[int(match[4][3:]) - 1].derivation
            parts = (match[3], *TABLE.entity[match[3]].found_by)
            assert not isinstance(source, Lookup) or source.property in parts, item.question


def test_wrong_works_are_of_the_same_maker(drafted: list[tuple[Item, int]], sample: GraphStore) -> None:
    """Others that the two made together stand among them, as far as there are any."""
    facts = GraphFacts(sample, TABLE)
    for item, place in drafted:
        hop = item.hops[place]
        assert isinstance(hop.derivation, Compute)
        match = _JOINT.match(hop.derivation.expression)
        assert match is not None
        answers = run_plan(item.hops[: place + 1], facts, TABLE)
        partner, owner = (str(answers[int(one[3:])]) if one.startswith("hop") else one for one in (match[4], match[6]))
        works = sample.objects(owner, match[5])
        wrong = {one.id for one in hop.distractors}
        assert wrong <= set(works), item.question
        named = {hop.derivation.subject for hop in item.hops if isinstance(hop.derivation, Lookup)}
        named |= {one.answer_id or "" for one in item.hops[:place]}
        others = {one for one in works if partner in sample.objects(one, match[3])} - {hop.answer_id}
        if named.isdisjoint(others):  # else nothing is offered that lies on the other side of the one that is named
            assert not wrong.isdisjoint(others), item.question


def test_a_mistaken_choice_leads_elsewhere(drafted: list[tuple[Item, int]], sample: GraphStore) -> None:
    """Who takes another of the works of two arrives at another answer, as far as the facts lead on from it."""
    facts = GraphFacts(sample, TABLE)
    tried = 0
    for item, place in drafted:
        hop = item.hops[place]
        assert isinstance(hop.derivation, Compute)
        match = _JOINT.match(hop.derivation.expression)
        assert match is not None
        answers = run_plan(item.hops, facts, TABLE)
        partner, owner = (str(answers[int(one[3:])]) if one.startswith("hop") else one for one in (match[4], match[6]))
        for other in sample.objects(owner, match[5]):
            if partner not in sample.objects(other, match[3]) or other == hop.answer_id or hop.index == len(item.hops):
                continue
            given = dict(answers) | {hop.index: other}
            try:
                for later in item.hops[hop.index :]:
                    given[later.index] = execute(later.derivation, later.answer_type, given, facts, TABLE)
            except (ExpressionError, InputError):
                continue
            tried += 1
            assert given[len(item.hops)] != answers[len(item.hops)], item.question
    assert tried >= 10


def test_what_is_asked_of_a_joint_work_differs_within_its_list(sample: GraphStore) -> None:
    """Else there are no wrong options, and a plan is drawn for nothing."""
    items, rejected = Synthesizer(sample, TABLE, seed=5).draft((), 0, 120)
    assert len(find_computations(items, _JOINT)) >= 40
    assert sum(one.check == "distractors_losers" for one in rejected) <= len(items) / 10
