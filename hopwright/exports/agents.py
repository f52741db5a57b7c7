"""Environments to train and to evaluate searching agents in, for the programs that do so.

environment      tasks for `hopwright environment serve`, with their splits and the order of a curriculum
verifiers        an environment package of verifiers (Prime Intellect), which prime-rl trains on
inspect-agent    an Inspect task with the same tools
verl-agent       tools, reward and launch file for verl's multi-turn rollouts
trajectories     ideal transcripts for supervised fine-tuning
passages         the passages that came with the items, as documents for `hopwright corpus add`

Adapters are thin: they ask a server, which has the one implementation of tools, budget and rewards. The last needs no
corpus, and tasks about pictures need none where they rest on facts that lie beside them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import yaml

from hopwright.environments.picture_finder import PictureLibrary
from hopwright.environments.tools import PassageFinder, to_function_specs
from hopwright.errors import InputError
from hopwright.evaluation.gold import name_passage
from hopwright.evaluation.items import EvalItem
from hopwright.exports.rows import read_template
from hopwright.records import Passage
from hopwright.records.arrow import encode_parquet
from hopwright.runs.files import write_json_lines
from hopwright.training.playing import list_tools
from hopwright.training.task_files import TASKS, Form, TaskLine, write_tasks
from hopwright.training.task_sets import TaskSet
from hopwright.training.trajectories import NoTrajectoryError, TrajectoryMaker, mark_pictures

_FORMS: dict[Form, str] = {"tools": "sft.jsonl", "tags": "sft_tags.jsonl"}
_TYPES = ("type", "description", "enum")


@dataclass(frozen=True, slots=True)
class AgentExport:
    """What an environment is written from.

    `recoveries` is the share of trajectories in which a search fails first; `basis` goes into the report: hashes of
    what is searched. `beside` are the files of a whole world that the server needs beside the tasks.
    """

    tasks: TaskSet
    finder: PassageFinder
    seed: int
    recoveries: float
    basis: Mapping[str, Any] = field(default_factory=dict)
    beside: Mapping[str, bytes] = field(default_factory=dict)

    def read_png(self, media: str) -> bytes:
        """The PNG of a picture that a task shows."""
        assert isinstance(self.finder, PictureLibrary)
        return self.finder.read_png(media)


AgentExporter = Callable[[AgentExport], dict[str, bytes]]


def export_environment(export: AgentExport) -> dict[str, bytes]:
    """The tasks, what was left out of them, and a report of counts."""
    tasks = export.tasks
    return {
        TASKS: write_tasks(tasks.lines),
        "left_out.jsonl": write_json_lines(tasks.left_out),
        "report.json": _json({**export.basis, **tasks.summarise()}),
        **export.beside,
    }


def export_verifiers(export: AgentExport) -> dict[str, bytes]:
    """A package with a taskset of verifiers, its tools and its rewards."""
    package = "hopwright_search"
    names = ("__init__.py", "taskset.py", "toolset.py")
    return {
        "pyproject.toml": read_template("verifiers", "pyproject.toml"),
        **{f"{package}/{name}": read_template("verifiers", name) for name in names},
        f"{package}/client.py": read_template("agents", "hopwright_client.py"),
        f"{package}/{TASKS}": write_tasks(export.tasks.lines),
    }


def export_inspect_agent(export: AgentExport) -> dict[str, bytes]:
    """A task file of Inspect with the tools."""
    return {
        "hopwright_agent.py": read_template("inspect", "hopwright_agent.py"),
        "hopwright_client.py": read_template("agents", "hopwright_client.py"),
        TASKS: write_tasks(export.tasks.lines),
    }


def export_verl_agent(export: AgentExport) -> dict[str, bytes]:
    """Prompts by split, the tools' configuration and class, the reward function, and a launch file."""
    lines = export.tasks.lines
    # verl has no training without a file to validate on; with no test set that is the training set.
    tested = [line for line in lines if line.split == "test"] or lines
    specs = to_function_specs(max(map(list_tools, lines), key=len))
    return {
        "train.parquet": _encode([line for line in lines if line.split == "train"], export),
        "test.parquet": _encode(tested, export),
        "tools.yaml": yaml.safe_dump({"tools": [_describe_tool(spec) for spec in specs]}, sort_keys=False).encode(),
        "hopwright_tools.py": read_template("verl", "hopwright_tools.py"),
        "agent_reward.py": read_template("verl", "agent_reward.py"),
        "hopwright_client.py": read_template("agents", "hopwright_client.py"),
        "run_agent_grpo.sh": read_template("verl", "run_agent_grpo.sh"),
        TASKS: write_tasks(lines),
    }


def export_trajectories(export: AgentExport) -> dict[str, bytes]:
    """Ideal transcripts of the tasks that are trained on, with calls and with tags; what the tools do not lead through.

    Raises InputError where that is every task.
    """
    maker = TrajectoryMaker(export.finder, export.seed, export.recoveries)
    files: dict[str, bytes] = {}
    rejected: list[dict[str, str]] = []
    counts: dict[str, Any] = {}
    shown: set[str] = set()
    for form, name in _FORMS.items():
        rows: list[dict[str, Any]] = []
        failed = Counter[int]()
        for line in export.tasks.lines:
            if line.split != "train":
                continue
            try:
                made = maker.make(line, form)
            except NoTrajectoryError as error:
                rejected.append({"id": line.id, "form": form, "reason": str(error)})
                continue
            rows.append(made.row)
            shown.update(line.pictures)
            failed[made.failed] += 1
        if not rows:
            raise InputError(f"the tools lead through none of the tasks; the first: {rejected[0]['reason']}")
        files[name] = write_json_lines(rows)
        counts[form] = {"transcripts": len(rows), "with_a_failed_search": sum(failed.values()) - failed[0]}
    counts["rejected"] = len(rejected)
    return {
        **files,
        "rejected.jsonl": write_json_lines(rejected),
        "report.json": _json(counts),
        **{f"images/{media}.png": export.read_png(media) for media in sorted(shown)},
    }


AGENT_EXPORTERS: dict[str, AgentExporter] = {
    "environment": export_environment,
    "verifiers": export_verifiers,
    "inspect-agent": export_inspect_agent,
    "verl-agent": export_verl_agent,
    "trajectories": export_trajectories,
}


def export_passages(items: Sequence[EvalItem]) -> dict[str, bytes]:
    """The items' own passages, each once. Raises InputError where no item has any."""
    found: dict[str, Passage] = {}
    for item in items:
        for hop in item.hops:
            found.update((name_passage(passage), passage) for passage in hop.passages)
    if not found:
        raise InputError("no item has passages: `hopwright rewrite --evidence-passages rules` makes them")
    rows = [{"id": id, "title": one.title, "text": one.text} for id, one in sorted(found.items())]
    return {"passages.jsonl": write_json_lines(rows)}


def _encode(lines: Sequence[TaskLine], export: AgentExport) -> bytes:
    """Rows as verl reads them; a task's id is its ground truth, which the reward hands to the server.

    verl puts the pictures of a row in the place of the marks in its prompt.
    """
    rows = [
        {
            "data_source": "hopwright_agent",
            "agent_name": "tool_agent",
            "prompt": [mark_pictures(turn.model_dump(), line) for turn in line.prompts["tools"]],
            **({"images": [{"bytes": export.read_png(one)} for one in line.pictures]} if line.pictures else {}),
            "ability": "multi-hop-qa",
            "reward_model": {"style": "rule", "ground_truth": line.id},
            "extra_info": {
                "split": line.split,
                "index": line.order,
                "id": line.id,
                "variant": line.variant,
                "need_tools_kwargs": True,
                "tools_kwargs": {tool.name: {"create_kwargs": {"task": line.id}} for tool in list_tools(line)},
            },
        }
        for line in lines
    ]
    return encode_parquet(pa.Table.from_pylist(rows))


def _describe_tool(spec: dict[str, Any]) -> dict[str, Any]:
    """A tool in verl's schema, which knows type, description and enumeration of an argument and nothing else."""
    parameters = spec["parameters"]
    properties = {
        name: {key: value[key] for key in _TYPES if key in value} for name, value in parameters["properties"].items()
    }
    return {
        "class_name": "hopwright_tools.HopwrightTool",
        "config": {"type": "native", "url": ""},
        "tool_schema": {
            "type": "function",
            "function": {
                "name": spec["name"],
                "description": spec["description"],
                "parameters": {
                    "type": "object",
                    "properties": properties,
                    "required": parameters.get("required", []),
                },
            },
        },
    }


def _json(content: object) -> bytes:
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()
