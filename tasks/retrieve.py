"""Raw files → graph store → anchors linked to it."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE

from hopwright.graph.anchors import AnchorQuestion, link_anchors, read_anchor_questions
from hopwright.graph.ingest import ingest
from hopwright.graph.sources import find_corpus
from hopwright.records import Rejected
from hopwright.records.arrow import anchors_to_table
from hopwright.runs import RunFolder, ShardOutput, hash_file
from hopwright.settings import RetrieveRun, identify
from tasks.pool import current_pool
from tasks.resources import open_graph
from tasks.work import StagePlan


@dataclass(frozen=True, slots=True)
class AnchorSlice:
    """Some lines of the file of anchor questions, to be linked to a store."""

    questions: Path
    store: Path
    start: int
    count: int


@task(name="ingest", cache_policy=NO_CACHE, persist_result=False)
def make_store(corpus: Path, store: Path) -> dict[str, int]:
    """Make the graph store, unless it is there already; returns its counts."""
    return current_pool().run(ingest_corpus, corpus, store)


def ingest_corpus(corpus: Path, store: Path) -> dict[str, int]:
    """Make the graph store in this process."""
    return dict(ingest(corpus, store).counts)


def plan_retrieve(run: RunFolder, parameters: RetrieveRun) -> StagePlan:
    """Read the inputs, make the store (a store of the same files is used again), cut the questions into shards."""
    corpus, questions = parameters.corpus_folder(), parameters.anchors_file()
    inputs = {path.name: hash_file(path) for path in find_corpus(corpus).paths}
    store = run.home / "stores" / _name_store(inputs)
    inputs[f"anchors: {questions.name}"] = hash_file(questions)
    total = len(_read_questions(questions))
    figures: dict[str, Any] = make_store(corpus, store)
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
        notes={"store": str(store.relative_to(run.home)), **figures},
    )


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


def _name_store(inputs: dict[str, str]) -> str:
    text = "\n".join(f"{name} {digest}" for name, digest in sorted(inputs.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
