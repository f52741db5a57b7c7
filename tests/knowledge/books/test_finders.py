"""Names that a tagger or a language model finds: once a name is one wherever it stands, none is invented."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterable
from typing import Any

import pytest

from hopwright.errors import InputError
from hopwright.knowledge.books.book import Book
from hopwright.knowledge.books.mentions import MentionGraph, build_graph
from hopwright.knowledge.books.model_finder import ModelFinder, cut_parts
from hopwright.knowledge.books.name_words import load_name_words
from hopwright.knowledge.books.reading import BookNotes, parse_book
from hopwright.knowledge.books.spacy_finder import PACKAGES, SpacyFinder
from hopwright.knowledge.books.spotting import TaggedName, spot_names, strip_titles
from hopwright.llm.answers import ListedNames
from hopwright.llm.types import Failure, Outcome, Request, Response, TokenUsage
from tests.novels.story import PEOPLE, PLACES, tell_story

TEXT = "CHAPTER I\n\n" + "\n\n".join(
    [
        "Mr. Alder met Captain Rusk at Highmoor, and Mrs. Alder’s sister Judith had come to Highmoor with both.",
        "Then Alder’s horse was lame, and neither Judith nor Old Rusk could do anything about it before the evening.",
    ]
    * 12
)


def read(text: str) -> Book:
    return parse_book(text.encode(), "x.txt", BookNotes(title="X", author="Y", licence="CC0-1.0"))


def name_all(graph: MentionGraph, book: Book) -> set[tuple[str, str]]:
    """What stands in the text, and whom it surely means."""
    return {
        (" ".join(book.text[one.start : one.end].split()), graph.entities[one.entities[0]].name)
        for one in graph.mentions() if one.sure
    }  # fmt: skip


class Listed:
    """Finds what it is given."""

    name = "listed"

    def __init__(self, *tagged: TaggedName, checked: bool = True) -> None:
        self._tagged, self._checked = tagged, checked

    def find(self, book: Book) -> Any:
        return spot_names(book, self._tagged, checked=self._checked)


def test_what_is_once_a_name_is_one_wherever_it_stands() -> None:
    book = read(TEXT)
    finder = Listed(
        TaggedName("Mr. Alder", "person"), TaggedName("Captain Rusk's", "person"), TaggedName("Judith", "person"),
        TaggedName("Highmoor", "place"),
    )  # fmt: skip
    found = name_all(build_graph(book, finder), book)
    assert {("Mr. Alder", "Mr. Alder"), ("Mrs. Alder", "Mrs. Alder"), ("Highmoor", "Highmoor")} <= found
    assert {("Captain Rusk", "Captain Rusk"), ("Judith", "Judith")} <= found


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Mrs. Alder’s", "Alder"), ("the Captain", ""), ("Captain Rusk,", "Rusk"), ("old Rusk", "Rusk"),
        ("London", "London"), ("d’Artagnan", "d’Artagnan"), ("", ""), ("Pell  Hall", "Pell Hall"),
    ],
)  # fmt: skip
def test_titles_and_possessives_are_no_part_of_a_name(text: str, name: str) -> None:
    assert strip_titles(text, load_name_words()) == name


def test_a_taggers_single_mistake_is_no_name() -> None:
    book = read(TEXT)
    tagged = [TaggedName("Highmoor", "place")] * 12 + [TaggedName("Then", "person"), TaggedName("Judith", "person")]
    found = {form for form, _ in name_all(build_graph(book, Listed(*tagged, checked=False)), book)}
    assert "Highmoor" in found
    assert "Then" not in found


def answer(requests: Iterable[Request]) -> list[Outcome]:
    """Lists every name of the story that stands in the text, and one that does not."""
    given: list[Outcome] = []
    for request in requests:
        text = " ".join(request.messages[-1].content.split())
        names = [{"name": one, "kind": "person"} for one in PEOPLE if one in text]
        names += [{"name": one, "kind": "place"} for one in PLACES if one in text]
        listed = ListedNames.model_validate({"names": [*names, {"name": "Mr. Nowhere", "kind": "person"}]})
        said = listed.model_dump_json()
        given.append(Response("k", "local", "tiny", "1", said, "stop", TokenUsage(), 0.0, parsed=listed))
    return given


def test_a_models_names_are_held_against_the_text() -> None:
    book = read(tell_story())
    finder = ModelFinder("local/tiny", answer)
    graph = build_graph(book, finder)
    parts = list(cut_parts(book))
    assert "".join("".join(parts).split()) == "".join(
        "".join(book.show_block(number) for number in range(len(book.blocks))).split()
    )
    assert len(parts) > 3
    assert finder.dropped == {"Mr. Nowhere": len(parts)}
    assert graph.finder == "model:local/tiny"
    rules = build_graph(book)
    held = name_all(graph, book)
    assert {one for one in name_all(rules, book) if one[0] in PEOPLE} <= held
    assert ("Mr. Alder", "Mr. Alder") in held
    assert ("Mrs. Alder", "Mrs. Alder") in held


def test_a_part_without_an_answer_ends_it() -> None:
    def fail(requests: Iterable[Request]) -> list[Outcome]:
        return [
            Failure("k", "local", "tiny", "unavailable", "the server is down") for _ in requests
        ]

    with pytest.raises(InputError, match=r"no names of part 1 of .*the server is down"):
        build_graph(read(tell_story()), ModelFinder("local/tiny", fail))


def test_what_is_asked_is_known_before() -> None:
    book = read(tell_story())
    listed = ModelFinder("local/tiny", answer).list_requests(book)
    assert len(listed) == len(list(cut_parts(book)))
    assert json.dumps([one.messages[-1].content for one in listed]).count("CHAPTER I") >= 1


def test_a_package_that_is_missing_gets_one_line() -> None:
    with pytest.raises(InputError, match=r"no_such_model.*pip install"):
        SpacyFinder("no_such_model")


def test_spacy_finds_the_people_of_a_story() -> None:
    if importlib.util.find_spec("spacy") is None or not any(map(importlib.util.find_spec, PACKAGES)):
        pytest.skip("spaCy or its English model is not installed (extra names)")
    book = read(tell_story(chapters=1))
    graph = build_graph(book, SpacyFinder())
    assert graph.finder.startswith("spacy:")
    rules = {one for one in name_all(build_graph(book), book) if one[0] in PEOPLE}
    # It misses some of them, and never takes one for another's wife.
    held = name_all(graph, book)
    assert len(rules & held) > len(rules) / 2
    assert not {("Mr. Alder", "Mrs. Alder"), ("Mrs. Alder", "Mr. Alder")} & held
