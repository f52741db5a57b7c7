"""What the maker of a named work made first or last, and who worked on that: found, proven, worded and told."""

from __future__ import annotations

import re

import pytest

from hopwright.knowledge.facts import GraphFacts
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import EndOfMaker, Extreme, read_computation, read_form
from hopwright.records import Item, Lookup
from hopwright.wording.llm.computed import describe_computation
from tests.drafts import draft_ways, find_forms

TABLE = default_table()
RELEASE = TABLE.roles.release
_OWN = r"(?:his|her|\{{\d: the director\}}'s) {turn} one\}}"


@pytest.fixture(scope="module")
def bridges(sample: GraphStore) -> list[tuple[Item, EndOfMaker]]:
    """Drafts that begin with what the maker of a named work made first or last, and what that hop computes."""
    drafts = draft_ways(sample, "bridge", "end-beside-work lead extend joint-of-both", 300)
    found = [(item, form) for item, place, form in find_forms(drafts, EndOfMaker) if place == 0]
    assert len(found) >= 30
    return found


def test_an_expression_is_read_as_it_is_written() -> None:
    for largest in (True, False):
        form = EndOfMaker(RELEASE, "P990207", "P57", "Q212129", largest)
        assert read_form(form.write()) == form


def test_a_plan_begins_with_either_end_of_the_list_of_a_works_director(
    bridges: list[tuple[Item, EndOfMaker]], sample: GraphStore
) -> None:
    facts = GraphFacts(sample, TABLE)
    for item, form in bridges:
        (owner,) = facts.objects(form.reference, form.maker)
        listed = sorted(facts.objects(owner, form.property), key=lambda one: str(facts.scalars(one, RELEASE)[0]))
        assert item.hops[0].answer_id == listed[-1 if form.largest else 0] != form.reference
        assert item.hops[2].answer_id == owner
    assert {form.largest for _, form in bridges} == {True, False}


def test_whoever_worked_on_it_alone_made_more_with_the_director(
    bridges: list[tuple[Item, EndOfMaker]], sample: GraphStore
) -> None:
    """Of those who worked on the first, the last is asked for; of those who worked on the last, the first."""
    facts = GraphFacts(sample, TABLE)
    for item, form in bridges:
        end, partner, joint = item.hops[0].answer_id or "", item.hops[1].answer_id, item.hops[3]
        lookup, chosen = item.hops[1].derivation, read_computation(joint.derivation)
        assert isinstance(lookup, Lookup) and isinstance(chosen, Extreme)
        assert list(facts.objects(end, lookup.property)) == [partner]
        assert chosen.largest is not form.largest and joint.answer_id != end
        assert partner in facts.objects(joint.answer_id or "", lookup.property)


def test_a_question_says_on_what_somebody_is_found(bridges: list[tuple[Item, EndOfMaker]]) -> None:
    """Within itself, in one sentence: `the last film that the director of X made with the editor of his first one`."""
    for item, form in bridges:
        assert re.search(_OWN.format(turn="last" if form.largest else "first"), item.marked), item.marked
        assert f" {'first' if form.largest else 'last'} " in item.question
        assert not re.search(r"\. (?=Wh|On )", item.question)


def test_the_first_step_names_no_director(bridges: list[tuple[Item, EndOfMaker]]) -> None:
    for item, form in bridges:
        turn = "last" if form.largest else "first"
        assert re.fullmatch(rf"What was the {turn} feature film by the director of .*\?", item.hops[0].question)


def test_it_is_said_plainly(bridges: list[tuple[Item, EndOfMaker]], sample: GraphStore) -> None:
    for item, form in bridges:
        told = describe_computation(item.hops[0], {hop.index: hop for hop in item.hops}, sample.label, TABLE)
        assert f"what comes {'last' if form.largest else 'first'}" in told
