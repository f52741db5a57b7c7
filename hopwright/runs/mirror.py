"""A run's copy in shared or object storage, from which another machine continues it.

Work is done on local disk: whole-or-nothing renames, locks that die with their process and memory-mapped reading are
there and not in object storage. The storage gets every finished shard, and leads: a manifest is written there before
it is written here, so what the storage says of a run is never older than what this machine says.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

from hopwright.errors import HopwrightError, RunError
from hopwright.runs.files import clear_leftovers, hash_file, remove_tree, write_file
from hopwright.runs.storage import open_storage
from hopwright.settings.naming import name_parameter

_MANIFEST = "manifest.json"
_BEAT_S = 20.0
_STALE_S = 120.0
"""A lock that was not renewed for so long, by the storage's clock, belongs to a machine that is gone."""
_IDENTITY = ("parameters", "inputs", "shards", "started")


class Mirror:
    """The copy of the run `name`, whose local folder is `folder`, at the storage `url`."""

    def __init__(self, url: str, name: str, folder: Path) -> None:
        self.url = f"{url.rstrip('/')}/runs/{name}"
        self._storage = open_storage(self.url)
        self._locks = open_storage(f"{url.rstrip('/')}/locks")
        self._name = name
        self._folder = folder
        # Beside the run's lock: the address whose copy the local folder is, which beginnings of the run and its stages
        # were alike here and there, and the hashes of the files that may change.
        self._marker = folder.parent.parent / "locks" / f"{name}.storage"
        self._started = ""
        self._seen: dict[str, str] = {}
        self._stages: dict[str, str] = {}

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Keep other machines from writing the run while the block runs, and make the local folder what the copy is.

        Raises RunError when another machine writes it, or when a run of this name was made here without the storage.
        """
        lock = f"{self._name}.json"
        home = str(self._folder.parent.parent.absolute())
        holder = {"host": socket.gethostname(), "home": home, "pid": os.getpid(), "token": uuid4().hex}
        self._take(lock, holder)
        ended = threading.Event()
        beat = threading.Thread(target=self._renew, args=(lock, holder, ended), daemon=True)
        beat.start()
        try:
            self.restore()
            try:
                yield
            except BaseException:
                with contextlib.suppress(HopwrightError):
                    self.send_others()
                raise
            self.send_others()
        finally:
            ended.set()
            beat.join()
            # Left behind, it is taken over from this home at once, from another when it is stale.
            with contextlib.suppress(HopwrightError):
                if _read_json(self._locks.read(lock)) == holder:
                    self._locks.remove(lock)

    def restore(self) -> None:
        """Make the local folder what the storage says the run is; hand over a run that the storage does not know.

        What only this machine has of a stage as the storage knows it (a shard whose copying was cut short) is kept
        and handed over; what another machine has started over is dropped here.
        """
        clear_leftovers(self._folder)
        self._read_marker()
        there = self._list_copy()
        if there:
            self._refuse_strangers()
            self._drop_stages(there)
        here = self._list_local()
        for name in sorted(set(here) - set(there), key=_rank):
            self._storage.put(self._folder / name, name)
        kept = set(here) & self._list_named()
        # Manifests first: what is here without the manifest of its stage could be anybody's.
        for name in sorted(set(there) - kept, key=lambda name: (Path(name).name != _MANIFEST, *_rank(name))):
            if name not in here or Path(name).name == _MANIFEST or not self._is_newer_here(name):
                self._storage.fetch(name, self._folder / name)
        self._started = _read_json(_read(self._folder / _MANIFEST)).get("started", "")
        self._seen = {name: hash_file(self._folder / name) for name in self._list_others()}
        self._stages = {name: _identify(found) for name, found in self._list_stages()}
        self._write_marker()

    def put_manifest(self, path: Path, data: bytes) -> None:
        """Write a manifest; the local one is written after it."""
        name = str(path.relative_to(self._folder))
        self._storage.write(name, data)
        found = _read_json(data)
        if name == _MANIFEST and found.get("started") != self._started:
            self._started, self._seen, self._stages = found.get("started", ""), {}, {}
            self._write_marker()
        elif name != _MANIFEST and _identify(found) != self._stages.get(name):
            self._stages[name] = _identify(found)
            self._write_marker()

    def put_files(self, paths: Iterable[Path]) -> None:
        """Copy files of the run."""
        for path in paths:
            self._storage.put(path, str(path.relative_to(self._folder)))

    def fetch_files(self, paths: Iterable[Path]) -> None:
        """Fetch files that another machine wrote, where they are not here. Raises RunError for one that is nowhere."""
        for path in paths:
            if not path.exists():
                name = str(path.relative_to(self._folder))
                try:
                    self._storage.fetch(name, path)
                except FileNotFoundError:
                    raise RunError(f"{name} of run {self._name!r} is neither here nor in {self.url}") from None

    def remove(self, stage: str = "") -> None:
        """Remove a stage's copy, or the whole run's."""
        # The manifest goes first: a copy without it is none.
        self._storage.remove(f"{stage}/{_MANIFEST}" if stage else _MANIFEST)
        self._storage.remove(stage)

    def send_others(self) -> None:
        """Copy what has changed since the run was taken up and belongs to no shard: reports, notes of a review."""
        there = set(self._storage.list())
        if _MANIFEST not in there:
            return
        for name in self._list_others():
            digest = hash_file(self._folder / name)
            if name not in there or self._seen.get(name) != digest:
                self._storage.put(self._folder / name, name)
                self._seen[name] = digest
        self._write_marker()

    def _list_copy(self) -> list[str]:
        """The files of the copy. What is left of one whose removal was cut short is removed."""
        there = self._storage.list()
        if there and _MANIFEST not in there:
            self._storage.remove("")
            return []
        known = set(there)
        orphans = [name for name in there if _is_part(name) and _manifest_of(name) not in known]
        for name in orphans:
            self._storage.remove(name)
        return sorted(known - set(orphans))

    def _take(self, lock: str, holder: dict[str, Any]) -> None:
        data = json.dumps(holder).encode()
        if self._locks.create(lock, data):
            return
        found = _read_json(self._locks.read(lock))
        # The lock of our own home is held already: a holder that has the same home is one that was killed.
        if (found.get("host"), found.get("home")) != (holder["host"], holder["home"]):
            probe = f"{self._name}.{holder['token']}.probe"
            self._locks.write(probe, b"")
            age = self._locks.seconds_between(lock, probe)
            self._locks.remove(probe)
            if age < _STALE_S:
                raise RunError(
                    f"run {self._name!r} is being written by another machine ({found.get('host', 'unknown')}, "
                    f"pid {found.get('pid', 'unknown')}), as {self.url} says; wait for it to end, "
                    "or use another run name"
                )
        self._locks.write(lock, data)

    def _renew(self, lock: str, holder: dict[str, Any], ended: threading.Event) -> None:
        while not ended.wait(_BEAT_S):
            # A storage that is away for a while is the next shard's to report.
            with contextlib.suppress(HopwrightError):
                self._locks.write(lock, json.dumps(holder).encode())

    def _is_newer_here(self, name: str) -> bool:
        """Whether a file has changed here since it was last alike; it is then handed over.

        Raises RunError when it has changed in the storage as well.
        """
        mine, before = hash_file(self._folder / name), self._seen.get(name)
        if mine == before:
            return False
        theirs = hashlib.sha256(self._storage.read(name) or b"").hexdigest()
        if theirs not in (mine, before):
            raise RunError(
                f"{self._folder / name} was changed here and, by another machine, in {self.url}: "
                "nothing was touched; move ours away to go on with the other"
            )
        if theirs != mine:
            self._storage.put(self._folder / name, name)
        return True

    def _read_marker(self) -> None:
        found = _read_json(_read(self._marker))
        if found.get("url") == self.url:
            self._started, self._seen, self._stages = found["started"], found["files"], found["stages"]
        else:
            self._started, self._seen, self._stages = "", {}, {}

    def _write_marker(self) -> None:
        found = {"url": self.url, "started": self._started, "stages": self._stages, "files": self._seen}
        write_file(self._marker, json.dumps(found, indent=1).encode())

    def _refuse_strangers(self) -> None:
        """Raises RunError when the local folder is no copy from this storage and is another beginning of the run."""
        mine, theirs = _read_json(_read(self._folder / _MANIFEST)), _read_json(self._storage.read(_MANIFEST))
        if not mine or mine.get("started") == self._started:
            return
        if (mine.get("started"), mine.get("parameters")) != (theirs.get("started"), theirs.get("parameters")):
            raise RunError(
                f"run {self._name!r} was begun here at {mine.get('started')} and another one of that name, in "
                f"{self.url}, at {theirs.get('started')}: use another "
                f"{name_parameter('run')} name, or move {self._folder} away"
            )

    def _drop_stages(self, there: Iterable[str]) -> None:
        """Remove the local stages that were alike here and there, and that another machine has removed or begun anew.

        Raises RunError for a stage that was made here without the storage, and otherwise by another machine.
        """
        known = set(there)
        theirs = _read_json(self._storage.read(_MANIFEST))
        mine = _read_json(_read(self._folder / _MANIFEST))
        if mine and mine.get("started") != theirs.get("started"):
            remove_tree(self._folder)
        for name, found in self._list_stages():
            folder = (self._folder / name).parent
            copy = _read_json(self._storage.read(name)) if name in known else {}
            if not folder.exists() or _identify(found) == _identify(copy):
                continue
            if _identify(found) == self._stages.get(name):
                remove_tree(folder)
            elif copy:
                raise RunError(
                    f"{folder} was made here without the storage, and otherwise by another machine in {self.url}: "
                    "nothing was touched; move ours away to go on with the other"
                )

    def _list_stages(self) -> list[tuple[str, dict[str, Any]]]:
        """The manifests of the local stages, outer ones first, by name."""
        paths = sorted(self._folder.rglob(_MANIFEST), key=lambda path: (len(path.parts), path))
        named = ((str(path.relative_to(self._folder)), _read_json(path.read_bytes())) for path in paths)
        return [(name, found) for name, found in named if _is_stage(found)]

    def _list_local(self) -> list[str]:
        return sorted(
            str(path.relative_to(self._folder))
            for path in self._folder.rglob("*")
            if path.is_file() and not path.name.startswith(".")
        )

    def _list_named(self) -> set[str]:
        """Local parts, and files that a finished stage names by their hash: the same wherever they were made."""
        named = {name for name in self._list_local() if _is_part(name)}
        for manifest, found in self._list_stages():
            named |= {str(Path(manifest).parent / name) for name in found.get("outputs", {})}
        return named

    def _list_others(self) -> list[str]:
        named = self._list_named()
        return [name for name in self._list_local() if name not in named and Path(name).name != _MANIFEST]


def _rank(name: str) -> tuple[int, str]:
    """Rejected rows before their part, manifests after what they tell of, the run's own last."""
    path = Path(name)
    order = 0 if path.parent.name == "rejected" else 1
    if path.name == _MANIFEST:
        order = 3 if name == _MANIFEST else 2
    return order, name


def _is_part(name: str) -> bool:
    return Path(name).name.startswith("part-")


def _manifest_of(part: str) -> str:
    folder = Path(part).parent
    return str((folder.parent if folder.name == "rejected" else folder) / _MANIFEST)


def _identify(manifest: dict[str, Any]) -> str:
    """Which beginning of a stage a manifest is of."""
    fields = json.dumps([manifest.get(field) for field in _IDENTITY], sort_keys=True)
    return hashlib.sha256(fields.encode()).hexdigest()[:16]


def _is_stage(manifest: dict[str, Any]) -> bool:
    return "stage" in manifest and "status" in manifest


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _read_json(data: bytes | None) -> dict[str, Any]:
    try:
        found = json.loads(data or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
