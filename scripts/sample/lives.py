"""What encyclopedias say of people: when and where they were born and died, who their parents and teachers were."""

from __future__ import annotations

from pathlib import Path

from sample.days import Day
from sample.gathering import Merge

SOURCE = "lives"
_DAYS = ("P569", "P570")
_PLACES = ("P19", "P20")


def read_lives(path: Path, merge: Merge) -> None:
    """Take the dates and cities of those that are among the entities under the same label.

    A line of the file is `Qid⇥label⇥born⇥died⇥Qid of the city of birth⇥Qid of the city of death`, dates as
    `1879-03-14`, a field empty where it is not known, disputed, or the person lives.
    """
    for line in path.read_text("utf-8").splitlines()[1:]:
        entity, label, born, died, *places = line.split("\t")
        if merge.names.get(entity, [""])[0] != label:
            merge.refused[f"{SOURCE}: not among the entities under that label"] += 1
            continue
        for property, text in zip(_DAYS, (born, died), strict=True):
            if text:
                merge.add_day(entity, property, Day(*map(int, text.split("-"))), SOURCE)
        for property, place in zip(_PLACES, places, strict=True):
            if place in merge.names:
                merge.add_edge(entity, property, place, SOURCE)


def read_relations(path: Path, merge: Merge) -> None:
    """Take who somebody's parents and doctoral advisor were, where both ends are among the entities under their labels.

    A line of the file is `Qid⇥label⇥property⇥Qid⇥label`.
    """
    for line in path.read_text("utf-8").splitlines()[1:]:
        entity, label, property, other, name = line.split("\t")
        if merge.names.get(entity, [""])[0] == label and merge.names.get(other, [""])[0] == name:
            merge.add_edge(entity, property, other, SOURCE)
        else:
            merge.refused[f"{SOURCE}: not among the entities under that label"] += 1
