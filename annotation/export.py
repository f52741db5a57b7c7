"""Label Studio task files: one task per item, what a reviewer sees rendered and escaped, corrections pre-filled.

Item text is untrusted (it came from a graph or from a model). The page shows one HTML field, `view`, made by a
template that escapes every text; links are kept only when they lead to http or https.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from label_studio_sdk.label_interface import LabelInterface
from markdown_it import MarkdownIt

from annotation.graph import draw_graph
from annotation.templating import load_template
from hopwright.errors import InputError, RunError
from hopwright.records import Compute, Hop, Item, Lookup
from hopwright.synthesis.properties import default_table
from hopwright.synthesis.topologies import topology

Task = dict[str, Any]
"""`data` (what the page shows), and `predictions` (what the form is pre-filled with)."""

INTERFACE = "multi_hop"
_MODEL_VERSION = "as generated"
_MARKS = {"pass": "✓", "fail": "✗", "skip": "–"}
_NAME = re.compile(r"\b(?:hop([1-8])|(P[0-9]+))\b")


@dataclass(frozen=True, slots=True)
class ReviewFiles:
    """What `write_tasks` wrote, and how many tasks."""

    tasks: Path
    interface: Path
    instructions: Path
    count: int


@dataclass(frozen=True, slots=True)
class _HopView:
    """A hop as the page shows it."""

    index: int
    question: str
    answer: str
    kind: str
    working: str
    facts: tuple[str, ...]
    url: str
    domain: str
    wrong: tuple[str, ...]


def load_interface(name: str = INTERFACE) -> str:
    """The labelling interface of that name, as XML."""
    return resources.files(__package__).joinpath("interfaces", f"{name}.xml").read_text("utf-8")


def load_instructions(name: str = INTERFACE) -> str:
    """The guidelines of that name, as the HTML that Label Studio shows before labelling."""
    text = resources.files(__package__).joinpath("guidelines", f"{name}.md").read_text("utf-8")
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))


def build_task(item: Item) -> Task:
    """The task of one item. `data.item_id` is ours; `data.content_hash` changes when anything shown changes."""
    data = {
        "item_id": item.id,
        "question": item.question,
        "answer": item.answer,
        "topology": topology(item.topology).motif,
        "variant": item.variant,
        "view": _render(item),
    }
    predictions = [
        {
            "model_version": _MODEL_VERSION,
            "result": [
                _prefill("question_correction", item.question),
                _prefill("answer_correction", item.answer),
            ],
        }
    ]
    content = json.dumps([data, predictions], sort_keys=True, ensure_ascii=False)
    data["content_hash"] = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
    return {"data": data, "predictions": predictions}


def check_task(task: Task) -> None:
    """Hold a task against the interface. Raises InputError naming the item and what does not fit."""
    interface = _parse_interface()
    try:
        interface.validate_task(task, validate_regions_only=False)
        fits = all(interface.validate_prediction(prediction) for prediction in task["predictions"])
    except (ValueError, KeyError) as error:
        fits, reason = False, str(error)
    else:
        reason = "a prediction names a control or a value that the interface does not have"
    if not fits:
        raise InputError(f"task of item {task['data'].get('item_id')} does not fit the interface: {reason}")


def write_tasks(items: Iterable[Item], folder: Path) -> ReviewFiles:
    """Write `tasks.json`, `interface.xml` and `instructions.html`, each whole or not at all.

    Every task is held against the interface first. Raises InputError for one that does not fit, RunError when the
    folder cannot be written.
    """
    files = ReviewFiles(folder / "tasks.json", folder / "interface.xml", folder / "instructions.html", 0)
    count = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _Aside(files.tasks) as write:
            write("[")
            for item in items:
                task = build_task(item)
                check_task(task)
                write((",\n" if count else "\n") + json.dumps(task, ensure_ascii=False))
                count += 1
            write("\n]\n")
        for path, text in ((files.interface, load_interface()), (files.instructions, load_instructions())):
            with _Aside(path) as write:
                write(text)
    except OSError as error:
        raise RunError(f"cannot write the review tasks to {folder}: {error.strerror or error}") from None
    return ReviewFiles(files.tasks, files.interface, files.instructions, count)
