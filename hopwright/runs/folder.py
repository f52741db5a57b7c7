"""A run is a folder: its lock, its manifest, its stages."""

from __future__ import annotations

import contextlib
import datetime as dt
import re
import shutil
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from hopwright.errors import RunError
from hopwright.runs.files import clear_leftovers, hold_lock, remove_lock, remove_tree, share_lock, write_file
from hopwright.runs.manifest import (
    Counts,
    RunManifest,
    gather_versions,
    name_differences,
    read_manifest,
    render_manifest,
)
from hopwright.runs.mirror import Mirror
from hopwright.settings.naming import name_parameter

RUN_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
_SHOWN = 5
_FORMER = frozenset({"profile"})
"""Parameters of runs of version 0.1 that say nothing which others do not."""
_PATIENCE_S = 60.0
_held: dict[Path, int] = {}
_held_guard = threading.Lock()


class RunFolder:
    """`<home>/runs/<name>`. Writing needs the lock: `with run.hold(): …`; reading does not.

    With a `storage` (an address that fsspec knows) the run has a copy there, from which it is continued elsewhere.
    """

    def __init__(self, home: Path, name: str, storage: str = "") -> None:
        if not re.fullmatch(RUN_NAME[1:-1], name):
            raise RunError(
                f"run name {name!r}: up to 64 letters, digits, dots, dashes and underscores, a letter or digit first"
            )
        self.home = home
        self.name = name
        self.path = home / "runs" / name
        self.storage = storage
        self.mirror = Mirror(storage, name, self.path) if storage else None

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the run for this process, and clear what a killed one left half-written.

        May be entered again by the process that holds it. Raises RunError when another process or machine holds it,
        or when the folder cannot be written; ServiceError when the storage cannot be used.
        """
        key = self.path.absolute()
        with contextlib.ExitStack() as stack:
            with _held_guard:
                if _held.get(key, 0) == 0:
                    stack.enter_context(hold_lock(self.home / "locks" / f"{self.name}.lock", f"run {self.name!r}"))
                    self._clear()
                    if self.mirror is not None:
                        stack.enter_context(self.mirror.hold())
                _held[key] = _held.get(key, 0) + 1
            try:
                yield
            finally:
                with _held_guard:
                    _held[key] -= 1
                    if _held[key] == 0 and not self.path.exists():
                        # Of a run that was refused nothing is left; the lock is held until the block ends.
                        remove_lock(self._removal_lock)
                        (self.home / "locks" / f"{self.name}.lock").unlink(missing_ok=True)

    @contextlib.contextmanager
    def block_removal(self) -> Iterator[None]:
        """While the block runs nothing of the run is removed; for workers of a cluster, who do not hold the run."""
        with share_lock(self._removal_lock):
            yield

    @property
    def manifest_path(self) -> Path:
        """Where the run's own manifest lies."""
        return self.path / "manifest.json"

    def read_manifest(self) -> RunManifest | None:
        """The run's manifest; None before the run began."""
        return read_manifest(self.manifest_path, RunManifest)

    def begin(self, parameters: Mapping[str, Any], *, fresh: bool = False) -> RunManifest:
        """Start the run, or continue it when its parameters are the same.

        `fresh` first removes everything that the run holds. Raises RunError naming the parameters that differ.
        """
        if fresh:
            self.remove()
        self.refuse_other_parameters(parameters)
        manifest = self.read_manifest()
        if manifest is None:
            manifest = RunManifest(
                run=self.name,
                parameters=dict(parameters),
                started=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
                versions=gather_versions(),
            )
            self.save(self.manifest_path, manifest)
            return manifest
        if manifest.parameters and self.has_stages:
            return manifest
        # Nothing was made yet (a wrong path, say), or only single stages were run: there is nothing to contradict.
        return self._update(parameters=dict(parameters))

    def refuse_other_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Raises RunError naming the parameters that differ from those with which the run made its stages."""
        manifest = self.read_manifest()
        if manifest is not None and manifest.parameters and self.has_stages:
            before = {name: value for name, value in manifest.parameters.items() if name not in _FORMER}
            refuse_differences(f"run {self.name!r}", before, parameters)

    @property
    def has_stages(self) -> bool:
        """Whether a stage of the run was begun; a run without one holds nothing that could be shown or lost."""
        return any(entry.is_dir() for entry in self.path.glob("[!.]*"))

    def imagine_empty(self) -> RunFolder:
        """The same run as it will be once everything in it is removed: for checks that come before the removal."""
        empty = RunFolder(self.home, self.name)
        empty.path = self.path / ".removed"
        return empty

    def save(self, path: Path, manifest: BaseModel) -> None:
        """Write a manifest of the run or of a stage, in the storage before here."""
        data = render_manifest(manifest)
        if self.mirror is not None:
            self.mirror.put_manifest(path, data)
        write_file(path, data)

    def remove(self, stage: str = "") -> None:
        """Remove a stage and all below it, or the whole run, in the storage before here.

        With a stage go its counts in the run's manifest, and the figures of the whole run.
        """
        with hold_lock(self._removal_lock, f"a shard of run {self.name!r}", _PATIENCE_S):
            if stage:
                self._forget(stage)
            if self.mirror is not None:
                self.mirror.remove(stage)
            remove_tree(self.path / stage)

    def merge_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Record that a stage was started over with other parameters than the run began with."""
        manifest = self.read_manifest()
        if manifest is not None and manifest.parameters:
            self._update(parameters={**manifest.parameters, **parameters})

    def record_stage(self, stage: str, counts: Counts, seconds: float) -> None:
        """Note a finished stage in the run's manifest."""
        manifest = self.read_manifest() or self.begin({})
        self._update(stages={**manifest.stages, stage: counts}, seconds={**manifest.seconds, stage: round(seconds, 3)})

    def record_summary(self, summary: Mapping[str, Any]) -> None:
        """Keep the figures that are printed at the end of a run."""
        self._update(summary=dict(summary))

    @property
    def _removal_lock(self) -> Path:
        return self.home / "locks" / f"{self.name}.removal.lock"

    def _forget(self, stage: str) -> None:
        manifest = self.read_manifest()
        if manifest is not None:
            gone = {name for name in manifest.stages if name == stage or name.startswith(f"{stage}/")}
            self._update(
                stages={name: counts for name, counts in manifest.stages.items() if name not in gone},
                seconds={name: seconds for name, seconds in manifest.seconds.items() if name not in gone},
                summary={},
            )

    def _clear(self) -> None:
        clear_leftovers(self.path)
        for left in self.path.parent.glob(f".{self.name}.*.tmp"):
            shutil.rmtree(left, ignore_errors=True)

    def _update(self, **fields: Any) -> RunManifest:
        manifest = self.read_manifest()
        if manifest is None:
            raise RunError(f"{self.manifest_path}: gone while the run was going on")
        manifest = manifest.model_copy(update=fields)
        self.save(self.manifest_path, manifest)
        return manifest


def list_runs(home: Path) -> list[str]:
    """Names of the runs below a home that began a stage, the one that began last at the end."""
    found: list[tuple[str, str]] = []
    for path in (home / "runs").glob("*/manifest.json"):
        manifest = read_manifest(path, RunManifest)
        if manifest is not None and RunFolder(home, path.parent.name).has_stages:
            found.append((manifest.started, manifest.run))
    return [name for _, name in sorted(found)]


def refuse_differences(what: str, before: Mapping[str, Any], now: Mapping[str, Any], advice: str = "") -> None:
    """Raises RunError naming what differs between two sets of parameters and what to do about it."""
    differences = name_differences(before, now)
    if differences:
        shown = ", ".join(differences[:_SHOWN])
        more = f" and {len(differences) - _SHOWN} more" if len(differences) > _SHOWN else ""
        whole = f"use another {name_parameter('run')} name, or {name_parameter('fresh')} to start it over"
        raise RunError(f"{what} was made with other parameters ({shown}{more}): {advice or whole}")
