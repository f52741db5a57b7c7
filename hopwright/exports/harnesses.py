"""Folders for evaluation harnesses: lm-evaluation-harness (EleutherAI) and Inspect (UK AI Security Institute)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import yaml

from hopwright.evaluation.items import EvalItem
from hopwright.exports.rows import read_template, scoring_code, to_rows
from hopwright.llm.prompts import Prompt


class _Function(str):
    """A function of a Python file beside the task file, as the harness's loader reads it."""


class _Dumper(yaml.SafeDumper):
    pass


def _write_function(dumper: yaml.SafeDumper, value: _Function) -> yaml.Node:
    return dumper.represent_scalar("!function", str(value))


_Dumper.add_representer(_Function, _write_function)


def export_lm_eval(items: Sequence[EvalItem], _: dict[str, Prompt], __: int) -> dict[str, bytes]:
    """A task folder: `hopwright_mcq`, `hopwright_steps` with per-hop scores, and the group of both."""
    hops = max(len(item.hops) for item in items)
    names = ["right", "exact_match", "f1", "extracted", *(f"hop_{number}" for number in range(1, hops + 1))]
    names += ["joint_em", "joint_f1"]
    shared = {
        "custom_dataset": _Function("utils.load_items"),
        "test_split": "test",
        "metadata": {"version": 1.0},
    }
    mcq = {
        "task": "hopwright_mcq",
        **shared,
        "output_type": "multiple_choice",
        "doc_to_text": _Function("utils.ask_mcq"),
        "doc_to_choice": ["A", "B", "C", "D"],
        "doc_to_target": "label",
        "metric_list": [_average("acc")],
    }
    steps = {
        "task": "hopwright_steps",
        **shared,
        "output_type": "generate_until",
        "doc_to_text": _Function("utils.ask_steps"),
        "doc_to_target": "{{answers[0]}}",
        "process_results": _Function("utils.score_steps"),
        "generation_kwargs": {"until": ["\n\n\n"], "max_gen_toks": 1024, "do_sample": False, "temperature": 0.0},
        "metric_list": [_average(name) for name in names],
    }
    group = {"group": "hopwright", "task": ["hopwright_mcq", "hopwright_steps"], "metadata": {"version": 1.0}}
    return {
        "items.jsonl": to_rows(items),
        "hopwright.yaml": _dump(group),
        "hopwright_mcq.yaml": _dump(mcq),
        "hopwright_steps.yaml": _dump(steps),
        "utils.py": read_template("lm_eval", "utils.py"),
        "README.md": read_template("lm_eval", "README.md"),
        **scoring_code(by_step=True),
    }


def export_inspect(items: Sequence[EvalItem], _: dict[str, Prompt], __: int) -> dict[str, bytes]:
    """A task file with the tasks `hopwright_mcq` and `hopwright_steps`, its items and its scorer."""
    return {
        "items.jsonl": to_rows(items),
        "hopwright_inspect.py": read_template("inspect", "hopwright_inspect.py"),
        **scoring_code(by_step=True),
    }


def name_function(name: str) -> str:
    """A function of a Python file beside the task file, to be written into a task by `dump_task`."""
    return _Function(name)


def dump_task(content: Mapping[str, object]) -> bytes:
    """A task file as the harness's loader reads it."""
    return _dump(content)


def _average(name: str) -> dict[str, object]:
    return {"metric": name, "aggregation": "mean", "higher_is_better": True}


def _dump(content: Mapping[str, object]) -> bytes:
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True).encode()
