"""Language models in a run: leave to ask, keys, progress. Without Prefect's server."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import tasks.models
from hopwright.errors import InputError
from hopwright.llm.session import close_sessions
from hopwright.llm.store import Store
from hopwright.runs import RunFolder
from hopwright.settings import BuildParameters, FilterRun, identify, load_parameters
from tasks.models import (
    demand_keys,
    describe_models,
    grant_access,
    load_keys,
    names_model,
    note_models,
    prepare_models,
)
from tasks.pool import WorkerPool
from tasks.work.models import ModelAccess, open_models
from tests.llm.builders import KEY, rows
from tests.llm.test_session import ServerThread
from tests.llm.wire_server import Faults

TOML = """
[endpoints.local]
base_url = "{url}/v1"
key_env = "HOPWRIGHT_TEST_KEY"
free = true
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path))
    monkeypatch.delenv("HOPWRIGHT_TEST_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(tasks.models, "_from_blocks", set())
    return tmp_path


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What Prefect's Secret blocks hold; looked up by name only."""
    found: dict[str, str] = {}
    monkeypatch.setattr(tasks.models, "_read_block", lambda name: found.get(name, ""))
    return found


def write_endpoints(home: Path, url: str = "http://127.0.0.1:9") -> Path:
    path = home / "endpoints.toml"
    path.write_text(TOML.format(url=url), "utf-8")
    return path


def parameters(**models: Any) -> FilterRun:
    return load_parameters({"run": "r", "models": models}, FilterRun)


def test_where_models_answer_and_what_they_may_cost_shapes_no_output() -> None:
    plain, other = BuildParameters(), load_parameters({"models": {"endpoints": "e", "budget_usd": 3}}, BuildParameters)
    assert identify(plain) == identify(other)
    assert other.models.limit() == 3
    assert plain.models.limit() is None


def test_the_endpoints_file_of_the_home_is_taken_where_none_is_named(home: Path) -> None:
    assert parameters().models.endpoints_file() is None
    usual = write_endpoints(home)
    assert parameters().models.endpoints_file() == usual
    assert parameters(endpoints="other.toml").models.endpoints_file() == Path("other.toml").absolute()


def test_leave_to_ask_is_checked_before_anything_is_sent(home: Path, blocks: dict[str, str]) -> None:
    run = RunFolder(home, "r")
    with pytest.raises(InputError, match="no model endpoint is called 'nowhere'"):
        grant_access(run, parameters(), ["nowhere/m"])
    with pytest.raises(InputError, match=r"write it as endpoint/model"):
        grant_access(run, parameters(), ["gpt"])
    with pytest.raises(InputError, match=r"missing\.toml"):
        grant_access(run, parameters(endpoints=str(home / "missing.toml")))
    access = grant_access(run, parameters(budget_usd=2), ["openai/gpt-5-mini"])
    assert access == ModelAccess(None, home / "llm.sqlite", "r", 2.0, ("openai",))
    with pytest.raises(InputError, match=r"OPENAI_API_KEY, or make the Prefect Secret block hopwright-openai$"):
        demand_keys(access)
    blocks["hopwright-openai"] = KEY
    demand_keys(access)
    assert KEY not in repr(access)
    assert KEY.encode() not in pickle.dumps(access)


def test_the_keys_of_those_asked_when_another_is_down_are_asked_for_too(home: Path) -> None:
    (home / "endpoints.toml").write_text('[fallbacks]\n"openai/a" = ["anthropic/b", "openai/c"]\n', "utf-8")
    access = grant_access(RunFolder(home, "r"), parameters(), ["openai/a"])
    assert access.asked == ("openai", "anthropic")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("openai/gpt-5-mini", True), ("local/meta-llama/Llama-3.1-8B", True), ("/some/folder", False), ("./x/y", False),
        ("http://x/y", False), ("vllm:Qwen/Qwen3-8B", False), ("auto", False), ("shortcut:graph", False),
    ],
)  # fmt: skip
def test_a_model_is_told_from_a_path(text: str, names: bool) -> None:
    assert names_model(text) is names


def test_keys_come_from_secret_blocks_where_the_environment_has_none(
    home: Path, blocks: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    from hopwright.llm.config import read_settings

    settings = read_settings(write_endpoints(home))
    monkeypatch.setenv("HOPWRIGHT_TEST_KEY", "from the shell")
    blocks["hopwright-local"] = KEY
    load_keys(settings, ["local"])
    assert os.environ["HOPWRIGHT_TEST_KEY"] == "from the shell"
    monkeypatch.delenv("HOPWRIGHT_TEST_KEY")
    load_keys(settings, ["local"])
    assert os.environ["HOPWRIGHT_TEST_KEY"] == KEY
    blocks["hopwright-local"] = "renewed-key"
    load_keys(settings, ["local"])
    assert os.environ["HOPWRIGHT_TEST_KEY"] == "renewed-key", "a lasting process takes a renewed key"


def test_a_run_without_models_looks_for_no_keys(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = mock.Mock(return_value="")
    monkeypatch.setattr(tasks.models, "_read_block", asked)
    prepare_models(load_parameters({"corpus": "/some/folder", "review": {"url": "http://x/y"}}, BuildParameters))
    write_endpoints(home)
    prepare_models(BuildParameters())
    asked.assert_not_called()


def ask_rows(access: ModelAccess, start: int) -> int:
    """What a shard does, in a worker process."""
    return sum(outcome.ok for outcome in open_models(access).complete_all(rows(40)[start : start + 20]))


def test_worker_processes_share_the_store_and_give_back_their_leases(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ServerThread(Faults()) as server:
        monkeypatch.setenv("HOPWRIGHT_TEST_KEY", KEY)
        (home / "prices.toml").write_text('dated = "2026-11-20"\n[models.tiny]\ninput = 1.0\noutput = 1.0\n', "utf-8")
        text = TOML.format(url=server.url).replace("free = true", "")
        endpoints = home / "endpoints.toml"
        endpoints.write_text(f'prices = "{home}/prices.toml"\n{text}', "utf-8")
        access = ModelAccess(endpoints, home / "llm.sqlite", "r", 1.0)
        pool = WorkerPool(2)
        assert [pool.run(ask_rows, access, start) for start in (0, 20)] == [20, 20]
        pool.close()
    with Store(access.store) as store:
        leases = store.read("SELECT granted, spent, possible, open FROM leases")
    assert sum(lease[1] for lease in leases) > 0
    assert all(lease[2:] == (0.0, 0) for lease in leases), "what a worker did not use went back when it ended"


def test_one_line_and_one_note_say_how_the_requests_go(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ServerThread(Faults()) as server:
        monkeypatch.setenv("HOPWRIGHT_TEST_KEY", KEY)
        access = ModelAccess(write_endpoints(home, server.url), home / "llm.sqlite", "r", 4.0)
        session = open_models(access)
        session.complete_all(rows(3))
        now = session.snapshot()
        assert describe_models(now).startswith("3 requests (0 cached), ")
        assert "0.00 of 4.00 dollars spent" in describe_models(now)
        noted = note_models(now)
        assert (noted["requests"], noted["sent"], noted["budget_usd"]) == (3, 3, 4.0)
        close_sessions()
