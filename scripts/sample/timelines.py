"""Timelines: who or what holds a year, by lists that works of reference give in full."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from hopwright.knowledge.wikidata.properties import default_table
from sample.gathering import Merge

SOURCE = "timelines"
_IDS = {entry.timeline: id for id, entry in default_table().literal.items() if entry.timeline}
TIMELINES = {id: entry.label for id, entry in default_table().literal.items() if entry.timeline}
"""Property → its label."""


def read_timelines(path: Path, merge: Merge) -> None:
    """Take the holders of years whose holders are all among the entities.

    A line of the file is `timeline⇥year⇥Qid⇥label`, the id empty where it is not known. A year of which one holder is
    not among the entities is left out: another would seem to be the only one.
    """
    held: dict[tuple[str, str], set[str]] = defaultdict(set)
    for line in path.read_text("utf-8").splitlines()[1:]:
        timeline, year, entity, _ = line.split("\t")
        held[timeline, year].add(entity)
    for (timeline, year), holders in held.items():
        if holders <= merge.names.keys():
            merge.timelines.update((one, _IDS[timeline], year) for one in holders)
        else:
            merge.refused[f"{SOURCE}: a year of which not all holders are known"] += 1
