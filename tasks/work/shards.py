"""One shard of one stage, as it travels to a worker."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopwright.runs import ShardOutput, ShardReport, write_shard


@dataclass(frozen=True, slots=True)
class ShardWork:
    """One shard: a module-level function and its one argument, both picklable, and where the result goes."""

    stage: str
    index: int
    folder: Path
    process: Callable[[Any], ShardOutput]
    spec: Any


def execute_shard(work: ShardWork) -> ShardReport:
    """Run one shard and write its files, whole or not at all."""
    report = write_shard(work.folder, work.index, work.process(work.spec))
    sessions = sys.modules.get("hopwright.llm.session")
    if sessions is not None:
        # What models were asked for it is told before the shard counts as done.
        sessions.report_sessions()
    return report
