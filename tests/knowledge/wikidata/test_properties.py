"""The property table: every template is well formed, fits real facts of the sample, and reads as English."""

from __future__ import annotations

import random
import re
import string
from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.knowledge.properties import EntityProperty, EntityWording, LiteralProperty, LiteralWording
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore

TABLE = default_table()
ENTITY = sorted(TABLE.entity.items(), key=lambda item: int(item[0][1:]))
LITERAL = sorted(TABLE.literal.items(), key=lambda item: int(item[0][1:]))
# Property → why its kinds leave out part of the sample on purpose.
NARROWED = {
    "P17": "rivers and ranges cross borders, a country lies in itself, an award has no location",
    "P155": "the edition before a race or season can be read from its name",
    "P276": "a people or an award has no one location",
    "P1376": "of a country it names former seats of government too; its own P36 is asked",
    "P945": "the data calls an alliance a state",
}
FILLERS = ("Iceland", "the Rhine", '"Psycho"', "an hour", 'the country where the director of "Psycho" was born')
FEW = 10


def entity_wordings() -> list[tuple[str, EntityProperty | EntityWording]]:
    return [(id, one) for id, entry in ENTITY for one in (entry, *entry.variants)]


def literal_wordings() -> list[tuple[str, LiteralProperty | LiteralWording]]:
    return [(id, one) for id, entry in LITERAL for one in (entry, *entry.variants)]


def all_phrases() -> list[tuple[str, str, str, str]]:
    """(property, field, the one placeholder it must have, template)."""
    found = []
    for id, entity in entity_wordings():
        found += [(id, form, "s", t) for form in ("ask", "np") for t in getattr(entity, form)]
        found += [(id, form, "ns", t) for form in ("ask_typed", "np_typed") for t in getattr(entity, form)]
        found += [(id, "predicate", "o", t) for t in entity.predicate]
    for id, literal in literal_wordings():
        forms = ("ask", "np", "year_ask", "year_np", "event")
        found += [(id, form, "s", t) for form in forms for t in getattr(literal, form)]
        found += [(id, form, "", t) for form in ("more", "less") for t in getattr(literal, form)]
        found += [(id, "year_predicate", "y", t) for t in literal.year_predicate]
    for id, timeline in LITERAL:
        forms = ("holder_ask", "holder_np", "holders_np")
        found += [(id, form, "y", t) for form in forms for t in getattr(timeline, form)]
        found += [(id, "together_np", "ay", t) for t in timeline.together_np]
    return found


def test_the_table_is_large_enough_and_numbered_as_in_wikidata() -> None:
    assert len(TABLE.entity) + len(TABLE.literal) >= 150
    assert not TABLE.entity.keys() & TABLE.literal.keys()
    assert all(re.fullmatch(r"P[1-9]\d*", id) for id in (*TABLE.entity, *TABLE.literal))


@pytest.mark.parametrize(("id", "form", "placeholders", "template"), all_phrases())
def test_every_template_has_exactly_its_placeholder(id: str, form: str, placeholders: str, template: str) -> None:
    names = sorted(name for _, name, _, _ in string.Formatter().parse(template) if name is not None)
    assert names == sorted(placeholders)
    for filler in FILLERS:
        text = template.format(s=filler, o=filler, a=filler, y="1950", n="Italian city")
        assert "  " not in text and text == text.strip()
        assert not re.search(r"\b(\w+) \1\b", text.replace(filler, "X")), text
        # A name may end in any letter, a title in its quotation mark: no possessive goes with them, nor a contraction.
        short = re.search(r"\}'s\b|\b(?:it|that|there|wh?ere|what|who|he|she)'s\b", template, re.IGNORECASE)
        assert not short, template
        assert not re.search(r"\ba [aeio]|\ban [^aeiouh]", template), template
        if "ask" in form:
            assert text.endswith("?") and template[0].isupper()
        else:
            assert "?" not in text and template[0].islower()
        if "np" in form:
            assert template.startswith("the ") and not template.endswith((",", "."))


@pytest.mark.parametrize(("id", "entry"), ENTITY)
def test_a_property_that_may_be_asked_can_be_worded(id: str, entry: EntityProperty) -> None:
    if entry.lookup:
        assert entry.ask and entry.np
    if entry.reverse != "no":
        assert entry.predicate or (entry.series and entry.reverse_ask and entry.reverse_np)
    assert entry.subject and entry.object


@pytest.mark.parametrize(("id", "entry"), LITERAL)
def test_a_literal_that_may_be_asked_can_be_worded(id: str, entry: LiteralProperty) -> None:
    if entry.timeline:  # asked only for who holds a year
        assert entry.value == "year" and entry.holder_ask and entry.holder_np and entry.year_predicate
        assert not (entry.more or entry.less or entry.ask or entry.year_ask or entry.event)
        return
    assert not (entry.holder_ask or entry.holder_np or entry.holder_when)
    if entry.series:  # a place that nobody is asked for
        assert not (entry.more or entry.less or entry.ask or entry.year_ask or entry.event)
        return
    assert entry.more and entry.less
    if entry.value == "number":
        assert entry.np
        # What is measured differently from source to source is compared at a distance, and never asked for.
        assert entry.ask or not entry.stable or entry.distance > 0
        assert entry.stable or entry.margin > 0
        assert not (entry.year_ask or entry.event or entry.year_predicate)
    else:
        assert entry.year_ask and entry.year_np and entry.event and entry.year_predicate


def test_timelines_have_names_and_ids_of_their_own() -> None:
    timelines = {id: entry.timeline for id, entry in LITERAL if entry.timeline}
    assert len(set(timelines.values())) == len(timelines) > 10
    own = {int(id[1:]) for id in (*TABLE.entity, *TABLE.literal) if int(id[1:]) > 990_000}
    assert {f"P{id}" for id in own if id <= 990_100} == timelines.keys()


@pytest.mark.parametrize(("id", "entry"), ENTITY)
def test_variants_are_for_kinds_that_the_property_joins(id: str, entry: EntityProperty) -> None:
    for variant in entry.variants:
        assert set(variant.subject) <= set(entry.subject)
        assert set(variant.object) <= set(entry.object)


def test_the_wording_follows_the_kinds_of_a_fact() -> None:
    country = TABLE.entity["P17"]
    race = country.worded("event", "country", "country").ask
    club = country.worded("team", "country", "country").ask
    assert race != club != country.ask
    assert country.worded("award", "country").ask == country.ask


def test_the_typed_phrase_names_which_of_nested_units_is_meant() -> None:
    located = TABLE.entity["P131"]
    phrases = located.worded("place", "place", "Italian province")
    assert all("Italian province" in phrase and "{n}" not in phrase for phrase in (*phrases.ask, *phrases.np))
    assert located.worded("place", "place").ask == located.ask
    assert located.worded("place", "place", "thing").ask == located.ask, "a vague noun says nothing"


def test_a_variant_keeps_the_phrases_that_it_does_not_replace() -> None:
    won = TABLE.entity["P463"].worded("country", "organization")
    assert won.predicate == ("is a member of {o}",)
    assert won.label == "member of" and won.domain == TABLE.entity["P463"].domain


def test_kinds_cover_the_facts_of_the_sample(sample: GraphStore, sample_kinds: KindIndex) -> None:
    gaps = {}
    for id, entry in ENTITY:
        facts = sample.edges(id)
        if len(facts) < FEW or id in NARROWED:
            continue
        subjects = sum(sample_kinds.kind(subject) in entry.subject for subject, _ in facts)
        objects = sum(sample_kinds.kind(object) in entry.object for _, object in facts)
        if min(subjects, objects) < 0.9 * len(facts):
            gaps[id] = (subjects, objects, len(facts))
    for id, literal in LITERAL:
        held = sample.literal_subjects(id)
        covered = sum(sample_kinds.kind(subject) in literal.subject for subject in held)
        if len(held) >= FEW and covered < 0.9 * len(held):
            gaps[id] = (covered, 0, len(held))
    assert gaps == {}


def test_what_may_be_looked_up_mostly_has_one_value(sample: GraphStore) -> None:
    loose = {}
    for id, entry in ENTITY:
        per_subject = Counter(subject for subject, _ in sample.edges(id))
        single = sum(count == 1 for count in per_subject.values())
        # A race has several winners in one car; what has more than one value is looked up of no member of a series.
        # Several may be credited with the same part: films often have several writers, and musicals more often still.
        least = {"screenwriter": 0.65, "book writer": 0.55}.get(entry.role, 0.75) if entry.credit else 0.8
        if entry.lookup and not entry.series and len(per_subject) >= FEW and single < least * len(per_subject):
            loose[id] = (single, len(per_subject))
    assert loose == {}


def test_what_may_be_asked_back_alone_mostly_has_one_subject(sample: GraphStore) -> None:
    loose = {}
    for id, entry in ENTITY:
        per_object = Counter(object for _, object in sample.edges(id))
        single = sum(count == 1 for count in per_object.values())
        # Who stands twice in a column of a series leads to no member of it.
        if entry.reverse == "alone" and not entry.series and len(per_object) >= FEW and single < 0.9 * len(per_object):
            loose[id] = (single, len(per_object))
    assert loose == {}


def test_literals_of_the_sample_can_be_read(sample: GraphStore) -> None:
    for id, entry in LITERAL:
        values = [
            TABLE.read(literal)
            for subject in sample.literal_subjects(id)
            for literal in sample.literals(subject)
            if literal.property == id and entry.axis in ("", literal.unit)
        ]
        assert sum(value is not None for value in values) >= 0.95 * len(values), id
        if entry.decimals == 0 and entry.value == "number":
            assert all(isinstance(value, int) for value in values if value is not None), id


def test_units_bring_numbers_to_everyday_sizes(sample: GraphStore) -> None:
    ranges = {"P2048": (150, 230), "P2250": (40, 95), "P2052": (20, 60), "P2884": (90, 250)}
    for id, (low, high) in ranges.items():
        for subject in set(sample.literal_subjects(id)) - set(TABLE.literal[id].avoid):
            for literal in sample.literals(subject):
                value = TABLE.normalise(id, literal.value, literal.datatype) if literal.property == id else None
                assert value is None or low <= value <= high, (id, subject, value)


def test_filled_phrases_of_real_facts_read_clean(sample: GraphStore, sample_kinds: KindIndex) -> None:
    rng = random.Random("phrases")
    for id, entry in ENTITY:
        facts = [
            (subject, object)
            for subject, object in sample.edges(id)
            if sample_kinds.kind(subject) in entry.subject and sample_kinds.kind(object) in entry.object
        ]
        for subject, object in rng.sample(facts, min(5, len(facts))):
            phrases = entry.worded(sample_kinds.kind(subject), sample_kinds.kind(object), sample_kinds.noun(object))
            s, o = sample_kinds.phrase(subject), sample_kinds.phrase(object)
            for template in (*phrases.ask, *phrases.np, *phrases.predicate):
                text = template.format(s=s, o=o)
                bare = text.replace(s, "X").replace(o, "X")
                assert not re.search(r"  |\{|\}|\b(the|of|in|a|an) \1\b|\bthe The\b", bare), text
                assert not re.search(r"\bthe the\b|\bthe The\b", text), text


@given(one=st.integers(-900, 900), other=st.integers(-900, 900))
def test_latitudes_are_compared_where_a_whole_degree_is_between_them(one: int, other: int) -> None:
    a, b = Decimal(one) / 10, Decimal(other) / 10
    assert TABLE.differ("P625", a, b) == (abs(one - other) >= 10)
    assert TABLE.differ("P625", a, b) == TABLE.differ("P625", b, a)


def test_of_a_coordinate_only_the_latitude_is_read() -> None:
    assert TABLE.normalise("P625", "45.46", "double", "Latitude") == Decimal("45.5")
    assert TABLE.normalise("P625", "9.19", "double", "Longtiude") is None
    assert TABLE.normalise("P625", "45.46", "double") is None
    assert TABLE.normalise("P2044", "8586", "double", "Q11573") is None
