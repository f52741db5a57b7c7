"""A model that reads where facts are stated, and what of its readings is believed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.errors import InputError
from hopwright.knowledge.documents.aligners import BATCH, JointAligner, WordAligner, take_batches
from hopwright.knowledge.documents.corpus_source import CorpusGraph
from hopwright.knowledge.documents.model_aligner import Complete, ModelAligner
from hopwright.knowledge.documents.topic_facts import TopicDocument, find_topic
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.llm.answers import ReadFacts
from hopwright.llm.types import Failure, Outcome, Request, Response, TokenUsage
from hopwright.records import Document
from tests.knowledge.documents.test_alignment import find_film

Reply = Callable[[list[str], list[str]], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def source(sample: GraphStore, sample_kinds: KindIndex) -> WikidataSource:
    return WikidataSource(sample, kinds=sample_kinds)


def write(source: WikidataSource, text: str, id: str = "d") -> tuple[tuple[str, str, str], Document]:
    """A document about a film; `{f}` and `{d}` in the text are the film and its director. The fact that joins them."""
    film, director = find_film(source.graph)
    names = {"f": source.graph.label(film), "d": source.graph.label(director)}
    document = Document(id=id, title=names["f"], text=text.format(**names), licence="CC0", source="s")
    return (film, "P57", director), document


def reply(make: Reply) -> Complete:
    """A model whose readings follow from the sentences and the facts that it is shown."""

    def complete(requests: Iterable[Request]) -> list[Outcome]:
        given: list[Outcome] = []
        for request in requests:
            sentences, facts = (
                re.findall(r"(?m)^\d+\. (.*)$", part) for part in request.messages[-1].content.split("Facts:")
            )
            read = ReadFacts.model_validate({"readings": make(sentences, facts)})
            said = read.model_dump_json()
            given.append(Response("k", "local", "tiny", "1", said, "stop", TokenUsage(), 0.0, parsed=read))
        return given

    return complete


def read(source: WikidataSource, document: Document, make: Reply) -> tuple[ModelAligner, CorpusGraph]:
    model = ModelAligner("local/tiny", reply(make))
    return model, CorpusGraph(source, [document], JointAligner([WordAligner(), model]))


def pick(facts: list[str]) -> int:
    """The number of the fact that says who directed."""
    return next(number for number, fact in enumerate(facts, start=1) if "| director |" in fact)


def test_a_model_reads_what_no_word_of_the_relation_says(source: WikidataSource) -> None:
    fact, document = write(source, "It is long. {d} stood behind the camera. It was seen.")
    assert CorpusGraph(source, [document]).quote(fact) == ()

    def tell(sentences: list[str], facts: list[str]) -> list[dict[str, Any]]:
        return [{"fact": pick(facts), "first": 2, "last": 2, "words": "stood behind the camera"}]

    model, graph = read(source, document, tell)
    (span,) = graph.quote(fact)
    assert span.text.endswith("stood behind the camera.")
    assert graph.objects(fact[0], "P57") == (fact[2],)
    assert graph.name_reader(fact) == "local/tiny"
    assert model.count_rulings() == {"kept": 1}


def test_what_words_say_is_the_words_own(source: WikidataSource) -> None:
    fact, document = write(source, "{f} was directed by {d}. Later {d} looked back on it.")

    def tell(sentences: list[str], facts: list[str]) -> list[dict[str, Any]]:
        number = pick(facts)
        return [
            {"fact": number, "first": 1, "last": 1, "words": "was directed by"},
            {"fact": number, "first": 2, "last": 2, "words": "looked back on"},
        ]

    _, graph = read(source, document, tell)
    assert len(graph.quote(fact)) == 2, "the same sentence is not quoted twice"
    assert graph.name_reader(fact) == ""


def test_a_fact_may_be_spread_over_neighbours(source: WikidataSource) -> None:
    _, document = write(source, "Nothing else. The camera was his. That is {d}.")

    def tell(sentences: list[str], facts: list[str]) -> list[dict[str, Any]]:
        return [{"fact": pick(facts), "first": 2, "last": 3, "words": "camera was his"}]

    model, _ = read(source, document, tell)
    (reading,) = model.readings
    assert (reading.ruling, document.text[reading.start : reading.end]) == ("kept", document.text[14:])


@pytest.mark.parametrize(
    ("said", "ruling"),
    [
        ({"first": 1, "last": 1, "words": "It"}, "end_missing"),
        ({"first": 2, "last": 2, "words": "he made"}, "words_missing"),
        ({"first": 2, "last": 2, "words": ""}, "words_missing"),
        ({"first": 2, "last": 2, "words": "{d}"}, "words_say_nothing"),
        ({"first": 2, "last": 9, "words": "stood behind"}, "no_such_place"),
        ({"first": 3, "last": 2, "words": "stood behind"}, "no_such_place"),
        ({"first": 1, "last": 4, "words": "stood behind"}, "too_wide"),
    ],
)
def test_a_reading_that_the_text_does_not_bear_out_counts_for_nothing(
    source: WikidataSource, said: dict[str, Any], ruling: str
) -> None:
    fact, document = write(source, "It is long. {d} stood behind the camera. Yes. No.")
    words = said["words"].format(d=source.graph.label(fact[2]))
    model, graph = read(source, document, lambda _, facts: [{**said, "words": words, "fact": pick(facts)}])
    assert [one.ruling for one in model.readings] == [ruling]
    assert graph.quote(fact) == ()


def test_the_same_reading_counts_once(source: WikidataSource) -> None:
    fact, document = write(source, "{d} stood behind the camera.")
    twice = 2 * [{"first": 1, "last": 1, "words": "stood"}]
    model, graph = read(source, document, lambda _, facts: [{**one, "fact": pick(facts)} for one in twice])
    assert [one.ruling for one in model.readings] == ["kept", "repeated"]
    assert len(graph.quote(fact)) == 1


def test_a_document_that_is_not_answered_ends_it(source: WikidataSource) -> None:
    _, document = write(source, "{d} stood behind the camera.")

    def fail(requests: Iterable[Request]) -> list[Outcome]:
        return [Failure("k", "local", "tiny", "unavailable", "the server is down") for _ in requests]

    with pytest.raises(InputError, match=r"did not say where its facts stand \(the server is down\)"):
        CorpusGraph(source, [document], ModelAligner("local/tiny", fail))


def test_a_long_document_is_read_in_parts_that_overlap(source: WikidataSource) -> None:
    filler = "This sentence has nothing to tell about anything at all, and so it is soon over. " * 100
    fact, document = write(source, filler + "{d} stood behind the camera. " + filler)
    seen: list[str] = []

    def tell(sentences: list[str], facts: list[str]) -> list[dict[str, Any]]:
        seen.extend(sentences)
        place = next(number for number, one in enumerate(sentences, start=1) if "camera" in one)
        return [{"fact": pick(facts), "first": place, "last": place, "words": "stood"}]

    _, graph = read(source, document, tell)
    assert len(graph.quote(fact)) == 1
    assert len(seen) < 201, "parts without an end of any fact are not asked about"
    topic = find_topic(source.graph, document.title)
    listed = list(ModelAligner("local/tiny", reply(tell)).list_requests(source, [(topic, document)]))
    assert len(listed) in (1, 2)
    assert all("camera" in one.messages[-1].content for one in listed)


@given(
    readings=st.lists(
        st.fixed_dictionaries(
            {
                "fact": st.integers(1, 100), "first": st.integers(1, 6), "last": st.integers(1, 6),
                "words": st.sampled_from(["stood", "stood behind the camera", "It", "", "seen", "Yes. No", "\n"]),
            }
        ),
        max_size=20,
    )
)  # fmt: skip
def test_nothing_that_is_believed_is_not_there(source: WikidataSource, readings: list[dict[str, Any]]) -> None:
    _, document = write(source, "It is long. {d} stood behind the camera. It was seen. Yes. No. {f} is its name.")
    model = ModelAligner("local/tiny", reply(lambda *_: readings))
    topic = find_topic(source.graph, document.title)
    known = TopicDocument(source, topic, document)
    facts = {one.fact: one for one in known.facts()}
    stated = list(model.align(source, [(topic, document)]))
    for one in stated:
        assert known.text.locate(facts[one.fact].subject, facts[one.fact].object, one.start, one.end) is not None
        assert 1 <= sum(one.start <= low and high <= one.end for low, high in known.text.sentences) <= 3
    kept = [one for one in model.readings if one.ruling == "kept"]
    assert [(one.fact, one.start, one.end) for one in kept] == [(one.fact, one.start, one.end) for one in stated]
    assert len({(one.fact, one.start, one.end) for one in kept}) == len(kept)
    for reading in kept:
        assert " ".join(reading.words.split()) in document.text[reading.start : reading.end]


def test_batches_hold_every_document_once(source: WikidataSource) -> None:
    _, document = write(source, "Yes.")
    pairs = [(str(number), document) for number in range(2 * BATCH + 3)]
    batches = list(take_batches(iter(pairs)))
    assert [len(batch) for batch in batches] == [BATCH, BATCH, 3]
    assert [pair for batch in batches for pair in batch] == pairs
