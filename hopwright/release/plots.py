"""The card's plots: horizontal bars in one colour-blind-safe palette, the count beside every bar.

Same figures, same bytes: matplotlib's own defaults instead of the user's settings, and no date and no
version in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl

from hopwright.release.statistics import DatasetStatistics
from hopwright.reporting.plotting import BLUE, GREY, PALETTE, RED, SKY, open_figure, plain_settings, save_figure, tidy
from hopwright.reporting.rendering import percent
from hopwright.reporting.scorecard import Scorecard

Rejections = Mapping[str, Mapping[str, int]]
"""Stage → check → rows rejected there."""

_LABEL_BOX = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}  # over the grid lines
_BAR, _MARGIN = 0.36, 1.25


class Bar(NamedTuple):
    """One bar: its label, its length, what stands beside it in brackets, and the group that gives its colour."""

    label: str
    amount: int
    note: str
    group: str = ""


def draw_plots(
    figures: DatasetStatistics, rejections: Rejections | None, folder: Path, prefix: str = ""
) -> tuple[str, ...]:
    """Write one PNG per plot into `folder` (made if missing) and return the file names, in the card's order.

    `prefix` stands before every name. A plot of nothing (no rejections, no items) says so instead of showing empty
    axes; rejections that are None are not plotted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plots = {
        "topologies.png": (
            "Reasoning graphs",
            "items",
            [Bar(name, share.count, percent(share.share)) for name, share in figures.topologies.items()],
        ),
        "domains.png": (
            "Knowledge domains",
            "hops",
            [Bar(name, share.count, percent(share.share)) for name, share in figures.domains.items()],
        ),
        "domains_per_item.png": (
            f"Domains that one item spans (mean {figures.mean_domains:.2f})",
            "items",
            [
                Bar(f"{number} domain{'s' if number > 1 else ''}", share.count, percent(share.share))
                for number, share in figures.domains_per_item.items()
            ],
        ),
        "computation_kinds.png": (
            "Kinds of computation (an item may have several)",
            "items",
            [Bar(name, share.count, percent(share.share)) for name, share in figures.computations.items()],
        ),
        "answer_types.png": (
            "Types of the final answer",
            "items",
            [Bar(name, share.count, percent(share.share)) for name, share in figures.answer_types.items()],
        ),
    }
    if rejections is not None:
        plots["rejections.png"] = (
            "Rows rejected on the way, by check",
            "rows",
            [
                Bar(f"{stage}: {check}", count, "", stage)
                for stage, checks in rejections.items()
                for check, count in sorted(checks.items(), key=lambda pair: (-pair[1], pair[0]))
                if count
            ],
        )
    for name, (title, unit, bars) in plots.items():
        draw_bars(title, unit, bars, folder / f"{prefix}{name}")
    return tuple(f"{prefix}{name}" for name in plots)


def draw_scorecard(card: Scorecard, path: Path) -> None:
    """Write one PNG: the length of the questions, and how well solvers guess that know nothing."""
    with plain_settings():
        solvers = [one for one in card.item_solvers if one.tried]
        figure = open_figure(3.2 + 0.24 * max(len(solvers), 2))
        lengths, guesses = figure.subplots(2, 1, height_ratios=(2.2, max(0.24 * len(solvers), 0.8) + 0.4))
        lengths.set_title("Words per question", loc="left", fontweight="bold", fontsize=11)
        lengths.bar(list(card.words_per_question), list(card.words_per_question.values()), color=BLUE, width=0.9)
        lengths.set_ylabel("items")
        guesses.set_title("Guessing from the options alone", loc="left", fontweight="bold", fontsize=11)
        places = range(len(solvers))
        guesses.hlines(places, 0.25, [one.bound for one in solvers], color=SKY, linewidth=7, label="by chance")
        guesses.scatter(
            [one.accuracy for one in solvers],
            places,
            color=[BLUE if one.met else RED for one in solvers],
            zorder=3,
        )
        guesses.axvline(0.25, color=GREY, linewidth=1)
        guesses.set_yticks(places, [one.solver for one in solvers])
        guesses.set_ylim(max(len(solvers), 1) - 0.5, -0.5)
        guesses.set_xlim(0, 1)
        guesses.set_xlabel("right answers; the bar reaches from chance to three standard errors above it")
        guesses.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1, decimals=0))
        for axes in (lengths, guesses):
            tidy(axes, "x" if axes is guesses else "y")
        save_figure(figure, path)


def draw_bars(title: str, unit: str, bars: list[Bar], path: Path) -> None:
    """Write one plot of horizontal bars as PNG; without bars it says so."""
    with plain_settings():
        groups = list(dict.fromkeys(bar.group for bar in bars))
        figure = open_figure(_MARGIN + _BAR * max(len(bars), 2), title=title)
        axes = figure.add_subplot()
        if not bars:
            axes.text(0.5, 0.5, "none", ha="center", va="center", color=GREY, transform=axes.transAxes)
            axes.set_axis_off()
        else:
            drawn = axes.barh(
                range(len(bars)),
                [bar.amount for bar in bars],
                height=0.72,
                color=[PALETTE[groups.index(bar.group) % len(PALETTE)] for bar in bars],
            )
            axes.bar_label(
                drawn,
                [f"{bar.amount:,}{f'  ({bar.note})' if bar.note else ''}" for bar in bars],
                padding=4,
                bbox=_LABEL_BOX,
            )
            axes.set_yticks(range(len(bars)), [_shorten(bar.label) for bar in bars])
            axes.set_ylim(len(bars) - 0.5, -0.5)
            axes.margins(x=0.18)
            axes.set_xlabel(unit)
            axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(nbins=6, integer=True))
            axes.xaxis.set_major_formatter(mpl.ticker.StrMethodFormatter("{x:,.0f}"))
            tidy(axes, "x")
        save_figure(figure, path)


def _shorten(label: str, limit: int = 52) -> str:
    return label if len(label) <= limit else label[: limit - 1] + "…"
