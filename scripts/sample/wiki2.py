"""2WikiMultihopQA's evidences, with Wikidata's ids."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from sample.days import DATES, read_day
from sample.gathering import COUNTRY, HUMAN, RULES, TAIL, Merge, Names

_OF_HUMANS = frozenset("P22 P25 P26 P40 P3373 P19 P20 P119 P69 P108 P27 P569 P570".split())
_OF_WORKS = frozenset("P57 P86 P162 P175 P577 P571 P123 P495".split())
_TO_HUMANS = frozenset("P22 P25 P26 P40 P3373 P57 P86".split())


def read_wiki2(path: Path, merge: Merge, names: Names, states: Mapping[str, str]) -> dict[str, str]:
    """Evidences of 2WikiMultihopQA; returns the ids of the titles that its questions use.

    `states`: today's countries by their names and by the adjectives that 2WikiMultihopQA uses for them at times.

    Where a record gives no ids with its evidences, its list of entities is in the order of the evidences' subjects;
    that holds for every record that gives both.
    """
    titles: dict[str, set[str]] = defaultdict(set)
    lands: set[str] = set()
    called: dict[str, Counter[str]] = defaultdict(Counter)
    classes: dict[str, set[str]] = defaultdict(set)
    humans: set[str] = set()
    source = "2wiki"
    for line in filter(None, path.read_text("utf-8").split("\n")):
        record = json.loads(line)
        subjects = list(dict.fromkeys(name for name, _, _ in record["evidences"]))
        ids = record["entity_ids"].split("_")
        pages = list(dict.fromkeys(title for title, _ in record["supporting_facts"]))
        if len(pages) == len(ids) == len(subjects):
            for title, id in zip(pages, ids, strict=True):
                titles[title].add(id)
        facts = record["evidences_id"]
        if not facts:
            if len(subjects) != len(ids):
                merge.refused[f"{source}: record without ids"] += 1
                continue
            of = dict(zip(subjects, ids, strict=True))
            facts = [[of[s], p, of.get(o, "")] for s, p, o in record["evidences"]]
        elif len(facts) != len(record["evidences"]):
            merge.refused[f"{source}: evidences and ids differ in number"] += 1
            continue
        question = record["question"]
        hint = next((one for word, one in RULES["classes"].items() if re.search(rf"\b{word}s?\b", question)), "")
        for (subject, label, object), (name, _, value) in zip(facts, record["evidences"], strict=True):
            property = RULES["wiki2"].get(label)
            if property is None:
                merge.refused[f"{source}: {label} is not taken"] += 1
                continue
            called[subject][name] += 1
            if property in DATES:
                merge.add_day(subject, property, read_day(value), source)
            elif re.fullmatch(r"Q\d+", object):
                called[object][value] += 1
                merge.add_edge(subject, property, object, source)
            else:
                merge.refused[f"{source}: object without id"] += 1
                continue
            if property in _OF_HUMANS:
                humans.add(subject)
            if property in _TO_HUMANS:
                humans.add(object)
            if property in _OF_WORKS and hint:
                classes[subject].add(hint)
            if property in ("P17", "P27", "P495"):
                lands.add(object)
    for id in sorted(called):
        if id in merge.names:
            continue
        known = [name for name, _ in sorted(called[id].items(), key=lambda one: (-one[1], one[0]))]
        # An adjective is no name: "Swedish", where a question said of what nationality somebody was.
        found = [states.get(name, name) if id in lands else TAIL.sub("", name) for name in known]
        merge.names[id] = list(dict.fromkeys(found))
        names.learn(id, merge.names[id])
        if id in lands and merge.names[id][0] in states.values():
            merge.add_edge(id, "P31", COUNTRY, source)
            names.added[id] = "country"
        elif id in humans:
            merge.add_edge(id, "P31", HUMAN, source)
            names.added[id] = "person"
        elif len(classes[id]) == 1:
            (one,) = classes[id]
            merge.add_edge(id, "P31", one, source)
            names.added[id] = "organization" if one == "Q41298" else "work"
    return {title: next(iter(ids)) for title, ids in titles.items() if len(ids) == 1}
