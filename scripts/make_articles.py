"""Makes data/articles/articles.jsonl.gz from the sample's facts: `make_articles.py data/sample data/articles [MOST]`.

Each article tells some facts about one thing in the words of the project's own rules (`passage_phrases.toml`), so no
sentence is anybody else's. Articles tell only facts that are Wikidata's or this project's own (CC0) or in the public
domain: what only GeoNames, 2WikiMultihopQA or a text of Wikipedia gave to the sample is left out. What an article tells
leads to further articles, so that questions can go from one to the next. The same facts give the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hopwright.counterfactual.passage_phrases import has_inverse, list_role
from hopwright.counterfactual.passage_writer import PassageWriter
from hopwright.counterfactual.passages import PassagePlan
from hopwright.counterfactual.renamed_entities import find_gender
from hopwright.errors import HopwrightError
from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.names import GraphNames
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.evidence import name_triplet
from hopwright.planning.traversals import GraphTraversals
from hopwright.records import LiteralFact
from sample.writing import write_packed

FILE = "articles.jsonl.gz"
LICENCE = "CC0-1.0"
SOURCE = "Hopwright's articles from the facts of data/sample"
ARTICLES = 2000
_FREE = frozenset({"atlas", "description", "genders", "timelines", "homes", "factbook", "lives", "gazetteer"})
"""Sources of the sample whose facts are in the public domain (data/README.md)."""
_FACTS = 10
"""An article tells so many facts at most."""
_MEASURES = 3
_FEWEST = 3
_DEPTH = 3
"""From an article that begins a path, so many steps lead to further articles."""
_BRANCHES = 3
Fact = tuple[str, str, str]


class TellableFacts:
    """The facts of the sample that may be told, and what an article would be about."""

    def __init__(self, graph: GraphStore, encumbered: frozenset[tuple[str, str]]) -> None:
        self.source = WikidataSource(graph, kinds=KindIndex(graph))
        self.graph = graph
        self.moves = GraphTraversals(self.source)
        self._encumbered = encumbered

    def is_clear(self, entity: str) -> bool:
        """Whether the label means this entity only, so that an article under it is about nothing else."""
        return self.moves.nameable(entity) and self.graph.bearers(self.graph.label(entity)) == (entity,)

    def list_edges(self, entity: str) -> list[Fact]:
        """The facts that can be asked for, in a fixed order."""
        edges = sorted((one.subject, one.property, one.object) for one in self.moves.lookups_from(entity))
        return [one for one in edges if self._is_free(one[0], one[1]) and self.is_clear(one[2])]

    def list_ends(self, entity: str) -> list[str]:
        """What the facts that can be asked for lead to: what leads on goes first."""
        ends = dict.fromkeys(object for _, _, object in self.list_edges(entity))
        return sorted(ends, key=lambda one: (not self.list_edges(one), _draw(one)))

    def list_beginnings(self, entities: Sequence[str]) -> Iterator[str]:
        """Those of the entities from which paths begin."""
        return (one for one in entities if self.is_clear(one) and self.reaches(one, _DEPTH))

    def reaches(self, entity: str, steps: int) -> bool:
        """Whether so many facts follow each other from here on."""
        return steps == 0 or any(self.reaches(end, steps - 1) for end in self.list_ends(entity))

    def plan(self, entity: str) -> PassagePlan:
        """What the article tells: what can be asked for first, then numbers and dates, then what fills it."""
        triplets = self.list_edges(entity)
        triplets = triplets[: _FACTS - _MEASURES]
        told = {property for _, property, _ in triplets}
        literals: list[LiteralFact] = []
        for measure in self.moves.measures(entity):
            if measure.entry.stable and measure.property not in told and len(literals) < _MEASURES:
                held = self.graph.literals(entity, measure.property)
                if len(held) == 1 and self._is_free(entity, measure.property):
                    told.add(measure.property)
                    literals.append(held[0])
        triplets += self._list_context(entity)[: max(_FACTS - len(triplets) - len(literals), 0)]
        label, gender = self.graph.label(entity), find_gender(entity, self.graph)
        told = tuple(name_triplet(self.graph, *fact) for fact in triplets)
        return PassagePlan(entity, label, gender, told, tuple(literals), supporting=True)

    def _is_free(self, subject: str, property: str) -> bool:
        return (subject, property) not in self._encumbered

    def _list_context(self, entity: str) -> list[Fact]:
        """What others have to do with the entity, one fact of each property; the other end may have no article."""
        found: dict[str, Fact] = {}
        for subject, property, object in sorted(self.moves.lookups_to(entity), key=lambda one: _draw(one.subject)):
            if has_inverse(property) and self._is_free(subject, property) and self.is_clear(subject):
                found.setdefault(property, (subject, property, object))
        return [found[property] for property in sorted(found) if property not in list_role("dull")]


def main(sample: Path, out: Path, most: int = ARTICLES) -> int:
    """Write the articles; returns how many there are."""
    with tempfile.TemporaryDirectory() as folder:
        ingest(sample, Path(folder) / "store")
        rows = make_articles(GraphStore.open(Path(folder) / "store"), read_encumbered(sample), most)
    out.mkdir(parents=True, exist_ok=True)
    write_packed(out / FILE, (json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows))
    return len(rows)


def make_articles(
    graph: GraphStore, encumbered: frozenset[tuple[str, str]], most: int = ARTICLES
) -> list[dict[str, str]]:
    """At most so many articles, ordered by their titles."""
    facts = TellableFacts(graph, encumbered)
    writer, names = PassageWriter(facts.source.table), GraphNames(facts.source.kinds)
    rows: list[dict[str, str]] = []
    for entity in pick_entities(facts):
        plan = facts.plan(entity)
        if "," in plan.subject_label and facts.source.kinds.kind(entity) == "person":
            continue  # the family name of "Charles VI, Holy Roman Emperor" is not "Emperor"
        if len(plan.triplets) + len(plan.literals) < _FEWEST:
            continue
        passage = writer.word(plan, names)
        row = {"id": entity, "title": passage.title, "text": passage.text, "licence": LICENCE, "source": SOURCE}
        rows.append(row)
        if len(rows) == most:
            break
    return sorted(rows, key=lambda row: (row["title"], row["id"]))


def pick_entities(facts: TellableFacts) -> Iterator[str]:
    """What the articles are about: beginnings of every kind in turn, each followed by what its facts lead to."""
    by_kind: dict[str, list[str]] = {}
    for entity in sorted(facts.graph.entities(), key=_draw):
        by_kind.setdefault(facts.source.kinds.kind(entity), []).append(entity)
    queues = [facts.list_beginnings(by_kind[kind]) for kind in sorted(by_kind)]
    told: set[str] = set()
    while queues:
        for queue in list(queues):
            beginning = next(queue, "")
            if not beginning:
                queues.remove(queue)
                continue
            level = [beginning]
            for _ in range(_DEPTH + 1):
                yield from (one for one in level if one not in told)
                told.update(level)
                level = list(dict.fromkeys(end for one in level for end in facts.list_ends(one)[:_BRANCHES]))


def read_encumbered(sample: Path) -> frozenset[tuple[str, str]]:
    """The subjects with the properties of which no source in the public domain states a fact that the sample has."""
    found = set()
    with gzip.open(sample / "provenance.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            subject, property, _, sources = line.rstrip("\n").split("\t")
            if _FREE.isdisjoint(source.split()[0] for source in sources.split("+")):
                found.add((subject, property))
    return frozenset(found)


def _draw(entity: str) -> str:
    """An order that has nothing to do with what the entities are."""
    return hashlib.sha256(entity.encode()).hexdigest()


if __name__ == "__main__":
    given = sys.argv[1:]
    if len(given) not in (2, 3) or not all(one.isdecimal() and int(one) > 0 for one in given[2:]):
        sys.exit("usage: make_articles.py data/sample data/articles [MOST]")
    try:
        number = main(Path(given[0]), Path(given[1]), int(given[2]) if given[2:] else ARTICLES)
    except (HopwrightError, OSError) as error:
        sys.exit(f"make_articles.py: {error}")
    sys.stderr.write(f"{number} articles\n")
