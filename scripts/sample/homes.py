"""From which country people are, where nothing says where they were born: for telling who belongs beside whom."""

from __future__ import annotations

from pathlib import Path

from sample.gathering import Merge

SOURCE = "homes"
_HOME, _LABEL = "P990193", "home country"


def read_homes(path: Path, merge: Merge) -> None:
    """Take the countries of those that are among the entities under the same label.

    A line of the file is `Qid⇥label⇥Qid of the country⇥its name`.
    """
    merge.labels.setdefault(_HOME, _LABEL)
    merge.relations.setdefault(_HOME, [_LABEL])
    for line in path.read_text("utf-8").splitlines()[1:]:
        entity, label, country, _ = line.split("\t")
        if merge.names.get(entity, [""])[0] == label and country in merge.names:
            merge.add_edge(entity, _HOME, country, SOURCE)
        else:
            merge.refused[f"{SOURCE}: not among the entities under that label"] += 1
