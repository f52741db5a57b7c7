"""Whether hops' questions find the passages that state them: recall by words, by meaning and fused, beside bm25s.

    python bench/retrieval.py --musique FILE               MuSiQue with paragraphs: its sub-questions
    python bench/retrieval.py --wiki2 FILE --passages FILE 2WikiMultihopQA: subject and relation of its evidence
    python bench/retrieval.py --set FOLDER --corpus FOLDER a set of questions over documents, and its corpus

In a sub-question the gold answers stand in the place of `#1`, `#2`. A query's recall at k is the share of its gold
facts with a passage among the first k. `--dense` adds vectors by the small model of the extra `local`, alone and fused;
bm25s (with PyStemmer) takes part where it is installed: the same texts, k1, b, and stemmer. The interval is that of the
difference to bm25s over the queries, by 1,000 resamples.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_sets import pair_facts, read_lines

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hopwright.evaluation.gold import GoldFinder, name_passage
from hopwright.evaluation.items import read_items
from hopwright.knowledge.documents.adding import add_source
from hopwright.knowledge.documents.index import Retriever, SearchMode, build_index
from hopwright.knowledge.documents.index.embedding import open_embedder
from hopwright.knowledge.documents.index.vectors import build_vectors
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.records import Passage
from hopwright.settings import CorpusAddParameters, CorpusIndexParameters

DEPTHS = (1, 5, 10)
Rows = frozenset[int]
Find = Callable[[str], list[int]]


@dataclass(frozen=True, slots=True)
class Query:
    """A hop's question, and for each of its facts the rows of the passages that state it."""

    text: str
    facts: tuple[Rows, ...]


def main() -> None:
    """Measure on what is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--musique", type=Path)
    parser.add_argument("--wiki2", type=Path)
    parser.add_argument("--passages", type=Path)
    parser.add_argument("--set", type=Path)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--dense", action="store_true", help="embed the passages, too")
    parser.add_argument("--most", type=int, default=0, help="queries, drawn; 0 for all")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for label, retriever, queries in open_worlds(options, Path(name)):
            if options.most:
                queries = random.Random(3).sample(queries, min(options.most, len(queries)))
            measure(label, retriever, queries, dense=options.dense)


def open_worlds(options: argparse.Namespace, work: Path) -> Iterator[tuple[str, Retriever, list[Query]]]:
    """Every corpus that is given, with its queries."""
    if options.musique:
        records = list(read_lines(options.musique))
        rows = [one for record in records for one in record["paragraphs"]]
        texts = {(one["title"], one["paragraph_text"]) for one in rows}
        retriever = make_corpus(work / "musique", texts, dense=options.dense)
        yield "MuSiQue", retriever, list(list_musique(records, retriever.store))
    if options.wiki2 and options.passages:
        texts = {(one["title"], one["text"]) for one in read_lines(options.passages)}
        retriever = make_corpus(work / "wiki2", texts, dense=options.dense)
        yield "2WikiMultihopQA", retriever, list(list_wiki2(read_lines(options.wiki2), retriever.store))
    if options.set and options.corpus:
        if options.dense:
            add_vectors(options.corpus)
        retriever = Retriever.open(options.corpus)
        yield options.set.name, retriever, list(list_set(options.set, retriever))


def make_corpus(folder: Path, texts: Iterable[tuple[str, str]], *, dense: bool) -> Retriever:
    """An indexed corpus of passages, each of them whole."""
    folder.mkdir()
    lines = [
        json.dumps({"id": name_passage(Passage(title=title, text=text)), "title": title, "text": text})
        for title, text in sorted(texts)
    ]
    (folder / "passages.jsonl").write_text("\n".join(lines), "utf-8")
    add_source(folder / "passages.jsonl", folder / "corpus", CorpusAddParameters(near_duplicates=0, passage_words=0))
    build_index(folder / "corpus", CorpusIndexParameters())
    if dense:
        add_vectors(folder / "corpus")
    return Retriever.open(folder / "corpus")


def add_vectors(corpus: Path) -> None:
    """Embed a corpus by the small model."""
    embedder = open_embedder("local")
    assert embedder is not None
    build_vectors(CorpusStore.open(corpus), embedder, "local", lambda line: print(line, end="\r", file=sys.stderr))


def list_musique(records: Iterable[dict[str, Any]], store: CorpusStore) -> Iterator[Query]:
    """Every sub-question once."""
    seen = set[str]()
    for record in records:
        paragraphs = {one["idx"]: one for one in record["paragraphs"]}
        answers: dict[str, str] = {}
        for number, step in enumerate(record["question_decomposition"], start=1):
            text = re.sub(r"#(\d)", lambda match: answers.get(match[1], match[0]), step["question"])  # noqa: B023
            answers[str(number)] = step["answer"]
            gold = paragraphs[step["paragraph_support_idx"]]
            if text not in seen:
                seen.add(text)
                yield Query(text.replace(" >> ", " "), (find_rows(store, gold["title"], gold["paragraph_text"]),))


def list_wiki2(records: Iterable[dict[str, Any]], store: CorpusStore) -> Iterator[Query]:
    """Subject and relation of every evidence triple whose supporting passage is there, each once."""
    titles: dict[str, set[int]] = {}
    for passage in store.passages(range(len(store))):
        titles.setdefault(passage.title, set()).add(passage.row)
    seen = set[str]()
    for record in records:
        for (subject, relation, _), (title, _) in pair_facts(record):
            text = f"{subject} {relation}"
            if title in titles and text not in seen:
                seen.add(text)
                yield Query(text, (frozenset(titles[title]),))


def list_set(folder: Path, retriever: Retriever) -> Iterator[Query]:
    """The sub-questions of a set over documents, with all passages that hold a gold place."""
    finder = GoldFinder(retriever)
    seen = set[str]()
    for item in read_items(folder).items:
        for hop in finder.make_task(item).hops:
            if hop.gold and hop.question not in seen:
                seen.add(hop.question)
                facts = (
                    {one.row for place in fact for one in retriever.store.passages_at(*place_of(place))}
                    for fact in hop.gold
                )
                yield Query(hop.question, tuple(map(frozenset, facts)))


def place_of(place: Any) -> tuple[str, int, int]:
    """A gold place as the store takes it."""
    return place.document, place.start, place.end


def find_rows(store: CorpusStore, title: str, text: str) -> Rows:
    """The rows of a passage's document."""
    document, _, _ = store.find(name_passage(Passage(title=title, text=text)))
    return frozenset(one.row for one in store.passages_at(document.id, 0, len(document.text)))


def measure(label: str, retriever: Retriever, queries: Sequence[Query], *, dense: bool) -> None:
    """Print the recall of every way."""
    print(f"{label}: {len(queries):,} queries, {len(retriever.store):,} passages")
    peer = open_bm25s(retriever)
    modes: tuple[SearchMode, ...] = ("bm25", "dense", "hybrid") if dense else ("bm25",)
    ways: dict[str, Find] = {mode: make_finder(retriever, mode) for mode in modes}
    base = [recall(query, peer(query.text)) for query in queries] if peer is not None else None
    if base is not None:
        print(f"  bm25s   {show(base)}")
    for name, find in ways.items():
        held = [recall(query, find(query.text)) for query in queries]
        apart = f"; at 5 {describe_difference(held, base)} to bm25s" if base is not None else ""
        print(f"  {name:7} {show(held)}{apart}", flush=True)


def make_finder(retriever: Retriever, mode: SearchMode) -> Find:
    """The rows that a mode finds."""
    return lambda text: [hit.passage.row for hit in retriever.search(text, max(DEPTHS), mode)]


def recall(query: Query, rows: Sequence[int]) -> tuple[float, ...]:
    """The share of the facts that are found, at each depth."""
    return tuple(sum(not fact.isdisjoint(rows[:depth]) for fact in query.facts) / len(query.facts) for depth in DEPTHS)


def show(held: Sequence[tuple[float, ...]]) -> str:
    """The mean at each depth."""
    means = (sum(one[place] for one in held) / len(held) for place in range(len(DEPTHS)))
    return ", ".join(f"R@{depth} {mean:.1%}" for depth, mean in zip(DEPTHS, means, strict=True))


def describe_difference(held: Sequence[tuple[float, ...]], base: Sequence[tuple[float, ...]]) -> str:
    """The mean difference at 5 in points, with its interval over the queries."""
    place = DEPTHS.index(5)
    apart = [one[place] - other[place] for one, other in zip(held, base, strict=True)]
    draw = random.Random(5)
    means = sorted(sum(draw.choices(apart, k=len(apart))) / len(apart) for _ in range(1000))
    return f"{100 * sum(apart) / len(apart):+.1f} points [{100 * means[25]:+.1f}, {100 * means[974]:+.1f}]"


def open_bm25s(retriever: Retriever) -> Find | None:
    """bm25s on the same texts with the same stemmer, in memory; None where it is not installed."""
    try:
        import bm25s
        import Stemmer
        from bm25s.tokenization import Tokenizer
    except ImportError:
        return None
    store = retriever.store
    tokenizer = Tokenizer(stemmer=Stemmer.Stemmer("english"), stopwords="english")
    texts = [passage.contents for passage in store.passages(range(len(store)))]
    model = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    model.index(tokenizer.tokenize(texts, return_as="tuple", show_progress=False), show_progress=False)

    def find(text: str) -> list[int]:
        tokens = tokenizer.tokenize([text], update_vocab=False, show_progress=False)
        found, _ = model.retrieve(tokens, k=max(DEPTHS), show_progress=False)
        return [int(row) for row in found[0]]

    return find


if __name__ == "__main__":
    main()
