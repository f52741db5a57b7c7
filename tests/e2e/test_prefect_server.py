"""A run that reports to a real Prefect server: flows, tasks and artifacts are there to be seen."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from hopwright.settings import STAGES
from tests.e2e.conftest import SMALL, Home
from tests.e2e.postgresql import MISSING, Database

pytestmark = [pytest.mark.e2e]
RUN = "shown"


@pytest.fixture(scope="module")
def shown(prefect_api: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Home, dict[str, Any]]:
    home = Home(tmp_path_factory.mktemp("shown"), prefect_api)
    return prefect_api, home, home.json("build", "--run", RUN, *SMALL)


def ask(api: str, what: str, **body: Any) -> list[dict[str, Any]]:
    answer = httpx.post(f"{api}/{what}/filter", json={"limit": 200, **body}, timeout=30)
    answer.raise_for_status()
    rows: list[dict[str, Any]] = answer.json()
    return rows


def flow_runs(api: str) -> dict[str, dict[str, Any]]:
    """The newest flow run of every name that belongs to the run."""
    rows = ask(api, "flow_runs", sort="START_TIME_ASC")
    return {row["name"]: row for row in rows if row["name"].endswith(f"-{RUN}")}


def test_the_parent_and_every_stage_completed(shown: tuple[str, Home, dict[str, Any]]) -> None:
    runs = flow_runs(shown[0])
    assert set(runs) == {f"build-{RUN}", *(f"{stage}-{RUN}" for stage in STAGES)}
    assert {row["state_type"] for row in runs.values()} == {"COMPLETED"}
    assert runs[f"build-{RUN}"]["parameters"]["parameters"]["run"] == RUN
    assert all(row["parent_task_run_id"] for name, row in runs.items() if not name.startswith("build-"))


def test_a_task_is_a_shard(shown: tuple[str, Home, dict[str, Any]]) -> None:
    api, _, summary = shown
    drafts = flow_runs(api)[f"synthesize-{RUN}"]["id"]
    wanted = {"flow_runs": {"id": {"any_": [drafts]}}}
    shards = -(-summary["counts"]["synthesize/drafts"]["in"] // 100)
    expected = {f"synthesize/drafts-{index}" for index in range(shards)}
    deadline = time.monotonic() + 40  # rows are written up to 20 s later
    names: set[str] = set()
    while not expected <= names and time.monotonic() < deadline:
        names = {row["name"] for row in ask(api, "task_runs", **wanted)}
        time.sleep(0.5)
    assert expected <= names
    # Drafts and the selection by shard; a look over all drafts, the selection itself and the yields are one each.
    assert len(names) <= 2 * shards + 3


def test_every_stage_left_its_artifacts(shown: tuple[str, Home, dict[str, Any]]) -> None:
    api, _, summary = shown
    ids = [row["id"] for row in flow_runs(api).values()]
    artifacts = ask(api, "artifacts", artifacts={"flow_run_id": {"any_": ids}})
    found = {(row["key"], row["type"]): row for row in artifacts}
    for stage in ("retrieve", "synthesize-drafts", "synthesize", "filter", "rewrite", "review", "release"):
        assert found[f"{stage}-progress", "progress"]["data"] == 100.0
        assert (f"{stage}-counts", "table") in found
        assert (f"{stage}-story", "markdown") in found
    story = found["filter-story", "markdown"]["data"]
    assert f"{summary['counts']['filter']['in']:,} items in" in story
    assert f"{summary['accepted']:,}" in found["run-summary", "markdown"]["data"]


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_the_server_keeps_all_of_it_in_postgresql(
    shown: tuple[str, Home, dict[str, Any]], prefect_database: Database
) -> None:
    names = prefect_database.ask(f"SELECT name FROM flow_run WHERE name LIKE '%-{RUN}' ORDER BY name")
    assert set(names) == {f"build-{RUN}", *(f"{stage}-{RUN}" for stage in STAGES)}
    assert int(prefect_database.ask("SELECT count(*) FROM artifact")[0]) > len(STAGES)


def test_a_stage_is_a_flow_of_its_own(shown: tuple[str, Home, dict[str, Any]]) -> None:
    api, home, summary = shown
    before = ask(api, "flow_runs")
    manifest = home.json("filter", "--run", RUN)
    assert manifest["counts"]["out"] == summary["accepted"]
    new = [row for row in ask(api, "flow_runs") if row["id"] not in {old["id"] for old in before}]
    assert [(row["name"], row["state_type"], row["parent_task_run_id"]) for row in new] == [
        (f"filter-{RUN}", "COMPLETED", None)
    ]


def test_the_form_of_a_flow_explains_every_parameter(shown: tuple[str, Home, dict[str, Any]]) -> None:
    from flows.build_dataset import build_dataset

    schema = build_dataset.parameters.model_dump()
    model = schema["definitions"]["BuildParameters"]
    for name, field in model["properties"].items():
        assert field.get("title"), name
    assert {"drafts", "topologies"} <= set(schema["definitions"]["SynthesizeParameters"]["properties"])


def test_a_mistake_fails_the_flow_with_its_line(shown: tuple[str, Home, dict[str, Any]], tmp_path: Path) -> None:
    api, home, _ = shown
    done = home.call("build", "--run", "lost", "--corpus", str(tmp_path))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    rows = [row for row in ask(api, "flow_runs") if row["name"] == "build-lost"]
    assert [row["state_type"] for row in rows] == ["FAILED"]
    assert "wikidata5m_all_triplet.txt" in rows[0]["state"]["message"]
