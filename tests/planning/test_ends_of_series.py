"""The first or the last of a series of those that share something: held against the facts, worded, with its slips."""

from __future__ import annotations

import re

import pytest

from hopwright.errors import ExpressionError
from hopwright.knowledge.facts import EvidenceFacts, GraphFacts
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.series import Series, load_series
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import EndMember
from hopwright.planning.expressions import evaluate
from hopwright.planning.traversals import GraphTraversals
from hopwright.records import Compute, Item, Lookup
from hopwright.wording.llm.computed import describe_computation
from tests.drafts import draft_ways, find_forms

TABLE = default_table()
GEMINI, PILOT = "P991040", "P991042"


@pytest.fixture(scope="module")
def asked(sample: GraphStore) -> list[tuple[Item, int, EndMember]]:
    """Drafts that ask for the first or the last of several, the place (from 0) of that hop, and what it computes."""
    found = find_forms(draft_ways(sample, "chain", "named-member lead extend end-member"), EndMember)
    assert len(found) >= 10
    return found


def list_sharing(item: Item, form: EndMember, graph: GraphStore) -> list[str]:
    """The members that have in the column what an earlier hop found, in the order of the series."""
    shared = item.hops[int(form.reference[3:]) - 1].answer_id or ""
    facts = GraphFacts(graph, TABLE)
    return sorted(graph.subjects(form.column, shared), key=lambda one: int(str(facts.scalars(one, form.series)[0])))


def test_it_is_the_first_or_the_last_of_all_that_share_it(
    asked: list[tuple[Item, int, EndMember]], sample: GraphStore
) -> None:
    for item, place, form in asked:
        sharing = list_sharing(item, form, sample)
        assert len(sharing) >= 2
        assert item.hops[place].answer_id == sharing[-1 if form.last else 0], item.question


def test_others_of_the_series_lie_beyond_it(asked: list[tuple[Item, int, EndMember]], sample: GraphStore) -> None:
    """Else the first of them is the first of all, and what they share does not matter."""
    facts = GraphFacts(sample, TABLE)
    for item, place, form in asked:
        (own,) = facts.scalars(item.hops[place].answer_id or "", form.series)
        assert facts.subjects_of_scalar(form.series, int(str(own)) + (1 if form.last else -1)), item.question


def test_the_evidence_of_a_hop_proves_it_alone(asked: list[tuple[Item, int, EndMember]]) -> None:
    for item, place, _ in asked:
        hop = item.hops[place]
        assert isinstance(hop.derivation, Compute)
        answers = {one.index: one.answer_id or "" for one in item.hops[:place]}
        assert evaluate(hop.derivation.expression, answers, EvidenceFacts((hop,), TABLE)) == hop.answer_id


def test_whoever_takes_the_last_for_the_first_finds_an_option(
    asked: list[tuple[Item, int, EndMember]], sample: GraphStore
) -> None:
    for item, place, form in asked:
        ends: tuple[str, ...] = (list_sharing(item, form, sample)[0 if form.last else -1],)
        if ends[0] in {hop.answer_id for hop in item.hops[:place]}:
            continue  # by which what they share was found
        for hop in item.hops[place:]:
            if isinstance(hop.derivation, Lookup):
                ends = sample.objects(ends[0], hop.derivation.property)
            elif hop.index > place + 1:
                break  # a step along the series: whoever forgets it arrives elsewhere
            assert ends[0] in {one.id for one in hop.distractors}, (item.question, hop.question)


def test_only_people_and_what_people_make_are_shared(
    asked: list[tuple[Item, int, EndMember]], sample: GraphStore
) -> None:
    kinds = GraphTraversals(WikidataSource(sample)).kinds
    for item, _, form in asked:
        shared = item.hops[int(form.reference[3:]) - 1].answer_id or ""
        assert kinds.kind(shared) in ("person", "organization", "team", "work"), item.question


def test_a_column_that_says_so_gives_one_end_only(sample: GraphStore) -> None:
    """Of the Academy Awards of the table the first that somebody won may not be their first."""
    recurring = [one for held in GraphTraversals(WikidataSource(sample)).recurrences.values() for one in held]
    actresses = [one for one in recurring if one.column == "P991013"]
    assert actresses and not any(one.first for one in actresses)
    assert any(one.first for one in recurring) and any(one.last for one in recurring)


def test_it_is_said_plainly(asked: list[tuple[Item, int, EndMember]], sample: GraphStore) -> None:
    for item, place, form in asked:
        hops = {hop.index: hop for hop in item.hops}
        told = describe_computation(item.hops[place], hops, sample.label, TABLE)
        noun, end = TABLE.literal[form.series].series, "last" if form.last else "first"
        shared = item.hops[int(form.reference[3:]) - 1].answer
        assert told.startswith(f"the {end} {noun} that has {shared} as its"), told
        assert f" the {end} " in f" {item.hops[place].question} ", item.hops[place].question
        assert "of them's" not in item.question


def test_a_sentence_tells_of_the_member_that_is_known_by_something(asked: list[tuple[Item, int, EndMember]]) -> None:
    """`Thomas P. Stafford was the pilot on one Gemini mission. … commanded by the command pilot of that mission?`"""
    found = [(item, item.hops[int(form.reference[3:]) - 1].derivation) for item, _, form in asked]
    members = [(item, one.subject[3:]) for item, one in found if isinstance(one, Lookup) and one.subject[:3] == "hop"]
    told = [(item, hop) for item, hop in members if item.marked.startswith(f"{{{hop}: ")]
    assert len(told) >= 2
    for item, hop in told:
        scene, _, question = item.marked.partition("}. ")
        assert re.search(r"\b[Oo]ne\b", scene), item.marked
        assert question.count(f"{{{hop}: that ") == 1, item.marked


def test_one_of_several_is_described_or_told_of_before(asked: list[tuple[Item, int, EndMember]]) -> None:
    """`Where did the last Tour won by the runner-up in the one that X won start?`; what would be longer is told in a
    sentence: `The runner-up in the 1967 Tour won more than one Tour de France. Where did the last of them start?`
    """
    for item, place, form in asked:
        turn = f"{{{place + 1}: the {'last' if form.last else 'first'} "
        assert turn in item.marked, item.marked
        if "of them" in item.marked:
            assert re.search(rf"\b[Mm]ore than one\b.*\}}\. .*{turn}of them}}", item.marked), item.marked
    assert any("of them" not in item.marked for item, *_ in asked)


def test_another_member_has_the_same(asked: list[tuple[Item, int, EndMember]]) -> None:
    shared = [(one, one[0].hops[int(one[2].reference[3:]) - 1].derivation) for one in asked]
    alike = [(one, found) for one, found in shared if isinstance(found, Lookup) and found.property == one[2].column]
    assert alike
    for (item, place, _), found in alike:
        named = found.subject
        named = item.hops[int(named[3:]) - 1].answer_id or "" if named.startswith("hop") else named
        assert named != item.hops[place].answer_id


@pytest.mark.parametrize("series", load_series(), ids=lambda one: one.name)
def test_a_sentence_on_one_member_can_tell_of_several(series: Series) -> None:
    for column in series.columns.values():
        assert len(re.findall(r"\b[Oo]ne\b", column.reverse_told)) == 1, column.reverse_told


def test_what_one_member_alone_has_singles_out_no_first(sample: GraphStore) -> None:
    facts = GraphFacts(sample, TABLE)
    piloted = {one: sample.objects(one, PILOT) for one in sample.literal_subjects(GEMINI)}
    alone = next(people[0] for people in piloted.values() if len(sample.subjects(PILOT, people[0])) == 1)
    with pytest.raises(ExpressionError, match="1 have"):
        evaluate(f"first_with({GEMINI}, {PILOT}, hop1)", {1: alone}, facts)
