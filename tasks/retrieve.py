"""Raw files → graph store → anchors linked to it."""

from __future__ import annotations

import hashlib
from typing import Any

from hopwright.knowledge.wikidata.sources import find_corpus
from hopwright.runs import RunFolder, hash_file
from hopwright.settings import RetrieveRun, identify
from hopwright.stages.retrieve import AnchorSlice, count_questions, ingest_corpus, link_slice
from tasks.pool import current_pool
from tasks.stage_plan import StagePlan, run_step


def plan_retrieve(run: RunFolder, parameters: RetrieveRun) -> StagePlan:
    """Read the inputs, make the store (a store of the same files is used again), cut the questions into shards."""
    corpus, questions = parameters.corpus_folder(), parameters.anchors_file()
    inputs = {path.name: hash_file(path) for path in find_corpus(corpus).paths}
    store = run.home / "stores" / _name_store(inputs)
    inputs[f"anchors: {questions.name}"] = hash_file(questions)
    total = current_pool().run(count_questions, questions)
    figures: dict[str, Any] = run_step("ingest", ingest_corpus, corpus, store)
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


def _name_store(inputs: dict[str, str]) -> str:
    text = "\n".join(f"{name} {digest}" for name, digest in sorted(inputs.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
