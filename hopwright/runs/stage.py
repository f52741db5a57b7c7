"""One stage of one run: which shards are missing, and the manifest that adds everything up."""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hopwright.errors import InputError, RunError
from hopwright.runs.code import digest_code
from hopwright.runs.files import clear_leftovers, hash_file
from hopwright.runs.folder import RunFolder, refuse_differences
from hopwright.runs.manifest import (
    Counts,
    ResourceUsage,
    StageManifest,
    gather_versions,
    read_manifest,
)
from hopwright.runs.shards import (
    ShardReport,
    part_path,
    read_report,
    rejected_path,
)
from hopwright.settings.naming import name_parameter

CODE = "code"
"""Under this name the versions of a stage hold that of its code."""


_COMMANDS = {
    "filter": "filter", "rewrite": "rewrite", "review": "review export", "review/accepted": "review adjudicate",
    "release": "release", "evaluate": "evaluate",
}  # fmt: skip
"""The command that makes a stage and its parts; of the others `build` is it."""


class Stage:
    """The folder of one stage. `begin`, write the missing shards, `finish`; the run's lock must be held."""

    def __init__(self, run: RunFolder, name: str) -> None:
        self.run = run
        self.name = name
        self.folder = run.path / name
        self._manifest = StageManifest(stage=name)
        self._clock = 0.0

    @property
    def manifest_path(self) -> Path:
        """Where the stage's manifest lies."""
        return self.folder / "manifest.json"

    @property
    def finished(self) -> bool:
        """After `begin`: whether there is nothing left to do."""
        return self._manifest.status == "finished"

    def begin(
        self,
        parameters: Mapping[str, Any],
        *,
        inputs: Mapping[str, str] | None = None,
        shards: int = 0,
        fresh: bool = False,
        downstream: Sequence[str] = (),
    ) -> list[int]:
        """Start or continue the stage; returns the indices of the shards that are still to be made.

        `inputs` maps the names of the files that the stage reads to their SHA-256. `fresh` starts the stage
        over and removes the `downstream` stages, which rest on it.

        Raises RunError when the stage began with other parameters or inputs, or when a finished file changed.
        """
        if fresh:
            for name in (*reversed(downstream), self.name):
                self.run.remove(name)
            self.run.merge_parameters(parameters)
        self._clock = time.monotonic()
        found = self.find()
        if found is not None:
            what = f"stage {self.name} of run {self.run.name!r}"
            refuse_differences(what, found.parameters, parameters, advise_restart())
            if found.inputs != dict(inputs or {}) or found.shards != shards:
                raise RunError(
                    f"{what} was made from other input files: {advise_restart()}"
                )
            self._manifest = found
            if found.status == "finished" and self._verify_outputs():
                return []
            self._refuse_other_code(found, what)
            self._manifest = found.model_copy(update={"status": "running", "outputs": {}})
        else:
            self._manifest = StageManifest(
                stage=self.name,
                parameters=dict(parameters),
                inputs=dict(inputs or {}),
                shards=shards,
                started=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
                versions={**gather_versions(), CODE: digest_code(self.name)},
            )
        clear_leftovers(self.folder)
        missing = [index for index in range(shards) if not part_path(self.folder, index).exists()]
        self._manifest.shards_found = shards - len(missing)
        self.run.save(self.manifest_path, self._manifest)
        return missing

    def note(self, notes: Mapping[str, Any]) -> None:
        """Keep notes in the manifest of a stage that is not finished yet, and may never be."""
        self._manifest = self._manifest.model_copy(update={"notes": dict(notes)})
        self.run.save(self.manifest_path, self._manifest)

    def finish(
        self,
        *,
        counts: Counts | None = None,
        outputs: Sequence[Path] = (),
        notes: Mapping[str, Any] | None = None,
        skipped: Mapping[str, int] | None = None,
    ) -> StageManifest:
        """Add up what the shards say and close the stage; a stage that was finished already stays as it is.

        `counts` is for a stage without shards; `outputs` are further files and folders that it wrote.
        Raises RunError when a shard is missing or the counts do not add up.
        """
        if self.finished:
            return self._manifest
        reports = [self._report(index) for index in range(self._manifest.shards)]
        total = counts or add_counts([report.counts for report in reports])
        total.verify(f"stage {self.name}")
        files = [path for entry in outputs for path in _files_of(entry)]
        for report in reports:
            files += [part_path(self.folder, report.index), rejected_path(self.folder, report.index)]
        figures = Counter[str]()
        skips = Counter(skipped or {})
        for report in reports:
            figures.update(report.figures)
            skips.update(report.skipped)
        seconds = self._manifest.seconds + time.monotonic() - self._clock
        self._manifest = self._manifest.model_copy(
            update={
                "status": "finished",
                "outputs": {str(path.relative_to(self.folder)): hash_file(path) for path in sorted(files)},
                "counts": total,
                "usage": ResourceUsage(
                    input_tokens=sum(report.usage.input_tokens for report in reports),
                    output_tokens=sum(report.usage.output_tokens for report in reports),
                    cost_usd=sum(report.usage.cost_usd for report in reports),
                ),
                "skipped": dict(sorted(skips.items())),
                "notes": {**dict(sorted(figures.items())), **(notes or {})},
                "seconds": round(seconds, 3),
            }
        )
        if self.run.mirror is not None:
            # The shards are there already.
            self.run.mirror.put_files(path for entry in outputs for path in _files_of(entry))
        self.run.save(self.manifest_path, self._manifest)
        self.run.record_stage(self.name, total, seconds)
        return self._manifest

    def find(self) -> StageManifest | None:
        """The manifest of the stage, finished or not; None before it began."""
        return read_manifest(self.manifest_path, StageManifest)

    def find_finished(self) -> StageManifest | None:
        """The manifest of the stage where it is finished, else None."""
        found = self.find()
        return found if found is not None and found.status == "finished" else None

    def read(self) -> StageManifest:
        """The manifest of a finished stage. Raises RunError when the stage is not finished."""
        manifest = self.find_finished()
        if manifest is None:
            command = _COMMANDS.get(self.name) or _COMMANDS.get(self.name.partition("/")[0], "build")
            raise RunError(
                f"run {self.run.name!r} has no finished stage {self.name}: `hopwright {command} --run {self.run.name}` "
                "makes it"
            )
        return manifest

    def parts(self) -> list[Path]:
        """The parts of a finished stage, in order. Raises RunError when it is not finished."""
        return [part_path(self.folder, index) for index in range(self.read().shards)]

    def output_hashes(self) -> dict[str, str]:
        """`<stage>/<file>` → SHA-256 of the parts of a finished stage: what a later stage names as its inputs."""
        outputs = self.read().outputs
        return {f"{self.name}/{name}": digest for name, digest in outputs.items() if not name.startswith("rejected/")}

    def _refuse_other_code(self, found: StageManifest, what: str) -> None:
        """Shards of one stage by two versions of the code would be unlike each other, whatever the seed."""
        made, now = found.versions.get(CODE, ""), digest_code(self.name)
        if made and made != now and any(part_path(self.folder, index).exists() for index in range(found.shards)):
            raise RunError(
                f"{what} was begun by another version of the code ({made}, now {now}): go back to that one, or start "
                f"the stage over with {name_parameter('fresh')}; what models answered is not paid again"
            )

    def _report(self, index: int) -> ShardReport:
        try:
            return read_report(self.folder, index)
        except InputError as error:
            raise RunError(f"stage {self.name} is not whole: {error}") from None

    def _verify_outputs(self) -> bool:
        """Whether all outputs are there. Raises RunError when one has changed since it was written."""
        for name, digest in self._manifest.outputs.items():
            path = self.folder / name
            if not path.exists():
                return False
            if hash_file(path) != digest:
                raise RunError(
                    f"{path} has changed since it was written: delete it, or start over with {name_parameter('fresh')}"
                )
        return True


def advise_restart() -> str:
    """What to do where a stage of a run was made otherwise than is wanted now."""
    return f"{name_parameter('fresh')} starts it over and removes what rests on it; a build of another name keeps both"


def add_counts(counts: Sequence[Counts]) -> Counts:
    """The sum of several counts."""
    rejected = Counter[str]()
    for one in counts:
        rejected.update(one.rejected)
    return Counts(
        taken=sum(one.taken for one in counts),
        out=sum(one.out for one in counts),
        rejected=dict(sorted(rejected.items())),
    )


def _files_of(entry: Path) -> list[Path]:
    return [path for path in entry.rglob("*") if path.is_file()] if entry.is_dir() else [entry]
