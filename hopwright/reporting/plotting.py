"""What every plot has in common: one colour-blind-safe palette, matplotlib's own settings, the same bytes every time.

Draw inside `plain_settings`: a user's matplotlibrc then changes nothing, neither when texts are laid out nor when they
are drawn.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

# Okabe and Ito's palette: told apart with every common form of colour blindness, and in grey. Their yellow is too pale
# for lines on white.
BLUE, ORANGE, GREEN, PINK, SKY, RED, BLACK = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000",
)  # fmt: skip
PALETTE = (BLUE, ORANGE, GREEN, PINK, SKY, RED, BLACK)
MARKERS = "osD^vPX"
"""One a colour, for those who see none."""
GREY, GRID = "#555555", "#DDDDDD"
WIDTH = 8.0
"""Of a plot, in inches."""


@contextmanager
def plain_settings() -> Iterator[None]:
    """Matplotlib's own defaults, whatever the user's are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams["font.size"] = 10
        yield


def open_figure(height: float, width: float = WIDTH, title: str = "") -> Figure:
    """An empty figure of that size in inches, with a title at its left edge."""
    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08))
    FigureCanvasAgg(figure)
    if title:
        figure.suptitle(title, x=0.015, ha="left", fontweight="bold", fontsize=11)
    return figure


def style_of(place: int) -> tuple[str, str]:
    """Colour and marker of a series, by its number from 0; 49 series differ in one of them."""
    colours = len(PALETTE)
    return PALETTE[place % colours], MARKERS[(place + place // colours) % len(MARKERS)]


def tidy(axes: Axes, grid: str = "") -> None:
    """No frame but left and below; `grid`: lines across `x`, `y` or `both`, behind what is drawn."""
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if grid:
        axes.grid(True, axis=grid, color=GRID, linewidth=0.8)  # type: ignore[arg-type]


def render_figure(figure: Figure) -> bytes:
    """The figure as PNG, without a date or a version in it."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=144, metadata={"Software": None})
    return buffer.getvalue()


def save_figure(figure: Figure, path: Path) -> None:
    """Write the figure as PNG; the folder is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(render_figure(figure))
