"""Asking for a chain step by step in one prompt, and reading the steps out of one answer.

Exported as it is beside the harnesses' task files, with the modules that read and score answers; it imports them by the
names that they have there, or here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

try:
    from hopwright_extraction import extract  # type: ignore[import-not-found]
    from hopwright_metrics import TextScore, is_close, joint, score_text  # type: ignore[import-not-found]
except ImportError:
    from hopwright.evaluation.extraction import extract
    from hopwright.scoring.answers import TextScore, is_close, joint, score_text

_STEP = re.compile(r"^[\s*#-]*(?:step\s*)?(\d+)\s*[.:)][\s*]*(.*?)[\s*]*$", re.IGNORECASE | re.MULTILINE)
_LAST = "FINAL ANSWER"

ExportedRow = Mapping[str, Any]
"""An item as `items.jsonl` holds it."""


def ask_steps(row: ExportedRow) -> str:
    """The question with its sub-questions; one line is asked for each, and one for the answer."""
    listed = "\n".join(f"{number}. {hop['question']}" for number, hop in enumerate(row["hops"], start=1))
    return (
        "Answer the question by way of its sub-questions, in which #1 stands for the answer to the first, and so on. "
        "Write one line for each sub-question, with its number and its answer alone, such as `1: Paris`. "
        f"Then write the answer to the whole question on a last line that reads: {_LAST}: the answer\n\n"
        f"Question: {row['question']}\n{listed}"
    )


def read_steps(text: str) -> dict[int, str]:
    """What an answer gives for each sub-question, by its number; the last line of a number counts."""
    return {int(number): answer for number, answer in _STEP.findall(text.split(_LAST)[0])}


def score_steps(row: ExportedRow, text: str) -> tuple[dict[str, float], str, str]:
    """Every figure of one answer, the final answer that was read, and `answered` or why none was.

    `right`, `exact_match` and `f1` are of the final answer, `hop_1` … say whether that hop is right, `joint_em` and
    `joint_f1` are of the whole chain.
    """
    given, final = read_steps(text), extract(text, "open", "cot", {})
    answer = score_text(final.value, row["answers"])
    figures = {
        "right": is_right(final.value, row, answer),
        "exact_match": answer.em,
        "f1": answer.f1,
        "extracted": float(final.outcome == "answered"),
    }
    chain: list[TextScore] = []
    for number, hop in enumerate(row["hops"], start=1):
        chain.append(score_text(given.get(number, ""), hop["answers"]))
        figures[f"hop_{number}"] = is_right(given.get(number, ""), hop, chain[-1])
    figures["joint_em"], figures["joint_f1"] = joint([*chain, answer])
    return figures, final.value, final.outcome


def is_right(given: str, part: ExportedRow, score: TextScore) -> float:
    """1.0 for an exact match, or a number or a date that is close enough; `part` is the row or one of its hops."""
    golds: Sequence[str] = part["answers"]
    return float(bool(given) and (score.em == 1 or any(is_close(given, gold, part["answer_kind"]) for gold in golds)))
