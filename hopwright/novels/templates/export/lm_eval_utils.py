"""Loading, asking and scoring for the lm-evaluation-harness tasks in this folder."""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import hopwright_novels  # noqa: E402


def load_items(**_):
    """The items, as the split `test`."""
    import datasets

    with (FOLDER / "items.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {"test": datasets.Dataset.from_list(rows)}


def ask(doc):
    """The window and the question."""
    return hopwright_novels.ask(doc)


def score(doc, results):
    """Whether the answer is right, and whether there is one."""
    return hopwright_novels.score(results[0], doc)[1]
