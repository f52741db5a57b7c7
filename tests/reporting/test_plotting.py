"""What the plots share: colours and markers that differ, and bytes that no user's settings change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import pytest

from hopwright.counterfactual.report import draw_distributions
from hopwright.evaluation.analysis import Table
from hopwright.evaluation.plots import draw_table
from hopwright.release.plots import Bar, draw_bars
from hopwright.reporting.plotting import style_of

LOUD = {"font.size": 23, "axes.facecolor": "pink", "savefig.dpi": 20, "axes.edgecolor": "red", "lines.linewidth": 9}


def draw_floor(path: Path) -> None:
    setting = {"model": "m", "variant": "factual", "form": "mcq", "prompting": "cot", "passages": "none"}
    rows = [{**setting, "errors": n, "accuracy": 0.5, "accuracy_low": 0.4, "accuracy_high": 0.6} for n in (0, 1)]
    path.write_bytes(draw_table(Table("floor", "", "", rows)) or b"")


def draw_overlap(path: Path) -> None:
    draw_distributions({"overlap 0.40–0.45": 3, "overlap 0.60–0.65": 7}, path)


def draw_two_bars(path: Path) -> None:
    draw_bars("Title", "items", [Bar("one", 3, "note"), Bar("two", 5, "")], path)


@pytest.mark.parametrize("draw", [draw_floor, draw_overlap, draw_two_bars])
def test_a_users_settings_change_no_byte(draw: Callable[[Path], None], tmp_path: Path) -> None:
    draw(tmp_path / "plain.png")
    with mpl.rc_context(LOUD):
        draw(tmp_path / "loud.png")
        assert mpl.rcParams["font.size"] == 23
    assert (tmp_path / "plain.png").read_bytes() == (tmp_path / "loud.png").read_bytes()
    assert (tmp_path / "plain.png").stat().st_size > 2_000


def test_every_series_of_a_plot_looks_different() -> None:
    assert len({style_of(place) for place in range(49)}) == 49
