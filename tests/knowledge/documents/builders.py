"""Small corpora."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hopwright.knowledge.documents.adding import AddReport, add_source
from hopwright.settings import CorpusAddParameters

WORDS = "river castle mayor bridge winter garden copper signal harbour violin meadow lantern captain orchard".split()


def write_lines(path: Path, rows: Sequence[Any]) -> Path:
    """JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def make_passages(count: int, seed: int = 0) -> list[dict[str, str]]:
    """Passages of common words, of very unequal lengths; some are equally good answers to a query."""
    draw = random.Random(seed)
    weights = [1 / (place + 1) for place in range(len(WORDS))]
    return [
        {"title": f"Place {number}", "text": " ".join(draw.choices(WORDS, weights, k=draw.choice([3, 8, 30, 90])))}
        for number in range(count)
    ]


def add(source: Path, folder: Path, **parameters: Any) -> AddReport:
    """Add a source to the corpus in a folder."""
    return add_source(source, folder, CorpusAddParameters.model_validate(parameters))
