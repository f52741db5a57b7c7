from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

from hopwright.errors import InputError
from hopwright.exports.document_chains import ChainCounts, DocumentChains, write_document_chains
from hopwright.knowledge.documents.index import Retriever, build_index
from hopwright.knowledge.documents.model_aligner import ModelAligner
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.llm.answers import ReadFacts
from hopwright.llm.types import Outcome, Request, Response, TokenUsage
from hopwright.records import Item, Source
from hopwright.settings import CorpusChainsParameters, CorpusIndexParameters
from tests.knowledge.documents.builders import add, write_lines

FACTS = Source(name="Wikidata", licence="CC0-1.0")


@pytest.fixture(scope="module")
def source(sample: GraphStore, sample_kinds: KindIndex) -> WikidataSource:
    return WikidataSource(sample, kinds=sample_kinds)


def list_articles(graph: GraphStore) -> list[dict[str, str]]:
    """Articles on films and their directors, of whom the birthplace and the year of birth are said."""
    rows: dict[str, str] = {}
    for film, director in graph.sample_edges("P57", 3000):
        titles = [graph.label(film), graph.label(director)]
        clear = all(len(graph.bearers(one)) == 1 and len(one) > 6 for one in titles)
        if not clear or len(graph.objects(film, "P57")) != 1:
            continue
        said = "".join(f" This director was born in {graph.label(one)}." for one in graph.objects(director, "P19"))
        for date in graph.literals(director, "P569"):
            said += f" The date of birth is in {date.value[:4]}; this person was born in {date.value[:4]}."
        rows[titles[0]] = f"It is a film. It was directed by {titles[1]}."
        rows[titles[1]] = "A person of the cinema." + said
        for place in graph.objects(director, "P19"):
            for country in graph.objects(place, "P17"):
                rows[graph.label(place)] = f"It lies in {graph.label(country)}."
                for capital in graph.objects(country, "P36"):
                    rows[graph.label(country)] = f"Its capital is {graph.label(capital)}."
    return [{"title": title, "text": text, "licence": "CC0"} for title, text in rows.items()]


def make_corpus(folder: Path, rows: list[dict[str, str]]) -> Retriever:
    add(write_lines(folder / "a.jsonl", rows), folder / "corpus", near_duplicates=0)
    build_index(folder / "corpus", CorpusIndexParameters(workers=1))
    return Retriever.open(folder / "corpus")


def write(source: WikidataSource, retriever: Retriever, folder: Path) -> ChainCounts:
    maker = DocumentChains(source, retriever, [FACTS], seed=3)
    return write_document_chains(maker, folder, CorpusChainsParameters(most=40), lambda line: None)


def read(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def made(
    source: WikidataSource, tmp_path_factory: pytest.TempPathFactory
) -> tuple[WikidataSource, Retriever, Path, ChainCounts]:
    folder = tmp_path_factory.mktemp("chains")
    retriever = make_corpus(folder, list_articles(source.graph))
    return source, retriever, folder / "out", write(source, retriever, folder / "out")


Made = tuple[WikidataSource, Retriever, Path, ChainCounts]


def test_what_is_found_is_proven_or_rejected(made: Made) -> None:
    counts = made[3]
    assert counts.proven["inference, 2 hops"] > 0
    assert counts.proven["inference, 3 hops"] > 0
    assert counts.proven["inference, 4 hops"] > 0
    assert counts.proven["comparison, 3 hops"] > 0
    assert counts.found.total() == counts.proven.total() + counts.rejected.total()
    assert len(read(made[2] / "items.jsonl")) == counts.written.total()


def test_five_hops_are_made_where_they_are_asked_for(made: Made, tmp_path: Path) -> None:
    source, retriever, _, _ = made
    chains = {hop.index for row in read(made[2] / "items.jsonl") for hop in Item.model_validate(row).hops}
    assert max(chains) == 4
    maker = DocumentChains(source, retriever, [FACTS], seed=3)
    found = list(maker.make([5], 5, ChainCounts(), lambda line: None))
    assert all((one.item.topology, len(one.item.hops)) == ("chain-5", 5) for one in found)


def test_no_other_passage_of_the_corpus_names_both_ends(made: Made) -> None:
    """Necessity, found anew by reading every text: beside the gold passages nothing holds both names."""
    _, _, folder, _ = made
    passages = read(folder / "corpus.jsonl")
    checked = 0
    for item in map(Item.model_validate, read(folder / "items.jsonl")):
        for hop in item.hops:
            gold = {span.document for span in hop.evidence.spans}
            for fact in hop.evidence.triplets:
                both = {
                    one["_id"].split(":")[0]
                    for one in passages
                    if all(
                        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", f"{one['title']}\n{one['text']}")
                        for name in (fact.subject_label, fact.object_label)
                    )
                }
                assert both <= gold
                checked += len(both)
    assert checked > 0


def test_every_answer_is_the_only_one_that_is_quoted(made: Made) -> None:
    """Uniqueness, found anew from the quotations of all items: one subject and property have one object."""
    objects: dict[tuple[str, str], set[str]] = {}
    for item in map(Item.model_validate, read(made[2] / "items.jsonl")):
        for hop in item.hops:
            assert hop.evidence.spans
            for fact in hop.evidence.triplets:
                objects.setdefault((fact.subject, fact.property), set()).add(fact.object)
    assert objects
    assert {len(one) for one in objects.values()} == {1}


def test_qrels_name_passages_and_spans_are_quotations(made: Made) -> None:
    _, retriever, folder, _ = made
    passages = {one["_id"] for one in read(folder / "corpus.jsonl")}
    head, *judged = (folder / "qrels" / "test.tsv").read_text().splitlines()
    assert head == "query-id\tcorpus-id\tscore"
    assert {line.split("\t")[1] for line in judged} <= passages
    assert len((folder / "qrels.trec").read_text().splitlines()) == len(judged)
    items = [Item.model_validate(row) for row in read(folder / "items.jsonl")]
    assert {line.split("\t")[0] for line in judged} == {item.id for item in items}
    assert all(item.id == item.plan_id for item in items)
    spans = [span for item in items for hop in item.hops for span in hop.evidence.spans]
    assert all(retriever.store.find(one.document)[0].cite(one.start, one.end) == one for one in spans[:50])
    assert "| CC0 |" in (folder / "README.md").read_text()


def test_the_same_seed_writes_the_same_bytes(made: Made, tmp_path: Path) -> None:
    source, retriever, folder, _ = made
    write(source, retriever, tmp_path / "again")
    for path in (one for one in folder.rglob("*") if one.is_file()):
        assert (tmp_path / "again" / path.relative_to(folder)).read_bytes() == path.read_bytes()


def test_another_passage_that_names_both_ends_rejects_the_hop(made: Made, tmp_path: Path) -> None:
    source, _, folder, _ = made
    item = Item.model_validate(read(folder / "items.jsonl")[0])
    fact = item.hops[0].evidence.triplets[0]
    rows = list_articles(source.graph)
    rows.append({"title": "Gossip", "text": f"{fact.subject_label} and {fact.object_label}.", "licence": "CC0"})
    counts = write(source, make_corpus(tmp_path, rows), tmp_path / "out")
    assert any("another passage names both ends" in reason for reason in counts.rejected)
    assert item.question not in {one["text"] for one in read(tmp_path / "out" / "queries.jsonl")}


def test_a_corpus_without_joined_facts_is_refused(source: WikidataSource, tmp_path: Path) -> None:
    retriever = make_corpus(tmp_path, [{"title": "Nothing", "text": "Nothing is said."}])
    with pytest.raises(InputError, match="no chain is proven"):
        write(source, retriever, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_models_reading_proves_what_words_alone_do_not(source: WikidataSource, tmp_path: Path) -> None:
    """Directors stand behind cameras, which no table has among the words of directing."""
    rows = [
        {**row, "text": re.sub(r"It was directed by (.*)\.", r"\1 stood behind the camera.", row["text"])}
        for row in list_articles(source.graph)
    ]
    retriever = make_corpus(tmp_path, rows)

    def read_camera(requests: Iterable[Request]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for request in requests:
            asked, told = request.messages[-1].content.split("Facts:")
            sentences, facts = (re.findall(r"(?m)^\d+\. (.*)$", part) for part in (asked, told))
            places = [number for number, one in enumerate(sentences, 1) if "stood behind" in one]
            readings = [
                {"fact": fact, "first": place, "last": place, "words": "stood behind the camera"}
                for place in places
                for fact, one in enumerate(facts, 1)
                if "| director |" in one
            ]
            readings.append({"fact": 1, "first": 1, "last": 1, "words": "was made up"})
            parsed = ReadFacts.model_validate({"readings": readings})
            answer = parsed.model_dump_json()
            outcomes.append(Response("k", "local", "tiny", "1", answer, "stop", TokenUsage(), 0.0, parsed=parsed))
        return outcomes

    def write_with(model: ModelAligner | None, folder: Path) -> ChainCounts:
        maker = DocumentChains(source, retriever, [FACTS], 3, model)
        return write_document_chains(maker, folder, CorpusChainsParameters(most=40), lambda line: None)

    without = write_with(None, tmp_path / "words")
    counts = write_with(ModelAligner("local/tiny", read_camera), tmp_path / "read")
    assert counts.proven["inference, 3 hops"] > without.proven["inference, 3 hops"]
    assert counts.readings["kept"] > 10
    assert counts.readings["words_missing"] > 10
    readings = read(tmp_path / "read" / "readings.jsonl")
    assert len(readings) == counts.readings.total()
    assert not (tmp_path / "words" / "readings.jsonl").exists()
    hops = [hop for row in read(tmp_path / "read" / "items.jsonl") for hop in Item.model_validate(row).hops]
    told = [hop for hop in hops if hop.verify]
    assert told
    assert all("local/tiny read" in hop.verify for hop in told)
    assert {span.text.endswith("stood behind the camera.") for hop in told for span in hop.evidence.spans} == {True}
    assert not any("stood behind" in span.text for hop in hops if not hop.verify for span in hop.evidence.spans)
    assert "read by local/tiny" in (tmp_path / "read" / "README.md").read_text("utf-8")


def test_the_recipe_makes_the_same_corpus_again(made: Made, tmp_path: Path) -> None:
    _, retriever, folder, _ = made
    recipe = json.loads((folder / "recipe.json").read_text("utf-8"))
    adding, indexing = recipe["commands"]
    assert adding.startswith("hopwright corpus add a.jsonl --corpus corpus ")
    assert indexing == "hopwright corpus index --corpus corpus --language english --shards 1"
    (source,) = recipe["corpus"]["sources"]
    settings = {name: value for name, value in source["settings"].items() if value != ""}
    add(retriever.store.folder.parent / "a.jsonl", tmp_path / "again", **settings)
    assert CorpusStore.open(tmp_path / "again").manifest.content == recipe["corpus"]["sha256"]
    assert str(retriever.store.folder.parent) not in (folder / "recipe.json").read_text("utf-8")
