"""What we know of a server's tasks without asking it: one file per run and server, so that a push that changes
nothing, and a pull, need no listing.

Lines are appended as things happen and folded when a push ends. An import is announced before it is sent: one that
was cut short leaves its announcement, and the project is listed again before anything else is imported.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from annotation.schema import LedgerEntry
from hopwright.runs.files import explain_os_errors, write_file

FOLDER = "label-studio"
"""Beside the stages of a run: what was done on servers outlives a stage that is made again."""


def ledger_path(run: Path, server: str) -> Path:
    """Where the ledger of a run's tasks on a server lies; `run` is the run's folder."""
    plain = re.sub(r"[^a-z0-9]+", "-", server.lower().split("//", 1)[-1]).strip("-")[:60]
    mark = hashlib.blake2b(server.encode(), digest_size=3).hexdigest()
    return run / FOLDER / f"ledger-{plain}-{mark}.jsonl"


class Ledger:
    """The tasks of a run on one server. A damaged file counts as an empty one: the server knows better."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._entries: dict[int, dict[str, LedgerEntry]] = {}
        self._pending: set[int] = set()
        self._read()

    def projects(self) -> tuple[int, ...]:
        """The projects that hold tasks of this run."""
        return tuple(sorted(self._entries))

    def entries(self, project: int) -> Mapping[str, LedgerEntry]:
        """Task key → what the project holds."""
        return self._entries.get(project, {})

    def settled(self, project: int) -> bool:
        """Whether every import into the project ended as far as we know."""
        return project not in self._pending

    def announce(self, project: int) -> None:
        """Say that tasks are about to be imported."""
        self._append([{"pending": project}])
        self._pending.add(project)

    def record(self, project: int, entries: Iterable[LedgerEntry]) -> None:
        """Keep what an import or an update did, and settle what was announced."""
        held = self._entries.setdefault(project, {})
        added = list(entries)
        held |= {entry.key: entry for entry in added}
        self._pending.discard(project)
        self._append([*(entry.model_dump(mode="json") for entry in added), {"settled": project}])

    def replace(self, project: int, entries: Iterable[LedgerEntry]) -> None:
        """Forget what was known of a project, and keep what a listing found."""
        self._entries[project] = {entry.key: entry for entry in entries}
        self._pending.discard(project)
        self.fold()

    def fold(self) -> None:
        """Write the file anew with what counts."""
        lines = [
            json.dumps(entry.model_dump(mode="json"))
            for project in self.projects()
            for _, entry in sorted(self._entries[project].items())
        ]
        lines += [json.dumps({"pending": project}) for project in sorted(self._pending)]
        write_file(self.path, "".join(f"{line}\n" for line in lines).encode())

    def _append(self, lines: Iterable[dict[str, Any]]) -> None:
        with explain_os_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.write("".join(json.dumps(line) + "\n" for line in lines).encode())
                file.flush()
                os.fsync(file.fileno())

    def _read(self) -> None:
        try:
            text = self.path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            return
        for line in text.split("\n"):
            try:
                self._take(json.loads(line))
            except (json.JSONDecodeError, ValidationError, TypeError):  # a line that a kill cut in two
                continue

    def _take(self, line: dict[str, Any]) -> None:
        if "pending" in line:
            self._pending.add(int(line["pending"]))
        elif "settled" in line:
            self._pending.discard(int(line["settled"]))
        else:
            entry = LedgerEntry.model_validate(line)
            self._entries.setdefault(entry.project, {})[entry.key] = entry
