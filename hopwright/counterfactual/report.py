"""The report of the rewrite stage: what was made, what was proven, how the wording changed, whether memory helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hopwright.counterfactual.twin_verification import TwinVerification
from hopwright.reporting.rendering import Markdown, load_template, show_table

_PROOF = (
    ("not_rederived", "twins whose plan does not give their answers"),
    ("known_surrogates", "surrogates that the graph knows as somebody's name"),
    ("real_names_left", "twins that still name something real, under any of its names"),
    ("not_one_to_one", "twins in which two entities share a surrogate"),
    ("shared_surrogates", "surrogates that two twins share"),
    ("unanswered", "twins with an answer that is in none of its passages"),
    ("few_candidates", "open conditions that, looked for alone, find fewer than three candidates in the passages"),
)
_BINS = {"overlap": 20, "similarity": 100}
"""Bins between 0 and 1: what keeps its meaning differs in the second digit only."""


_MEASURES = {
    "overlap": "share of the old wording's word pairs that are still there",
    "similarity": "cosine of the sentence embeddings",
}


@dataclass(frozen=True, slots=True)
class RewriteExample:
    """One question through the stages."""

    original: str
    stage_one: str
    stage_two: str


@dataclass(frozen=True, slots=True)
class MemoryTable:
    """What the closed-book votes say. voters: name → (right on originals, right on twins, gap, low, high)."""

    pairs: int
    voters: Mapping[str, tuple[float, float, float, float, float]]
    overall: tuple[float, float, float]
    by_pair: Sequence[tuple[str, str, float]]
    remembers: bool


@dataclass(frozen=True, slots=True)
class RewriteReport:
    """All that the report says. counts: in, out and rejected by check; figures: sums over the texts of twins."""

    items: int
    twins: int
    rejected: Mapping[str, int]
    figures: Mapping[str, int]
    passages: Mapping[str, int]
    translator: str
    translator_skipped: str
    proof: TwinVerification
    memory: MemoryTable | None = None
    examples: Sequence[RewriteExample] = field(default_factory=tuple)


def render(report: RewriteReport) -> str:
    """The report as Markdown."""
    memory = report.memory
    gaps = [] if memory is None else [pair[2] for pair in memory.by_pair]
    return load_template("hopwright.counterfactual", "report.md.j2").render(
        report=report,
        proof=_PROOF,
        wording=_sum_up_wording(report.figures),
        memory=memory,
        voters="" if memory is None else _table_memory(memory),
        helped=sum(gap > 0 for gap in gaps),
        hindered=sum(gap < 0 for gap in gaps),
        examples=show_table(
            [
                {"original": one.original, "twin, stage one": one.stage_one, "twin, stage two": one.stage_two}
                for one in report.examples
            ]
        ),
    )


def as_json(report: RewriteReport) -> dict[str, Any]:
    """The report's figures, for programs."""
    memory = report.memory
    return {
        "items": report.items,
        "twins": report.twins,
        "rejected": dict(report.rejected),
        "proof": {**report.proof.as_dict(), "holds": report.proof.holds},
        "passages": dict(report.passages),
        "wording": dict(report.figures),
        "back_translation": report.translator,
        "back_translation_skipped": report.translator_skipped,
        "memory": None
        if memory is None
        else {
            "pairs": memory.pairs,
            "remembers": memory.remembers,
            "overall": dict(zip(("gap", "low", "high"), memory.overall, strict=True)),
            "voters": {
                name: dict(zip(("originals", "twins", "gap", "low", "high"), figures, strict=True))
                for name, figures in memory.voters.items()
            },
            "by_pair": [{"item": item, "twin": twin, "gap": gap} for item, twin, gap in memory.by_pair],
        },
    }


def draw_distributions(figures: Mapping[str, int], path: Path) -> bool:
    """A histogram of overlap, and of similarity where it was measured, as a PNG; False when nothing was reworded."""
    from hopwright.reporting.plotting import BLUE, open_figure, plain_settings, save_figure, tidy  # takes half a second

    kinds = [(kind, read_bins(figures, kind)) for kind in ("overlap", "similarity")]
    drawn = [(kind, bins) for kind, bins in kinds if bins]
    if not drawn:
        return False
    with plain_settings():
        figure = open_figure(2.6 * len(drawn))
        for place, (kind, bins) in enumerate(drawn, start=1):
            axes = figure.add_subplot(len(drawn), 1, place)
            width = 1 / _BINS[kind]
            middles = [low + width / 2 for low, _ in bins]
            axes.bar(middles, [count for _, count in bins], width=0.9 * width, color=BLUE)
            axes.set_xlim(max(0.0, bins[0][0] - 0.05), 1)
            axes.set_xlabel(f"{kind} of old and new wording")
            axes.set_ylabel("texts reworded")
            tidy(axes, "y")
        save_figure(figure, path)
    return True


def name_bin(kind: str, value: float) -> str:
    """The figure that counts texts of about this overlap or similarity."""
    count = _BINS[kind]
    low = min(int(max(value, 0.0) * count), count - 1) / count
    return f"{kind} {low:.2f}–{low + 1 / count:.2f}"


def read_bins(figures: Mapping[str, int], kind: str) -> list[tuple[float, int]]:
    """The histogram of one measure among the figures: (lower bound, count), ascending."""
    prefix = f"{kind} "
    return sorted(
        (float(name.removeprefix(prefix).split("–")[0]), count)
        for name, count in figures.items()
        if name.startswith(prefix)
    )


def find_median(bins: Sequence[tuple[float, int]], kind: str) -> float:
    """The middle of the bin in which the median lies; 0 without any."""
    total, seen = sum(count for _, count in bins), 0
    for low, count in bins:
        seen += count
        if 2 * seen >= total:
            return round(low + 0.5 / _BINS[kind], 3)
    return 0.0


def _sum_up_wording(figures: Mapping[str, int]) -> dict[str, Any]:
    """What the report says about the back-translation."""
    names = {
        "texts": "texts", "sent": "texts sent", "reworded": "texts reworded", "masks": "masks",
        "restored": "masks restored",
    }  # fmt: skip
    counts = {key: figures.get(name, 0) for key, name in names.items()}
    kept = [(name.removeprefix("kept: "), count) for name, count in figures.items() if name.startswith("kept: ")]
    return {
        **counts,
        "share": counts["reworded"] / counts["texts"] if counts["texts"] else None,
        "restored_share": counts["restored"] / counts["masks"] if counts["masks"] else None,
        "kept": sorted(kept, key=lambda pair: -pair[1]),
        "histograms": [
            (kind, about, find_median(bins, kind), bins)
            for kind, about in _MEASURES.items()
            if (bins := read_bins(figures, kind))
        ],
    }


def _table_memory(memory: MemoryTable) -> str:
    rows = [
        {"voter": name, "originals": one, "twins": two, "gap": gap, "interval": _show_interval(low, high)}
        for name, (one, two, gap, low, high) in memory.voters.items()
    ]
    gap, low, high = memory.overall
    rows.append({"voter": "all", "gap": gap, "interval": _show_interval(low, high)})
    return show_table(rows, {"gap": "+.1%", "originals": ".1%", "twins": ".1%"})


def _show_interval(low: float, high: float) -> Markdown:
    return Markdown(f"{low:+.1%} to {high:+.1%}")
