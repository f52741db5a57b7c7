"""What the exported folders share: one simple row per item, and the scoring code that goes with it."""

from __future__ import annotations

import importlib.resources
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hopwright.evaluation import extraction
from hopwright.evaluation.evaluation_queries import list_sub_questions
from hopwright.evaluation.items import EvalItem, kind_of
from hopwright.exports import steps
from hopwright.runs.files import write_json_lines
from hopwright.scoring import answers


def to_rows(items: Sequence[EvalItem]) -> bytes:
    """JSON lines: question, options, answer and aliases, and the sub-questions with their answers."""
    return write_json_lines(map(to_row, items))


def to_row(item: EvalItem) -> dict[str, Any]:
    """One item; a sub-question names an earlier answer as `#1`."""
    return {
        "id": item.id,
        "question": item.question,
        "options": [item.options[letter] for letter in "ABCD"],
        "label": "ABCD".index(item.label),
        "answers": [item.answer, *item.aliases],
        "answer_kind": kind_of(item.answer, item.answer_type),
        "hops": [
            {
                "question": question,
                "answers": [hop.answer, *hop.aliases],
                "answer_kind": kind_of(hop.answer, hop.answer_type),
            }
            for question, hop in zip(list_sub_questions(item), item.hops, strict=True)
        ],
        "topology": item.topology,
        "variant": item.variant,
    }


def scoring_code(*, by_step: bool = False) -> dict[str, bytes]:
    """The modules that read and score answers, as they are here: the folders need nothing of Hopwright's.

    `by_step`: also the one that asks for a chain in one prompt.
    """
    modules = {"hopwright_metrics.py": answers, "hopwright_extraction.py": extraction}
    if by_step:
        modules["hopwright_steps.py"] = steps
    return {name: Path(str(module.__file__)).read_bytes() for name, module in modules.items()}


def read_template(tool: str, name: str) -> bytes:
    """A file that is exported as it is, or filled in by its exporter."""
    return (importlib.resources.files("hopwright.exports") / "templates" / tool / name).read_bytes()
