"""The calibration plot: how often a voter is right, against how sure it was. Same figures, same bytes."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hopwright.difficulty.report import DifficultyReport

# Okabe and Ito's palette, as in the card's other plots; the marks differ too, for those who see no colours.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
_MARKS = "osD^vP*X"


def draw_calibration(report: DifficultyReport, path: Path) -> bool:
    """Write the plot as PNG; False, and no file, when no voter gave probabilities."""
    drawn = {name: voter for name, voter in report.voters.items() if voter.bins}
    if not drawn:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams["font.size"] = 10
        figure = Figure(figsize=(8.0, 5.0), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color="#888888", linestyle="--", linewidth=1, label="as sure as right")
        most = max(one.votes for voter in drawn.values() for one in voter.bins)
        for number, (name, voter) in enumerate(drawn.items()):
            colour, mark = _COLOURS[number % len(_COLOURS)], _MARKS[number % len(_MARKS)]
            x, y = [one.confidence for one in voter.bins], [one.accuracy for one in voter.bins]
            axes.plot(x, y, color=colour, linewidth=1, alpha=0.6)
            # The area of a mark is the number of its votes.
            sizes = [12 + 130 * one.votes / most for one in voter.bins]
            axes.scatter(x, y, s=sizes, color=colour, marker=mark, label=name, zorder=3)
        axes.set(xlim=(0.2, 1.02), ylim=(-0.02, 1.02), xlabel="confidence: probability of the chosen option",
                 ylabel="share of right votes")  # fmt: skip
        axes.set_title("Calibration of the voters; larger marks stand for more votes", loc="left", fontsize=11)
        axes.grid(True, color="#DDDDDD", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="upper left", frameon=False, markerscale=0.8)
        figure.savefig(path, dpi=144, metadata={"Software": None})
    return True
