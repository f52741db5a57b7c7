"""What a stage hands to the engine: its shards, what they rest on, and the Prefect task that runs one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE

from hopwright.runs import ShardOutput, ShardReport, write_shard
from tasks.pool import current_pool


@dataclass(frozen=True, slots=True)
class ShardWork:
    """One shard: a module-level function and its one argument, both picklable, and where the result goes."""

    stage: str
    index: int
    folder: Path
    process: Callable[[Any], ShardOutput]
    spec: Any


@dataclass(frozen=True, slots=True)
class StagePlan:
    """A stage made ready: nothing has been written yet.

    `unit` names what a row is; `notes` and `skipped` go into the manifest as they are.
    """

    name: str
    unit: str
    parameters: Mapping[str, Any]
    inputs: Mapping[str, str]
    process: Callable[[Any], ShardOutput]
    specs: Sequence[Any]
    notes: Mapping[str, Any] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)


@task(name="shard", task_run_name="{work.stage}-{work.index}", cache_policy=NO_CACHE, persist_result=False)
def run_shard(work: ShardWork) -> ShardReport:
    """Run one shard in a worker process; it writes its own files, whole or not at all."""
    return current_pool().run(execute_shard, work)


def execute_shard(work: ShardWork) -> ShardReport:
    """Run one shard in this process."""
    return write_shard(work.folder, work.index, work.process(work.spec))
