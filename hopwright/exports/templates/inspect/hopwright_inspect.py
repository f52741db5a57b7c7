"""Inspect tasks: `inspect eval hopwright_inspect.py@hopwright_mcq` and `…@hopwright_steps`."""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from hopwright_steps import ask_steps, score_steps  # noqa: E402
from inspect_ai import Task, task  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.scorer import Score, choice, mean, scorer, stderr  # noqa: E402
from inspect_ai.solver import generate, multiple_choice  # noqa: E402

ROWS = [json.loads(line) for line in (FOLDER / "items.jsonl").read_text(encoding="utf-8").split("\n") if line]
HOPS = max(len(row["hops"]) for row in ROWS)
NAMES = ["right", "exact_match", "f1", *(f"hop_{number}" for number in range(1, HOPS + 1)), "joint_em", "joint_f1"]


@task
def hopwright_mcq():
    """The whole question with its options."""
    samples = [
        Sample(id=row["id"], input=row["question"], choices=row["options"], target="ABCD"[row["label"]]) for row in ROWS
    ]
    return Task(dataset=MemoryDataset(samples, name="hopwright"), solver=multiple_choice(), scorer=choice())


@task
def hopwright_steps():
    """The question with its sub-questions: one score a hop, and the chain's joint scores."""
    samples = [Sample(id=row["id"], input=ask_steps(row), target=row["answers"], metadata={"row": row}) for row in ROWS]
    return Task(dataset=MemoryDataset(samples, name="hopwright"), solver=generate(), scorer=steps())


@scorer(metrics={name: [mean(), stderr()] for name in NAMES})
def steps():
    """Right or wrong for every hop and the answer; a hop that an item does not have counts as its answer does."""

    async def score(state, target):
        row = state.metadata["row"]
        figures, given, outcome = score_steps(row, state.output.completion)
        for number in range(len(row["hops"]) + 1, HOPS + 1):
            figures[f"hop_{number}"] = figures["right"]
        return Score(value={name: figures[name] for name in NAMES}, answer=given, explanation=outcome)

    return score
