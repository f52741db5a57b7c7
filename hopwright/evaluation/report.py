"""The report of an evaluation: one HTML page, one Markdown page, every table as CSV, a leaderboard file."""

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopwright.evaluation.analysis import Table, TableRow
from hopwright.evaluation.plots import draw_table
from hopwright.evaluation.tool_analysis import rank_models
from hopwright.reporting.rendering import load_template

_SHOWN_ROWS = 80
_HIDDEN = {"chains"}
"""Tables whose empty rows are left out of the pages (they stay in the CSV)."""


@dataclass(frozen=True, slots=True)
class ReportHeader:
    """What was evaluated, in the report's head. `facts` are label and value."""

    name: str
    facts: tuple[tuple[str, str], ...]


def render_report(tables: Sequence[Table], about: ReportHeader) -> dict[str, bytes]:
    """Every file of the report by its path inside the report's folder; the same tables give the same bytes."""
    with_tools = any(table.name == "tools" for table in tables)
    files: dict[str, bytes] = {}
    images: dict[str, bytes] = {}
    for table in tables:
        files[f"data/{table.name}.csv"] = _to_csv(table)
        image = draw_table(table)
        if image is not None:
            images[table.name] = image
            files[f"plots/{table.name}.png"] = image
    introduction = _introduce_tools(rank_models(tables)) if with_tools else _introduce(tables)
    values: dict[str, Any] = {"name": about.name, "about": introduction, "facts": about.facts}
    values["sections"] = _list_sections(tables, images)
    for name in ("report.html", "report.md"):
        files[name] = load_template("hopwright.evaluation", f"{name}.j2").render(values).encode()
    leaderboard = rank_models(tables) if with_tools else make_leaderboard(tables)
    files["leaderboard.json"] = (json.dumps(leaderboard, indent=2, ensure_ascii=False) + "\n").encode()
    return files


def make_leaderboard(tables: Sequence[Table]) -> list[TableRow]:
    """One entry a model, the best first: its best multiple-choice accuracy, open scores and joint score."""
    accuracy = next((table.rows for table in tables if table.name == "accuracy"), [])
    chains = next((table.rows for table in tables if table.name == "joint"), [])
    gaps = next((table.rows for table in tables if table.name == "gap"), [])
    entries: list[TableRow] = []
    for model in dict.fromkeys(row["model"] for row in accuracy):
        own = [row for row in accuracy if row["model"] == model and _is_plain(row)]
        entry: TableRow = {"model": model}
        for form in ("mcq", "open"):
            best = max((row for row in own if row["form"] == form), key=lambda row: row["accuracy"], default=None)
            if best is not None:
                entry[form] = {
                    name: _round(best[name])
                    for name in (
                        "prompting", "items", "accuracy", "accuracy_low", "accuracy_high", "em", "f1",
                        "partial_match", "extracted", "output_tokens",
                    )
                    if best.get(name) is not None
                }  # fmt: skip
        joints = [row for row in chains if row["model"] == model and row["protocol"] == "chain" and _is_plain(row)]
        if joints:
            best = max(joints, key=lambda row: row["joint_f1"])
            entry["chain"] = {name: _round(best[name]) for name in ("prompting", "items", "joint_em", "joint_f1")}
        own_gaps = [row for row in gaps if row["model"] == model and not row["sub_questions"]]
        if own_gaps:
            best = max(own_gaps, key=lambda row: row["factual"])
            entry["gap"] = {
                name: _round(best[name]) for name in ("form", "prompting", "pairs", "gap", "gap_low", "gap_high")
            }
        entry["cost_usd"] = _round(sum(row["cost_usd"] for row in accuracy if row["model"] == model))
        entries.append(entry)
    entries.sort(key=lambda entry: (-_best(entry), entry["model"]))
    return [{"rank": rank, **entry} for rank, entry in enumerate(entries, start=1)]


def write_report(files: Mapping[str, bytes], folder: Path) -> None:
    """Write the report's files into a folder, made if missing."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _best(entry: TableRow) -> float:
    return float((entry.get("mcq") or entry.get("open") or {"accuracy": 0.0})["accuracy"])


def _is_plain(row: TableRow) -> bool:
    return row["variant"] == "factual" and row["passages"] == "none" and not row.get("sub_questions", False)


def _list_sections(tables: Sequence[Table], images: Mapping[str, bytes]) -> list[dict[str, Any]]:
    sections = []
    for table in tables:
        rows = _shown(table)
        columns = _merge_columns(table.columns)
        cells = [[_cell(row, name) for name in columns] for row in rows[:_SHOWN_ROWS]]
        names = [name.replace("_", " ") for name in columns]
        sections.append(
            {
                "name": table.name,
                "title": table.title,
                "note": table.note,
                "columns": names,
                "cells": cells,
                "rows": [dict(zip(names, [cell["text"] for cell in line], strict=True)) for line in cells],
                "left_out": max(len(table.rows) - min(len(rows), _SHOWN_ROWS), 0),
                "image": base64.b64encode(images[table.name]).decode() if table.name in images else "",
            }
        )
    return sections


def _introduce(tables: Sequence[Table]) -> str:
    entries = make_leaderboard(tables)
    if not entries:
        return "Nothing was answered."
    first = entries[0]
    form = "mcq" if "mcq" in first else "open"
    if form not in first:
        return f"{len(entries)} models; none was asked the multi-hop questions without passages."
    figures = first[form]
    kind = "multiple choice" if form == "mcq" else "open-ended"
    return (
        f"{len(entries)} model{'s' if len(entries) > 1 else ''}. The best, {first['model']}, answers "
        f"{100 * figures['accuracy']:.1f} % of {figures['items']:,} multi-hop questions "
        f"({kind}, {figures['prompting']}; "
        f"95 % interval {100 * figures['accuracy_low']:.1f} to {100 * figures['accuracy_high']:.1f})."
    )


def _introduce_tools(entries: Sequence[TableRow]) -> str:
    first = entries[0]
    said = [
        f"{_MODES[mode]} {100 * row['accuracy']:.1f} % [{100 * row['accuracy_low']:.1f}, "
        f"{100 * row['accuracy_high']:.1f}]"
        for mode, row in first["tools"].items()
    ]
    return (
        f"{len(entries)} model{'s' if len(entries) > 1 else ''}. Right answers of the best, {first['model']}: "
        f"{'; '.join(said)}."
    )


def _shown(table: Table) -> list[TableRow]:
    return [row for row in table.rows if row["items"]] if table.name in _HIDDEN else table.rows


def _merge_columns(columns: Sequence[str]) -> list[str]:
    """An interval stands beside its figure, in the same cell."""
    return [name for name in columns if not (name.endswith(("_low", "_high")) and name.rsplit("_", 1)[0] in columns)]


def _cell(row: TableRow, name: str) -> dict[str, Any]:
    value = row.get(name)
    text = _show(value, name)
    if f"{name}_low" in row and isinstance(value, float):
        text += f" [{_show(row[f'{name}_low'], name)}, {_show(row[f'{name}_high'], name)}]"
    return {"text": text, "number": isinstance(value, int | float) and not isinstance(value, bool)}


_MODES = {
    "search": "with tools",
    "none": "without anything",
    "gold": "with the gold passages",
    "gold_minus_one": "with the gold passages of all hops but one",
    "distractors": "with the gold passages among others",
}
_AMOUNTS = {
    "max_depth": "{:.2f}",
    "steps_right": "{:.2f}",
    "steps_wrong": "{:.2f}",
    "reward": "{:.3f}",
    "cost_usd": "{:.4f}",
    "output_tokens": "{:.0f}",
    "minus_log_joint_em": "{:.2f}",
    "minus_log_joint_f1": "{:.2f}",
}


def _show(value: object, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "–" if value != value else _AMOUNTS[name].format(value) if name in _AMOUNTS else f"{100 * value:.1f} %"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _round(value: object) -> object:
    return round(value, 6) if isinstance(value, float) else value


def _to_csv(table: Table) -> bytes:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, table.columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table.rows)
    return buffer.getvalue().encode()
