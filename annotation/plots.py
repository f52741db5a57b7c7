"""The plots of a review's report, in one colour-blind-safe palette; same figures, same bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure

from annotation.agreement import Agreement
from annotation.annotators import Profile
from annotation.decisions import latest_reviews
from annotation.schema import CRITERIA, REVIEWED, TITLES
from hopwright.records import Review
from hopwright.reporting.plotting import (
    BLUE,
    GREY,
    MARKERS,
    PALETTE,
    RED,
    open_figure,
    plain_settings,
    save_figure,
    tidy,
)

_SCORES = (RED, "#E9A66B", "#D9D9D9", "#7FB3D5", BLUE)
_KINDS = {"single_hop": "single-hop", "multi_hop": "multi-hop", "twin": "twin"}
_ROW, _MARGIN = 0.36, 1.25


class _Span(NamedTuple):
    """A value with its ends, on a row of its own."""

    label: str
    value: float
    low: float
    high: float
    note: str
    alarming: bool = False


def draw_plots(
    agreement: Sequence[Agreement], profiles: Sequence[Profile], reviews: Iterable[Review], folder: Path
) -> list[tuple[str, str]]:
    """Write the PNGs that there is something to show in; returns (caption, path beside the folder's parent)."""
    folder.mkdir(parents=True, exist_ok=True)
    alphas = [
        _Span(f"{_KINDS[line.kind]}: {TITLES.get(line.criterion, line.criterion)}", *found, note=f"{found[0]:.2f}")
        for line in agreement
        if line.scope == "all" and (found := _ends(line.reliability.alpha)) is not None
    ]
    gold = [
        _Span(one.name, *found, note=f"{found[0]:.0%} of {one.gold_seen}", alarming=_is_alarming(one, "planted"))
        for one in profiles
        if (found := _ends(one.gold)) is not None
    ]
    pace = [
        _Span(
            one.name,
            one.median_seconds,
            one.tenth_seconds or 0.0,
            one.ninetieth_seconds or 0.0,
            f"{one.median_seconds:,.0f} s",
            _is_alarming(one, "less than"),
        )
        for one in profiles
        if one.median_seconds is not None
    ]
    scores = _count_scores(reviews)
    drifting = [one for one in profiles if one.drift]
    plots: list[tuple[str, str, Sequence[object], Callable[[Any], Figure]]] = [
        ("Agreement on each criterion", "agreement.png", alphas, lambda rows: _draw_spans(
            "Krippendorff's alpha, with 95 % intervals; dashed: 0.667 and 0.8",
            "alpha", rows, marks=(0.667, 0.8), most=1.0)),
        ("Scores given", "scores.png", scores, _draw_scores),
        ("Planted faults found", "gold.png", gold, lambda rows: _draw_spans(
            "Planted faults that were found, with 95 % intervals", "share", rows, least=0.0, most=1.0)),
        ("Time per review", "time.png", pace, lambda rows: _draw_spans(
            "Seconds per review: the median, and what eight in ten took", "seconds", rows, least=0.0)),
        ("Drift over time", "drift.png", drifting, _draw_drift),
    ]  # fmt: skip
    drawn = []
    for caption, name, rows, draw in plots:
        path = folder / name
        if not rows:
            path.unlink(missing_ok=True)
            continue
        with plain_settings():
            save_figure(draw(rows), path)
        drawn.append((caption, f"{folder.name}/{name}"))
    return drawn


def _draw_spans(
    title: str,
    unit: str,
    rows: Sequence[_Span],
    *,
    marks: tuple[float, ...] = (),
    least: float | None = None,
    most: float | None = None,
) -> Figure:
    figure, axes = _open(title, len(rows))
    for mark in marks:
        axes.axvline(mark, color="#999999", linewidth=0.9, linestyle=(0, (4, 3)))
    for place, row in enumerate(rows):
        colour = RED if row.alarming else BLUE
        axes.plot([row.low, row.high], [place, place], color=colour, linewidth=2.2, solid_capstyle="butt")
        axes.plot([row.value], [place], "o", color=colour, markersize=6, clip_on=False)
        axes.annotate(
            row.note, (1.01, place), xycoords=("axes fraction", "data"), va="center", color=colour, fontsize=9
        )
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(left=least if least is not None else min(0.0, *(row.low for row in rows)), right=most)
    axes.set_xlabel(unit)
    axes.xaxis.grid(True, color="#DDDDDD", linewidth=0.8)
    return figure


def _draw_scores(rows: Sequence[tuple[str, Counter[int]]]) -> Figure:
    figure, axes = _open("Scores given, 1 (worst) to 5", len(rows) + 1)
    for place, (_, counts) in enumerate(rows):
        left, total = 0.0, counts.total()
        for value, colour in enumerate(_SCORES, 1):
            share = counts[value] / total
            axes.barh(place, share, left=left, color=colour, height=0.72, label=str(value) if place == 0 else None)
            if share >= 0.05:
                ink = "white" if value in (1, 5) else "#14181f"
                axes.text(left + share / 2, place, f"{share:.0%}", ha="center", va="center", fontsize=8, color=ink)
            left += share
        axes.annotate(
            f"{total:,}", (1.01, place), xycoords=("axes fraction", "data"), va="center", fontsize=9, color=GREY
        )
    axes.set_yticks(range(len(rows)), [label for label, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1.0, decimals=0))
    figure.legend(loc="outside lower center", ncols=5, frameon=False, title="score")
    return figure


def _draw_drift(rows: Sequence[Profile]) -> Figure:
    figure, axes = _open("Scores less those of the others, in fifths of each annotator's time", 9)
    axes.axhline(0, color="#999999", linewidth=0.9)
    for place, one in enumerate(rows):
        alarming = _is_alarming(one, "over time")
        axes.plot(
            range(1, len(one.drift) + 1),
            one.drift,
            marker=MARKERS[place // len(PALETTE) % len(MARKERS)],
            color=PALETTE[place % len(PALETTE)],
            linewidth=2.6 if alarming else 1.2,
            markersize=5,
            label=f"{one.name}{' (moved)' if alarming else ''}",
        )
    axes.set_xticks(range(1, 6), ["first", "second", "third", "fourth", "last"])
    axes.set_ylabel("points")
    axes.yaxis.grid(True, color="#DDDDDD", linewidth=0.8)
    figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    return figure


def _open(title: str, rows: int) -> tuple[Figure, Any]:
    figure = open_figure(_MARGIN + _ROW * max(rows, 2), title=title)
    axes = figure.add_subplot()
    tidy(axes)
    return figure, axes


def _count_scores(reviews: Iterable[Review]) -> list[tuple[str, Counter[int]]]:
    counts: dict[tuple[str, str], Counter[int]] = {}
    for review in latest_reviews(reviews):
        for score in review.scores if review.kind != "adjudication" else ():
            counts.setdefault((review.kind, score.criterion), Counter())[score.value] += 1
    return [
        (f"{_KINDS[kind]}: {TITLES[criterion]}", counts[kind.value, criterion])
        for kind in REVIEWED
        for criterion in CRITERIA[kind]
        if (kind.value, criterion) in counts
    ]


def _ends(estimate: Any) -> tuple[float, float, float] | None:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    return estimate.value, estimate.low, estimate.high


def _is_alarming(profile: Profile, word: str) -> bool:
    return any(word in concern for concern in profile.concerns)
