"""Datasets in the bare published format; every name in them is unique, so that a model can look everything up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hopwright.topologies import TOPOLOGIES

SHAPES = ("chain", "converging", "bridge")


def make_row(number: int, shape: str) -> dict[str, Any]:
    """One row: hop k asks what goes with the answers that it rests on."""
    topology = TOPOLOGIES[shape]
    hops: list[dict[str, Any]] = []
    for index, depends_on in enumerate(topology.depends_on, start=1):
        named = " and ".join(hops[one - 1]["answer"] for one in depends_on) or f"Item{number}"
        options = make_options(f"Thing{number}x{index}")
        label = "ABCD"[(number + index) % 4]
        right = options.pop()
        placed = {letter: options.pop() if letter != label else right for letter in "ABCD"}
        hops.append(
            {
                "question": f"Which thing is step {index} of {named}?",
                "answer": right,
                "multiple_choice_options": placed,
                "correct_answer_label": label,
            }
        )
    last = hops[-1]
    return {
        "id": f"item-{number}",
        "single_hop": hops,
        "multi_hop_question": f"Which thing ends the {shape} of Item{number}?",
        "multi_hop_answer": last["answer"],
        "multiple_choice_options": last["multiple_choice_options"],
        "correct_answer_label": last["correct_answer_label"],
        "motif_type": topology.motif,
    }


def make_options(name: str) -> list[str]:
    """Three wrong options and the right one, last."""
    return [f"{name}{letter}" for letter in "bcd"] + [f"{name}a"]


def write_rows(path: Path, count: int) -> Path:
    """A file of so many rows, the reasoning graphs in turn."""
    lines = [json.dumps(make_row(number, SHAPES[number % 3])) for number in range(count)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
