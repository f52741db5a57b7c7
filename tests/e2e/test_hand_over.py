"""A whole build that has its filter run on another work pool: in the end the same bytes, and one budget for both."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from flows.budget import BUDGET_REACHED
from hopwright.runs import RunFolder
from tests.e2e.conftest import Home
from tests.e2e.deployed import Place, is_well, open_place, read_facts
from tests.e2e.prefect_server import PrefectServer
from tests.e2e.serving import PRICES, serving
from tests.llm.wire_server import Faults, WireServer

pytestmark = [pytest.mark.e2e, pytest.mark.servers, pytest.mark.nightly]
SMALL: dict[str, Any] = {
    "shard_size": 50,
    "workers": 2,
    "synthesize": {"drafts": 60},
    "rewrite": {"back_translation": "off"},
    "review": {"items": 4},
}
VOTERS = {"voters": ["shortcuts", "votes/voter"], "max_right": 3, "all_votes": True}
ELSEWHERE = {"deployment": "filter/filter"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A server of our own, so that nothing waits for a deployment's turn, and a worker of each pool."""
    with PrefectServer(tmp_path_factory.mktemp("prefect")) as server:
        home = Home(tmp_path_factory.mktemp("handed"), server.api)
        with open_place(home, "worker", "gpu-worker") as here:
            yield here


@pytest.fixture(scope="module")
def votes() -> Iterator[WireServer]:
    with serving(WireServer(Faults(latency_s=0.02))) as server:
        yield server


def build_here(home: Home, **parameters: Any) -> dict[str, str]:
    """The files of a run of the command line, which hands nothing over."""
    path = home.path / "parameters.json"
    path.write_text(json.dumps({**SMALL, **parameters}), "utf-8")
    home.json("build", "--run", "here", "--parameters", str(path))
    return home.files("here")


def find_filters(place: Place, build: str) -> list[dict[str, Any]]:
    """The runs of the deployment `filter` that a build started, the earliest first."""
    family = place.post("/flow_runs/filter", flow_runs={"parent_flow_run_id": {"any_": [build]}}, limit=50)
    started = {row["id"] for row in family}
    return [row for row in place.list_runs_of("filter/filter") if row["id"] in started]


def test_both_workers_say_that_they_are_well(place: Place) -> None:
    assert set(place.ports) == {"worker", "gpu-worker"}
    assert all(is_well(port) for port in place.ports.values())


def test_a_filter_on_its_own_pool_gives_the_same_bytes(place: Place) -> None:
    id = place.start("build-dataset/build", run="handed", vllm=ELSEWHERE, **SMALL)
    done = place.watch(id)
    assert done["state_name"] == "Completed", read_facts(done)
    (filtered,) = find_filters(place, id)
    assert (filtered["work_pool_name"], filtered["state_name"]) == ("gpu", "Completed")
    assert filtered["name"] == "filter-handed"
    assert place.home.files("handed") == build_here(place.home)


def test_a_filter_elsewhere_that_reaches_the_budget_makes_the_build_wait(
    place: Place, votes: WireServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = place.home.path
    (home / "prices.toml").write_text(PRICES, "utf-8")
    (home / "votes.toml").write_text(
        f'prices = "{home}/prices.toml"\n[endpoints.votes]\nbase_url = "{votes.url}/v1"\n'
        "limits = { max_concurrency = 4, start_concurrency = 4 }\n",
        "utf-8",
    )
    asked = {"filter": VOTERS, "models": {"endpoints": str(home / "votes.toml")}}
    expected = build_here(Home(tmp_path_factory.mktemp("undisturbed")), **asked)
    conversations = set(votes.heard)
    votes.heard.clear()

    asked["models"] = {**asked["models"], "budget_usd": 0.2}
    id = place.start("build-dataset/build", run="short", vllm=ELSEWHERE, **SMALL, **asked)
    waiting = place.watch(id)
    assert waiting["state_name"] == "Suspended", read_facts(waiting)
    (stopped,) = find_filters(place, id)
    assert stopped["state_name"] == BUDGET_REACHED
    assert stopped["state"]["message"].startswith("stopped before the budget of 0.20 dollars is exceeded: ")
    assert 0 < len(votes.heard) < len(conversations)
    with RunFolder(place.home.path, "short").hold():
        """Nobody else holds it."""
    assert [row["name"] for row in place.find_runs("short") if row["state_type"] == "PAUSED"] == [waiting["name"]]

    done = place.resume(id, 900)
    assert done["state_name"] == "Completed", read_facts(done)
    assert [row["state_name"] for row in find_filters(place, id)] == [BUDGET_REACHED, "Completed"]
    assert votes.heard == Counter(dict.fromkeys(conversations, 1)), "each conversation once, none besides"
    assert place.home.files("short") == expected
