"""The yield report in the Prefect UI."""

from __future__ import annotations

import json
from typing import Any

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from hopwright.runs import RunFolder, Stage
from hopwright.stages.yield_files import write_yield, yield_folder
from tasks.stage_plan import in_flow, run_step


def report_yield(run: RunFolder, drafts: list[Stage], worded: list[Stage], final: Stage) -> dict[str, Any]:
    """Write the report of a finished synthesis, and show it."""
    values: dict[str, Any] = run_step(
        "yield", write_yield, run.home, run.name, [one.name for one in drafts], [one.name for one in worded], final.name
    )
    if not in_flow():
        return values
    create_table_artifact(
        key="synthesize-yield-rejected",
        table=[
            {"step": step, "check": check, "rows": rows}
            for step, checks in values["rejected"].items()
            for check, rows in checks.items()
        ],
        description="synthesize: rejected rows by step and check",
    )
    create_markdown_artifact(
        key="synthesize-yield",
        markdown=(yield_folder(final) / "yield.md").read_text("utf-8"),
        description="synthesize: what an accepted item took, and what was rejected",
    )
    return values


def read_yield(run: RunFolder) -> dict[str, Any]:
    """The report of a finished synthesis; empty where an earlier version made it without one."""
    path = yield_folder(Stage(run, "synthesize")) / "yield.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {}
