"""The stage retrieve: raw files → graph store → anchors linked to it."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopwright.knowledge.wikidata.anchors import AnchorQuestion, link_anchors, read_anchor_questions
from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.sources import find_corpus
from hopwright.records import Rejected
from hopwright.records.arrow import anchors_to_table
from hopwright.runs import ShardOutput, hash_file
from hopwright.settings import RetrieveRun, identify
from hopwright.stages.plan import StageEngine, StagePlan, StageSpec, StageStep
from hopwright.stages.resources import open_graph
from hopwright.stages.workers import current_pool


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


def plan_retrieve(engine: StageEngine, parameters: RetrieveRun) -> StagePlan:
    """Read the inputs, make the store (a store of the same files is used again), cut the questions into shards."""
    corpus, questions = parameters.corpus_folder(), parameters.anchors_file()
    inputs = {path.name: hash_file(path) for path in find_corpus(corpus).paths}
    store = engine.run.home / "stores" / name_store(inputs)
    inputs[f"anchors: {questions.name}"] = hash_file(questions)
    total = current_pool().run(count_questions, questions)
    figures: dict[str, Any] = engine.step("ingest", ingest_corpus, corpus, store)
    values = identify(parameters)
    return StagePlan(
        name="retrieve",
        unit="anchor questions",
        parameters={name: values[name] for name in ("corpus", "anchors", "shard_size")},
        inputs=inputs,
        process=link_slice,
        specs=[
            AnchorSlice(questions, store, start, min(parameters.shard_size, total - start))
            for start in range(0, total, parameters.shard_size)
        ],
        notes={"store": str(store.relative_to(engine.run.home)), **figures},
    )


def name_store(inputs: dict[str, str]) -> str:
    """The folder of the store that is made from files with these hashes."""
    text = "\n".join(f"{name} {digest}" for name, digest in sorted(inputs.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


STAGE = StageSpec(
    name="retrieve",
    parameters=RetrieveRun,
    needs=(),
    steps=(StageStep("retrieve", "anchor questions", "anchor questions linked", link_slice),),
)
