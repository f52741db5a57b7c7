"""An Inspect task: `inspect eval hopwright_novels_inspect.py@hopwright_novels`."""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import hopwright_novels as scoring  # noqa: E402
from inspect_ai import Task, task  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, grouped, scorer, stderr  # noqa: E402
from inspect_ai.solver import generate  # noqa: E402

ROWS = [json.loads(line) for line in (FOLDER / "items.jsonl").read_text(encoding="utf-8").split("\n") if line]


@task
def hopwright_novels():
    """Every question with its window; accuracy by hops and length of the window."""
    samples = [
        Sample(
            id=row["id"], input=scoring.ask(row), target=row["answers"], metadata={"row": row, "cell": row["cell"]},
        )
        for row in ROWS
    ]  # fmt: skip
    return Task(dataset=MemoryDataset(samples, name="hopwright"), solver=generate(), scorer=named())


@scorer(metrics=[accuracy(), stderr(), grouped(accuracy(), "cell")])
def named():
    """Right by the names of the answer, or its number."""

    async def score(state, target):
        given, figures = scoring.score(state.output.completion, state.metadata["row"])
        return Score(value=CORRECT if figures["right"] else INCORRECT, answer=given)

    return score
