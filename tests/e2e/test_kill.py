"""SIGKILL at many moments of a real run, a full disk, a second run: started again, it ends in the same bytes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from hopwright.settings import BuildParameters
from tests.e2e.conftest import QUICK, SMALL, Home
from tests.e2e.plain import build_quickly

pytestmark = [pytest.mark.e2e]
PARAMETERS = BuildParameters.model_validate(
    {"workers": 1, "shard_size": 50, "synthesize": {"drafts": 100}, "review": {"items": 10}}
)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(tmp_path_factory.mktemp("undisturbed"))
    assert run_to_its_end(home) == 0
    return home


def test_a_run_killed_at_many_moments_ends_in_the_same_bytes(undisturbed: Home, tmp_path: Path) -> None:
    expected = undisturbed.files()
    stages = list_stages(undisturbed)
    home = Home(tmp_path / "killed")
    # As each stage begins and a little later in it, and while the release is written.
    moments: list[Callable[[], bool]] = [
        partial(has_finished, home, stages[:done]) for done in range(len(stages)) for _ in range(2)
    ]
    moments += [
        partial(exists, home, "release/.*.partial"),
        partial(exists, home, "release/.*.partial/.factual"),
        partial(exists, home, "release/.*.partial/plots"),
        partial(exists, home, "release/*/manifest.json"),
    ]
    # To look more often takes the processor from the run.
    pauses = [0.004] * (2 * len(stages)) + [0.001] * 4
    killed_in = set()
    for number, (reached, pause) in enumerate(zip(moments, pauses, strict=True)):
        child = begin(home)
        while not reached() and child.is_alive():
            time.sleep(pause)
        # A little later each time, so that writing, renaming and planning are all hit.
        time.sleep(0.007 * (number // 2 % 8) if number % 2 else 0)
        child.kill()
        child.join()
        if child.exitcode == -signal.SIGKILL:
            killed_in.add(next((stage for stage in stages if not has_finished(home, [stage])), ""))
    assert killed_in >= set(stages)
    assert run_to_its_end(home) == 0
    assert home.files() == expected
    assert not [path for path in home.path.rglob(".*") if path.name.endswith((".tmp", ".part", ".partial"))]


def test_a_full_disk_is_one_line_and_with_more_space_the_run_continues(undisturbed: Home, tmp_path: Path) -> None:
    stores, runs = (measure(undisturbed.path / name) for name in ("stores", "runs"))
    with small_disk(tmp_path / "disk", stores + runs // 2) as grow:
        home = Home(tmp_path / "disk")
        told = tmp_path / "told"
        assert run_to_its_end(home, told) == 1
        line = told.read_text("utf-8")
        assert line.startswith(("disk full while writing", "cannot write the release")), line
        assert "\n" not in line
        assert count_parts(home) > 0
        grow()
        assert run_to_its_end(home) == 0
        assert home.files() == undisturbed.files()
        assert any("counterfactual" in name and held[0] != "0" for name, held in home.files().items()), "twins too"


def test_a_killed_run_leaves_no_process_behind(tmp_path: Path) -> None:
    """Neither workers nor the Prefect server that the run had started for itself; a second run is refused meanwhile."""
    home = Home(tmp_path, module=QUICK)
    child = home.start("build", *SMALL)
    while not has_parts(home, 1) and child.poll() is None:
        time.sleep(0.01)
    second = home.call("build", *SMALL)
    assert second.returncode == 1
    line = second.stderr.splitlines()[-1]
    assert line.startswith(f"hopwright: run 'sample' is being written by another process (pid {child.pid})")
    kept = processes_of(home)
    child.kill()
    child.communicate()
    assert len(kept) >= 3, "the run itself, its server and a worker"
    deadline = time.monotonic() + 300
    while processes_of(home) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes_of(home) == []


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Callable[[], object]]:
    """A disk of so many bytes; yields what gives it room. Skips the test where none may be mounted."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size // 1024}k", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        yield partial(subprocess.run, ["mount", "-o", "remount,size=1g", str(folder)], check=True)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def measure(folder: Path) -> int:
    """Bytes on disk, a page and a folder's entry included."""
    return sum(path.stat().st_size // 4096 * 4096 + 8192 for path in folder.rglob("*"))


def begin(home: Home, told: Path | None = None) -> BaseProcess:
    """A build in a process of its own, forked from one that has imported everything."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.e2e.plain"])
    child = context.Process(target=build_quickly, args=(home.path, PARAMETERS, told))
    child.start()
    return child


def run_to_its_end(home: Home, told: Path | None = None) -> int | None:
    child = begin(home, told)
    child.join(timeout=600)
    return child.exitcode


def has_parts(home: Home, number: int) -> bool:
    return count_parts(home) >= number


def count_parts(home: Home) -> int:
    """Finished parts of all stages."""
    return sum(1 for path in (home.path / "runs").rglob("part-*.parquet") if path.parent.name != "rejected")


def list_stages(home: Home) -> list[str]:
    """The stages of a run that is complete, in the order in which they ended."""
    run = home.path / "runs" / "sample"
    found = {path.parent.relative_to(run).as_posix(): path.stat().st_mtime_ns for path in run.rglob("manifest.json")}
    return sorted((name for name in found if name != "." and "hopwright-" not in name), key=found.__getitem__)


def has_finished(home: Home, stages: Sequence[str]) -> bool:
    return all((home.path / "runs" / "sample" / stage / "manifest.json").exists() for stage in stages)


def exists(home: Home, pattern: str) -> bool:
    return any((home.path / "runs" / "sample").glob(pattern))


def processes_of(home: Home) -> list[int]:
    """Processes whose environment names this home."""
    wanted = f"HOPWRIGHT_HOME={home.path}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found
