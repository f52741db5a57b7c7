from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from hopwright.knowledge.documents.alignment import AlignedText, Bracketed, FactEnd, StatedFact, split_sentences
from hopwright.knowledge.documents.corpus_source import CorpusGraph, CorpusSource
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Document
from hopwright.text.stems import content_stems
from tests.knowledge.documents.builders import add, write_lines

TEXT = (
    "Ada Berg (3 May 1901 – 12 June 1970) was a Norwegian painter. She met Jon Lie. Ada Berg married Jon Lie in 1925."
)
MARRIED = frozenset(content_stems("married wife husband"))


def show(text: AlignedText, place: tuple[int, int] | None) -> str | None:
    return place and text.text[slice(*place)]


def find(
    subject: FactEnd, object: FactEnd, cues: frozenset[str] = MARRIED, *, bracketed: Bracketed = ""
) -> list[StatedFact]:
    return AlignedText(TEXT, ["Ada Berg"]).find(subject, object, cues, bracketed=bracketed)


def test_a_fact_is_said_where_both_ends_and_a_word_of_it_stand() -> None:
    text = AlignedText(TEXT, ["Ada Berg"])
    said, named = find(FactEnd(("Ada Berg",)), FactEnd(("Jon Lie",)))
    assert (said.said, said.sentence) == (True, 2)
    assert (show(text, said.subject), show(text, said.object)) == ("Ada Berg", "Jon Lie")
    assert (named.said, named.sentence, named.subject) == (False, 1, None)
    assert TEXT[said.start : said.end] == "Ada Berg married Jon Lie in 1925."


def test_only_the_topic_is_understood() -> None:
    alone = AlignedText(TEXT).find(FactEnd(("Ada Berg",)), FactEnd(("Jon Lie",)), MARRIED)
    assert [one.sentence for one in alone] == [2]
    assert not AlignedText(TEXT).find(FactEnd(("Nobody",)), FactEnd(("Jon Lie",)), MARRIED)


def test_a_name_that_both_ends_bear_tells_neither() -> None:
    assert not find(FactEnd(("Ada Berg",)), FactEnd(("Ada Berg", "Berg")), frozenset())[1:]
    assert find(FactEnd(("Ada Berg",)), FactEnd(("Ada Berg",))) == []


def test_a_country_is_named_by_its_people() -> None:
    (stated,) = find(FactEnd(("Ada Berg",)), FactEnd(("Norway",)))
    assert show(AlignedText(TEXT), stated.object) == "Norwegian"


@pytest.mark.parametrize(("which", "date"), [("first", dt.date(1901, 5, 3)), ("last", dt.date(1970, 6, 12))])
def test_the_dates_of_a_life_stand_in_brackets_without_a_word(which: Bracketed, date: dt.date) -> None:
    born = frozenset(content_stems("born died"))
    (stated,) = find(FactEnd(("Ada Berg",)), FactEnd(date=date), born, bracketed=which)
    assert stated.said
    (other,) = find(FactEnd(("Ada Berg",)), FactEnd(date=date), born, bracketed="last" if which == "first" else "first")
    assert not other.said


def test_later_in_a_text_a_date_in_brackets_stands_behind_its_name() -> None:
    text = AlignedText('It was quiet. She read "Slow Rivers" (1990) by Jon Lie (1920–1999), who wrote (1985) too.')
    released = frozenset(content_stems("released"))
    book, author = FactEnd(("Slow Rivers",)), FactEnd(("Jon Lie",))
    for subject, year, which, said in (
        (book, 1990, "only", True),
        (book, 1985, "only", False),
        (book, 1920, "first", False),
        (author, 1920, "first", True),
        (author, 1999, "last", True),
        (author, 1999, "only", False),
    ):
        (stated,) = text.find(subject, FactEnd(date=dt.date(year, 1, 1)), released, bracketed=which)
        assert stated.said is said, (subject, year, which)


def test_sentences_cover_the_text_in_order() -> None:
    assert [TEXT[start:end] for start, end in split_sentences(TEXT)][1] == "She met Jon Lie."
    assert split_sentences("") == [(0, 0)]
    parted = 'It is by D. B. Sweeney and Mrs. Oak of St. Louis. He met Pius X. She did not. "No." Yes!'
    assert [parted[start:end] for start, end in split_sentences(parted)] == [
        "It is by D. B. Sweeney and Mrs. Oak of St. Louis.",
        "He met Pius X.",
        "She did not.",
        '"No." Yes!',
    ]


def find_film(graph: GraphStore) -> tuple[str, str]:
    """A film of the sample with one director, whose names each mean one entity."""
    for film, director in graph.sample_edges("P57", 500):
        names = [graph.label(film), graph.label(director)]
        clear = all(len(graph.bearers(name)) == 1 and len(name) > 6 for name in names)
        if clear and len(graph.objects(film, "P57")) == 1:
            return film, director
    raise AssertionError("the sample has no such film")


@pytest.fixture(scope="module")
def source(sample: GraphStore, sample_kinds: KindIndex) -> WikidataSource:
    return WikidataSource(sample, kinds=sample_kinds)


def test_a_corpus_holds_the_facts_that_it_says_with_the_sentence(source: WikidataSource, tmp_path: Path) -> None:
    graph = source.graph
    film, director = find_film(graph)
    told = f"It was directed by {graph.label(director)}."
    rows = [{"title": graph.label(film), "text": f"It is a film. {told} It was seen."}, {"title": "X", "text": "Y."}]
    add(write_lines(tmp_path / "a.jsonl", rows), tmp_path / "c")
    corpus = CorpusSource(source, CorpusStore.open(tmp_path / "c").documents())
    fact = (film, "P57", director)
    assert corpus.graph.objects(film, "P57") == (director,)
    assert corpus.graph.subjects("P57", director) == (film,)
    (span,) = corpus.graph.quote(fact)
    assert span.text == told
    assert CorpusStore.open(tmp_path / "c").find(span.document)[0].cite(span.start, span.end) == span
    assert len(corpus.graph.topics) == 1
    assert set(corpus.graph.out_edges(film)) <= set(graph.out_edges(film))


def test_what_a_document_only_names_is_no_fact_of_it(source: WikidataSource) -> None:
    film, director = find_film(source.graph)
    title, text = source.graph.label(film), f"{source.graph.label(director)} likes it."
    named = Document(id="d", title=title, text=text, licence="CC0", source="s")
    graph = CorpusGraph(source, [named])
    assert graph.topics == {"d": film}
    assert graph.objects(film, "P57") == ()
    assert graph.quote((film, "P57", director)) == ()


def test_a_date_of_the_graph_is_found_in_another_form(source: WikidataSource) -> None:
    graph = source.graph
    held = next(
        one
        for person in graph.literal_subjects("P569")
        for one in graph.literals(person, "P569")
        if len(graph.bearers(graph.label(person))) == 1 and one.value[5:10] not in ("01-01", "00-00")
    )
    date = dt.date.fromisoformat(held.value[:10])
    text = f"They were born on {date.day} {date.strftime('%B')} {date.year} in a town."
    document = Document(id="d", title=graph.label(held.subject), text=text, licence="CC0", source="s")
    corpus = CorpusGraph(source, [document])
    assert corpus.literals(held.subject, "P569") == (held,)
    assert corpus.literal_subjects("P569") == (held.subject,)
    assert corpus.quote(held)[0].text == text
