"""Rows of the published data sets that several benchmarks measure on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """JSON lines."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def pair_facts(row: dict[str, Any]) -> Iterator[tuple[tuple[str, str, str], tuple[str, int]]]:
    """Each evidence triple with its supporting fact: they stand in the same order where there are as many."""
    if len(row["evidences"]) == len(row["supporting_facts"]):
        for triple, (title, sentence) in zip(row["evidences"], row["supporting_facts"], strict=True):
            yield tuple(triple), (title, sentence)
