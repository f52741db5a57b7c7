"""The report of the rewrite stage: what was made, what was proven, how the wording changed, whether memory helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hopwright.counterfactual.twin_verification import TwinVerification

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
    return "\n".join(
        [
            "# Counterfactual twins",
            "",
            f"{report.items:,} items in, {report.twins:,} twins out, {sum(report.rejected.values()):,} rejected.",
            *(f"- {check}: {count:,}" for check, count in sorted(report.rejected.items())),
            "",
            *_render_proof(report.proof),
            *_render_passages(report.passages),
            *_render_wording(report),
            *_render_memory(report.memory),
            *_render_examples(report.examples),
        ]
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


def _render_proof(proof: TwinVerification) -> list[str]:
    lines = [
        "## Proof",
        "",
        f"Looked up again from the finished twins: {proof.twins:,} twins, {proof.surrogates:,} surrogates, "
        f"{proof.passages:,} passages.",
        "",
        "| should be 0 | found |",
        "|---|---|",
        *(f"| {what} | {getattr(proof, name):,} |" for name, what in _PROOF),
        "",
        *_render_candidates(proof),
    ]
    return [*lines, *(f"- {example}" for example in proof.examples), *([""] if proof.examples else [])]


def _render_candidates(proof: TwinVerification) -> list[str]:
    """What a retriever of one condition finds, and how long the passages are."""
    lines = []
    if proof.passages:
        lines.append(f"A passage has {proof.passage_words / proof.passages:.0f} words on average.")
    if proof.open_conditions:
        lines.append(
            f"A retriever that looks for one open condition alone finds {proof.candidates / proof.open_conditions:.1f} "
            f"candidates on average ({proof.open_conditions:,} conditions)."
        )
    return [" ".join(lines), ""] if lines else []


def _render_passages(figures: Mapping[str, int]) -> list[str]:
    if not figures:
        return []
    return ["## Passages", "", *(f"- {name}: {count:,}" for name, count in sorted(figures.items())), ""]


def _render_wording(report: RewriteReport) -> list[str]:
    figures = report.figures
    if not report.translator:
        return ["## Back-translation", "", f"Not run: {report.translator_skipped}.", ""]
    texts, sent, reworded = (figures.get(name, 0) for name in ("texts", "texts sent", "texts reworded"))
    masks, restored = figures.get("masks", 0), figures.get("masks restored", 0)
    lines = [
        "## Back-translation",
        "",
        f"By {report.translator}. {texts:,} texts, {sent:,} sent, {reworded:,} reworded ({_share(reworded, texts)}); "
        f"{restored:,} of {masks:,} masks came back once each ({_share(restored, masks)}).",
        "",
        "A text that is not sent or fails a gate keeps the words of stage one:",
        "",
        *(
            f"- {name.removeprefix('kept: ')}: {count:,}"
            for name, count in sorted(figures.items(), key=lambda pair: -pair[1])
            if name.startswith("kept: ")
        ),
        "",
    ]
    for kind, about in (
        ("overlap", "share of the old wording's word pairs that are still there"),
        ("similarity", "cosine of the sentence embeddings"),
    ):
        if bins := read_bins(figures, kind):
            lines += [
                f"{kind.capitalize()} ({about}) of the reworded texts, median about {find_median(bins, kind)}:",
                "",
                "| from | texts |",
                "|---|---|",
                *(f"| {low:.2f} | {count:,} |" for low, count in bins),
                "",
            ]
    return lines


def _render_memory(memory: MemoryTable | None) -> list[str]:
    if memory is None:
        return []
    gap, low, high = memory.overall
    lines = [
        "## Does memory help?",
        "",
        f"{memory.pairs:,} originals and their twins were asked without passages. Gap: share right on originals less "
        "share right on twins, with the 95 % interval of a bootstrap over pairs.",
        "",
        "| voter | originals | twins | gap | interval |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {one:.1%} | {two:.1%} | {own:+.1%} | {below:+.1%} to {above:+.1%} |"
            for name, (one, two, own, below, above) in memory.voters.items()
        ),
        f"| all | | | {gap:+.1%} | {low:+.1%} to {high:+.1%} |",
        "",
    ]
    if not memory.remembers:
        lines += [
            "These voters are solvers without weights: they remember nothing, and some of them voted on which "
            "originals were kept. Their gap says nothing about memory; name models in `memory_voters` for that.",
            "",
        ]
    helped = [row for row in memory.by_pair if row[2] > 0]
    lines += [
        f"Pair by pair: the original was seen through by more voters than the twin in {len(helped):,} of "
        f"{len(memory.by_pair):,}, by fewer in {sum(row[2] < 0 for row in memory.by_pair):,}. The rows are in "
        "report.json.",
        "",
    ]
    return lines


def _render_examples(examples: Sequence[RewriteExample]) -> list[str]:
    if not examples:
        return []
    lines = ["## Examples", "", "| original | twin, stage one | twin, stage two |", "|---|---|---|"]
    lines += [f"| {_cell(one.original)} | {_cell(one.stage_one)} | {_cell(one.stage_two)} |" for one in examples]
    return [*lines, ""]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"
