"""What was asked of a server of episodes, written down before it is answered, so that a kill loses nothing.

One JSON line for every episode that begins, every turn and every end. An episode is a function of its task and its
turns, so the turns are enough to play it again; what it came to is written as well, so that ended ones need not be.
The file begins with what that rests on (tasks, corpus); over anything else it is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from hopwright.errors import InputError, RunError
from hopwright.foreign import JsonError, load_json, read_lines
from hopwright.runs.files import explain_os_errors, hold_lock, write_file
from hopwright.training.task_files import Form

NAME = "episodes.jsonl"
Entry = Mapping[str, Any]


class _Saved(BaseModel):
    """What is read of an entry; whatever else it says is passed over."""

    model_config = ConfigDict(extra="ignore", strict=True)


class _Begun(_Saved):
    begin: str
    task: str
    form: Form


class _Taken(_Saved):
    take: str
    turn: int
    text: str
    calls: list[dict[str, str]]


class _Closed(_Saved):
    close: str


class _Ended(_Saved):
    end: str
    task: str
    turn: int
    right: bool
    steps: int
    useless: int
    rewards: dict[str, float]


_KINDS: dict[str, type[_Saved]] = {"begin": _Begun, "take": _Taken, "close": _Closed, "end": _Ended}


class Journal:
    """The journal in a folder, which one process at a time may write."""

    def __init__(self, folder: Path, basis: Mapping[str, str]) -> None:
        self.path = folder / NAME
        self._head = {"basis": dict(basis)}
        self._file: Any = None
        self._lock: Any = None

    def open(self) -> list[dict[str, Any]]:
        """Take the journal over. Returns its entries; a line that a kill cut short was never answered, and is dropped.

        Raises RunError while another process has it, InputError where it rests on other tasks or another corpus.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = hold_lock(self.path.with_suffix(".lock"), f"{self.path.parent} is served by another process")
        self._lock.__enter__()
        try:
            entries, whole = self._read()
            if not self.path.exists():
                write_file(self.path, _write([self._head]))
            elif whole < self.path.stat().st_size:
                with self.path.open("r+b") as file:
                    file.truncate(whole)
            self._file = self.path.open("ab")
        except BaseException:
            self.close()
            raise
        return entries

    def append(self, entries: Iterable[Entry]) -> None:
        """Write entries down; they are on the disk when this returns. Raises RunError where they cannot be."""
        with explain_os_errors(self.path):
            self._file.write(_write(entries))
            self._file.flush()
            os.fdatasync(self._file.fileno())

    def rewrite(self, entries: Iterable[Entry]) -> None:
        """Put these entries in the place of all, at once."""
        write_file(self.path, _write([self._head, *entries]))
        self._file.close()
        self._file = self.path.open("ab")

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return int(self._file.tell())

    def close(self) -> None:
        """Give the journal back."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._lock is not None:
            self._lock.__exit__(None, None, None)
            self._lock = None

    def _read(self) -> tuple[list[dict[str, Any]], int]:
        if not self.path.exists():
            return [], 0
        entries: list[dict[str, Any]] = []
        whole = 0
        size = self.path.stat().st_size
        with self.path.open("rb") as file:
            for number, line in read_lines(file):
                end = file.tell()
                try:
                    entry = _read_entry(line) if number > 1 else load_json(line or b"")
                except ValueError:
                    if end < size:
                        raise RunError(_name_damage(self.path, number)) from None
                    break
                if number == 1 and entry != self._head:
                    raise InputError(
                        f"{self.path} was written over other tasks or another corpus: give another --journal, or those"
                    )
                if number > 1:
                    entries.append(entry)
                whole = end
        # A last line without its end was not answered either.
        if whole:
            with self.path.open("rb") as file:
                file.seek(whole - 1)
                if file.read(1) != b"\n":
                    entries, whole = entries[:-1], _find_line_end(self.path, whole)
        return entries, whole


def read_journal(folder: Path) -> list[dict[str, Any]]:
    """The entries of a journal that another process may be writing; a last line without its end is left out.

    Raises InputError where there is none, RunError naming a line that is damaged.
    """
    path = folder / NAME
    if not path.is_file():
        raise InputError(f"{path}: no such file; `hopwright environment serve` writes it into its --journal")
    entries: list[dict[str, Any]] = []
    with path.open("rb") as file:
        for number, line in read_lines(file, ends=True):
            if line is not None and not line.endswith(b"\n"):
                break
            try:
                entry = _read_entry(line) if number > 1 else load_json(line or b"")
            except ValueError:
                raise RunError(_name_damage(path, number)) from None
            if number > 1:
                entries.append(entry)
            elif not isinstance(entry, dict) or "basis" not in entry:
                raise RunError(_name_damage(path, number))
    return entries


def _read_entry(line: bytes | None) -> dict[str, Any]:
    """An entry as it was written. Raises ValueError for anything else."""
    entry = load_json(line or b"")
    if not isinstance(entry, dict):
        raise JsonError("no object")
    kind = next((kind for kind in _KINDS if kind in entry), None)
    if kind is None:
        raise JsonError("an entry of no known kind")
    _KINDS[kind].model_validate(entry)
    return entry


def _name_damage(path: Path, number: int) -> str:
    return f"{path}:{number}: a damaged line; move the file away to begin anew"


def _write(entries: Iterable[Entry]) -> bytes:
    return "".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n" for entry in entries).encode()


def _find_line_end(path: Path, before: int) -> int:
    """Where the last whole line before a place ends."""
    with path.open("rb") as file:
        return file.read(before).rfind(b"\n") + 1
