"""Steps along series, such as the FIFA World Cups: held against the facts, worded, and with the right wrong options."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from hopwright.knowledge.facts import GraphFacts
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.series import Series, load_series
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import NextMember
from hopwright.planning.traversals import GraphTraversals
from hopwright.records import Compute, Item, Lookup
from hopwright.text.numbered_names import find_counted_on
from hopwright.wording.llm.computed import describe_computation
from tests.drafts import draft_items, find_forms

TABLE = default_table()
TABLES = Path(__file__).resolve().parents[2] / "scripts/sample/series"


def read_rows(series: Series) -> list[dict[str, str]]:
    with (TABLES / f"{series.name}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def asked(sample: GraphStore) -> list[tuple[Item, int, NextMember]]:
    """Drafts that step along a series, the place (from 0) of that hop, and what it computes."""
    return find_forms(draft_items(sample, 400), NextMember)


@pytest.mark.parametrize("series", load_series(), ids=lambda one: one.name)
def test_a_table_has_the_columns_of_its_wording(series: Series) -> None:
    rows = read_rows(series)
    assert [*rows[0]] == ["name", *(column for column in series.cells if column != "name")]
    assert len({row["name"] for row in rows}) == len(rows)
    for column, (property, *_) in series.cells.items():
        if column != "name" and series.columns[property].reverse == "alone":
            assert all(row[column] for row in rows), column  # else somebody else may be meant as well


@pytest.mark.parametrize("series", load_series(), ids=lambda one: one.name)
def test_every_phrase_has_its_place(series: Series) -> None:
    place = series.place
    assert all((place.next_ask, place.next_np, place.previous_ask, place.previous_np))
    for phrase in (*place.next_ask, *place.next_np, *place.previous_ask, *place.previous_np):
        assert phrase.count("{s}") == 1, phrase
    for column in series.columns.values():
        assert all(one.count("{s}") == 1 for one in (*column.ask, *column.np)), column.label
        assert all(one.count("{o}") == 1 for one in (*column.reverse_ask, *column.reverse_np)), column.label
        # In longer questions it becomes `the one`.
        opening = rf"the (only )?{re.escape(place.series)}"
        assert all(re.match(opening, one) for one in column.reverse_np), column.label


def test_the_sample_has_every_series_without_a_gap(sample: GraphStore) -> None:
    facts = GraphFacts(sample, TABLE)
    for series in load_series():
        places = {facts.scalars(one, series.property) for one in sample.literal_subjects(series.property)}
        assert places == {(place,) for place in range(1, len(read_rows(series)) + 1)}, series.name


def test_what_is_next_stands_one_place_further(asked: list[tuple[Item, int, NextMember]], sample: GraphStore) -> None:
    facts = GraphFacts(sample, TABLE)
    assert len(asked) >= 10
    for item, place, form in asked:
        found = item.hops[int(form.reference[3:]) - 1].answer_id or ""
        (own,), (next_place,) = (
            facts.scalars(one, form.series) for one in (found, item.hops[place].answer_id or "")
        )
        assert next_place == int(str(own)) + (1 if form.later else -1)


def test_a_member_is_found_by_what_it_alone_has(asked: list[tuple[Item, int, NextMember]], sample: GraphStore) -> None:
    for item, _, form in asked:
        found = item.hops[int(form.reference[3:]) - 1]
        if isinstance(found.derivation, Compute):
            continue  # the first of several
        facts = [one for one in found.evidence.triplets if one.subject == found.answer_id]
        columns = [one for one in facts if TABLE.entity[one.property].series]  # it may be in two series
        assert columns or isinstance(found.derivation, Lookup), item.question
        for fact in columns:
            assert sample.subjects(fact.property, fact.object) == (fact.subject,)


def test_no_step_is_taken_that_names_alone_give_away(
    asked: list[tuple[Item, int, NextMember]], sample: GraphStore
) -> None:
    traversals = GraphTraversals(WikidataSource(sample))
    for ceremony in traversals.series["P991010"]:  # the 36th Academy Awards followed the 35th
        assert not traversals.members_beside(ceremony)
    for item, place, form in asked:
        names = [sample.label(one) for one in traversals.series[form.series]]
        pair = {item.hops[int(form.reference[3:]) - 1].answer, item.hops[place].answer}
        assert not any({names[one], names[one + 1]} == pair for one in find_counted_on(names)), pair


def test_a_step_is_said_plainly(asked: list[tuple[Item, int, NextMember]], sample: GraphStore) -> None:
    for item, place, form in asked:
        hops = {hop.index: hop for hop in item.hops}
        told = describe_computation(item.hops[place], hops, sample.label, TABLE)
        found = item.hops[int(form.reference[3:]) - 1].answer
        assert told == f"the {TABLE.literal[form.series].series} right {'after' if form.later else 'before'} {found}"


def test_whoever_forgets_the_step_finds_an_option(
    asked: list[tuple[Item, int, NextMember]], sample: GraphStore
) -> None:
    """The last hop offers what is known of the member that the last step was taken from."""
    last = {item.id: (item, place, form) for item, place, form in asked}
    for item, place, form in last.values():
        ends: tuple[str, ...] = (item.hops[int(form.reference[3:]) - 1].answer_id or "",)
        for hop in item.hops[place + 1 :]:
            if not isinstance(hop.derivation, Lookup):
                break  # the last of what several share: whoever takes the first arrives there
            ends = sample.objects(ends[0], hop.derivation.property)
        else:
            assert ends[0] in {one.id for one in item.hops[-1].distractors}, item.question
            assert ends[0] != item.hops[-1].answer_id
