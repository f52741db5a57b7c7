"""Loading, asking and scoring for the lm-evaluation-harness task in this folder (models that take pictures)."""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import hopwright_pictures  # noqa: E402


def load_items(**_):
    """The items, as the split `test`."""
    import datasets

    with (FOLDER / "items.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {"test": datasets.Dataset.from_list(rows)}


def load_images(doc):
    """The pictures of a question, in order."""
    from PIL import Image

    return [Image.open(FOLDER / path).convert("RGB") for path in doc["images"]]


def ask(doc):
    """A placeholder for each picture, then the question."""
    return "<image>" * len(doc["images"]) + hopwright_pictures.ask(doc)


def score(doc, results):
    """Whether the answer is right, and whether there is one."""
    given, extracted = hopwright_pictures.read(results[0])
    return {"right": float(hopwright_pictures.is_right(given, doc)), "extracted": float(extracted)}
