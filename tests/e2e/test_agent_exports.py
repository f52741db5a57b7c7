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
from pathlib import Path

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

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
    options = TaskSetOptions(test_share=0.25)
    tasks = make_task_set(items, retriever, read_prompts(ROOT / "prompts"), options)
    for name, write in AGENT_EXPORTERS.items():
        write_folder(write(AgentExport(tasks, CorpusFinder(retriever), 0, 0.2)), home / name)


@pytest.fixture(scope="module")
def url(exported: Path) -> Iterator[str]:
    """A server of episodes over the world."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable, "-m", "flows.cli", "environment", "serve", str(exported / "environment"), "--corpus", "corpus",
        "--journal", str(exported / "journal"), "--port", str(port),
    ]  # fmt: skip
    environment = {**os.environ, "HOPWRIGHT_HOME": str(exported)}
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


def test_vf_eval_runs_the_taskset_against_an_endpoint(exported: Path, url: str, tmp_path: Path) -> None:
    tools = make_environment("verifiers")
    package = [
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        str(tmp_path / "site"),
        str(exported / "verifiers"),
    ]
    call([str(tools / "pip"), "install", *package], tmp_path)
    with serve("tests.training.replay_server", str(exported / "trajectories" / "sft.jsonl"), "--pads", "1") as model:
        call(
            [str(tools / "vf-eval"), "hopwright-search", "--env.agent.harness.id", "null",
             "--env.agent.runtime.type", "subprocess", "-m", "replay", "--client.base-url", f"{model}/v1",
             "--client.api-key-var", "REPLAY_KEY", "--no-push", "--select.limit", "3"],
            tmp_path, REPLAY_KEY="x", HOPWRIGHT_ENVIRONMENT=url, PYTHONPATH=str(tmp_path / "site"),
            PATH=f"{tools}:{os.environ['PATH']}",
        )  # fmt: skip
    [traces] = (tmp_path / "outputs").rglob("traces.jsonl")
    rows = [json.loads(line)["traces"][0] for line in traces.read_text().splitlines()]
    assert len(rows) == 3 and not any(row["errors"] for row in rows)
    for row in rows:
        figures = row["metrics"]
        # One search of no use in front, and what fails on purpose in a share of the transcripts.
        assert figures["right"] == 1.0 and figures["useless"] >= 1.0
        assert row["rewards"]["reward"]["score"] == pytest.approx(1.5 - 0.05 * figures["useless"])


def test_inspect_runs_the_task_with_its_tools_over_the_wire(exported: Path, url: str, tmp_path: Path) -> None:
    tools = make_tools()
    folder = exported / "inspect-agent"
    with serve("tests.training.replay_server", str(exported / "trajectories" / "sft.jsonl")) as model:
        call(
            [str(tools / "inspect"), "eval", f"{folder}/hopwright_agent.py@hopwright_agent", "-T", "split=train",
             "--model", "openai-api/local/m", "--display", "plain", "--log-format", "json", "--log-dir", "logs",
             "--limit", "4"],
            tmp_path, LOCAL_API_KEY="x", LOCAL_BASE_URL=f"{model}/v1", HOPWRIGHT_ENVIRONMENT=url,
        )  # fmt: skip
    [log] = (tmp_path / "logs").glob("*.json")
    content = json.loads(log.read_text())
    assert content["status"] == "success", content.get("error")
    found = {one["name"]: one["metrics"]["mean"]["value"] for one in content["results"]["scores"]}
    assert found["right"] == 1.0
    assert found["hops"] == pytest.approx(1.5 - 0.05 * found["useless"])


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

async def roll_out():
    loop = object.__new__(ToolAgentLoop)
    loop.tools, loop.max_tool_response_length, loop.tool_response_truncate_side = tools, parsed.max_tool_response_length, "right"
    loop.max_parallel_calls = parsed.max_parallel_calls
    data = AgentData(list(row["prompt"]), None, None, None, None, {}, "r", kwargs)
    texts = []
    for turn in turns:
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
    "rows": len(rows), "score": score, "silent": silent["score"], "broken": broken, "shown": len([t for t in texts if t])}))
"""


@pytest.mark.skipif(not VERL.exists(), reason="verl's environment is not there: make verl")
def test_verl_parses_tools_and_configuration_and_scores_a_rollout(exported: Path, url: str, tmp_path: Path) -> None:
    folder = exported / "verl-agent"
    launched = (folder / "run_agent_grpo.sh").read_text().split("verl.trainer.main_ppo", 1)[1]
    overrides = [line.strip().removesuffix("\\").strip() for line in launched.splitlines() if "=" in line]
    overrides = [one for one in overrides if "$" not in one] + [
        "actor_rollout_ref.rollout.multi_turn.max_assistant_turns=12"
    ]
    script = tmp_path / "check.py"
    script.write_text(VERL_TOOLS)
    printed = call(
        [str(VERL), str(script), json.dumps([one.replace("'", "") for one in overrides]),
         str(exported / "trajectories" / "sft.jsonl")],
        folder, HOPWRIGHT_ENVIRONMENT=url, PYTHONPATH=str(folder),
    )  # fmt: skip
    found = json.loads(
        next(line for line in printed.splitlines() if line.startswith("RESULT ")).removeprefix("RESULT ")
    )
    assert (found["tools"], found["turns"], found["format"]) == (["read", "search"], 12, "hermes")
    assert found["rows"] == sum(
        1 for line in (folder / "tasks.jsonl").read_text().splitlines() if '"split":"train"' in line
    )
    assert found["score"]["right"] == 1.0 and found["shown"] >= 2
    assert found["score"]["score"] == pytest.approx(1.5 - 0.05 * found["score"]["useless"])
    assert found["silent"] == 0.0
    assert (found["broken"]["malformed"], found["broken"]["score"]) == (1.0, pytest.approx(-0.05))


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
