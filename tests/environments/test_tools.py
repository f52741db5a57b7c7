"""The tools over a corpus: what is found and read, and what is said of a call that cannot be carried out."""

from __future__ import annotations

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

from hopwright.environments.tools import CorpusFinder, carry_out
from hopwright.knowledge.documents.index import Retriever, build_index
from hopwright.llm.tool_calls import ToolCall
from hopwright.settings import CorpusIndexParameters
from tests.knowledge.documents.builders import add, write_lines

LONG = " ".join(f"Sentence {number} is about the letter {number}." for number in range(2000))


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> CorpusFinder:
    folder = tmp_path_factory.mktemp("corpus")
    pages = [
        {"id": "o", "title": "Oslo", "text": "Oslo is the capital of Norway."},
        {"id": "l", "title": "Letters", "text": LONG},
    ]
    add(write_lines(folder / "pages.jsonl", pages), folder / "made", passage_words=50)
    build_index(folder / "made", CorpusIndexParameters(workers=1))
    return CorpusFinder(Retriever.open(folder / "made"))


def call(name: str, arguments: str) -> ToolCall:
    return ToolCall("c", name, arguments)


def test_a_search_shows_passages_with_their_ids(finder: CorpusFinder) -> None:
    result = carry_out(call("search", '{"query": "capital of Norway"}'), finder)
    (passage,) = result.passages
    assert result.text == f"[{passage.id}] Oslo\nOslo is the capital of Norway."
    assert (result.query, result.problem) == ("capital of Norway", "")
    assert len(carry_out(call("search", '{"query": "sentence letter", "k": 7}'), finder).passages) == 7
    nothing = carry_out(call("search", '{"query": "xylophone"}'), finder)
    assert (nothing.text, nothing.passages, nothing.problem) == ("No passage was found.", (), "")


def test_reading_a_passage_shows_what_is_around_it(finder: CorpusFinder) -> None:
    (found,) = carry_out(call("search", '{"query": "letter 1000", "k": 1}'), finder).passages
    result = carry_out(call("read", f'{{"id": "{found.id}"}}'), finder)
    (shown,) = result.passages
    assert shown.document == found.document
    assert shown.start < found.start < found.end < shown.end
    assert shown.text == LONG[shown.start : shown.end]
    assert len(shown.text) == 6000
    for place in (0, len(LONG) - 100):
        document = finder.retriever.store.find("l")[0].id
        (edge,) = carry_out(call("read", f'{{"id": "{document}:{place}-{place + 100}"}}'), finder).passages
        assert edge.start <= place and place + 100 <= edge.end
        assert len(edge.text) == 6000
    (whole,) = carry_out(call("read", '{"id": "o"}'), finder).passages
    assert whole.text == "Oslo is the capital of Norway."


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("search", "{", "the arguments are not JSON"),
        ("search", "[]", "the arguments are no JSON object"),
        ("search", "{}", "query: the field is missing"),
        ("search", '{"query": "x", "k": 11}', "k: at most 10 is wanted"),
        ("search", '{"query": "x", "page": 2}', "page: there is no such field"),
        ("read", '{"id": "nowhere"}', "nothing has that id"),
        ("find", "{}", "there is no tool 'find'; the tools are search, read"),
    ],
)
def test_what_is_wrong_with_a_call_is_its_result(finder: CorpusFinder, name: str, arguments: str, said: str) -> None:
    result = carry_out(call(name, arguments), finder)
    assert said in result.problem
    assert result.text == f"This call cannot be carried out: {result.problem}."
    assert result.passages == ()


def test_the_passages_at_a_place_are_all_that_hold_some_of_it(finder: CorpusFinder) -> None:
    store = finder.retriever.store
    document = store.find("l")[0].id
    every = store.passages_at(document, 0, len(LONG))
    assert len(every) > 100
    first, second = every[:2]
    assert store.passages_at(document, first.start, first.end) == [first]
    assert store.passages_at(document, first.end - 1, second.start + 1) == [first, second]
    assert store.passages_at("0" * 32, 0, 10) == []
