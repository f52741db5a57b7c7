"""An Inspect task: `inspect eval hopwright_pictures_inspect.py@hopwright_pictures` with a model that takes pictures."""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import hopwright_pictures as scoring  # noqa: E402
from inspect_ai import Task, task  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText  # noqa: E402
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer, stderr  # noqa: E402
from inspect_ai.solver import generate  # noqa: E402

ROWS = [json.loads(line) for line in (FOLDER / "items.jsonl").read_text(encoding="utf-8").split("\n") if line]


@task
def hopwright_pictures():
    """Every question with its pictures."""
    samples = [
        Sample(
            id=row["id"],
            input=[
                ChatMessageUser(
                    content=[
                        *(ContentImage(image=str(FOLDER / path)) for path in row["images"]),
                        ContentText(text=scoring.ask(row)),
                    ]
                )
            ],
            target=row["answers"],
            metadata={"row": row},
        )
        for row in ROWS
    ]
    return Task(dataset=MemoryDataset(samples, name="hopwright"), solver=generate(), scorer=typed())


@scorer(metrics=[accuracy(), stderr()])
def typed():
    """Right by the rule of the answer's type."""

    async def score(state, target):
        given, _ = scoring.read(state.output.completion)
        right = scoring.is_right(given, state.metadata["row"])
        return Score(value=CORRECT if right else INCORRECT, answer=given)

    return score
