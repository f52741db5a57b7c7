"""Wikidata's own files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from sample.days import DATES
from sample.gathering import Merge


def read_rows(path: Path) -> Iterator[list[str]]:
    """The tab-separated lines of a file."""
    for line in path.read_text("utf-8").split("\n"):
        if line:
            yield line.split("\t")


def read_wikidata(folder: Path) -> Merge:
    """Wikidata's own files."""
    literals: dict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
    labels = dict(DATES)
    for subject, property, label, unit, value, kind in read_rows(folder / "attribute_literals.tsv"):
        literals[subject, property].append((unit, value, kind))
        labels.setdefault(property, label)
    return Merge(
        names={row[0]: row[1:] for row in read_rows(folder / "wikidata5m_entity.txt")},
        relations={row[0]: row[1:] for row in read_rows(folder / "wikidata5m_relation.txt")},
        base={(s, p, o) for s, p, o in read_rows(folder / "wikidata5m_all_triplet.txt")},
        literals=dict(literals),
        labels=labels,
    )
