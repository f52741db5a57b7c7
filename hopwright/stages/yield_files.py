"""Writing the yield report of a synthesis beside its items."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hopwright.reporting.yield_report import gather_yield, list_bars, render_yield
from hopwright.runs import RunFolder, Stage, write_file


def write_yield(home: Path, name: str, drafts: list[str], worded: list[str], final: str) -> dict[str, Any]:
    """Gather the report from these finished stages and write it as JSON, Markdown and plot; returns the JSON."""
    from hopwright.release.plots import Bar, draw_bars

    run = RunFolder(home, name)
    stage = Stage(run, final)
    report = gather_yield([Stage(run, one) for one in drafts], [Stage(run, one) for one in worded], stage)
    folder = yield_folder(stage)
    values = report.to_dict()
    write_file(folder / "yield.json", json.dumps(values, indent=2, ensure_ascii=False).encode() + b"\n")
    write_file(folder / "yield.md", render_yield(report).encode())
    bars = [Bar(f"{step}: {check}", count, "", step) for step, check, count in list_bars(report)]
    title = f"Rows rejected on the way to {report.accepted:,} items, by step and check"
    draw_bars(title, "rows", bars, folder / "yield.png")
    return values


def yield_folder(final: Stage) -> Path:
    """Where a synthesis leaves its yield report."""
    return final.folder / "yield"
