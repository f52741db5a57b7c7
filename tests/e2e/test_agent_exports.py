"""Environments in the hands of the programs that train and evaluate: verifiers, Inspect, verl, `datasets`.

verifiers and verl live in environments of their own (`make verifiers`, `make verl`), which a test makes where they are
missing; verl's takes gigabytes, and its tests are skipped without it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

from hopwright.environments.episode import NO_STEPS_LEFT
from hopwright.environments.tools import CorpusFinder
from hopwright.evaluation.items import EvalItem
from hopwright.exports import write_folder
from hopwright.exports.agents import AGENT_EXPORTERS, AgentExport
from hopwright.knowledge.documents.index import Retriever
from hopwright.llm.prompts import read_prompts
from hopwright.training.task_sets import TaskSetOptions, make_task_set
from tests.e2e.serving import serve
from tests.e2e.tools import make_environment, make_tools
from tests.evaluation.tool_world import open_world

ROOT = Path(__file__).resolve().parents[2]
VERL = ROOT / ".venvs" / "verl" / "bin" / "python"
ITEMS = 12
TURNS = 2
pytestmark = [pytest.mark.e2e, pytest.mark.servers]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every export of a small world, a folder each, beside the home with its corpus."""
    home = tmp_path_factory.mktemp("agents")
    (home / "corpora").mkdir()
    retriever, items = open_world(home / "corpora", ITEMS)
    export_all(retriever, items, home)
    return home


def export_all(retriever: Retriever, items: tuple[EvalItem, ...], home: Path) -> None:
    for name, write in AGENT_EXPORTERS.items():
        write_folder(write(prepare(retriever, items)), home / name, name)
    # With a budget of two turns, in which no transcript ends.
    tight = prepare(retriever, items, max_turns=TURNS)
    for name in ("environment", "inspect-agent", "verl-agent"):
        write_folder(AGENT_EXPORTERS[name](tight), home / "tight" / name, name)


def prepare(retriever: Retriever, items: tuple[EvalItem, ...], max_turns: int = 0) -> AgentExport:
    options = TaskSetOptions(test_share=0.25, max_turns=max_turns)
    tasks = make_task_set(items, retriever, read_prompts(ROOT / "prompts"), options)
    return AgentExport(tasks, CorpusFinder(retriever), 0, 0.2)


@pytest.fixture(scope="module")
def url(exported: Path) -> Iterator[str]:
    """A server of episodes over the world."""
    with serve_tasks(exported, exported / "environment", "--corpus", "corpus") as url:
        yield url


@pytest.fixture(scope="module")
def tight_url(exported: Path) -> Iterator[str]:
    """A server of the same tasks with the budget of turns."""
    with serve_tasks(exported, exported / "tight" / "environment", "--corpus", "corpus") as url:
        yield url


@contextmanager
def serve_tasks(home: Path, folder: Path, *options: str) -> Iterator[str]:
    """`hopwright environment serve` over a folder of tasks; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable, "-m", "flows.cli", "environment", "serve", str(folder), *options,
        "--journal", str(folder.parent / "journal"), "--port", str(port),
    ]  # fmt: skip
    environment = {**os.environ, "HOPWRIGHT_HOME": str(home)}
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                break
            except OSError:
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def call(command: list[str], folder: Path, **environment: str) -> str:
    kept = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf"), **environment}
    done = subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def run_vf_eval(package: Path, trajectories: Path, url: str, folder: Path, *options: str) -> list[dict[str, Any]]:
    """Install an exported package in a folder of its own, run it against replayed trajectories; its first 3 traces."""
    tools = make_environment("verifiers")
    site = str(folder / "site")
    call(
        [str(tools / "pip"), "install", "--quiet", "--no-deps", "--no-build-isolation", "--target", site, str(package)],
        folder,
    )
    with serve("tests.training.replay_server", str(trajectories), *options) as model:
        call(
            [str(tools / "vf-eval"), "hopwright-search", "--env.agent.harness.id", "null",
             "--env.agent.runtime.type", "subprocess", "-m", "replay", "--client.base-url", f"{model}/v1",
             "--client.api-key-var", "REPLAY_KEY", "--no-push", "--select.limit", "3"],
            folder, REPLAY_KEY="x", HOPWRIGHT_ENVIRONMENT=url, PYTHONPATH=site, PATH=f"{tools}:{os.environ['PATH']}",
        )  # fmt: skip
    [traces] = (folder / "outputs").rglob("traces.jsonl")
    rows = [json.loads(line)["traces"][0] for line in traces.read_text().splitlines()]
    assert len(rows) == 3 and not any(row["errors"] for row in rows)
    return rows


def run_inspect(package: Path, trajectories: Path, url: str, folder: Path, *options: str) -> dict[str, Any]:
    """Run an exported task against replayed trajectories, four samples of it; its log."""
    with serve("tests.training.replay_server", str(trajectories), *options) as model:
        call(
            [str(make_tools() / "inspect"), "eval", f"{package}/hopwright_agent.py@hopwright_agent", "-T",
             "split=train", "--model", "openai-api/local/m", "--display", "plain", "--log-format", "json", "--log-dir",
             "logs", "--limit", "4"],
            folder, LOCAL_API_KEY="x", LOCAL_BASE_URL=f"{model}/v1", HOPWRIGHT_ENVIRONMENT=url,
        )  # fmt: skip
    [log] = (folder / "logs").glob("*.json")
    content: dict[str, Any] = json.loads(log.read_text())
    assert content["status"] == "success", content.get("error")
    return content


def read_means(log: dict[str, Any]) -> dict[str, float]:
    return {one["name"]: one["metrics"]["mean"]["value"] for one in log["results"]["scores"]}


def test_vf_eval_runs_the_taskset_against_an_endpoint(exported: Path, url: str, tmp_path: Path) -> None:
    trajectories = exported / "trajectories" / "sft.jsonl"
    rows = run_vf_eval(exported / "verifiers", trajectories, url, tmp_path, "--pads", "1")
    for row in rows:
        figures = row["metrics"]
        # One search of no use in front, and what fails on purpose in a share of the transcripts.
        assert figures["right"] == 1.0 and figures["useless"] >= 1.0
        assert row["rewards"]["reward"]["score"] == pytest.approx(1.5 - 0.05 * figures["useless"])


def test_inspect_runs_the_task_with_its_tools_over_the_wire(exported: Path, url: str, tmp_path: Path) -> None:
    found = read_means(
        run_inspect(exported / "inspect-agent", exported / "trajectories" / "sft.jsonl", url, tmp_path)
    )  # fmt: skip
    assert found["right"] == 1.0
    assert found["hops"] == pytest.approx(1.5 - 0.05 * found["useless"])


def test_inspect_s_own_loop_is_told_when_its_turns_are_used_up(exported: Path, tight_url: str, tmp_path: Path) -> None:
    """The agent pads as long as it may, so only what the second call brings makes it answer."""
    package = exported / "tight" / "inspect-agent"
    log = run_inspect(package, exported / "trajectories" / "sft.jsonl", tight_url, tmp_path, "--pads", "8")
    for sample in log["samples"]:
        shown = [turn["content"] for turn in sample["messages"] if turn["role"] == "tool"]
        assert [NO_STEPS_LEFT in text for text in shown] == [False, True]
    found = read_means(log)
    assert (found["right"], found["steps"], found["useless"]) == (1.0, TURNS, TURNS)
    assert found["hops"] == pytest.approx(1 - 0.05 * TURNS)


# ruff: noqa: E501 - the programs that follow run elsewhere.
VERL_TOOLS = """
import asyncio, json, sys, types
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf
from verl.tools.tool_registry import initialize_tools_from_config
from verl.utils.config import omega_conf_to_dataclass
from verl.experimental.agent_loop.tool_agent_loop import AgentData, ToolAgentLoop

tools = {tool.name: tool for tool in initialize_tools_from_config("tools.yaml")}
overrides = json.loads(sys.argv[1])
with initialize_config_module("verl.trainer.config", version_base=None):
    config = compose("ppo_trainer", overrides)
multi_turn = config.actor_rollout_ref.rollout.multi_turn
from verl.workers.config.rollout import MultiTurnConfig
parsed = omega_conf_to_dataclass(multi_turn, dataclass_type=MultiTurnConfig)

import pandas
rows = pandas.read_parquet("train.parquet").to_dict("records")
row = rows[0]
kwargs = row["extra_info"]["tools_kwargs"]
from verl.trainer.ppo.reward import get_custom_reward_fn
reward = get_custom_reward_fn(config)
trajectories = {json.loads(line)["id"]: json.loads(line) for line in open(sys.argv[2])}
turns = [turn for turn in trajectories[row["extra_info"]["id"]]["messages"] if turn["role"] == "assistant"]
pads = int(sys.argv[3])
if pads:
    pad = {"content": "Hm.", "tool_calls": [{"function": {"name": "search", "arguments": json.dumps({"query": "zzz nothing"})}}]}
    turns = [*[pad] * pads, turns[-1]]

async def roll_out():
    loop = object.__new__(ToolAgentLoop)
    loop.tools, loop.max_tool_response_length, loop.tool_response_truncate_side = tools, parsed.max_tool_response_length, "right"
    loop.max_parallel_calls = parsed.max_parallel_calls
    data = AgentData(list(row["prompt"]), None, None, None, None, {}, "r", kwargs)
    texts = []
    for turn in turns:
        if texts and "No call is left" in texts[-1] and turn.get("tool_calls"):
            continue
        data.tool_calls = [types.SimpleNamespace(name=one["function"]["name"], arguments=one["function"]["arguments"], tool_call_id=None)
                           for one in turn.get("tool_calls", [])]
        data.messages.append(loop._build_assistant_message(turn["content"], data))
        for one in data.tool_calls:
            response, _, _ = await loop._call_tool(one, data.tools_kwargs, data)
            data.messages.append({"role": "tool", "content": response.text})
            texts.append(response.text)
    return data, texts

data, texts = asyncio.run(roll_out())
score = reward(data_source="hopwright_agent", solution_str="", ground_truth=row["reward_model"]["ground_truth"],
               extra_info={**row["extra_info"], **data.extra_fields})
silent = reward(data_source="hopwright_agent", solution_str="FINAL ANSWER: nothing", extra_info={},
                ground_truth=row["reward_model"]["ground_truth"])
broken = reward(data_source="hopwright_agent", solution_str="<tool_call>{</tool_call>", extra_info={},
                ground_truth=row["reward_model"]["ground_truth"])
print("RESULT " + json.dumps({"tools": sorted(tools), "turns": parsed.max_assistant_turns, "format": parsed.format,
    "rows": len(rows), "score": score, "silent": silent["score"], "broken": broken, "shown": len([t for t in texts if t]),
    "told": ["No call is left" in text for text in texts]}))
"""


@pytest.mark.skipif(not VERL.exists(), reason="verl's environment is not there: make verl")
def test_verl_parses_tools_and_configuration_and_scores_a_rollout(exported: Path, url: str, tmp_path: Path) -> None:
    folder = exported / "verl-agent"
    found = run_verl(folder, exported / "trajectories" / "sft.jsonl", url, tmp_path, 0)
    assert (found["tools"], found["turns"], found["format"]) == (["read", "search"], 12, "hermes")
    assert found["rows"] == sum(
        1 for line in (folder / "tasks.jsonl").read_text().splitlines() if '"split":"train"' in line
    )
    assert found["score"]["right"] == 1.0 and found["shown"] >= 2
    assert found["score"]["score"] == pytest.approx(1.5 - 0.05 * found["score"]["useless"])
    assert found["silent"] == 0.0
    assert (found["broken"]["malformed"], found["broken"]["score"]) == (1.0, pytest.approx(-0.05))


@pytest.mark.skipif(not VERL.exists(), reason="verl's environment is not there: make verl")
def test_verl_s_calls_are_told_when_the_turns_are_used_up(exported: Path, tight_url: str, tmp_path: Path) -> None:
    folder = exported / "tight" / "verl-agent"
    found = run_verl(folder, exported / "trajectories" / "sft.jsonl", tight_url, tmp_path, 8)
    assert found["told"] == [False, True]
    assert (found["score"]["right"], found["score"]["steps"]) == (1.0, TURNS)
    assert found["score"]["score"] == pytest.approx(1 - 0.05 * TURNS)


def run_verl(folder: Path, trajectories: Path, url: str, tmp_path: Path, pads: int) -> dict[str, Any]:
    """What verl's code makes of a folder, and of a rollout that begins with so many searches of no use."""
    launched = (folder / "run_agent_grpo.sh").read_text().split("verl.trainer.main_ppo", 1)[1]
    overrides = [line.strip().removesuffix("\\").strip() for line in launched.splitlines() if "=" in line]
    overrides = [one for one in overrides if "$" not in one] + [
        "actor_rollout_ref.rollout.multi_turn.max_assistant_turns=12"
    ]
    script = tmp_path / "check.py"
    script.write_text(VERL_TOOLS)
    printed = call(
        [str(VERL), str(script), json.dumps([one.replace("'", "") for one in overrides]), str(trajectories), str(pads)],
        folder, HOPWRIGHT_ENVIRONMENT=url, PYTHONPATH=str(folder),
    )  # fmt: skip
    line = next(line for line in printed.splitlines() if line.startswith("RESULT "))
    found: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
    return found


LOAD = """
import json, sys
import datasets
found = datasets.load_dataset("json", data_files=sys.argv[1], split="train", cache_dir=sys.argv[2])
row = found[0]
print(json.dumps([len(found), [turn["role"] for turn in row["messages"]], row["train"]]))
"""


def test_trajectories_load_as_trainers_load_them(exported: Path, tmp_path: Path) -> None:
    tools = make_tools()
    for name in ("sft.jsonl", "sft_tags.jsonl"):
        path = str(exported / "trajectories" / name)
        rows, roles, flags = json.loads(
            call([str(tools / "python"), "-c", LOAD, path, "cache"], tmp_path).splitlines()[-1]
        )
        assert rows > 0 and len(roles) == len(flags)
        assert {role for role, flag in zip(roles, flags, strict=True) if flag} == {"assistant"}
