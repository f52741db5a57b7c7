"""Countries that Wikidata's files refer to and do not name."""

from __future__ import annotations

import shutil
from pathlib import Path

from sample.days import COUNTRY
from sample.wikidata import read_rows

_NAMES, _TRIPLETS = "wikidata5m_entity.txt", "wikidata5m_all_triplet.txt"


def add_states(folder: Path, path: Path, out: Path) -> Path:
    """Copy Wikidata's files to `out`, with the label and the class of every country of `path` that lacks them.

    A line of `path` is `Qid⇥label⇥alias…`.
    """
    shutil.copytree(folder, out)
    named = {row[0] for row in read_rows(folder / _NAMES)}
    classed = {s for s, p, o in read_rows(folder / _TRIPLETS) if (p, o) == ("P31", COUNTRY)}
    states = [line.split("\t") for line in path.read_text("utf-8").splitlines()[1:]]
    with (out / _NAMES).open("a", encoding="utf-8") as names, (out / _TRIPLETS).open("a", encoding="utf-8") as triplets:
        for entity, *labels in states:
            if entity not in named:
                names.write("\t".join([entity, *labels]) + "\n")
            if entity not in classed:
                triplets.write(f"{entity}\tP31\t{COUNTRY}\n")
    return out
