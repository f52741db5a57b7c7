"""The folder that a review is handed over in: per kind the tasks, the interface and the instructions.

<folder>/<kind>/tasks-000.json    at most 20,000 tasks or 100 MB each, one task a line
<folder>/<kind>/interface.xml  instructions.html
<folder>/review.json              how the tasks are reviewed
<folder>-gold.jsonl               what was planted where, beside the folder: it never leaves our side
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from pydantic import ValidationError

from annotation.export import build_task, build_tasks
from annotation.forms import Task, check_task, load_instructions, load_interface, parse_interface
from annotation.gold import read_gold, write_gold
from annotation.schema import REVIEWED, GoldItem, ReviewTaskKind
from hopwright.errors import InputError
from hopwright.records import Item
from hopwright.records.base import Record
from hopwright.runs.files import explain_os_errors, remove_tree, write_file

SETTINGS, GOLD = "review.json", "gold.jsonl"
_MOST_TASKS = 20_000
_MOST_BYTES = 100_000_000
"""Half of what Label Studio imports at once (200 MB), far below its 250,000 tasks."""


@dataclass(frozen=True, slots=True)
class ReviewEntry:
    """An item to review. `gold`: its planted fault; `agreement`: it goes to more reviewers than the others."""

    item: Item
    gold: GoldItem | None = None
    agreement: bool = False


class ReviewSettings(Record):
    """How tasks are reviewed: how many people get one, and whether they answer it before they see the answer.

    `usual` people, or `agreement` for the items that agreement is measured on.
    """

    usual: int = 2
    agreement: int = 3
    items: tuple[str, ...] = ()
    blind: bool = False

    def of(self, item_id: str) -> int:
        """The reviewers of an item's tasks."""
        return max(self.usual, self.agreement) if item_id in self._chosen else self.usual

    @functools.cached_property
    def _chosen(self) -> frozenset[str]:
        return frozenset(self.items)


@dataclass(frozen=True, slots=True)
class ReviewFiles:
    """What `write_tasks` wrote: tasks by kind, and where."""

    folder: Path
    counts: dict[ReviewTaskKind, int] = field(default_factory=dict)
    gold: int = 0


def write_tasks(
    entries: Iterable[ReviewEntry],
    folder: Path,
    *,
    kinds: Iterable[ReviewTaskKind] = REVIEWED,
    overlap: int = 2,
    agreement: int = 3,
    blind: bool = False,
) -> ReviewFiles:
    """Write the folder. One item is in memory at a time, and every task is held against its interface.

    A kind without tasks gets no folder; `blind` tasks are answered before they are verified.
    Raises InputError for a task that does not fit, RunError when the folder cannot be written.
    """
    wanted = tuple(kinds)
    gold: list[GoldItem] = []
    chosen: list[str] = []
    with explain_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        writers = {kind: _TaskFileWriter(folder / kind.value, kind, blind) for kind in wanted}
        try:
            for entry in entries:
                for task in _build(entry, wanted, blind):
                    writers[ReviewTaskKind(task["data"]["kind"])].write(task)
                if entry.gold is not None and entry.gold.kind in writers:
                    gold.append(entry.gold)
                if entry.agreement:
                    chosen.append(entry.item.id)
            for writer in writers.values():
                writer.finish()
        finally:
            for writer in writers.values():
                writer.close()
    for kind in ReviewTaskKind:
        if kind not in writers:
            remove_tree(folder / kind.value)
    for kind, writer in writers.items():
        if writer.count:
            write_file(folder / kind.value / "interface.xml", load_interface(kind, blind=blind).encode())
            write_file(folder / kind.value / "instructions.html", load_instructions(kind, blind=blind).encode())
    write_gold(gold, place_gold(folder))
    settings = ReviewSettings(usual=overlap, agreement=agreement, items=tuple(sorted(set(chosen))), blind=blind)
    write_file(folder / SETTINGS, settings.model_dump_json(indent=1).encode() + b"\n")
    return ReviewFiles(folder, {kind: writer.count for kind, writer in writers.items() if writer.count}, len(gold))


def list_kinds(folder: Path) -> list[ReviewTaskKind]:
    """The kinds that a folder holds tasks of. Raises InputError when there are none."""
    kinds = [kind for kind in ReviewTaskKind if (folder / kind.value / "tasks-000.json").is_file()]
    if not kinds:
        raise InputError(f"{folder} holds no review tasks; run the review export first")
    return kinds


def read_tasks(folder: Path, kind: ReviewTaskKind) -> Iterator[Task]:
    """The tasks of a kind, in order, one in memory at a time. Raises InputError for a file that is not ours."""
    for path in sorted((folder / kind.value).glob("tasks-*.json")):
        try:
            with path.open(encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    if (text := line.strip().removesuffix(",")) not in ("[", "]", "[]", ""):
                        yield _read_task(text, f"{path}, line {number}")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read ({error}); run the review export again") from None


def read_settings(folder: Path) -> ReviewSettings:
    """How the folder's tasks are reviewed. Raises InputError for a damaged file."""
    path = folder / SETTINGS
    try:
        return ReviewSettings.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise InputError(f"{path}: missing or damaged; run the review export again") from None


def read_planted(folder: Path) -> dict[str, GoldItem]:
    """Task key → planted fault."""
    beside = place_gold(folder)
    # Before, it lay in the folder itself.
    return read_gold(beside if beside.exists() else folder / GOLD)


def place_gold(folder: Path) -> Path:
    """Where what was planted among a folder's tasks is written: not in what is handed over."""
    return folder.with_name(f"{folder.name}-{GOLD}")


def _build(entry: ReviewEntry, kinds: Collection[ReviewTaskKind], blind: bool) -> list[Task]:
    gold = entry.gold
    if gold is None:
        return build_tasks(entry.item, kinds, blind=blind)
    return [build_task(entry.item, gold.kind, gold.hop, blind=blind)] if gold.kind in kinds else []


def _read_task(text: str, place: str) -> Task:
    try:
        task: Task = json.loads(text)
    except json.JSONDecodeError:
        raise InputError(f"{place}: not a task; run the review export again") from None
    data = task.get("data") if isinstance(task, dict) else None
    if not isinstance(data, dict) or not all(isinstance(data.get(name), str) for name in ("item_id", "item_hash")):
        raise InputError(f"{place}: a task without `data.item_id`; run the review export again")
    return task


class _TaskFileWriter:
    """The task files of one kind: written aside, put in place together."""

    def __init__(self, folder: Path, kind: ReviewTaskKind, blind: bool) -> None:
        self.count = 0
        self._folder = folder
        self._form = parse_interface(load_interface(kind, blind=blind))
        self._aside: list[Path] = []
        self._file: TextIO | None = None
        self._room = (0, 0)

    def write(self, task: Task) -> None:
        """Add a task; a full file gives way to the next."""
        check_task(task, self._form)
        line = json.dumps(task, ensure_ascii=False)
        size = len(line.encode())
        tasks, room = self._room
        if self._file is None or not tasks or room < size:
            self._open()
            tasks, room = _MOST_TASKS, _MOST_BYTES
            assert self._file is not None
            self._file.write("[\n")
        else:
            self._file.write(",\n")
        self._file.write(line)
        self._room = (tasks - 1, room - size)
        self.count += 1

    def finish(self) -> None:
        """Put the files in place of those that were there."""
        self._end_file()
        if not self.count:
            remove_tree(self._folder)
            return
        for old in self._folder.glob("tasks-*.json"):
            if old.name >= self._name(len(self._aside)):
                old.unlink()
        for number, path in enumerate(self._aside):
            path.replace(self._folder / self._name(number))
        self._aside.clear()

    def close(self) -> None:
        """Remove what was not put in place."""
        if self._file is not None:
            self._file.close()
            self._file = None
        for path in self._aside:
            path.unlink(missing_ok=True)

    def _open(self) -> None:
        self._end_file()
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f".{self._name(len(self._aside))}.{os.getpid()}.tmp"
        self._aside.append(path)
        self._file = path.open("w", encoding="utf-8", newline="\n")

    def _end_file(self) -> None:
        if self._file is not None:
            self._file.write("\n]\n")
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._file = None

    @staticmethod
    def _name(number: int) -> str:
        return f"tasks-{number:03}.json"
