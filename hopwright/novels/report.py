"""The report of an evaluation: the grid of hops and lengths as a figure, tables, and the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

from hopwright.novels.drafting import K
from hopwright.novels.evaluation import NovelVerdict
from hopwright.reporting.plotting import BLACK, open_figure, plain_settings, render_figure
from hopwright.reporting.rendering import load_template
from hopwright.runs.files import write_file, write_json_lines

_MOST_PANELS = 12
_VARIANTS = {"factual": "originals", "counterfactual": "twins"}


def write_report(report: Mapping[str, Any], verdicts: Sequence[NovelVerdict], folder: Path, name: str) -> None:
    """Write `report.md`, `grid.png` and `answers.jsonl` into a folder."""
    write_file(folder / "grid.png", draw_grid(report["grid"]))
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


def draw_grid(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """A panel for each model, mode and variant: hops down, lengths across, the share of right answers in each cell."""
    panels: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        panels.setdefault((row["model"], row["mode"], row["variant"]), []).append(row)
    shown = list(panels.items())[:_MOST_PANELS]
    hops = sorted({row["hops"] for row in rows})
    lengths = sorted({row["length"] for row in rows})
    columns = min(len(shown), 3)
    lines = -(-len(shown) // columns)
    with plain_settings():
        figure = open_figure(0.5 + lines * (0.9 + 0.5 * len(hops)), max(3.0 * columns, 4.5))
        colours = mpl.colormaps["cividis"]
        for number, ((model, mode, variant), held) in enumerate(shown, start=1):
            axes = figure.add_subplot(lines, columns, number)
            cells = {(row["hops"], row["length"]): row for row in held}
            values = [
                [cells[hop, length]["accuracy"] if (hop, length) in cells else float("nan") for length in lengths]
                for hop in hops
            ]
            axes.imshow(values, vmin=0, vmax=1, cmap=colours, aspect="auto")
            for (hop, length), row in cells.items():
                value = row["accuracy"]
                axes.text(
                    lengths.index(length), hops.index(hop), f"{100 * value:.0f} %\nof {row['asked']}", ha="center",
                    va="center", fontsize=7, color=BLACK if value > 0.6 else "white",
                )  # fmt: skip
            axes.set_xticks(range(len(lengths)), [f"{length // K}k" for length in lengths])
            axes.set_yticks(range(len(hops)), [str(hop) for hop in hops])
            axes.set_title(f"{model.rsplit('/', 1)[-1][:30]}\n{mode}, {_VARIANTS[variant]}", fontsize=9)
            axes.set_xlabel("tokens of the window", fontsize=8)
            axes.set_ylabel("hops", fontsize=8)
            axes.tick_params(labelsize=8)
        return render_figure(figure)
