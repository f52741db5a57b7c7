"""Re-DocRED's relations between the names of a document."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from hopwright.knowledge.wikidata.properties import default_table
from sample.days import DATES, read_day
from sample.gathering import RULES, Merge, Names

_TYPES = {
    "PER": ("person",),
    "LOC": ("country", "place", "nature", "transport"),
    "ORG": ("organization", "team", "competition", "country", "place"),
    "MISC": ("work", "event", "award", "competition", "fiction", "transport", "other"),
}


def read_redocred(path: Path, merge: Merge, names: Names) -> None:
    """Relations of Re-DocRED between mentions whose names are the label of one entity each.

    A subject's facts are taken where the document also says something of it that Wikidata's files have: so it is the
    same thing, and not a namesake (a book and its film).
    """
    source, taken, table = "redocred", frozenset(RULES["redocred"]["take"]), default_table()
    for document in json.loads(path.read_text("utf-8")):
        linked = [_link_mention(names, cluster) for cluster in document["vertexSet"]]
        facts = [(linked[one["h"]], one["r"], linked[one["t"]]) for one in document["labels"]]
        confirmed = {s for s, p, o in facts if o and ((s, p, o) in merge.base or (s, p, o) in merge.edges)}
        for fact, (subject, property, object) in zip(document["labels"], facts, strict=True):
            entry = table.entity.get(property)
            if property not in taken:
                merge.refused[f"{source}: property is not taken"] += 1
            elif not fact["evidence"]:
                merge.refused[f"{source}: no sentence bears it out"] += 1
            elif not subject or (property not in DATES and not object):
                merge.refused[f"{source}: name not linked"] += 1
            elif subject not in confirmed:
                merge.refused[f"{source}: nothing known confirms who or what it is"] += 1
            elif property in DATES:
                times = [mention["name"].replace(" ,", ",") for mention in document["vertexSet"][fact["t"]]]
                merge.add_day(subject, property, read_day(times[0]), source)
            elif entry and not (names.kind(subject) in entry.subject and names.kind(object) in entry.object):
                merge.refused[f"{source}: its ends do not fit"] += 1
            else:
                merge.add_edge(subject, property, object, source)


def _link_mention(names: Names, cluster: list[dict[str, Any]]) -> str:
    kinds = {mention["type"] for mention in cluster}
    found: set[str] = set()
    spoken = {re.sub(r" (['’.,])", r"\1", mention["name"]) for mention in cluster}
    for name in sorted(spoken, key=lambda one: (-len(one), one)):
        # A person's bare first or last name is shared by too many.
        if "PER" in kinds and " " not in name:
            continue
        if id := names.link(name, {kind for one in kinds for kind in _TYPES.get(one, ())}, labels=True):
            found.add(id)
    return found.pop() if len(found) == 1 else ""
