"""Making the graph store, and linking anchor questions to it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from hopwright.knowledge.wikidata.anchors import AnchorQuestion, link_anchors, read_anchor_questions
from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.records import Rejected
from hopwright.records.arrow import anchors_to_table
from hopwright.runs import ShardOutput
from hopwright.stages.resources import open_graph


@dataclass(frozen=True, slots=True)
class AnchorSlice:
    """Some records of the file of anchor questions, to be linked to a store."""

    questions: Path
    store: Path
    start: int
    count: int


def ingest_corpus(corpus: Path, store: Path) -> dict[str, int]:
    """Make the graph store, unless it is there already; returns its counts, skipped lines among them."""
    report = ingest(corpus, store)
    return {**report.counts, "malformed_lines": sum(report.malformed.values())}


def count_questions(path: Path) -> int:
    """How many records the file of anchor questions has, malformed ones included."""
    return len(_read_questions(path))


def link_slice(slice: AnchorSlice) -> ShardOutput:
    """Link one shard of questions; malformed records are rejected with the rest."""
    rows = _read_questions(slice.questions)[slice.start : slice.start + slice.count]
    questions = [row for row in rows if isinstance(row, AnchorQuestion)]
    malformed = [row for row in rows if isinstance(row, Rejected)]
    anchors, rejected = link_anchors(questions, open_graph(slice.store))
    return ShardOutput(anchors_to_table(anchors), [*malformed, *rejected], taken=len(rows))


@functools.lru_cache(maxsize=2)
def _read_questions(path: Path) -> tuple[AnchorQuestion | Rejected, ...]:
    return tuple(read_anchor_questions(path))
