"""The filter stage with voters over the wire: a real flow, voters of known strength."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hopwright.difficulty.report import DifficultyReport
from hopwright.records.arrow import read_items, read_rejected
from hopwright.runs import RunFolder, Stage, rejected_path
from tests.difficulty.runs import begin_run, write_endpoints
from tests.difficulty.voting_server import VotingServer, is_right
from tests.e2e.conftest import ROOT, Home

pytestmark = [pytest.mark.e2e, pytest.mark.servers]
MODELS = ["v-0.25-0.3", "v-0.33-0.3", "v-0.42-0.3", "v-0.5-0.3"]
COUNT = 600


@pytest.fixture(scope="module")
def server() -> Iterator[VotingServer]:
    with VotingServer() as running:
        yield running


def list_names(models: list[str]) -> list[str]:
    return [f"local/{model}" for model in models]


def verdicts(home: Home, name: str) -> dict[str, str]:
    """Item → fate."""
    stage = Stage(RunFolder(home.path, name), "filter")
    found: dict[str, str] = {}
    for index, part in enumerate(stage.parts()):
        found.update((item.id, "kept") for item in read_items(part))
        found.update((row.key, row.check) for row in read_rejected(rejected_path(stage.folder, index)))
    return found


def read_report(home: Home, name: str) -> DifficultyReport:
    path = home.path / "runs" / name / "filter/report/report.json"
    return DifficultyReport.model_validate_json(path.read_bytes())


def expected(models: list[str], count: int = COUNT) -> dict[str, str]:
    """The verdicts by the voters' known answers."""
    fates: dict[str, str] = {}
    for number in range(count):
        votes = [is_right(model, f"[item {number}]") for model in models]
        right, silent = votes.count(True), votes.count(None)
        fates[f"hw-{number:06d}"] = "too_easy" if right > 1 else "held_back" if right + silent > 1 else "kept"
    return fates


def run_filters(home: Home, *runs: dict[str, Any]) -> list[Any]:
    """The manifests of several runs of the flow."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.filter_flows", *map(json.dumps, runs)],
        cwd=ROOT, env=home.environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results: list[Any] = json.loads(done.stdout)
    return results


def test_verdicts_are_right_for_fewer_calls_and_silence_is_no_wrong_answer(
    server: VotingServer, tmp_path: Path
) -> None:
    home = Home(tmp_path)
    write_endpoints(home.path, server.url)
    for name in ("all", "early", "hold", "replace"):
        begin_run(home.path, name, COUNT)
    shy = ["v-0.3-0-f0.2", "v-0.35-0", "v-0.4-0", "v-0.45-0"]
    everyone, early, again, held, replaced, refused = run_filters(
        home,
        {"run": "all", "filter": {"voters": list_names(MODELS), "all_votes": True}},
        {"run": "early", "filter": {"voters": list_names(MODELS), "pilot": 100}},
        {"run": "early", "filter": {"voters": list_names(MODELS), "pilot": 100}},
        {"run": "hold", "filter": {"voters": list_names(shy)}},
        {"run": "replace", "filter": {"voters": list_names(shy), "replacements": ["local/v-0.2-0"]}},
        {"run": "hold", "filter": {"voters": list_names(shy), "max_right": 2}},
    )
    assert everyone["notes"]["votes_asked"] == 4 * COUNT
    assert again == early
    assert verdicts(home, "early") == verdicts(home, "all") == expected(MODELS)
    report, full = read_report(home, "early"), read_report(home, "all")
    assert report.calls is not None
    assert full.calls is not None
    assert report.calls.asked == early["notes"]["votes_asked"] < full.calls.asked
    assert 0.15 < report.calls.saved <= report.calls.most_savable == full.calls.most_savable
    for model in MODELS:
        right = sum(bool(is_right(model, f"[item {number}]")) for number in range(COUNT))
        assert full.voters[model].overall.right == right
    assert full.fleiss_items == COUNT
    assert {len(found) for found in full.examples.values()} == {10}
    assert (home.path / "runs/all/filter/report/calibration.png").stat().st_size > 10_000

    assert verdicts(home, "hold") == expected(shy)
    assert held["counts"]["rejected"]["held_back"] > 10
    assert replaced["counts"]["rejected"].keys() == {"too_easy"}
    assert replaced["notes"]["replaced_by"] == ["v-0.2-0"]
    before = expected(shy)
    assert all(fate == before[id] or before[id] == "held_back" for id, fate in verdicts(home, "replace").items())
    assert "made with other parameters (filter.max_right 1 → 2)" in refused


def test_killed_in_the_middle_it_goes_on_and_asks_nothing_twice(server: VotingServer, tmp_path: Path) -> None:
    home = Home(tmp_path)
    write_endpoints(home.path, server.url)
    models = ["v-0.3-0.2", "v-0.36-0.2"]
    parameters = {"run": "killed", "filter": {"voters": list_names(models)}}
    begin_run(home.path, "killed", 2000, 250)
    begin_run(home.path, "whole", 2000, 250)
    server.asked.clear()
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.filter_flows", json.dumps(parameters)], cwd=ROOT, env=home.environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    second = home.path / "runs/killed/filter/votes-2-v-0-36-0-2"
    deadline = time.monotonic() + 300
    while not list(second.glob("part-*.parquet")):
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    (killed, _) = run_filters(home, parameters, {**parameters, "run": "whole"})
    # What was in flight at the kill may have been asked again, nothing else.
    assert server.asked[models[0]] == 2000
    assert sum(server.asked.values()) <= killed["notes"]["votes_asked"] + 600
    assert home.files("killed") == home.files("whole")
