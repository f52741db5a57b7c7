"""A whole stage in the test's own process: what a flow does by tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from hopwright.runs import ShardOutput, ShardReport, Stage, part_path, rejected_path, write_shard
from hopwright.runs.manifest import StageManifest

_S = TypeVar("_S")


def run_stage(
    stage: Stage,
    shards: Sequence[_S],
    process: Callable[[_S], ShardOutput],
    *,
    parameters: Mapping[str, Any],
    inputs: Mapping[str, str] | None = None,
    on_shard: Callable[[ShardReport], None] | None = None,
    notes: Mapping[str, Any] | None = None,
) -> StageManifest:
    """Every missing shard in order, then the manifest."""
    for index in stage.begin(parameters, inputs=inputs, shards=len(shards)):
        report = write_shard(stage.folder, index, process(shards[index]))
        if stage.run.mirror is not None:
            stage.run.mirror.put_files([rejected_path(stage.folder, index), part_path(stage.folder, index)])
        if on_shard is not None:
            on_shard(report)
    return stage.finish(notes=notes)
