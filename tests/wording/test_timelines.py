"""Look-ups in timelines: which list a wording means, and which part of its entry."""

from __future__ import annotations

import re

import pytest

from hopwright.knowledge.properties import LiteralProperty
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.records import AnswerType, Derivation, Hop, Lookup, ReverseLookup
from hopwright.wording.llm.timelines import describe_holder, find_timeline, find_wrong_timeline, read_timeline
from hopwright.wording.llm.vocabulary import load_words

TIMELINES = {entry.timeline: entry for entry in default_table().literal.values() if entry.timeline}
BORN = "in the year in which X was born"


def read(name: str, text: str) -> str:
    """What is wrong with a question about one timeline."""
    timeline = TIMELINES[name]
    return find_wrong_timeline(read_timeline(timeline), timeline.holder_ask[0].replace("{y}", "1950"), text, text)


@pytest.mark.parametrize("name", sorted(TIMELINES))
def test_the_rules_words_of_every_timeline_say_it_and_no_other(name: str) -> None:
    timeline = TIMELINES[name]
    for template in (*timeline.holder_ask, *timeline.holder_np):
        assert read(name, template.replace("{y}", "1950")) == ""
    for other, entry in TIMELINES.items():
        if other != name:
            assert read(name, entry.holder_ask[0].replace("{y}", "1950")), f"{other} would do for {name}"


def test_every_timeline_of_the_word_lists_is_in_the_table() -> None:
    words = load_words()
    assert words["timelines"].keys() <= TIMELINES.keys()
    assert {entry["part"] for entry in words["timelines"].values()} <= words["parts"].keys()


def test_a_timeline_that_the_word_lists_do_not_know_is_said_by_its_names() -> None:
    made = TIMELINES["summer_olympics_host"]
    fields = {
        "timeline": "harvest_festival_host", "label": "host of the Harvest Festival",
        "holder_ask": ("Which town hosted the Harvest Festival in {y}?", "Where was the Harvest Festival held in {y}?"),
    }  # fmt: skip
    unknown = LiteralProperty.model_validate({**made.model_dump(exclude_unset=True), **fields})
    words, rules = read_timeline(unknown), unknown.holder_ask[0]
    assert words.part == "host"
    assert find_wrong_timeline(words, rules, said := "Where did they hold the Harvest Festival?", said) == ""
    assert find_wrong_timeline(words, rules, said := "Where did they hold the Spring Festival?", said)
    assert find_wrong_timeline(words, rules, said := "Who won at the Harvest Festival?", said)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("us_president", f"Who occupied the White House {BORN}?"),
        ("us_president", "Where was the then President of the United States born?"),
        ("us_president", "Who was the American president of that year?"),
        ("us_president", "Which president led the United States when X died?"),
        ("uk_monarch", f"Who reigned over Britain {BORN}, as king or queen?"),
        ("uk_prime_minister", f"Who lived in Downing Street as prime minister {BORN}?"),
        ("pope", f"Which pontiff led the Catholic Church {BORN}?"),
        ("nobel_literature", "Who was that year's Nobel laureate in literature?"),
        ("nobel_peace", "To whom was the Nobel Peace Prize awarded in that year?"),
        ("oscar_best_picture", "Which film took the Oscar for best picture at the ceremony held in that year?"),
        ("football_world_cup_winner", "Which nation lifted the FIFA World Cup that year?"),
        ("football_world_cup_host", f"Where was the football World Cup held {BORN}?"),
        ("summer_olympics_host", "What city was the host of that year's Summer Olympics?"),
        ("summer_olympics_host", "Where did the Summer Games take place in that year?"),
        ("winter_olympics_host", "Which town staged the Winter Games of that year?"),
        ("formula_one_champion", "Which driver won the Formula 1 title that year?"),
        ("eurovision_winner", "Which country's song won Eurovision that year?"),
    ],
)
def test_natural_words_for_a_timeline_are_right(name: str, text: str) -> None:
    assert read(name, text) == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("us_president", f"Who was elected President of the United States {BORN}?"),
        ("us_president", f"Who was Vice President of the United States {BORN}?"),
        ("us_president", f"Who was the successor of the American president {BORN}?"),
        ("us_president", f"Who was president {BORN}?"),
        ("us_president", f"Who was President of France {BORN}?"),
        ("uk_monarch", f"Whose coronation as monarch of the United Kingdom was held {BORN}?"),
        ("pope", f"Who was elected pope {BORN}?"),
        ("nobel_literature", f"Who won the Nobel Prize {BORN}?"),
        ("nobel_literature", f"Who was nominated for the Nobel Prize in Literature {BORN}?"),
        ("nobel_physics", f"Who won the Nobel Prize in Chemistry {BORN}?"),
        ("oscar_best_actor", f"Who won the Oscar for Best Actress {BORN}?"),
        ("oscar_best_director", f"Who won an Oscar {BORN}?"),
        ("football_world_cup_winner", f"Which country hosted the FIFA World Cup {BORN}?"),
        ("football_world_cup_winner", f"Which country was the losing finalist of the FIFA World Cup {BORN}?"),
        ("football_world_cup_winner", f"Which country won the World Cup {BORN}?"),
        ("football_world_cup_host", f"Which country won the FIFA World Cup {BORN}?"),
        ("summer_olympics_host", f"Which city hosted the Winter Olympics {BORN}?"),
        ("summer_olympics_host", f"Which city hosted the Olympics {BORN}?"),
        ("summer_olympics_host", f"Which country won most at the Summer Olympics {BORN}?"),
        ("super_bowl_winner", f"Which team won the World Series {BORN}?"),
    ],
)
def test_other_lists_and_other_parts_of_an_entry_are_seen(name: str, text: str) -> None:
    assert read(name, text)


def test_words_of_another_hop_are_no_fault() -> None:
    """A question may ask for a host by way of a winner, where the plan does."""
    words = read_timeline(TIMELINES["summer_olympics_host"])
    rules = "Which city hosted the Summer Olympics in the year in which the winner of the Pritzker Prize was born?"
    assert find_wrong_timeline(words, rules, rules, rules) == ""


@pytest.mark.parametrize("name", sorted(TIMELINES))
def test_a_brief_says_list_part_and_year(name: str) -> None:
    property = next(id for id, entry in default_table().literal.items() if entry.timeline == name)
    born, held = Lookup(subject="Q1", property="P569"), ReverseLookup(property=property, value="hop1")
    year = make_hop(1, "1950", "number", born)
    hop = make_hop(2, "X", "entity", held)
    timeline = find_timeline(hop, default_table())
    assert timeline is TIMELINES[name]
    told = describe_holder(hop, timeline, {1: year, 2: hop})
    assert f"of 1950 in the list `{timeline.label}`" in told
    assert re.search(r"\b(?:host|winner|recipient|holder)\b", told)
    assert find_timeline(year, default_table()) is None


def make_hop(index: int, answer: str, answer_type: AnswerType, derivation: Derivation) -> Hop:
    """A hop as far as a description looks at it."""
    return Hop.model_construct(
        index=index, question="?", answer=answer, answer_type=answer_type, depends_on=(), derivation=derivation
    )
