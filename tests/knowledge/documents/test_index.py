from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

import tantivy
from hypothesis import given
from hypothesis import strategies as st

from hopwright.errors import InputError, RunError, StoreError
from hopwright.knowledge.documents.index import Retriever, build_index, building
from hopwright.knowledge.documents.index.analysis import (
    FIELD,
    make_analyzer,
    make_schema,
    register,
    round_length,
    score_term,
    weigh_term,
)
from hopwright.knowledge.documents.index.format import SHARD_MANIFEST, IndexManifest
from hopwright.knowledge.documents.index.retriever import fuse
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.runs.files import hold_lock
from hopwright.settings import CorpusIndexParameters
from tests.knowledge.documents.builders import WORDS, add, make_passages, write_lines

QUERIES = ["river", "garden orchard", "the copper of the harbour", "violin violin mayor", " ".join(WORDS), "Place 17"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    add(write_lines(folder / "a.jsonl", make_passages(400)), folder / "c", near_duplicates=0)
    return folder / "c"


def index(corpus: Path, **parameters: Any) -> Retriever:
    build_index(corpus, CorpusIndexParameters.model_validate({"workers": 1, **parameters}))
    return Retriever.open(corpus, verify=True)


def find(retriever: Retriever, query: str, most: int) -> list[tuple[str, float]]:
    return [(hit.passage.id, hit.score) for hit in retriever.search(query, most)]


@pytest.mark.parametrize("most", [1, 10, 400])
def test_shards_answer_exactly_as_one_index(corpus: Path, most: int) -> None:
    whole = index(corpus, shards=1)
    wanted = {query: find(whole, query, most) for query in QUERIES}
    assert all(wanted.values())
    for shards in (2, 7):
        cut = index(corpus, shards=shards)
        assert {query: find(cut, query, most) for query in QUERIES} == wanted


def test_scores_are_bm25_of_the_whole_corpus(corpus: Path) -> None:
    store = CorpusStore.open(corpus)
    analyze = make_analyzer("english").analyze
    terms = {one.id: analyze(one.contents) for one in store.passages(range(len(store)))}
    average = sum(map(len, terms.values())) / len(terms)
    retriever = index(corpus, shards=5)
    for query in QUERIES:
        asked = Counter(analyze(query))
        scores = {}
        for id, held in terms.items():
            counts = Counter(held)
            scores[id] = sum(
                times
                * weigh_term(sum(term in one for one in terms.values()), len(terms))
                * score_term(counts[term], len(held), average)
                for term, times in asked.items()
                if counts[term]
            )
        best = sorted((one for one in scores if scores[one]), key=lambda one: -scores[one])[:10]
        found = find(retriever, query, 10)
        assert [score for _, score in found] == pytest.approx([scores[id] for id in best])
        assert all(score == pytest.approx(scores[id]) for id, score in found)


def test_scores_are_those_of_tantivy_with_one_index(corpus: Path, tmp_path: Path) -> None:
    store = CorpusStore.open(corpus)
    analyze = make_analyzer("english").analyze
    plain = tantivy.Index(make_schema(), path=str(tmp_path))
    register(plain)
    writer = plain.writer()
    for one in store.passages(range(len(store))):
        writer.add_document(tantivy.Document(contents=" ".join(analyze(one.contents)), row=one.row))
    writer.commit()
    writer.wait_merging_threads()
    plain.reload()
    retriever = index(corpus, shards=3)
    for query in QUERIES:
        clauses = [
            (tantivy.Occur.Should, tantivy.Query.term_query(plain.schema, FIELD, term, index_option="freq"))
            for term in analyze(query)
        ]
        hits = plain.searcher().search(tantivy.Query.boolean_query(clauses), 20).hits
        # A word that every passage has weighs next to nothing, less than numbers of 32 bits can tell.
        wanted = pytest.approx([score for score, _ in hits], rel=1e-5, abs=1e-6)
        assert [score for _, score in find(retriever, query, 20)] == wanted


def test_lengths_are_rounded_as_lucene_rounds_them() -> None:
    assert [round_length(length) for length in (0, 1, 39, 40, 41, 57, 90, 1000)] == [0, 1, 39, 40, 40, 56, 88, 984]
    assert all(round_length(length) <= length for length in range(5000))


def test_a_shard_with_nothing_in_it_does_no_harm(tmp_path: Path) -> None:
    add(write_lines(tmp_path / "a.jsonl", make_passages(3)), tmp_path / "c", near_duplicates=0)
    assert find(index(tmp_path / "c", shards=16), "river", 5) == find(index(tmp_path / "c", shards=1), "river", 5)


def test_a_query_without_known_words_finds_nothing(corpus: Path) -> None:
    retriever = index(corpus, shards=2)
    assert retriever.search("", 5) == retriever.search("the of", 5) == retriever.search("xylophone ?!", 5) == []


def test_endings_and_accents_do_not_matter_but_in_the_language_none(tmp_path: Path) -> None:
    add(write_lines(tmp_path / "a.jsonl", [{"title": "É", "text": "Émile was building bridges."}]), tmp_path / "c")
    assert len(index(tmp_path / "c").search("emile bridge built", 5)) == 1
    assert index(tmp_path / "c", language="none").search("bridge", 5) == []
    assert len(index(tmp_path / "c", language="none").search("BRIDGES", 5)) == 1


def test_an_index_is_made_once_and_again_when_anything_has_changed(tmp_path: Path) -> None:
    corpus = tmp_path / "c"
    add(write_lines(tmp_path / "a.jsonl", make_passages(20)), corpus)
    parameters = CorpusIndexParameters(shards=2, workers=1)
    assert build_index(corpus, parameters).made == 2
    assert build_index(corpus, parameters).made == 0
    add(write_lines(tmp_path / "b.jsonl", make_passages(20, seed=5)), corpus)
    with pytest.raises(StoreError, match="has changed since it was indexed; `hopwright corpus index --corpus c`"):
        Retriever.open(corpus)
    assert build_index(corpus, parameters).made == 2
    assert len(list((corpus / "index").glob("shard-*"))) == 2
    assert build_index(corpus, parameters.model_copy(update={"language": "french"})).made == 2


def test_a_killed_build_keeps_its_whole_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = tmp_path / "c"
    add(write_lines(tmp_path / "a.jsonl", make_passages(50)), corpus)
    parameters = CorpusIndexParameters(shards=10, workers=1)
    whole = building.make_shards

    def make_some(corpus: Path, folders: dict[int, Path], shards: int, language: str) -> None:
        if 2 in folders:
            (folders[2].with_name(f".{folders[2].name}.1.tmp")).mkdir(parents=True)
            raise KeyboardInterrupt
        whole(corpus, folders, shards, language)

    monkeypatch.setattr(building, "make_shards", make_some)
    with pytest.raises(KeyboardInterrupt):
        build_index(corpus, parameters)
    with pytest.raises(StoreError, match="has no index"):
        Retriever.open(corpus)
    monkeypatch.setattr(building, "make_shards", whole)
    assert building.group_shards(range(10), 1) == [[0, 4, 8], [1, 5, 9], [2, 6], [3, 7]]
    assert build_index(corpus, parameters).made == 4
    assert not list((corpus / "index").glob(".shard*"))
    assert find(Retriever.open(corpus, verify=True), "river", 9) == find(index(corpus, shards=1), "river", 9)


@given(st.integers(1, 200), st.integers(1, 16))
def test_every_shard_is_in_one_group_and_workers_have_as_many_groups(shards: int, workers: int) -> None:
    groups = building.group_shards(range(shards), workers)
    assert sorted(number for group in groups for number in group) == list(range(shards))
    sizes = [len(group) for group in groups]
    assert max(sizes) <= 4
    assert max(sizes) - min(sizes) <= 1
    assert len(groups) % workers == 0 or len(groups) == shards


@pytest.mark.e2e
def test_shards_made_in_processes_are_the_same(corpus: Path) -> None:
    one = find(index(corpus, shards=3), "river castle", 10)
    two = find(index(corpus, shards=4, workers=2), "river castle", 10)
    assert one == two


def test_a_damaged_shard_is_noticed_and_named(tmp_path: Path) -> None:
    corpus = tmp_path / "c"
    add(write_lines(tmp_path / "a.jsonl", make_passages(20)), corpus)
    index(corpus, shards=1)
    manifest = IndexManifest.read(corpus / "index" / "manifest.json")
    shard = corpus / "index" / manifest.shards[0]
    postings = next(shard.glob("*.idx"))
    content = postings.read_bytes()
    postings.unlink()  # written over in place, the file would end under whoever has mapped it
    postings.write_bytes(bytes([content[0] ^ 0xFF]) + content[1:])
    with pytest.raises(StoreError, match=rf"{postings.name} is damaged, gone"):
        Retriever.open(corpus, verify=True)
    (shard / "meta.json").unlink()
    with pytest.raises(StoreError, match="is damaged"):
        Retriever.open(corpus)
    (shard / SHARD_MANIFEST).unlink()
    with pytest.raises(StoreError, match=r"shard\.json: cannot be read \(no such file\)"):
        Retriever.open(corpus)


def test_only_one_process_indexes_a_corpus(corpus: Path) -> None:
    with hold_lock(corpus / "index" / ".lock", "it"), pytest.raises(RunError, match="the index of c is being written"):
        build_index(corpus, CorpusIndexParameters(shards=1, workers=1))


def test_a_corpus_without_passages_is_not_indexed(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no corpus in"):
        build_index(tmp_path, CorpusIndexParameters())


def test_fusion_adds_reciprocal_ranks() -> None:
    fused = fuse([[5, 3, 1], [3, 9]])
    assert [row for row, _ in fused] == [3, 5, 9, 1]
    assert dict(fused)[3] == pytest.approx(1 / 12 + 1 / 11)


def test_dense_search_needs_vectors(corpus: Path) -> None:
    with pytest.raises(InputError, match="has no vectors: `hopwright corpus index --dense local --corpus c`"):
        index(corpus, shards=1).search("river", 3, "dense")
    assert math.isfinite(index(corpus, shards=1).search("river", 3, "auto")[0].score)
