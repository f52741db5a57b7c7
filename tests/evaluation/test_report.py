"""The report: every figure with its data, nothing from outside, no markup out of a dataset."""

from __future__ import annotations

import csv
import functools
import io
import json
from pathlib import Path

import polars as pl
import pytest

from hopwright.evaluation.analysis import Table, analyse
from hopwright.evaluation.evaluation_queries import EvaluationRunner, PromptSetting, to_table
from hopwright.evaluation.items import read_items
from hopwright.evaluation.report import ReportHeader, make_leaderboard, render_report
from hopwright.llm.prompts import read_prompts
from hopwright.llm.types import ModelRef
from hopwright.scoring.intervals import resample_ratio
from tests.evaluation.datasets import write_rows
from tests.evaluation.simulated import Model, Skill, complete

PROMPTS = read_prompts(Path(__file__).resolve().parents[2] / "prompts")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Table]:
    items = read_items(write_rows(tmp_path_factory.mktemp("data") / "data.jsonl", 60)).items
    settings = [PromptSetting("mcq", "direct"), PromptSetting("open", "cot")]
    frames = []
    for name, knows in (("weak<script>", 0.6), ("strong|er", 0.95)):
        model = Model(items, Skill(knows=knows))
        interviewer = EvaluationRunner(
            ModelRef("sim", name), PROMPTS, settings, ["question", "alone", "independent", "chain"]
        )
        frames.append(pl.from_arrow(to_table(interviewer.ask(items, functools.partial(complete, model)))))
    return analyse(pl.concat([frame for frame in frames if isinstance(frame, pl.DataFrame)]))


def test_the_same_tables_give_the_same_bytes(tables: list[Table]) -> None:
    about = ReportHeader("a & b", (("data", "x.jsonl"),))
    assert render_report(tables, about) == render_report(tables, about)


def test_every_table_has_its_data_and_every_plot_its_table(tables: list[Table]) -> None:
    files = render_report(tables, ReportHeader("a", ()))
    for table in tables:
        rows = list(csv.DictReader(io.StringIO(files[f"data/{table.name}.csv"].decode())))
        assert len(rows) == len(table.rows)
    plots = {name.removeprefix("plots/").removesuffix(".png") for name in files if name.startswith("plots/")}
    assert plots == {"accuracy", "floor", "steps", "groups"}
    page = files["report.html"].decode()
    assert page.count("data:image/png;base64,") == len(plots)
    assert "http://" not in page
    assert "https://" not in page


def test_names_stay_text(tables: list[Table]) -> None:
    files = render_report(tables, ReportHeader("<b>x</b>", (("data", "<img src=x onerror=alert(1)>"),)))
    page = files["report.html"].decode()
    assert "<script" not in page
    assert "<img src=x" not in page
    assert "weak&lt;script&gt;" in page
    assert "strong\\|er" in files["report.md"].decode()


def test_the_leaderboard_ranks_the_stronger_model_first(tables: list[Table]) -> None:
    entries = make_leaderboard(tables)
    assert [entry["rank"] for entry in entries] == [1, 2]
    assert entries[0]["model"] == "sim/strong|er"
    assert json.loads(render_report(tables, ReportHeader("a", ()))["leaderboard.json"]) == entries


def test_an_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    import numpy as np

    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(200):
        values = (rng.random(150) < 0.3).astype(float)
        low, high = resample_ratio(values, np.ones(150), 0)
        covered += low <= 0.3 <= high
    assert 0.88 <= covered / 200 <= 0.99
