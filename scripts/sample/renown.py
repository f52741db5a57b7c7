"""How well known films are to well-read people who are no specialists."""

from __future__ import annotations

from pathlib import Path

from sample.gathering import Merge

SOURCE = "renown"
_RENOWN, _LABEL = "P990196", "renown"
_NO_UNIT = "Q199"
"""Wikidata's unit of what is counted."""


def read_renown(path: Path, merge: Merge) -> None:
    """Take the mean of two ratings, from 1 (hardly anybody has heard of it) to 5 (nearly all know who made it).

    A line of the file is `Qid⇥label⇥rating⇥rating`, by two hands that did not see each other's.
    """
    merge.labels.setdefault(_RENOWN, _LABEL)
    merge.relations.setdefault(_RENOWN, [_LABEL])
    for line in path.read_text("utf-8").splitlines()[1:]:
        entity, label, *ratings = line.split("\t")
        if merge.names.get(entity, [""])[0] == label:
            mean = sum(map(int, ratings)) / len(ratings)
            merge.numbers[entity, _RENOWN] = (_NO_UNIT, f"{mean:g}", "", SOURCE)
        else:
            merge.refused[f"{SOURCE}: not among the entities under that label"] += 1
