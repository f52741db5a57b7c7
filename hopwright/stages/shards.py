"""One shard of one stage, as it travels to a worker."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopwright.runs import ShardOutput, ShardReport, part_path, rejected_path, write_shard
from hopwright.runs.storage import open_storage


@dataclass(frozen=True, slots=True)
class ShardWork:
    """One shard: a module-level function and its one argument, both picklable, and where the result goes.

    `copy` is the address of the stage's copy in storage; empty where there is none.
    """

    stage: str
    index: int
    folder: Path
    process: Callable[[Any], ShardOutput]
    spec: Any
    copy: str = ""


def execute_shard(
    work: ShardWork, writing: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext
) -> ShardReport:
    """Run one shard and write its files, whole or not at all; `writing` is held while they are written."""
    output = work.process(work.spec)
    with writing():
        report = write_shard(work.folder, work.index, output)
        if work.copy:
            storage = open_storage(work.copy)
            for path in (rejected_path(work.folder, work.index), part_path(work.folder, work.index)):
                storage.put(path, str(path.relative_to(work.folder)))
    sessions = sys.modules.get("hopwright.llm.session")
    if sessions is not None:
        # What models were asked for it is told before the shard counts as done.
        sessions.report_sessions()
    return report
