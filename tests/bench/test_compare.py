"""Figures are compared so that what got worse is seen, whether less or more of it is better."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import compare

positive = st.floats(0.001, 1e9)


@given(positive, positive, st.sampled_from(["ingest_s", "peak_gib", "items_per_s", "precision"]))
def test_a_ratio_above_one_is_worse_and_turns_over_with_the_two(before: float, now: float, name: str) -> None:
    ratio = compare.find_ratio(name, before, now)
    assert ratio is not None
    assert (ratio > 1) == (now < before if name in ("items_per_s", "precision") else now > before)
    back = compare.find_ratio(name, now, before)
    assert back is not None and ratio * back == pytest.approx(1)


def test_a_regression_is_called_worse_and_a_slow_yardstick_is_not() -> None:
    old = {"triplets": 5.0, "ingest_s": 10.0, "duckdb_ingest_s": 10.0, "items_per_s": 100.0, "gone_s": 1.0}
    new = {"triplets": 9.0, "ingest_s": 13.0, "duckdb_ingest_s": 30.0, "items_per_s": 99.0, "new_s": 1.0}
    rows = compare.compare(old, new, 1.25)
    assert [line.split()[0] for line, bad in rows if bad] == ["ingest_s"]
    assert [line.split()[0] for line, _ in rows] == [*new, "gone_s"]
    assert any("3.00" in line for line, _ in rows if "duckdb" in line)


def test_numbers_get_dotted_names() -> None:
    nested = [{"a_s": 1, "b": {"c_s": 2.5}, "text": "x", "flag": True}]
    assert dict(compare.flatten(nested)) == {"a_s": 1.0, "b.c_s": 2.5}
    assert dict(compare.flatten([{"x": 1}, {"x": 2}])) == {"0.x": 1.0, "1.x": 2.0}


def test_saved_figures_keep_those_of_other_benchmarks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "FIGURES", tmp_path / "figures.json")
    place = {"date": "2026-01-01", "machine": "2 cores", "load": 0.1}
    compare.save("rerun", {**place, "figures": {"again_s": 1.0}})
    compare.save("graph-1", {**place, "figures": {"ingest_s": 2.0}})
    held = json.loads((tmp_path / "figures.json").read_text())
    assert {name: one["figures"] for name, one in held.items()} == {
        "graph-1": {"ingest_s": 2.0},
        "rerun": {"again_s": 1.0},
    }
    assert compare.read_committed() == {}


def test_every_comparable_benchmark_is_there_and_prints_json() -> None:
    folder = Path(compare.__file__).parent
    for script, *arguments in compare.RUNS.values():
        assert "--json" in arguments and '"--json"' in (folder / script).read_text()
