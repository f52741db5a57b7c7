"""What every contestant is given and must write: the rows, the schema, the options, the result file."""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

SYSTEM = (
    "You answer questions about a dataset. Read the row, work out its answer and give it as one JSON object with the "
    "fields `answer` (a short text) and `number` (a whole number). Give nothing else."
)
SCHEMA: dict[str, Any] = {
    "title": "Answer",
    "type": "object",
    "properties": {"answer": {"type": "string"}, "number": {"type": "integer"}},
    "required": ["answer", "number"],
    "additionalProperties": False,
}
MODEL = "tiny"


def read_options() -> argparse.Namespace:
    """The options that every contestant takes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True, help="the server, without /v1")
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--timeout", type=float, default=10.0, help="longest wait for one answer, in seconds")
    parser.add_argument("--edited", type=int, default=-1, help="the row whose prompt is changed")
    parser.add_argument("--state", type=Path, required=True, help="folder for caches and checkpoints")
    parser.add_argument("--out", type=Path, required=True, help="the JSONL file to write")
    parser.add_argument("--kind", default="", help="a variant of the contestant")
    return parser.parse_args()


def list_prompts(options: argparse.Namespace) -> list[str]:
    """One prompt a row."""
    return [f"row {number}" + (", edited" if number == options.edited else "") for number in range(options.rows)]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """The answers, one a line, in order: `row` and either `answer` and `number`, or `rejected`."""
    rows.sort(key=lambda row: row["row"])
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def read_row(number: int, answer: Mapping[str, Any] | None, reason: str = "no answer") -> dict[str, Any]:
    """One line of the result file."""
    if answer is None or not isinstance(answer.get("answer"), str) or not isinstance(answer.get("number"), int):
        return {"row": number, "rejected": reason}
    return {"row": number, "answer": answer["answer"], "number": answer["number"]}


def run_contestant(work: Callable[[argparse.Namespace], list[dict[str, Any]]]) -> None:
    """Do the work, write the rows, and print what it took as the last line of the output."""
    options = read_options()
    options.state.mkdir(parents=True, exist_ok=True)
    started, cpu = time.perf_counter(), _read_cpu()
    rows = work(options)
    write_rows(options.out, rows)
    took = {"wall_s": time.perf_counter() - started, "cpu_s": _read_cpu() - cpu, "import_cpu_s": cpu}
    sys.stdout.write("\n" + json.dumps(took) + "\n")
    sys.stdout.flush()


def _read_cpu() -> float:
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total
