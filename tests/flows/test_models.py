"""Language models in a run: leave to ask, keys, progress. Without Prefect's server."""

from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import tasks.models
from hopwright.errors import BudgetError, InputError
from hopwright.llm.config import read_settings
from hopwright.llm.session import close_sessions
from hopwright.llm.store import Store
from hopwright.reporting.run_summary import describe_total_usage
from hopwright.runs import RunFolder, Stage, StageManifest
from hopwright.runs.manifest import read_manifest
from hopwright.settings import BuildParameters, FilterRun, identify, load_parameters, prompts_folder
from hopwright.stages.models import ModelAccess, grant_access, name_budget_run, name_command, open_models
from hopwright.stages.plan import StagePlan
from hopwright.stages.workers import WorkerPool, open_pool
from tasks.engine import Engine
from tasks.live import listen
from tasks.models import (
    describe_models,
    end_models,
    load_keys,
    names_model,
    note_models,
    prepare_models,
    require_models,
    sum_models,
)
from tests.e2e import asking
from tests.e2e.serving import serving
from tests.llm.builders import KEY, rows
from tests.llm.wire_batches import BatchFaults
from tests.llm.wire_server import Faults, WireServer

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
    monkeypatch.setattr(tasks.models, "read_secret", lambda name: found.get(name, ""))
    return found


def write_endpoints(home: Path, url: str = "http://127.0.0.1:9", prices: dict[str, float] | None = None) -> Path:
    path = home / "endpoints.toml"
    text = TOML.format(url=url)
    if prices:
        rows = "".join(f"[models.{name}]\ninput = {price}\noutput = {price}\n" for name, price in prices.items())
        (home / "prices.toml").write_text(f'dated = "2026-11-20"\n{rows}', "utf-8")
        text = f'prices = "{home}/prices.toml"\n' + text.replace("free = true", "")
    path.write_text(text, "utf-8")
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
    assert access == ModelAccess(None, home / "llm.sqlite", "r", 2.0, ("openai/gpt-5-mini",))
    with pytest.raises(InputError, match=r"OPENAI_API_KEY, or make the Prefect Secret block hopwright-openai$"):
        require_models(access)
    blocks["hopwright-openai"] = KEY
    require_models(access)
    assert KEY not in repr(access)
    assert KEY.encode() not in pickle.dumps(access)


def test_the_keys_of_those_asked_when_another_is_down_are_asked_for_too(home: Path) -> None:
    (home / "endpoints.toml").write_text('[fallbacks]\n"openai/a" = ["anthropic/b", "openai/c"]\n', "utf-8")
    access = grant_access(RunFolder(home, "r"), parameters(), ["openai/a"])
    assert access.asked == ("openai/a", "anthropic/b", "openai/c")


def test_a_model_without_a_price_is_told_before_anything_is_asked_on_a_budget(
    home: Path, blocks: dict[str, str]
) -> None:
    blocks["hopwright-openai"] = KEY
    run = RunFolder(home, "r")
    require_models(grant_access(run, parameters(), ["openai/secret-model"]))
    with pytest.raises(InputError, match="no price is known for openai/secret-model"):
        require_models(grant_access(run, parameters(budget_usd=1), ["openai/secret-model"]))


def test_the_keys_of_fallbacks_are_there_before_workers_start(
    home: Path, blocks: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "from the shell")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "")
    blocks["hopwright-anthropic"] = KEY
    (home / "endpoints.toml").write_text('[fallbacks]\n"openai/a" = ["anthropic/b"]\n', "utf-8")
    prepare_models(load_parameters({"synthesize": {"writer": "openai", "model": "openai/a"}}, BuildParameters))
    assert os.environ["ANTHROPIC_API_KEY"] == KEY


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
    monkeypatch.setattr(tasks.models, "read_secret", asked)
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
    with serving(WireServer()) as server:
        monkeypatch.setenv("HOPWRIGHT_TEST_KEY", KEY)
        endpoints = write_endpoints(home, server.url, prices={"tiny": 1.0})
        access = ModelAccess(endpoints, home / "llm.sqlite", "r", 1.0)
        pool = WorkerPool(2)
        assert [pool.run(ask_rows, access, start) for start in (0, 20)] == [20, 20]
        pool.close()
    with Store(access.store) as store:
        leases = store.read("SELECT granted, spent, possible, open FROM leases")
    assert sum(lease[1] for lease in leases) > 0
    assert all(lease[2:] == (0.0, 0) for lease in leases), "what a worker did not use went back when it ended"


def test_one_line_and_one_note_say_how_the_requests_go(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(WireServer()) as server:
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


def make_plan(home: Path, **models: Any) -> tuple[RunFolder, StagePlan]:
    """A stage of two shards of 50 rows each, as `tests.e2e.asking` asks them."""
    run = RunFolder(home, "r")
    run.begin({})
    access = grant_access(run, parameters(**models), [asking.MODEL])
    parts = [asking.Part(access, 0, 50), asking.Part(access, 50, 50)]
    return run, StagePlan(
        "filter", "items", {}, {}, asking.ask_part, parts, access=access, requests=asking.list_requests
    )


def test_a_stage_notes_what_it_asked_and_goes_on_where_the_budget_stopped_it(
    home: Path, blocks: dict[str, str]
) -> None:
    blocks["hopwright-local"] = KEY
    told: list[str] = []
    listen(lambda *_: None, lambda _stage, line, _last: told.append(line))
    with serving(WireServer(Faults(key=KEY))) as server:
        write_endpoints(home, server.url, prices={"tiny": 1000.0})
        run, plan = make_plan(home, budget_usd=2.0)
        with open_pool(1), pytest.raises(BudgetError, match=r"stopped before the budget of 2\.00 dollars"):
            Engine(run).execute(plan)
        end_models(run)
        stopped = Stage(run, "filter")
        noted = read_manifest(stopped.manifest_path, StageManifest)
        assert noted is not None
        assert 0 < noted.notes["models"]["run_spent_usd"] <= 2.0
        run, plan = make_plan(home, budget_usd=900.0)
        with open_pool(1):
            manifest = Engine(run).execute(plan)
        end_models(run)
        assert manifest.counts.out == 100
        assert manifest.notes["models"]["run_spent_usd"] == pytest.approx(manifest.usage.cost_usd)
        assert max(server.answered.values()) == 1
    assert told[-1].startswith("100 requests (")
    assert "of 900.00 dollars spent" in told[-1]
    summed = sum_models(run)
    assert summed is not None
    assert summed["spent_usd"] == pytest.approx(manifest.usage.cost_usd)
    assert describe_total_usage(summed).startswith("100 requests, ")
    assert summed["requests"] == sum(server.answered.values()) == 100, "a shard that was begun twice counts once"


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_batch_mode_hands_in_a_whole_stage_at_once_and_the_shards_find_the_answers(
    home: Path, kind: str, blocks: dict[str, str]
) -> None:
    blocks["hopwright-local"] = KEY
    with serving(WireServer(Faults(), BatchFaults(polls=1))) as server:
        url = server.url if kind == "anthropic" else f"{server.url}/v1"
        (home / "endpoints.toml").write_text(
            f'[retry]\nbatch_poll_s = 0.01\n[endpoints.local]\nkind = "{kind}"\nbase_url = "{url}"\n'
            'key_env = "HOPWRIGHT_TEST_KEY"\nfree = true\n',
            "utf-8",
        )
        run, plan = make_plan(home, batch=True)
        with open_pool(1):
            manifest = Engine(run).execute(plan)
        end_models(run)
        assert server.counts["batches"] == 1
        assert server.max_in_flight == 0, "nothing was asked directly"
    assert manifest.counts.out == 100
    assert manifest.notes["models"]["from_cache"] == 100


def test_without_batches_at_the_endpoint_the_shards_ask_directly(home: Path, blocks: dict[str, str]) -> None:
    blocks["hopwright-local"] = KEY
    with serving(WireServer()) as server:
        write_endpoints(home, server.url)
        run, plan = make_plan(home, batch=True)
        with open_pool(1):
            assert Engine(run).execute(plan).counts.out == 100
        end_models(run)
        assert sum(server.seen.values()) == 100


def test_a_run_started_over_has_a_budget_of_its_own(home: Path) -> None:
    run = RunFolder(home, "r")
    assert name_budget_run(run) == "r"
    run.begin({})
    begun = name_budget_run(run)
    assert begun.startswith("r 20")
    assert name_budget_run(RunFolder(home, "r")) == begun


def test_a_command_without_a_run_has_a_budget_for_what_it_asks() -> None:
    asked = name_command("passages", [("Oslo", "A city.")], "local/m", 0)
    assert asked == name_command("passages", [("Oslo", "A city.")], "local/m", 0)
    others = [("claims", [("Oslo", "A city.")], "local/m", 0), ("passages", [("Oslo", "A town.")], "local/m", 0)]
    assert asked not in [name_command(*one) for one in [*others, ("passages", [("Oslo", "A city.")], "local/m", 1)]]


def test_a_prompt_that_is_not_fit_is_told_before_anything_is_asked(
    home: Path, monkeypatch: pytest.MonkeyPatch, blocks: dict[str, str]
) -> None:
    prompts = home / "prompts"
    shutil.copytree(prompts_folder(), prompts)
    monkeypatch.setattr(tasks.models, "prompts_folder", lambda: prompts)
    paid = load_parameters({"synthesize": {"writer": "openai", "model": "openai/gpt-5-mini"}}, BuildParameters)
    prepare_models(paid)
    with (prompts / "word-item.md.j2").open("a", encoding="utf-8") as file:
        file.write("One more word.\n")
    with pytest.raises(InputError, match="changed without a new version"):
        prepare_models(paid)
