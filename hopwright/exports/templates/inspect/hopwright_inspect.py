"""Inspect tasks: `inspect eval hopwright_inspect.py@hopwright_mcq` and `…@hopwright_steps`."""

import json
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from hopwright_extraction import extract  # noqa: E402
from hopwright_metrics import is_close, joint, score_text  # noqa: E402
from inspect_ai import Task, task  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.scorer import Score, choice, mean, scorer, stderr  # noqa: E402
from inspect_ai.solver import generate, multiple_choice  # noqa: E402

STEP = re.compile(r"^[\s*#-]*(?:step\s*)?(\d+)\s*[.:)][\s*]*(.*?)[\s*]*$", re.IGNORECASE | re.MULTILINE)
ROWS = [json.loads(line) for line in (FOLDER / "items.jsonl").read_text(encoding="utf-8").splitlines()]
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
        row, text = state.metadata["row"], state.output.completion
        given = {int(number): answer for number, answer in STEP.findall(text.split("FINAL ANSWER")[0])}
        final = extract(text, "open", "cot", {})
        answer = score_text(final.value, row["answers"])
        value = {"right": is_right(final.value, row, answer), "exact_match": answer.em, "f1": answer.f1}
        chain = []
        for number, hop in enumerate(row["hops"], start=1):
            chain.append(score_text(given.get(number, ""), hop["answers"]))
            value[f"hop_{number}"] = is_right(given.get(number, ""), hop, chain[-1])
        for number in range(len(row["hops"]) + 1, HOPS + 1):
            value[f"hop_{number}"] = value["right"]
        value["joint_em"], value["joint_f1"] = joint([*chain, answer])
        return Score(value=value, answer=final.value, explanation=final.outcome)

    return score


def ask_steps(row):
    """The question with its sub-questions; one line is asked for each, and one for the answer."""
    listed = "\n".join(f"{number}. {hop['question']}" for number, hop in enumerate(row["hops"], start=1))
    return (
        "Answer the question by way of its sub-questions, in which #1 stands for the answer to the first, and so on. "
        "Write one line for each sub-question, with its number and its answer alone, such as `1: Paris`. "
        "Then write the answer to the whole question on a last line that reads: FINAL ANSWER: the answer\n\n"
        f"Question: {row['question']}\n{listed}"
    )


def is_right(given, part, score):
    """1.0 for an exact match, or a number or a date that is close enough."""
    close = any(is_close(given, gold, part["answer_kind"]) for gold in part["answers"])
    return float(bool(given) and (score.em == 1 or close))
