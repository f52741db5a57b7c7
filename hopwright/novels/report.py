"""The report of an evaluation: the grid of hops and lengths as a figure, tables, and the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl

from hopwright.novels.drafting import K
from hopwright.novels.evaluation import NovelVerdict
from hopwright.planning.mention_chains import BANDS
from hopwright.reporting.plotting import BLACK, open_figure, plain_settings, render_figure
from hopwright.reporting.rendering import load_template
from hopwright.runs.files import write_file, write_json_lines

_MOST_PANELS = 12


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a grid: the column of its rows, what it is called, and its values in order with their names."""

    key: str
    label: str
    names: Mapping[Any, str]


_HOPS = Axis("hops", "hops", {hops: str(hops) for hops in range(1, 9)})
_DISTANCES = Axis(
    "distance",
    "tokens between hops",
    {
        "one": "one hop", "near": f"under {BANDS[0]:,}", "middle": f"{BANDS[0]:,} to {BANDS[1]:,}",
        "far": f"over {BANDS[1]:,}",
    },
)  # fmt: skip
_FIFTHS = Axis("fifth", "where the answer stands in the window", {
    one: f"{20 * (one - 1)}–{20 * one} %" for one in range(1, 6)
})  # fmt: skip
_VARIANTS = {"factual": "originals", "counterfactual": "twins"}


def write_report(report: Mapping[str, Any], verdicts: Sequence[NovelVerdict], folder: Path, name: str) -> None:
    """Write `report.md`, `grid.png`, `places.png` and `answers.jsonl` into a folder."""
    lengths = sorted({row["length"] for row in report["grid"]})
    across = Axis("length", "tokens of the window", {length: f"{length // K}k" for length in lengths})
    write_file(folder / "grid.png", draw_grid(report["grid"], _HOPS, across))
    write_file(folder / "places.png", draw_grid(report["places"], _DISTANCES, _FIFTHS))
    write_file(folder / "answers.jsonl", write_json_lines(one.to_dict() for one in verdicts))
    shown = ("model", "mode", "variant", "questions", "asked", "right", "accuracy", "low", "high",
             "unreadable", "failed")  # fmt: skip
    text = load_template("hopwright.novels", "report.md.j2").render(
        name=name,
        prompting="a chain of thought" if report["prompting"] == "cot" else "the answer alone",
        judge=report["judge"],
        rows=[{key: row[key] for key in shown} for row in report["rows"]],
        gaps=report["gaps"],
        usage=report["usage"],
        failures=[{"failure": reason, "questions": number} for reason, number in report["failures"].items()],
    )
    write_file(folder / "report.md", text.encode())


def draw_grid(rows: Sequence[Mapping[str, Any]], down: Axis, across: Axis) -> bytes:
    """A panel for each model, mode and variant, with the share of right answers in each cell of two axes."""
    panels: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        panels.setdefault((row["model"], row["mode"], row["variant"]), []).append(row)
    shown = list(panels.items())[:_MOST_PANELS]
    lines_down = [name for name in down.names if any(row[down.key] == name for row in rows)]
    lines_across = [name for name in across.names if any(row[across.key] == name for row in rows)]
    columns = min(len(shown), 3)
    lines = -(-len(shown) // columns)
    with plain_settings():
        figure = open_figure(0.5 + lines * (0.9 + 0.5 * len(lines_down)), max(3.0 * columns, 4.5))
        colours = mpl.colormaps["cividis"]
        for number, ((model, mode, variant), held) in enumerate(shown, start=1):
            axes = figure.add_subplot(lines, columns, number)
            cells = {(row[down.key], row[across.key]): row for row in held}
            values = [
                [cells[one, other]["accuracy"] if (one, other) in cells else float("nan") for other in lines_across]
                for one in lines_down
            ]
            axes.imshow(values, vmin=0, vmax=1, cmap=colours, aspect="auto")
            for (one, other), row in cells.items():
                value = row["accuracy"]
                axes.text(
                    lines_across.index(other), lines_down.index(one), f"{100 * value:.0f} %\nof {row['asked']}",
                    ha="center", va="center", fontsize=7, color=BLACK if value > 0.6 else "white",
                )  # fmt: skip
            axes.set_xticks(range(len(lines_across)), [across.names[one] for one in lines_across])
            axes.set_yticks(range(len(lines_down)), [down.names[one] for one in lines_down])
            axes.set_title(f"{model.rsplit('/', 1)[-1][:30]}\n{mode}, {_VARIANTS[variant]}", fontsize=9)
            axes.set_xlabel(across.label, fontsize=8)
            axes.set_ylabel(down.label, fontsize=8)
            axes.tick_params(labelsize=8)
        return render_figure(figure)
