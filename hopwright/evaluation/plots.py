"""The report's figures: points with their intervals, told apart by colour, marker and label.

Same figures, same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopwright.evaluation.analysis import Table, TableRow
from hopwright.reporting.plotting import GRID, open_figure, plain_settings, render_figure, style_of, tidy

_MOST_PANELS = 9
_PROMPTINGS = {"direct": "direct", "cot": "chain of thought"}


def draw_table(table: Table) -> bytes | None:
    """The PNG that goes with a table; None for tables that are better read."""
    draw = _DRAWERS.get(table.name)
    if draw is None or not table.rows:
        return None
    with plain_settings():
        return draw(table)


def _draw_accuracy(table: Table) -> bytes:
    rows = sorted((row for row in table.rows if not row["sub_questions"]), key=_by_model)
    bars = [
        (f"{_short(row['model'])}, {row['form']}, {_PROMPTINGS[row['prompting']]}{_tell(row)}", row) for row in rows
    ]
    figure, axes = _open(9.0, 1.3 + 0.34 * len(bars))
    variants = sorted({row["variant"] for row in rows}, reverse=True)
    for number, (_, row) in enumerate(bars):
        place = variants.index(row["variant"])
        _mark(axes, row["accuracy"], number, row, "accuracy", place, horizontal=True)
        axes.annotate(
            f"{100 * row['accuracy']:.1f}", (row["accuracy_high"], number), xytext=(6, 0), textcoords="offset points",
            va="center", fontsize=8,
        )  # fmt: skip
    axes.set_yticks(range(len(bars)), [label for label, _ in bars], fontsize=8)
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_xlim(0, 1.08)
    axes.set_xlabel("accuracy on multi-hop questions, with 95 % interval")
    axes.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1.0))
    axes.grid(axis="x", color=GRID)
    _legend(axes, variants)
    return _save(figure)


def _draw_floor(table: Table) -> bytes:
    return _draw_panels(
        table, "errors", "accuracy", _by_prompting, "single hops answered wrongly", "multi-hop accuracy"
    )


def _draw_steps(table: Table) -> bytes:
    return _draw_panels(table, "hop", "error", _by_protocol, "step", "error rate")


def _draw_groups(table: Table) -> bytes:
    rows = [row for row in table.rows if row["by"] == "topology" and row["passages"] == "none"] or table.rows
    names = sorted({row["group"] for row in rows})
    series = sorted({(row["model"], row["form"], row["prompting"]) for row in rows})
    figure, axes = _open(9.0, 4.2)
    for place, key in enumerate(series):
        for row in rows:
            if (row["model"], row["form"], row["prompting"]) == key:
                shift = (place - (len(series) - 1) / 2) * min(0.14, 0.8 / len(series))
                _mark(axes, names.index(row["group"]) + shift, row["accuracy"], row, "accuracy", place)
    axes.set_xticks(range(len(names)), names)
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("multi-hop accuracy")
    axes.yaxis.set_major_formatter(mpl.ticker.PercentFormatter(1.0))
    axes.grid(axis="y", color=GRID)
    _legend(axes, [f"{_short(model)}, {form}, {_PROMPTINGS[prompting]}" for model, form, prompting in series])
    return _save(figure)


def _draw_panels(
    table: Table, x: str, y: str, series_of: Callable[[TableRow], str], x_label: str, y_label: str
) -> bytes:  # fmt: skip
    """One panel per model, variant and form, all on the same axes; series by `series_of`."""
    panels: dict[tuple[str, ...], list[TableRow]] = {}
    for row in sorted(table.rows, key=_by_model):
        panels.setdefault((row["model"], row["variant"], row["form"], row["passages"]), []).append(row)
    shown = dict(list(panels.items())[:_MOST_PANELS])
    series = sorted({series_of(row) for rows in shown.values() for row in rows})
    columns = min(len(shown), 3)
    lines = -(-len(shown) // columns)
    figure, grid = _open_grid(columns, lines)
    for axes, (key, rows) in zip(grid, shown.items(), strict=False):
        for place, name in enumerate(series):
            own = sorted((row for row in rows if series_of(row) == name), key=lambda row: row[x])
            shift = (place - (len(series) - 1) / 2) * 0.09
            axes.plot(
                [row[x] + shift for row in own],
                [row[y] for row in own],
                color=style_of(place)[0],
                linewidth=1,
            )
            for row in own:
                _mark(axes, row[x] + shift, row[y], row, y, place)
        model, variant, form, passages = key
        axes.set_title(
            f"{_short(model)}\n{form}, {variant}" + ("" if passages == "none" else f", {passages}"), fontsize=9
        )
        axes.set_xticks(sorted({row[x] for row in table.rows}))
        axes.set_ylim(-0.02, 1.02)
        axes.yaxis.set_major_formatter(mpl.ticker.PercentFormatter(1.0))
        axes.grid(axis="y", color=GRID)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
    for axes in grid[len(shown) :]:
        axes.set_axis_off()
    _legend_below(figure, series)
    return _save(figure)


def _by_model(row: TableRow) -> tuple[bool, str]:
    """Factual items first, then model by model; the rest stays in order."""
    return row["variant"] != "factual", row["model"]


def _by_prompting(row: TableRow) -> str:
    return _PROMPTINGS[row["prompting"]]


def _by_protocol(row: TableRow) -> str:
    return f"{row['protocol']}, {_PROMPTINGS[row['prompting']]}"


def _mark(
    axes: Axes, x: float, y: float, row: TableRow, name: str, place: int, *, horizontal: bool = False
) -> None:  # fmt: skip
    value, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
    colour, marker = style_of(place)
    reach: Any = [[max(value - low, 0.0)], [max(high - value, 0.0)]]
    axes.errorbar(
        [x], [y], **{"xerr" if horizontal else "yerr": reach}, fmt=marker, color=colour, markersize=5, elinewidth=1,
        capsize=2,
    )  # fmt: skip


def _handles(names: Sequence[str]) -> list[Any]:
    styles = [(name, *style_of(place)) for place, name in enumerate(names)]
    return [mpl.lines.Line2D([], [], color=colour, marker=marker, label=name) for name, colour, marker in styles]


def _legend(axes: Axes, names: Sequence[str]) -> None:
    if len(names) > 1:
        axes.legend(
            handles=_handles(names), fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16),
            ncols=min(len(names), 3),
        )  # fmt: skip


def _legend_below(figure: Figure, names: Sequence[str]) -> None:
    figure.legend(
        handles=_handles(names), fontsize=8, frameon=False, loc="outside lower center", ncols=min(len(names), 4)
    )


def _open(width: float, height: float) -> tuple[Figure, Axes]:
    figure, grid = _open_grid(1, 1, width, height)
    return figure, grid[0]


def _open_grid(columns: int, lines: int, width: float = 0.0, height: float = 0.0) -> tuple[Figure, list[Axes]]:
    figure = open_figure(height or 2.9 * lines + 0.5, width or max(3.2 * columns, 5.0))
    return figure, [figure.add_subplot(lines, columns, number + 1) for number in range(lines * columns)]


def _save(figure: Figure) -> bytes:
    for axes in figure.axes:
        tidy(axes)
        axes.tick_params(labelsize=8)
        axes.xaxis.label.set_fontsize(9)
        axes.yaxis.label.set_fontsize(9)
    return render_figure(figure)


def _short(model: str, limit: int = 30) -> str:
    name = model.rsplit("/", 1)[-1]
    return name if len(name) <= limit else name[: limit - 1] + "…"


def _tell(row: TableRow) -> str:
    twin = ", twins" if row["variant"] == "counterfactual" else ""
    return twin + ("" if row["passages"] == "none" else f", {row['passages']} passages")


_DRAWERS: dict[str, Callable[[Table], bytes]] = {
    "accuracy": _draw_accuracy,
    "floor": _draw_floor,
    "steps": _draw_steps,
    "groups": _draw_groups,
}
