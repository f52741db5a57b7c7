"""`hopwright corpus build` from articles to questions, which are then read by a program that shares nothing with it.

The reader here knows only what was released (passages, items, judgements) and the raw files of facts: it finds names by
regular expressions in whole passages, which is more than the builder takes for stated.
"""

from __future__ import annotations

import functools
import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Compute, Hop, Item, LiteralFact, Lookup, Triplet
from hopwright.settings import checkout
from make_articles import make_articles, read_encumbered
from tests.e2e.conftest import Home
from tests.knowledge.documents.builders import write_lines

pytestmark = [pytest.mark.e2e]
ARTICLES = 400
SAMPLE = checkout() / "data" / "sample"
MONTHS = "January February March April May June July August September October November December".split()
AREA, SQUARE_METRES = "P2046", 1e6
"""Areas are square metres in the files, and square kilometres in texts."""
REFERENCE = re.compile(r"hop(\d)")


@dataclass(frozen=True)
class Made:
    """A home, the folder of questions in it, the figures that the command printed, and the articles."""

    home: Home
    folder: Path
    figures: dict[str, Any]
    articles: Path

    def lines(self, name: str) -> list[Any]:
        return [json.loads(line) for line in (self.folder / name).read_text("utf-8").splitlines()]

    @functools.cached_property
    def items(self) -> list[Item]:
        return [Item.model_validate(row) for row in self.lines("items.jsonl")]

    @functools.cached_property
    def passages(self) -> dict[str, str]:
        return {row["_id"]: f"{row['title']}\n{row['text']}" for row in self.lines("corpus.jsonl")}

    def gold(self, hop: Hop) -> set[str]:
        """The passages that the hop's spans lie in."""
        found = set()
        for span in hop.evidence.spans:
            for id in self.passages:
                document, start, end = re.split("[:-]", id)
                if document == span.document and int(start) < span.end and span.start < int(end):
                    found.add(id)
        return found


def build(home: Home, folder: Path, articles: Path, *more: str) -> dict[str, Any]:
    arguments = ("--preset", "offline", "--corpus", "few", "--documents", str(articles), "--most", "25", *more)
    figures: dict[str, Any] = home.json("corpus", "build", str(folder), *arguments)
    return figures


@pytest.fixture(scope="module")
def made(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("documents")
    graph = GraphStore.open(sample_folder)
    rows = make_articles(graph, read_encumbered(SAMPLE), ARTICLES)
    articles = write_lines(folder / "articles.jsonl", rows)
    home = Home(folder / "home")
    return Made(home, folder / "out", build(home, folder / "out", articles), articles)


class Reader:
    """Reads facts of the raw files in passages: a fact counts where a passage holds a name of both of its ends."""

    def __init__(self, passages: dict[str, str], released: Iterable[Triplet]) -> None:
        """`released` are facts that follow from those of the files, such as who was before somebody's successor."""
        self._texts = passages
        rows = [line.split("\t") for line in read_lines("wikidata5m_entity.txt.gz")]
        bearers = Counter(name for row in rows for name in set(row[1:]))
        # An alias that others have, too, tells nobody who is meant.
        self._names = {
            row[0]: [row[1], *(name for name in row[2:] if bearers[name] == 1 and len(name) > 3)] for row in rows
        }
        self._facts: dict[tuple[str, str], set[str]] = {}
        for line in read_lines("wikidata5m_all_triplet.txt.gz"):
            subject, property, object = line.split("\t")
            self._facts.setdefault((subject, property), set()).add(object)
        for fact in released:
            self._facts.setdefault((fact.subject, fact.property), set()).add(fact.object)
        self._found: dict[str, frozenset[str]] = {}

    def naming(self, entity: str) -> frozenset[str]:
        """The passages in which a name of the entity stands."""
        if entity not in self._found:
            names = "|".join(re.escape(name) for name in self._names[entity])
            pattern = re.compile(rf"(?<!\w)(?:{names})(?!\w)")
            self._found[entity] = frozenset(id for id, text in self._texts.items() if pattern.search(text))
        return self._found[entity]

    def read(self, subject: str, property: str, given: Iterable[str]) -> set[str]:
        """The objects that the given passages hold beside the subject."""
        there = self.naming(subject).intersection(given)
        return {one for one in self._facts.get((subject, property), ()) if there & self.naming(one)}

    def holds_value(self, fact: LiteralFact, given: Iterable[str]) -> bool:
        """Whether a passage names the subject and writes the date or the number."""
        pattern = re.compile(rf"(?<![\w.,]){re.escape(write_value(fact))}(?!\w)")
        return any(pattern.search(self._texts[id]) for id in self.naming(fact.subject).intersection(given))

    def answer(self, item: Item, given: Iterable[str]) -> str:
        """What the passages give for the question, hop by hop; empty where one of the hops has no answer."""
        held = frozenset(given)
        found: dict[int, str] = {}
        for hop in item.hops:
            answer = self._answer(hop, found, held)
            if not answer:
                return ""
            found[hop.index] = answer
        return found[len(item.hops)]

    def _answer(self, hop: Hop, found: dict[int, str], given: frozenset[str]) -> str:
        derivation = hop.derivation
        if isinstance(derivation, Lookup) and hop.answer_type == "entity":
            match = REFERENCE.fullmatch(derivation.subject)
            subject = found[int(match[1])] if match else derivation.subject
            objects = self.read(subject, derivation.property, given)
            return objects.pop() if len(objects) == 1 else ""
        values = hop.evidence.literals
        if not all(self.holds_value(one, given) for one in values):
            return ""
        if isinstance(derivation, Compute):
            # Both values can be read, so they can be compared.
            largest = derivation.expression.startswith("argmax")
            ends = {found[int(number)] for number in REFERENCE.findall(derivation.expression)}
            assert {one.subject for one in values} == ends
            return sorted(values, key=lambda one: order(one.value), reverse=largest)[0].subject
        return hop.answer


def read_lines(name: str) -> list[str]:
    with gzip.open(SAMPLE / name, "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in lines]


def write_value(fact: LiteralFact) -> str:
    """As an article writes it: `23 January 1962`, `1962` for a bare year, `331,210` for square kilometres."""
    if match := re.match(r"(\d{4})-(\d\d)-(\d\d)", fact.value):
        year, month, day = match.groups()
        return year if (month, day) == ("01", "01") else f"{int(day)} {MONTHS[int(month) - 1]} {year}"
    number = float(fact.value) / (SQUARE_METRES if fact.property == AREA else 1)
    return f"{number:,.0f}" if number > 1000 else f"{number:,}"


def order(value: str) -> tuple[float, str]:
    return (0, value) if re.match(r"\d{4}-", value) else (float(value), "")


@pytest.fixture(scope="module")
def reader(made: Made) -> Reader:
    return Reader(made.passages, (fact for item in made.items for hop in item.hops for fact in hop.evidence.triplets))


def answer_of(item: Item) -> str:
    last = item.hops[-1]
    return last.answer_id or last.answer


def test_every_kind_is_made_and_the_counts_add_up(made: Made) -> None:
    figures = made.figures
    assert {"inference, 2 hops", "inference, 3 hops", "inference, 4 hops", "comparison, 3 hops"} <= set(
        figures["written"]
    )
    assert sum(figures["found"].values()) == sum(figures["proven"].values()) + sum(figures["rejected"].values())
    assert figures["items"] == sum(figures["written"].values()) == len(made.items)
    assert figures["documents"] == ARTICLES == len({id.partition(":")[0] for id in made.passages})
    assert figures["hops_found_in_ten"] > 0.9 * figures["hops"]


def test_the_spans_hold_and_the_judgements_are_theirs(made: Made) -> None:
    judged: dict[str, set[str]] = {}
    for line in (made.folder / "qrels" / "test.tsv").read_text("utf-8").splitlines()[1:]:
        query, passage, _ = line.split("\t")
        judged.setdefault(query, set()).add(passage)
    texts = {row["_id"]: row["text"] for row in made.lines("corpus.jsonl")}
    for item in made.items:
        gold = [made.gold(hop) for hop in item.hops]
        assert all(gold)
        assert set.union(*gold) == judged[item.id]
        for hop, own in zip(item.hops, gold, strict=True):
            for span in hop.evidence.spans:
                (id,) = (one for one in own if one.startswith(f"{span.document}:"))
                start = int(re.split("[:-]", id)[1])
                assert texts[id][span.start - start : span.end - start] == span.text
    assert {row["_id"]: row["text"] for row in made.lines("queries.jsonl")} == {
        one.id: one.question for one in made.items
    }


def test_the_gold_passages_alone_answer_every_question(made: Made, reader: Reader) -> None:
    for item in made.items:
        gold = set().union(*(made.gold(hop) for hop in item.hops))
        assert reader.answer(item, gold) == answer_of(item) == reader.answer(item, made.passages), item.question


def test_without_the_passages_of_any_hop_the_rest_of_the_corpus_gives_no_answer(made: Made, reader: Reader) -> None:
    tried = 0
    for item in made.items:
        for hop in item.hops:
            rest = made.passages.keys() - made.gold(hop)
            assert reader.answer(item, rest) == "", (item.question, hop.index)
            tried += 1
    assert tried == made.figures["hops"]


def test_no_passage_that_is_left_joins_what_a_removed_hop_joined(made: Made, reader: Reader) -> None:
    """Whatever the relation: who reads the rest finds no text at all on both ends of the hop, or of the whole chain."""
    for item in made.items:
        for hop in item.hops:
            rest = made.passages.keys() - made.gold(hop)
            for fact in hop.evidence.triplets:
                assert not reader.naming(fact.subject) & reader.naming(fact.object) & rest, (item.question, hop.index)


def test_the_ranks_are_those_that_a_search_gives(made: Made) -> None:
    ranks = {row["id"]: row["ranks"] for row in made.lines("retrievability.jsonl")}
    item = next(one for one in made.items if len(one.hops) == 2 and one.hops[0].evidence.triplets)
    hop = item.hops[0]
    hits = made.home.json("corpus", "search", hop.question, "--corpus", "few", "--most", "100", "--mode", "bm25")
    places = [place for place, hit in enumerate(hits, 1) if hit["id"] in made.gold(hop)]
    assert ranks[item.id][0] == min(places)


def test_called_again_it_goes_on_and_gives_the_same_bytes(made: Made) -> None:
    before = {path: path.read_bytes() for path in made.folder.rglob("*") if path.is_file()}
    refused = made.home.call("corpus", "build", str(made.folder), "--corpus", "few")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "--replace replaces it" in refused.stderr
    index = made.home.path / "corpora" / "few" / "index"
    stamps = {path: path.stat().st_mtime_ns for path in index.glob("shard-*/*")}
    again = build(made.home, made.folder, made.articles, "--replace")
    assert {**again, "seconds": 0} == {**made.figures, "seconds": 0}
    assert {path: path.read_bytes() for path in made.folder.rglob("*") if path.is_file()} == before
    assert {path: path.stat().st_mtime_ns for path in index.glob("shard-*/*")} == stamps
