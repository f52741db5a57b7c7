"""Shards on a Dask cluster whose workers see nothing of our disk, a worker killed, and the run taken up elsewhere."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import QUICK, ROOT, SMALL, Home
from tests.e2e.tools import serve_s3

pytest.importorskip("prefect_dask", reason="the extra dask is not installed")
pytest.importorskip("s3fs", reason="the extra s3 is not installed")
pytestmark = [pytest.mark.e2e, pytest.mark.servers]

APART = Path("/proc/self/cwd/home")
"""A path at which every process sees another folder, after where it was started: as on machines of their own."""


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with serve_s3(tmp_path_factory.mktemp("s3") / "log") as environment:
        yield {**environment, "HOPWRIGHT_STORAGE": "s3://runs/team"}


def start(folder: Path, environment: dict[str, str], *command: str) -> subprocess.Popen[str]:
    """A process on the machine that `folder` stands for."""
    folder.mkdir(exist_ok=True)
    own = {"HOPWRIGHT_HOME": str(APART), "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", *command], cwd=folder, env={**os.environ, **environment, **own},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@contextmanager
def serve_dask(folder: Path, environment: dict[str, str], workers: int) -> Iterator[tuple[str, list[int]]]:
    """A scheduler and its workers on one machine; the scheduler's address, and the workers' process ids."""
    scheduler_file = folder / "scheduler.json"
    options = ("--scheduler-file", str(scheduler_file), "--no-dashboard", "--host", "127.0.0.1")
    children = [start(folder, environment, "dask", "scheduler", "--port", "0", *options)]
    try:
        for _ in range(workers):
            # With as few pilot plans as the runs draw.
            one = ("--nthreads", "1", "--memory-limit", "0", "--no-nanny", "--preload", QUICK)
            children.append(start(folder, environment, "dask", "worker", *options, *one))
        deadline = time.monotonic() + 180
        while not scheduler_file.exists():
            assert children[0].poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(0.1)
        address = json.loads(scheduler_file.read_text())["address"]
        yield address, [child.pid for child in children[1:]]
    finally:
        for child in children:
            child.kill()
            child.communicate()


def find_parts(drafts: Path) -> list[Path]:
    """The parts of drafts below a folder; none where a folder goes while it is looked through."""
    try:
        return list(drafts.rglob("synthesize/drafts/part-*"))
    except FileNotFoundError:
        return []


def test_workers_elsewhere_one_of_them_killed_give_the_same_bytes(
    built: tuple[Home, dict[str, Any]], s3: dict[str, str], prefect_api: str, tmp_path: Path
) -> None:
    expected = built[0].files()
    near, far, third = Home(tmp_path / "near" / "home", prefect_api), tmp_path / "far", tmp_path / "third"
    reached = {**s3, "PREFECT_API_URL": prefect_api}
    far.mkdir()
    with serve_dask(far, reached, workers=2) as (address, workers):
        (tmp_path / "near").mkdir()
        given = (*SMALL, "--workers", "1", "--cluster", address)
        run = start(tmp_path / "near", reached, QUICK, "build", *given)
        drafts = far / "home" / "elsewhere"
        try:
            while not find_parts(drafts) and run.poll() is None:
                time.sleep(0.005)
            os.kill(workers[0], signal.SIGKILL)
            _, said = run.communicate(timeout=600)
        finally:
            run.kill()
        assert run.returncode == 0, said
        # All shards of all stages were made there, and came here by the storage.
        made_there = {path.name for path in drafts.rglob("part-*") if path.parent.name == "drafts"}
    assert {f"part-{index:05d}.parquet" for index in range(3)} <= made_there
    assert near.files() == expected
    # A third machine finds all of it in the storage, and makes nothing again.
    again = start(third, reached, QUICK, "build", *SMALL)
    _, said = again.communicate(timeout=300)
    assert again.returncode == 0, said
    assert "of 3 shards" not in said
    assert Home(third / "home").files() == expected


@pytest.mark.nightly
def test_what_a_killed_run_left_in_a_workers_hands_comes_into_no_other_run(prefect_api: str, tmp_path: Path) -> None:
    """A worker of a running cluster does not die with the run: it is held while the run is started over."""
    near, reached = tmp_path / "near", {"PREFECT_API_URL": prefect_api}
    small = ("--drafts", "100", "--shard-size", "50", "--run", "over")
    drafts = near / "home" / "runs" / "over" / "synthesize" / "drafts"
    near.mkdir()
    with serve_dask(near, reached, workers=0) as (address, _):
        options = ("--nthreads", "1", "--memory-limit", "0", "--no-nanny", "--no-dashboard")
        worker = start(near, reached, "dask", "worker", address, *options)
        runs = [start(near, reached, "flows.cli", "build", *small, "--seed", "1", "--cluster", address)]
        try:
            while not (drafts / "part-00000.parquet").exists():
                assert runs[0].poll() is None, runs[0].communicate()
                time.sleep(0.005)
            time.sleep(0.3)  # it is at the next shard, and has nothing to write yet
            worker.send_signal(signal.SIGSTOP)
            left = {path.name for path in drafts.glob("part-*")}
            assert len(left) == 1, "the worker has nothing left in its hands"
            runs[0].kill()
            runs[0].communicate()
            runs.append(start(near, reached, "flows.cli", "build", *small, "--seed", "2", "--fresh"))
            wait_until_finished(drafts, 2, runs[1])
            runs[1].kill()
            made = {str(path): path.read_bytes() for path in drafts.rglob("*.parquet")}
            worker.send_signal(signal.SIGCONT)
            time.sleep(15)
        finally:
            for one in (*runs, worker):
                one.kill()
            told = "".join(worker.communicate())
    assert "run 'over' has gone on without this shard" in told
    assert {str(path): path.read_bytes() for path in drafts.rglob("*.parquet")} == made


def wait_until_finished(stage: Path, seed: int, run: subprocess.Popen[str]) -> None:
    """Until a run has made a stage with this seed."""
    while True:
        assert run.poll() is None, run.communicate()
        with contextlib.suppress(FileNotFoundError):
            manifest = json.loads((stage / "manifest.json").read_text("utf-8"))
            if manifest["status"] == "finished" and manifest["parameters"]["seed"] == seed:
                return
        time.sleep(0.05)
