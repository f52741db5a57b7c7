"""The calibration plot: how often a voter is right, against how sure it was. Same figures, same bytes."""

from __future__ import annotations

from pathlib import Path

from hopwright.difficulty.report import DifficultyReport
from hopwright.reporting.plotting import open_figure, plain_settings, save_figure, style_of, tidy


def draw_calibration(report: DifficultyReport, path: Path) -> bool:
    """Write the plot as PNG; False, and no file, when no voter gave probabilities."""
    drawn = {name: voter for name, voter in report.voters.items() if voter.bins}
    if not drawn:
        return False
    with plain_settings():
        figure = open_figure(5.0)
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color="#888888", linestyle="--", linewidth=1, label="as sure as right")
        most = max(one.votes for voter in drawn.values() for one in voter.bins)
        for number, (name, voter) in enumerate(drawn.items()):
            colour, mark = style_of(number)
            x, y = [one.confidence for one in voter.bins], [one.accuracy for one in voter.bins]
            axes.plot(x, y, color=colour, linewidth=1, alpha=0.6)
            # The area of a mark is the number of its votes.
            sizes = [12 + 130 * one.votes / most for one in voter.bins]
            axes.scatter(x, y, s=sizes, color=colour, marker=mark, label=name, zorder=3)
        axes.set(xlim=(0.2, 1.02), ylim=(-0.02, 1.02), xlabel="confidence: probability of the chosen option",
                 ylabel="share of right votes")  # fmt: skip
        axes.set_title("Calibration of the voters; larger marks stand for more votes", loc="left", fontsize=11)
        tidy(axes, "both")
        axes.legend(loc="upper left", frameon=False, markerscale=0.8)
        save_figure(figure, path)
    return True
