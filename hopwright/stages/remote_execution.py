"""A shard in a worker of a cluster, which may be another machine.

Where the worker sees the run's folder (the same machine, a shared disk) it works there. Where it does not, what the
shard reads is fetched from the storage into a folder of the worker's own, and what it writes is put into the storage.

A worker goes on with what it has in hand when the run that handed it out is killed. Taken up again with the same
parameters, the run makes the same bytes, and it does not matter who writes them last. Started over with others, it must
not find a part of its past among its own: so a worker looks before it writes whether the run is where it was.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import os
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hopwright.errors import RunError
from hopwright.runs import RunFolder, ShardReport
from hopwright.runs.manifest import gather_versions, name_differences
from hopwright.runs.storage import Storage, open_storage
from hopwright.settings import home
from hopwright.stages.workers import ShardWork, execute_shard

STORES = "stores"
_RUNS = "runs"
_MANIFEST = "manifest.json"
_LEFT = "run {run!r} has gone on without this shard since it was handed out: it is dropped"


@dataclasses.dataclass(frozen=True, slots=True)
class ShardOrigin:
    """Where a shard comes from: the home and the run of the process that hands it out, and the storage, if any.

    `state` tells how far the run was then (`describe_state`), so that nothing older is taken for it, `begun` is the
    SHA-256 of the manifest of the stage that is being made; `versions` are those of the packages that shape the output.
    """

    home: Path
    run: str
    storage: str
    state: str
    begun: str
    versions: dict[str, str]


def describe_state(run: RunFolder) -> str:
    """A digest of all manifests of a run."""
    digest = hashlib.sha256(run.name.encode())
    for path in sorted(run.path.rglob("manifest.json")):
        digest.update(str(path.relative_to(run.path)).encode() + path.read_bytes())
    return digest.hexdigest()[:24]


def execute_remotely(work: ShardWork, origin: ShardOrigin) -> ShardReport:
    """Run one shard in this worker.

    Raises RunError when the run has gone on without it meanwhile, on a machine with other versions, and on one that
    sees neither the run's folder nor a storage.
    """
    host = socket.gethostname()
    differences = name_differences(origin.versions, _own_versions())
    if differences:
        named = ", ".join(differences)
        raise RunError(f"the worker on {host} has other versions ({named}): install the same, or the bytes may differ")
    run = RunFolder(origin.home, origin.run)
    if describe_state(run) == origin.state:
        return execute_shard(work, functools.partial(_stay_in_folder, run, origin.state))
    if not origin.storage and run.manifest_path.exists():
        raise RunError(_LEFT.format(run=run.name))
    if not origin.storage:
        raise RunError(
            f"the worker on {host} does not see {origin.home / _RUNS / origin.run}: share that folder with it, "
            "or name a storage that both reach (HOPWRIGHT_STORAGE)"
        )
    place = home() / "elsewhere" / origin.run / origin.state
    for old in place.parent.glob("*"):
        if old != place:
            shutil.rmtree(old, ignore_errors=True)
    bring = _PathFetcher(origin, place)
    spec = replace_paths(work.spec, bring)
    mine = dataclasses.replace(work, spec=spec, folder=bring.locate(work.folder))
    return execute_shard(mine, functools.partial(_stay_in_storage, work.copy, origin))


def replace_paths(value: Any, replace: Callable[[Path], Path]) -> Any:
    """The same value with every path in it replaced: in dataclasses, tuples, lists and dictionaries."""
    if isinstance(value, Path):
        return replace(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        before = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        after = {name: replace_paths(one, replace) for name, one in before.items()}
        changed = {name: one for name, one in after.items() if one is not before[name]}
        return dataclasses.replace(value, **changed) if changed else value
    if isinstance(value, (tuple, list)):
        ones = [replace_paths(one, replace) for one in value]
        return value if all(a is b for a, b in zip(ones, value, strict=True)) else type(value)(ones)
    if isinstance(value, Mapping):
        return {name: replace_paths(one, replace) for name, one in value.items()}
    return value


def list_paths(value: Any) -> set[Path]:
    """Every path in a value, as `replace_paths` finds them."""
    found: set[Path] = set()
    replace_paths(value, functools.partial(_note, found))
    return found


class _PathFetcher:
    """Brings what a shard reads to this machine: a path of the other home → one of ours."""

    def __init__(self, origin: ShardOrigin, place: Path) -> None:
        self._origin = origin
        self._place = place
        self._run = origin.home / _RUNS / origin.run

    def __call__(self, path: Path) -> Path:
        """Raises RunError for a path outside the home that is not here."""
        if path.is_relative_to(self._run) or path.is_relative_to(self._origin.home / STORES):
            mine = self.locate(path)
            self._fetch(path, mine)
            return mine
        if not path.exists():
            raise RunError(
                f"the worker on {socket.gethostname()} lacks {path}: "
                "what lies outside Hopwright's home must be in the same place on every machine"
            )
        return path

    def locate(self, path: Path) -> Path:
        """Where a file or folder of the other home is here."""
        if path.is_relative_to(self._run):
            return self._place / path.relative_to(self._run)
        return home() / path.relative_to(self._origin.home)

    def _fetch(self, path: Path, mine: Path) -> None:
        storage = open_storage(self._origin.storage)
        name = str(path.relative_to(self._origin.home))
        if path.is_relative_to(self._origin.home / STORES):
            if not mine.exists():
                # Whole or not at all: the store of a corpus is named by its content.
                aside = mine.with_name(f".{mine.name}.{os.getpid()}.part")
                _fetch_below(storage, name, aside)
                with contextlib.suppress(OSError):  # another worker was faster
                    aside.replace(mine)
        elif path.suffix:
            if not mine.exists():
                storage.fetch(name, mine)
        else:
            _fetch_below(storage, name, mine)


@contextlib.contextmanager
def _stay_in_folder(run: RunFolder, state: str) -> Iterator[None]:
    with run.block_removal():
        if describe_state(run) != state:
            raise RunError(_LEFT.format(run=run.name))
        yield


@contextlib.contextmanager
def _stay_in_storage(copy: str, origin: ShardOrigin) -> Iterator[None]:
    # Nothing can be locked there; what comes between the look and the writing would have to come within milliseconds.
    if hashlib.sha256(open_storage(copy).read(_MANIFEST) or b"").hexdigest() != origin.begun:
        raise RunError(_LEFT.format(run=origin.run))
    yield


def _fetch_below(storage: Storage, folder: str, mine: Path) -> None:
    for name in storage.list(folder):
        path = mine / name[len(folder) + 1 :]
        if not path.exists():
            storage.fetch(name, path)


def _note(found: set[Path], path: Path) -> Path:
    found.add(path)
    return path


@functools.lru_cache(maxsize=1)
def _own_versions() -> dict[str, str]:
    return gather_versions()
