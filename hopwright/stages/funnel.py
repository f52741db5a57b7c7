"""How many rows every stage of a run took in and let out, as numbers and as a picture.

A release is no step of it: it holds what the filter kept, or what the experts accepted, and its twins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hopwright.runs import RunFolder, Stage
from hopwright.stages import registry

_PALE = "#D9E2EA"


@dataclass(frozen=True, slots=True)
class FunnelStage:
    """One stage of the funnel. `lost` names the checks that rejected, and how many rows each."""

    stage: str
    what: str
    taken: int
    out: int
    lost: dict[str, int]

    @property
    def share(self) -> float:
        """The part that came out."""
        return self.out / self.taken if self.taken else 0.0


def list_steps(run: RunFolder) -> list[FunnelStage]:
    """The stages of a run that are finished, in the order of the line of work."""
    steps = []
    for step in registry.list_steps():
        manifest = Stage(run, step.name).find_finished()
        if manifest is not None:
            counts = manifest.counts
            lost = dict(sorted(counts.rejected.items(), key=lambda pair: (-pair[1], pair[0])))
            steps.append(FunnelStage(step.name, step.outcome, counts.taken, counts.out, lost))
    return steps


def draw_funnel(steps: Sequence[FunnelStage]) -> bytes:
    """The funnel as a PNG: a bar for what came out of each stage, paler for what it rejected."""
    from hopwright.reporting.plotting import BLUE, open_figure, plain_settings, render_figure, tidy

    with plain_settings():
        figure = open_figure(0.55 * len(steps) + 0.9)
        axes = figure.add_subplot()
        names = [f"{step.stage}\n{step.what}" for step in steps]
        axes.barh(names, [step.taken for step in steps], color=_PALE, height=0.72)
        bars = axes.barh(names, [step.out for step in steps], color=BLUE, height=0.72)
        axes.bar_label(bars, [f"{step.out:,} of {step.taken:,}" for step in steps], padding=4, fontsize=8)
        axes.invert_yaxis()
        axes.margins(x=0.18)
        tidy(axes)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", labelsize=8, length=0)
        axes.tick_params(axis="x", labelsize=8)
        axes.set_xlabel("rows: blue came out, grey was rejected", fontsize=8)
        return render_figure(figure)
