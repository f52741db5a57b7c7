"""Folders for lm-evaluation-harness and Inspect: the questions with the texts of their windows, each text once.

A folder holds the code that reads and scores answers, and needs nothing of Hopwright's.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hopwright.exports.harnesses import dump_task, name_function
from hopwright.exports.rows import scoring_code
from hopwright.novels.dataset import BookTexts
from hopwright.novels.drafting import K
from hopwright.novels.records import NovelItem
from hopwright.release.own_folder import name_writer, refuse_foreign_forms, write_own_folder
from hopwright.runs.files import write_file, write_json_lines

WRITER = "hopwright novels export"


def export_novels(
    items: Sequence[NovelItem], texts: BookTexts, target: Path, forms: Sequence[str]
) -> dict[str, int]:
    """Write a folder below `target` for each form; rows by the folder's name. Other things at `target` are left alone.

    Raises InputError where a book's text is not at hand, or a form's folder holds other things than an earlier export
    of it.
    """
    written: dict[str, int] = {}
    refuse_foreign_forms(target, forms, WRITER)
    for form in forms:
        with write_own_folder(target / form, name_writer(WRITER, form), replace=True) as aside:
            for name, data in FORMS[form](items).items():
                write_file(aside / name, data)
            for window in {item.window.sha256: item.window for item in items}.values():
                write_file(aside / _name_context(window.sha256), texts.cut(window).encode())
            written[form] = len(items)
    return written


def make_export_row(item: NovelItem) -> dict[str, Any]:
    """One item in plain fields; its window as a path within the folder."""
    hops, length = len(item.hops), f"{item.window.length // K}k"
    return {
        "id": item.id,
        "question": item.question,
        "answers": [item.answer, *item.answer_aliases],
        "answer_kind": "number" if item.hops[-1].answer_type == "number" else "name",
        "context": _name_context(item.window.sha256),
        "hops": hops,
        "length": item.window.length,
        "cell": f"{hops} hops, {length}",
        "depth": item.depth,
        "variant": item.variant,
    }


def _name_context(sha256: str) -> str:
    return f"contexts/{sha256[:32]}.txt"


def _write_lm_eval(items: Sequence[NovelItem]) -> dict[str, bytes]:
    task = {
        "task": "hopwright_novels",
        "custom_dataset": name_function("utils.load_items"),
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": name_function("utils.ask"),
        "doc_to_target": "{{answers[0]}}",
        "process_results": name_function("utils.score"),
        "generation_kwargs": {"until": ["\n\n\n"], "max_gen_toks": 512, "do_sample": False, "temperature": 0.0},
        "metric_list": [
            {"metric": name, "aggregation": "mean", "higher_is_better": True} for name in ("right", "extracted")
        ],
        "metadata": {"version": 1.0},
    }
    return {**_write_rows(items), "hopwright_novels.yaml": dump_task(task), "utils.py": _read("lm_eval_utils.py")}


def _write_inspect(items: Sequence[NovelItem]) -> dict[str, bytes]:
    return {**_write_rows(items), "hopwright_novels_inspect.py": _read("inspect_task.py")}


def _write_rows(items: Sequence[NovelItem]) -> dict[str, bytes]:
    rows = write_json_lines(map(make_export_row, items))
    return {"items.jsonl": rows, "hopwright_novels.py": _read("scoring.py"), **scoring_code()}


def _read(name: str) -> bytes:
    return (importlib.resources.files("hopwright.novels") / "templates" / "export" / name).read_bytes()


FORMS: dict[str, Callable[[Sequence[NovelItem]], dict[str, bytes]]] = {
    "lm-eval": _write_lm_eval,
    "inspect": _write_inspect,
}
"""Form → what writes its files."""
