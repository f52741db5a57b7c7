"""`hopwright evaluate --tools search` as a user runs it: both wire formats, a report, a kill in between, mistakes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

from tests.e2e.serving import read_settled, read_stats, serve
from tests.e2e.test_evaluate import ROOT, command, evaluate, write_endpoints
from tests.evaluation.datasets import write_rows
from tests.evaluation.tool_world import build_world

pytestmark = [pytest.mark.e2e, pytest.mark.servers]
WORLD = "tests.evaluation.tool_world"
ITEMS = 60


def test_two_wire_formats_one_report_and_a_kill_in_between(tmp_path: Path) -> None:
    corpus, data = build_world(tmp_path, ITEMS)
    asked = [str(data), "--tools", "search", "--corpus", str(corpus), "--model", "local/simulated"]
    with serve(WORLD, str(data), "--finds", "0.8") as url:
        asked += ["--endpoints", str(write_endpoints(tmp_path, url))]
        plan = evaluate(tmp_path / "whole", *asked, "--dry-run", "--json")
        assert plan.returncode == 0, plan.stderr
        assert json.loads(plan.stdout)["requests"] > 3 * ITEMS
        assert read_stats(url)["received"] == 0
        whole = evaluate(tmp_path / "whole", *asked, "--model", "sdk/simulated", "--json")
        assert whole.returncode == 0, whole.stderr
        result = json.loads(whole.stdout)
        assert result["questions"] == 2 * ITEMS
        first, second = (entry["tools"]["search"] for entry in result["leaderboard"])
        assert {**first, "output_tokens": 0} == {**second, "output_tokens": 0}, "one agent behind both formats"
        assert 0 < first["max_depth"] < 4
        assert "Why answers are wrong" in (Path(result["folder"]) / "report.md").read_text()
        shown = evaluate(tmp_path / "whole", *asked)
        turns = read_stats(url)["received"] // 2
        assert "MaxD" in shown.stdout and "60 episodes; report" in shown.stdout
    with serve(WORLD, str(data), "--finds", "0.8", "--latency", "0.3") as url:
        write_endpoints(tmp_path, url)
        line, environment = command(tmp_path / "killed", *asked)
        killed = subprocess.Popen(
            line,
            env=environment,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 300
        while read_stats(url)["answered"] < ITEMS and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
        before = read_settled(url)["received"]
        assert before < 3 * ITEMS, "killed in the middle"
        again = evaluate(tmp_path / "killed", *asked)
        assert again.returncode == 0, again.stderr
        after = read_stats(url)["received"]
        # Only what was under way at the kill is asked again: one turn an episode at most.
        assert turns <= after <= turns + ITEMS
        assert evaluate(tmp_path / "killed", *asked).returncode == 0
        assert read_stats(url)["received"] == after
    parts = [sorted((tmp_path / home).rglob("local-simulated/part-*.parquet")) for home in ("whole", "killed")]
    assert parts[0] and [one.read_bytes() for one in parts[0]] == [one.read_bytes() for one in parts[1]]


def test_a_corpus_of_the_home_is_found_by_its_name(tmp_path: Path) -> None:
    home = tmp_path / "home"
    _, data = build_world(tmp_path, 3, home / "corpora" / "pages")
    with serve(WORLD, str(data), "--finds", "1") as url:
        asked = [str(data), "--tools", "search", "--corpus", "pages", "--model", "local/simulated"]
        done = evaluate(home, *asked, "--endpoints", str(write_endpoints(tmp_path, url)), "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["leaderboard"][0]["tools"]["search"]["accuracy"] == 1.0


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    small, _ = build_world(tmp_path / "small", 1)
    corpus, data = build_world(tmp_path, 3)
    bare = write_rows(tmp_path / "bare.jsonl", 3)
    endpoints = str(write_endpoints(tmp_path, "http://127.0.0.1:9"))
    model = ["--model", "local/x", "--tools", "search", "--endpoints", endpoints]
    for arguments, said in (
        ([str(data), *model], "no corpus to search"),
        ([str(data), *model, "--corpus", str(tmp_path / "none")], "no corpus in"),
        ([str(data), *model, "--corpus", str(corpus), "--judge", "nowhere/x"], "nowhere"),
        ([str(data), *model, "--corpus", str(corpus), "--mode", "essay"], "--mode"),
        ([str(bare), *model, "--corpus", str(corpus), "--mode", "gold"], "3 of 3 items have no gold passages"),
        ([str(data), *model, "--corpus", str(small)], "does not hold what"),
    ):
        done = evaluate(tmp_path / "home", *arguments)
        assert done.returncode == 1, done.stderr
        errors = [line for line in done.stderr.splitlines() if line.startswith("hopwright:")]
        assert len(errors) == 1, done.stderr
        assert said in errors[0]
        assert "Traceback" not in done.stderr
