"""Loading, asking and scoring for the lm-evaluation-harness tasks in this folder."""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import hopwright_steps  # noqa: E402


def load_items(**_):
    """The items, as the split `test`."""
    import datasets

    with (FOLDER / "items.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {"test": datasets.Dataset.from_list(rows)}


def ask_mcq(doc):
    """The question with its options; the harness compares the letters' likelihoods."""
    options = "\n".join(f"{letter}. {option}" for letter, option in zip("ABCD", doc["options"], strict=True))
    return f"Question: {doc['question']}\n{options}\nThe letter of the right option is"


def ask_steps(doc):
    """The question with its sub-questions; the answers follow."""
    return f"{hopwright_steps.ask_steps(doc)}\n\nAnswers:\n"


def score_steps(doc, results):
    """Exact match and F1 of the answer, right or wrong for every hop, and the joint scores of the whole chain."""
    figures, _, _ = hopwright_steps.score_steps(doc, results[0])
    return figures
