"""How many chains the passages of 2WikiMultihopQA prove, and a second, independent look at each of them.

    python bench/document_chains.py --corpus FOLDER --graph FOLDER --wiki2 FILE --passages FILE --work FOLDER

--corpus is the folder of an indexed corpus of the passages; --graph a folder in Wikidata5M's layout. The facts of the
questions (their evidences with Wikidata ids) are added to it, with what their relations tell of their ends: a father is
human, what has a director is a film. The chains are then searched and proven over the corpus, and each hop is looked
at again without any of the code that proved it: all passages that state its fact are taken out, by their ids in the
spans, and every passage that is left is read for both of its names.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

from data_sets import read_lines

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hopwright.exports.document_chains import DocumentChains, write_document_chains
from hopwright.knowledge.documents.index import Retriever
from hopwright.knowledge.documents.values import find_dates
from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Item, Source
from hopwright.settings import CorpusChainsParameters

_TRIPLES, _ENTITIES, _TEXTS = "wikidata5m_all_triplet.txt", "wikidata5m_entity.txt", "wikidata5m_text.txt"
_RELATIONS, _LITERALS = "wikidata5m_relation.txt", "attribute_literals.tsv"
_HUMAN, _FILM, _SONG, _COUNTRY, _SETTLEMENT = "Q5", "Q11424", "Q7366", "Q6256", "Q486972"
_CLASSES = {
    "P57": (_FILM, _HUMAN), "P58": (_FILM, _HUMAN), "P86": ("", _HUMAN), "P162": (_FILM, _HUMAN),
    "P175": (_SONG, ""), "P22": (_HUMAN, _HUMAN), "P25": (_HUMAN, _HUMAN), "P26": (_HUMAN, _HUMAN),
    "P40": (_HUMAN, _HUMAN), "P3373": (_HUMAN, _HUMAN), "P19": (_HUMAN, _SETTLEMENT), "P20": (_HUMAN, _SETTLEMENT),
    "P27": (_HUMAN, _COUNTRY), "P495": ("", _COUNTRY), "P17": ("", _COUNTRY), "P569": (_HUMAN, ""),
    "P570": (_HUMAN, ""),
}  # fmt: skip
"""What the ends of a relation are in these questions."""


def main() -> None:
    """Make the graph, the chains, and look at them again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("corpus", "graph", "wiki2", "passages", "work"):
        parser.add_argument(f"--{name}", type=Path)
    options = parser.parse_args()
    if None in vars(options).values():
        print("needs --corpus, --graph, --wiki2, --passages and --work: the data sets are not shipped")
        return
    write_graph(options)
    ingest(options.work / "graph", options.work / "store")
    source = WikidataSource(GraphStore.open(options.work / "store"))
    retriever = Retriever.open(options.corpus)
    maker = DocumentChains(source, retriever, [Source(name="Wikidata", licence="CC0-1.0")], seed=0)
    facts = maker.graph.facts()
    print(f"{len(retriever.store):,} passages, {len(maker.graph.topics):,} linked, {len(facts):,} facts stated")
    counts = write_document_chains(maker, options.work / "set", CorpusChainsParameters(most=100_000), lambda line: None)
    for name, found in sorted(counts.found.items()):
        print(f"{name}: {found:,} found, {counts.proven[name]:,} proven")
    for name, number in counts.rejected.most_common():
        print(f"  rejected: {name} ({number:,})")
    look_again(options.work / "set")


def write_graph(options: argparse.Namespace) -> None:
    """The graph with the facts of the questions, in Wikidata5M's layout."""
    table, folder = default_table(), options.work / "graph"
    folder.mkdir(parents=True, exist_ok=True)
    held_relations = (options.graph / _RELATIONS).read_text("utf-8").splitlines()
    labels = dict(line.split("\t")[:2] for line in held_relations) | {"P569": "date of birth", "P570": "date of death"}
    properties = {label: id for id, label in labels.items() if id in table.entity or id in table.literal}
    ids = list_ids(options)
    names: dict[str, dict[str, None]] = {}
    lines: dict[str, dict[str, None]] = {_TRIPLES: {}, _LITERALS: {}}
    for subject, relation, value in (triple for row in read_lines(options.wiki2) for triple in row["evidences"]):
        property, one, other = properties.get(relation), ids.get(subject), ids.get(value)
        if property is None or one is None:
            continue
        names.setdefault(one, {})[subject] = None
        ends = [(one, _CLASSES.get(property, ("", ""))[0])]
        if property in table.entity and other:
            names.setdefault(other, {})[value] = None
            lines[_TRIPLES][f"{one}\t{property}\t{other}"] = None
            ends.append((other, _CLASSES.get(property, ("", ""))[1]))
        for date in (date for date in find_dates(value) if date.day and property in table.literal):
            day = f"{date.year:04}-{date.month:02}-{date.day:02}T00:00:00Z"
            lines[_LITERALS][f"{one}\t{property}\t{relation}\t\t{day}\tdateTime"] = None
        lines[_TRIPLES] |= {f"{id}\tP31\t{kind}": None for id, kind in ends if kind}
    texts: dict[str, None] = {}
    for row in read_lines(options.passages):
        if row["wikidata_id"]:
            names.setdefault(row["wikidata_id"], {})[row["title"]] = None
            texts[f"{row['wikidata_id']}\t{' '.join(row['text'].split())}"] = None
    held = {name: (options.graph / name).read_text("utf-8") for name in (_ENTITIES, _TEXTS)}
    known = {name: {line.split("\t")[0] for line in text.split("\n")} for name, text in held.items()}
    lines[_ENTITIES] = {"\t".join([id, *all]): None for id, all in names.items() if id not in known[_ENTITIES]}
    lines[_TEXTS] = {line: None for line in texts if line.split("\t")[0] not in known[_TEXTS]}
    lines[_RELATIONS] = {}
    for name, added in lines.items():
        text = (options.graph / name).read_text("utf-8") + "".join(f"{one}\n" for one in added)
        (folder / name).write_text(text, "utf-8")


def list_ids(options: argparse.Namespace) -> dict[str, str]:
    """The ids of the names that stand for one entity only, in the questions and over the passages."""
    found: dict[str, set[str]] = {}
    for row in read_lines(options.wiki2):
        if len(row["evidences"]) == len(row["evidences_id"]):
            for named, known in zip(row["evidences"], row["evidences_id"], strict=True):
                for name, id in ((named[0], known[0]), (named[2], known[2])):
                    found.setdefault(name, set()).add(id)
    for row in read_lines(options.passages):
        if row["wikidata_id"]:
            for name in (row["title"], row["title"].partition(" (")[0]):
                found.setdefault(name, set()).add(row["wikidata_id"])
    return {name: min(ids) for name, ids in found.items() if len(ids) == 1 and min(ids).startswith("Q")}


def look_again(folder: Path) -> None:
    """Print how many hops are still answerable by what is left without the passages that state them."""
    rows = read_lines(folder / "corpus.jsonl")
    passages = [(row["_id"].split(":")[0], f"{row['title']}\n{row['text']}") for row in rows]
    total: Counter[str] = Counter()
    for item in (Item.model_validate(row) for row in read_lines(folder / "items.jsonl")):
        total["items"] += 1
        answerable = False
        for hop in item.hops:
            gone = {span.document for span in hop.evidence.spans}
            for fact in hop.evidence.triplets:
                total["facts"] += 1
                names = (fact.subject_label, fact.object_label)
                one, other = (re.compile(rf"(?<!\w){re.escape(name)}(?!\w)") for name in names)
                answerable |= any(one.search(text) and other.search(text) for id, text in passages if id not in gone)
        total["answerable"] += answerable
    print(
        f"looked at again: {total['facts']:,} facts of {total['items']:,} items; {total['answerable']:,} items with a "
        "hop whose ends are both named in a passage that is left"
    )


if __name__ == "__main__":
    main()
