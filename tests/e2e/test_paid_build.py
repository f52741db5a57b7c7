"""A whole build that pays models: dry run, budget, continuing, explaining, and a planted key that is found nowhere."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from hopwright.llm.store import Store
from hopwright.records.arrow import read_items
from tests.e2e.conftest import Home
from tests.e2e.serving import PRICES, serving
from tests.llm.builders import KEY
from tests.llm.wire_server import Faults, WireServer
from tests.wording.fallible_model import FallibleModel, Rates

pytestmark = [pytest.mark.e2e, pytest.mark.servers]
PARAMETERS = {
    "shard_size": 50,
    "synthesize": {"drafts": 60, "writer": "openai", "model": "words/scribe"},
    "filter": {"voters": ["shortcuts", "votes/voter"], "max_right": 3, "all_votes": True},
    "rewrite": {"enabled": False, "passages": "off"},
    "review": {"items": 0},
}


@dataclass
class Course:
    """What four commands said, in the order in which they were given."""

    home: Home
    estimate: dict[str, Any]
    stopped: str
    summary: dict[str, Any]
    explained: dict[str, Any]
    said: str


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[WireServer, WireServer]]:
    """One words, one votes; both take the planted key only."""
    rates = Rates(wrong_entity=0.05, broken_json=0.05, refusal=0.03)
    faults = Faults(key=KEY, latency_s=0.02)
    with serving(FallibleModel(rates, faults)) as words, serving(WireServer(faults)) as votes:
        yield words, votes


@pytest.fixture(scope="module")
def course(servers: tuple[WireServer, WireServer], tmp_path_factory: pytest.TempPathFactory) -> Course:
    words, votes = servers
    home = Home(tmp_path_factory.mktemp("paid"))
    (home.path / "prices.toml").write_text(PRICES, "utf-8")
    endpoints = "".join(
        f'[endpoints.{name}]\nbase_url = "{server.url}/v1"\nkey_env = "PLANTED_KEY"\nlimits.max_concurrency = 8\n'
        for name, server in (("words", words), ("votes", votes))
    )
    (home.path / "endpoints.toml").write_text(f'prices = "{home.path}/prices.toml"\n{endpoints}', "utf-8")
    parameters = home.path / "parameters.json"
    parameters.write_text(json.dumps(PARAMETERS), "utf-8")
    command = ["build", "--parameters", str(parameters), "--json"]
    dry = home.call(*command, "--dry-run")
    with mock.patch.dict(os.environ, {"PLANTED_KEY": KEY}):
        stopped = home.call(*command, "--budget", "4")
        done = home.call(*command, "--budget", "900")
    summary = json.loads(done.stdout)
    (item, *_) = read_items(home.path / "runs" / "sample" / "filter" / "part-00000.parquet")
    explained = home.call("explain", item.id, "--json")
    said = "".join(one.stdout + one.stderr for one in (dry, stopped, done, explained))
    return Course(home, json.loads(dry.stdout), stopped.stderr, summary, json.loads(explained.stdout), said)


def test_a_dry_run_needs_no_key_and_is_not_far_off(course: Course) -> None:
    parts = {part["model"]: part for part in course.estimate["models"]}
    assert set(parts) == {"words/scribe", "votes/voter"}
    with Store(course.home.path / "llm.sqlite") as store:
        stats = store.stats()
    # The writer's second rounds are not in the estimate; votes on what was rejected are.
    assert course.estimate["requests"] == pytest.approx(stats.answers + stats.failures, rel=0.25)
    spent = course.summary["models"]["spent_usd"]
    assert course.estimate["worst_usd"] > spent > 0.1 * course.estimate["usd"]


def test_a_small_budget_stops_the_build_in_one_line_and_it_continues(course: Course) -> None:
    line = course.stopped.strip().splitlines()[-1]
    assert line.startswith("hopwright: stopped before the budget of 4.00 dollars is exceeded: ")
    assert "Traceback" not in course.stopped
    models = course.summary["models"]
    with Store(course.home.path / "llm.sqlite") as store:
        (spent, first) = store.read("SELECT total(spent), min(id) FROM leases")[0]
    assert models["spent_usd"] == pytest.approx(spent)
    assert models["budget_usd"] == 900
    assert spent > 4
    assert first == 1
    assert course.summary["audit"]["violations"] == 0


def test_every_paid_answer_is_in_the_stages_bills_once(course: Course) -> None:
    """The ledger holds what the shards say, and what was thrown away when the budget ended a conversation midway."""
    billed = sum(
        json.loads(path.read_text("utf-8")).get("usage", {}).get("cost_usd", 0.0)
        for path in (course.home.path / "runs" / "sample").rglob("manifest.json")
        if path.parent.name != "sample"
    )
    assert billed <= course.summary["models"]["spent_usd"] + 1e-6
    assert billed == pytest.approx(course.summary["models"]["spent_usd"], rel=0.1)


def test_an_item_is_explained_with_its_wording_and_its_vote(course: Course) -> None:
    exchanges = course.explained["exchanges"]
    assert {exchange["model"] for exchange in exchanges} == {"scribe", "voter"}
    assert course.explained["item"]["provenance"]["generator"] == "model"
    assert "Worded by words/scribe" in course.explained["origin"][0]
    # Another slot may have drawn the same plan, which is then dropped.
    outcomes = {(step["stage"], step["outcome"]) for step in course.explained["course"]}
    assert {("synthesize", "accepted"), ("filter", "accepted")} <= outcomes


def test_the_planted_key_is_found_nowhere(course: Course, servers: tuple[WireServer, WireServer]) -> None:
    assert all(server.answered for server in servers), "both take no other key"
    files = [path for path in course.home.path.rglob("*") if path.is_file()]
    assert {"llm.sqlite", "prefect.db", "manifest.json", "README.md"} <= {path.name for path in files}
    assert [str(path) for path in files if KEY.encode() in path.read_bytes()] == []
    assert KEY not in course.said


def test_the_release_names_the_model_that_worded(course: Course) -> None:
    card = (Path(course.summary["release"]) / "README.md").read_text("utf-8")
    assert "words/scribe" in card
