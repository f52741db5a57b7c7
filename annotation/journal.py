"""What was pulled from one project, as a journal of Parquet files: each pull adds one, whole or not at all.

Reviews, what did not fit, and how far the pull got are in the same file, so a kill at any moment loses nothing and
counts nothing twice: either the file is there with all of it, or the next pull fetches it again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hopwright.errors import InputError
from hopwright.records import Rejected, Review
from hopwright.records.arrow import (
    REVIEW_SCHEMA,
    encode_parquet,
    read_parquet,
    reviews_to_table,
)
from hopwright.records.arrow import read_reviews as _read_reviews
from hopwright.runs import write_file
from hopwright.runs.files import clear_leftovers, explain_os_errors

_KEY = b"hopwright"
_NAME = re.compile(r"^pull-(\d{6})\.parquet$")
_MANY = 64
"""Files after which a journal is folded into one."""


@dataclass(frozen=True, slots=True)
class TaskAnnotations:
    """The annotations of one task as a pull found them; none left is an answer, too."""

    reviews: tuple[Review, ...] = ()
    refused: tuple[Rejected, ...] = ()


@dataclass(slots=True)
class JournalState:
    """A project as its journal has it: task → annotations; `seen` is when each task was last known to change.

    `watermark` is the server's time up to which changes are known; empty before the first pull.
    """

    tasks: dict[int, TaskAnnotations] = field(default_factory=dict)
    seen: dict[int, str] = field(default_factory=dict)
    watermark: str = ""

    @property
    def reviews(self) -> list[Review]:
        """Every review, by task and annotation."""
        return [review for task in sorted(self.tasks) for review in self.tasks[task].reviews]

    @property
    def refused(self) -> list[Rejected]:
        """Every annotation that did not fit the interface."""
        return [one for task in sorted(self.tasks) for one in self.tasks[task].refused]


class Journal:
    """The journal of one project, in a folder of its own. One writer at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self) -> JournalState:
        """Everything that is held. Raises InputError when a file is damaged."""
        held = JournalState()
        for path in self._files():
            state = _read_state(path)
            if state["whole"]:
                held = JournalState()
            rows: dict[int, list[Review]] = {}
            for review in _read_reviews(path):
                rows.setdefault(review.task, []).append(review)
            refused = {int(task): tuple(Rejected(**one) for one in ones) for task, ones in state["refused"].items()}
            for task, seen in state["tasks"].items():
                number = int(task)
                held.tasks[number] = TaskAnnotations(tuple(rows.get(number, ())), refused.get(number, ()))
                held.seen[number] = seen
                if seen == "":  # the task itself is gone
                    del held.tasks[number], held.seen[number]
            held.watermark = state["watermark"]
        return held

    def append(
        self, tasks: Mapping[int, TaskAnnotations], seen: Mapping[int, str], watermark: str, *, whole: bool = False
    ) -> None:
        """Add a pull: tasks, when each last changed (empty: it is gone), and the time up to which changes are known.

        A `whole` pull replaces everything before it.
        """
        clear_leftovers(self.folder)
        files = self._files()
        last = int(_NAME.match(files[-1].name)[1]) if files else 0  # type: ignore[index]
        path = self.folder / f"pull-{last + 1:06d}.parquet"
        reviews = [review for task in sorted(tasks) for review in tasks[task].reviews]
        state = {
            "whole": whole,
            "watermark": watermark,
            "tasks": {str(task): seen[task] for task in sorted(tasks)},
            "refused": {
                str(task): [one.model_dump() for one in tasks[task].refused]
                for task in sorted(tasks)
                if tasks[task].refused
            },
        }
        packed = json.dumps(state, separators=(",", ":"), ensure_ascii=False)
        write_file(path, encode_parquet(reviews_to_table(reviews), {_KEY.decode(): packed}))
        if whole:
            self._drop(files)
        elif len(files) >= _MANY:
            held = self.read()
            self.append(held.tasks, held.seen, held.watermark, whole=True)

    def _files(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(path for path in self.folder.iterdir() if _NAME.match(path.name))

    def _drop(self, files: Iterable[Path]) -> None:
        with explain_os_errors(self.folder):
            for path in files:
                path.unlink(missing_ok=True)


def _read_state(path: Path) -> dict[str, Any]:
    try:
        state: dict[str, Any] = json.loads(pq.read_schema(path).metadata[_KEY])
    except (OSError, pa.ArrowInvalid, TypeError, KeyError, ValueError):
        raise InputError(f"{path}: not a whole file of pulled reviews; remove it and pull with --full") from None
    read_parquet(path, REVIEW_SCHEMA)
    return state
