"""How well facts are found in texts: against Re-DocRED's evidence sentences and 2WikiMultihopQA's supporting facts.

    python bench/alignment.py --store STORE --redocred FILE
    python bench/alignment.py --store STORE --wiki2 FILE --passages FILE

STORE is a graph store (`hopwright graph ingest`), whose property names and aliases tell the words of a relation.
Re-DocRED: of each labelled relation with evidence, whether a sentence is found, and whether it is one of the
evidence, also for those alone whose both names are written in one of the evidence sentences; and how many relations
that are not labelled are found for the same pairs of types, which a graph rarely holds either. Of a model's readings,
what the check against the text lets pass: of one who tells the evidence of every labelled relation, and of one who
tells a sentence drawn at random for relations that are not labelled.
2WikiMultihopQA: of each evidence triple whose supporting passage is there, whether it is found in that passage, and
whether in the supporting sentence.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from data_sets import pair_facts, read_lines

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hopwright.knowledge.documents.alignment import AlignedText, FactEnd, StatedFact, find_bracketed, list_cues
from hopwright.knowledge.documents.values import find_dates
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore

Measure = Counter[str]
_RUN = 3
"""Sentences that may state a fact together, as `model_aligner` has it."""
_COMMON = 5
"""Relations between two types that are labelled as often as this are tried on all pairs of such types."""


def main() -> None:
    """Measure on what is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--redocred", type=Path)
    parser.add_argument("--wiki2", type=Path)
    parser.add_argument("--passages", type=Path)
    options = parser.parse_args()
    if options.store is None or not (options.redocred or options.wiki2):
        print("needs --store, and --redocred or --wiki2 with --passages: neither data set is shipped")
        return
    graph, table = GraphStore.open(options.store), default_table()
    if options.redocred:
        measure_redocred(json.loads(options.redocred.read_text("utf-8")), graph, table)
    if options.wiki2 and options.passages:
        measure_wiki2(options.wiki2, options.passages, graph, table)


def measure_redocred(documents: list[dict[str, Any]], graph: GraphStore, table: PropertyTable) -> None:
    """Print how many labelled relations are found, where, and how many others."""
    typed = defaultdict[tuple[str, str], Counter[str]](Counter)
    for document in documents:
        for label in document["labels"]:
            head, tail = (document["vertexSet"][label[end]][0]["type"] for end in ("h", "t"))
            typed[head, tail][label["r"]] += 1
    common = {pair: {name for name, count in counts.items() if count >= _COMMON} for pair, counts in typed.items()}
    for said in (False, True):
        total: Measure = Counter()
        for document in documents:
            measure_document(document, graph, table, common, total, said)
        print_redocred(total, "with a word of the relation" if said else "both names in a sentence")
    held: Measure = Counter()
    draw = random.Random(11)
    for document in documents:
        measure_readings(document, common, held, draw)
    print_readings(held)


def measure_document(
    document: dict[str, Any],
    graph: GraphStore,
    table: PropertyTable,
    typed: dict[tuple[str, str], set[str]],
    total: Measure,
    said: bool,
) -> None:
    """Add one document's figures."""
    text, ends = read_document(document)
    labelled = {(label["h"], label["r"], label["t"]): label["evidence"] for label in document["labels"]}
    for (head, property, tail), evidence in labelled.items():
        if evidence:
            found = find(text, ends[head], ends[tail], property, graph, table, said)
            total["labelled"] += 1
            total["found"] += bool(found)
            total["in evidence"] += bool(found) and found[0].sentence in evidence
            sentences = [{one["sent_id"] for one in document["vertexSet"][end]} for end in (head, tail)]
            if written := set(evidence).intersection(*sentences):
                total["written"] += 1
                total["written, found"] += bool(found)
                total["written, in evidence"] += bool(found) and found[0].sentence in evidence
                total["written, all"] += written <= {one.sentence for one in found}
    kinds = [vertex[0]["type"] for vertex in document["vertexSet"]]
    for head in range(len(ends)):
        for tail in range(len(ends)):
            for property in typed.get((kinds[head], kinds[tail]), ()) if head != tail else ():
                if (head, property, tail) not in labelled:
                    total["not labelled"] += 1
                    total["false alarms"] += bool(find(text, ends[head], ends[tail], property, graph, table, said))


def measure_readings(
    document: dict[str, Any], typed: dict[tuple[str, str], set[str]], total: Measure, draw: random.Random
) -> None:
    """Add what of right and of wrong readings is borne out: both ends in three sentences at most (`model_aligner`)."""
    text, ends = read_document(document)
    labelled = {(label["h"], label["r"], label["t"]): label["evidence"] for label in document["labels"]}
    for (head, _, tail), evidence in labelled.items():
        if evidence:
            runs = list_runs(sorted(evidence))
            passed = [run for run in runs if locate(text, ends[head], ends[tail], *run)]
            total["right"] += 1
            total["right, passed"] += bool(passed)
    kinds = [vertex[0]["type"] for vertex in document["vertexSet"]]
    for head in range(len(ends)):
        for tail in range(len(ends)):
            for property in typed.get((kinds[head], kinds[tail]), ()) if head != tail else ():
                if (head, property, tail) not in labelled:
                    place = draw.randrange(len(text.sentences))
                    total["wrong"] += 1
                    total["wrong, passed"] += locate(text, ends[head], ends[tail], place, place)


def list_runs(evidence: list[int]) -> list[tuple[int, int]]:
    """The evidence as a reader may tell it: sentences that follow one another, and each alone."""
    return [(first, last) for first in evidence for last in evidence if first <= last < first + _RUN]


def locate(text: AlignedText, head: FactEnd, tail: FactEnd, first: int, last: int) -> bool:
    """Whether both ends stand in some sentences."""
    return text.locate(head, tail, text.sentences[first][0], text.sentences[last][1]) is not None


def print_readings(total: Measure) -> None:
    """One line."""
    print(
        f"Re-DocRED, readings held against the text: {total['right, passed']} of {total['right']} relations "
        f"({total['right, passed'] / total['right']:.1%}) where a reader tells the evidence; "
        f"{total['wrong, passed']} of {total['wrong']} ({total['wrong, passed'] / total['wrong']:.2%}) where one tells "
        "a sentence at random for a relation that is not labelled"
    )


def read_document(document: dict[str, Any]) -> tuple[AlignedText, list[FactEnd]]:
    """The text of a document, and the ends that its relations may have."""
    places, words = [], []
    position = 0
    for sentence in document["sents"]:
        words.append(" ".join(sentence))
        places.append((position, position + len(words[-1])))
        position += len(words[-1]) + 1
    names = [tuple(dict.fromkeys(" ".join(one["name"].split()) for one in vertex)) for vertex in document["vertexSet"]]
    text = AlignedText(" ".join(words), [document["title"]], places)
    return text, [read_end(vertex[0]["type"], held) for vertex, held in zip(document["vertexSet"], names, strict=True)]


def read_end(kind: str, names: tuple[str, ...]) -> FactEnd:
    """One end of a relation; a full date is looked for as a date."""
    if kind == "TIME":
        for date in find_dates(names[0]):
            if date.month and date.day:
                return FactEnd(date=dt.date(date.year, date.month, date.day))
    return FactEnd(names)


def find(
    text: AlignedText, head: FactEnd, tail: FactEnd, property: str, graph: GraphStore, table: PropertyTable, said: bool
) -> list[StatedFact]:
    """Where a fact is stated: only where it is said, if that is wanted."""
    cues = list_cues(property, graph, table)
    found = text.find(head, tail, cues, bracketed=find_bracketed(property, table))
    return [one for one in found if one.said or not cues] if said else found


def print_redocred(total: Measure, how: str) -> None:
    """One line."""
    print(
        f"Re-DocRED, {how}: {total['found']} of {total['labelled']} relations found "
        f"({total['found'] / total['labelled']:.1%}), the best sentence is evidence for "
        f"{total['in evidence'] / total['found']:.1%}; {total['false alarms']} of {total['not labelled']} others found "
        f"({total['false alarms'] / total['not labelled']:.2%})"
    )
    written, found = total["written"], total["written, found"]
    print(
        f"  of the {written} with both names written in one evidence sentence: {found / written:.1%} found, "
        f"{total['written, all'] / written:.1%} in all such sentences; the best sentence is evidence for "
        f"{total['written, in evidence'] / found:.1%}"
    )


def measure_wiki2(questions: Path, passages: Path, graph: GraphStore, table: PropertyTable) -> None:
    """Print how many evidence triples are found in their supporting passages."""
    texts = {row["title"]: row["text"] for row in read_lines(passages)}
    properties = {graph.property_label(id): id for id in (*table.entity, *table.literal)}
    total: Measure = Counter()
    seen = set[tuple[str, ...]]()
    for row in read_lines(questions):
        for (subject, relation, value), (title, sentence) in pair_facts(row):
            key = (title, subject, relation, value)
            if title not in texts or relation not in properties or key in seen:
                continue
            seen.add(key)
            text = AlignedText(texts[title], [title, title.partition(" (")[0], subject])
            dates = [one for one in find_dates(value) if one.day]
            end = FactEnd(date=dt.date(dates[0].year, dates[0].month, dates[0].day)) if dates else FactEnd((value,))
            about = FactEnd((subject, title.partition(" (")[0]))
            found = find(text, about, end, properties[relation], graph, table, True)
            total["triples"] += 1
            total["found"] += bool(found)
            total["sentence"] += bool(found) and found[0].sentence == sentence
    print(
        f"2WikiMultihopQA: {total['found']} of {total['triples']} triples are said in their passage "
        f"({total['found'] / total['triples']:.1%}), {total['sentence'] / total['found']:.1%} of these in the "
        "supporting sentence"
    )


if __name__ == "__main__":
    main()
