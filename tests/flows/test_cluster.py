"""A Dask cluster as a stage sees it: workers here, a scheduler that is lost, an address at which nobody is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from hopwright.errors import InputError, RunError, ServiceError
from hopwright.records.arrow import read_rejected
from hopwright.runs import RunFolder, ShardOutput, Stage, hash_file, read_report
from hopwright.runs.manifest import gather_versions
from hopwright.runs.storage import open_storage
from hopwright.stages.remote_execution import ShardOrigin, describe_state, execute_remotely, list_paths, replace_paths
from hopwright.stages.workers import ShardWork
from tasks import cluster
from tasks.cluster import open_cluster, yield_done
from tests.runs.toy import process
from tests.stage_runs import run_stage

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Submitted:
    """As Prefect's futures for Dask are."""

    wrapped_future: Any


@dataclass(frozen=True)
class Reading:
    """A shard that reads the parts of an earlier stage, and a file beside the home."""

    parts: tuple[Path, ...]
    store: Path
    notes: Path


def read_all(reading: Reading) -> ShardOutput:
    """Takes what the first part holds; the paths must all be there."""
    assert (reading.store / "facts").read_text() == "facts"
    assert reading.notes.is_file()
    return process(sum(len(read_rejected(part)) for part in reading.parts))


def start_over(reading: Reading) -> ShardOutput:
    """What a worker does whose run is killed, and started over with other parameters, while it makes a shard."""
    made = process(1)
    run = RunFolder(reading.store.parents[1], "r", reading.notes.read_text())
    with run.hold():
        run.begin({"seed": 2}, fresh=True)
        Stage(run, "second").begin({"seed": 2}, shards=1)
    return made


def go_on(reading: Reading) -> ShardOutput:
    """As `start_over`, but continued with the same parameters."""
    run = RunFolder(reading.store.parents[1], "r", reading.notes.read_text())
    with run.hold():
        run_stage(Stage(run, "second"), [1], process, parameters={})
    return process(1)


def test_no_address_is_no_cluster() -> None:
    with open_cluster("", 2) as runner:
        assert runner is None


class TestOnDask:
    @pytest.fixture(autouse=True)
    def demand(self) -> None:
        pytest.importorskip("prefect_dask", reason="the extra dask is not installed")

    def test_workers_here_are_processes_of_their_own_and_end_with_the_block(self) -> None:
        with open_cluster("local", 2) as runner:
            pids = {runner.client.submit(os.getpid, pure=False).result() for _ in range(4)}
            assert os.getpid() not in pids
        deadline = time.monotonic() + 180
        while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(Path(f"/proc/{pid}").exists() for pid in pids)

    def test_workers_here_die_with_a_run_that_is_killed(self) -> None:
        """So nothing of it is written later, as it may be by the workers of a cluster that goes on."""
        program = (
            "import os, time; from tasks.cluster import open_cluster\n"
            "with open_cluster('local', 1) as runner:\n"
            "    print(runner.client.submit(os.getpid).result(), flush=True)\n"
            "    runner.client.submit(time.sleep, 600).result()\n"
        )
        run = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert run.stdout is not None
        worker = Path("/proc", run.stdout.readline().strip())
        assert worker.exists()
        run.kill()
        run.communicate()
        deadline = time.monotonic() + 180
        while worker.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not worker.exists()

    def test_an_address_at_which_nobody_is_is_one_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cluster, "_PATIENCE_S", 1)
        with (
            pytest.raises(ServiceError, match=r"no Dask worker can be reached by tcp://127\.0\.0\.1:1 .*start"),
            open_cluster("tcp://127.0.0.1:1", 2),
        ):
            pass

    def test_a_scheduler_that_is_lost_ends_the_stage_in_one_line(self, tmp_path: Path) -> None:
        file = tmp_path / "scheduler.json"
        options = ["--scheduler-file", str(file), "--no-dashboard", "--host", "127.0.0.1"]
        children = [
            subprocess.Popen([sys.executable, "-m", "dask", *command, *options], stderr=subprocess.DEVNULL)
            for command in (["scheduler", "--port", "0"], ["worker", "--nthreads", "1", "--no-nanny"])
        ]
        try:
            while not file.exists():
                assert children[0].poll() is None
                time.sleep(0.05)
            with open_cluster(json.loads(file.read_text())["address"], 1) as runner:
                quick, slow = (runner.client.submit(time.sleep, seconds) for seconds in (0, 60))
                found = yield_done([Submitted(quick), Submitted(slow)])
                assert next(found).wrapped_future is quick
                children[0].kill()
                with pytest.raises(ServiceError, match="the scheduler of the Dask cluster is gone"):
                    next(found)
        finally:
            for child in children:
                child.kill()
                child.wait()


def test_without_the_extra_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install '\.\[dask\]'"), open_cluster("local", 1):
        pass


def test_paths_are_found_and_replaced_wherever_they_stand() -> None:
    value = ({"a": [Path("/x/a"), 1]}, Reading((Path("/x/b"),), Path("/x/c"), Path("/y")), "/x/text", None)
    assert list_paths(value) == {Path("/x/a"), Path("/x/b"), Path("/x/c"), Path("/y")}
    moved = replace_paths(value, lambda path: Path("/z") / path.name)
    assert moved == ({"a": [Path("/z/a"), 1]}, Reading((Path("/z/b"),), Path("/z/c"), Path("/z/y")), "/x/text", None)
    assert replace_paths(value, lambda path: path) == value


class TestElsewhere:
    """A worker whose home is `far`, for a run in `near` that it cannot see: the folder is moved away meanwhile."""

    @pytest.fixture
    def work(self, tmp_path: Path) -> tuple[ShardWork, ShardOrigin]:
        near, url = tmp_path / "near", (tmp_path / "share").as_uri()
        run = RunFolder(near, "r", url)
        with run.hold():
            run.begin({})
            run_stage(Stage(run, "first"), [1, 2], process, parameters={})
            (near / "stores/abc").mkdir(parents=True)
            (near / "stores/abc/facts").write_text("facts")
            open_storage(url).put_below(near / "stores/abc", "stores/abc")
            Stage(run, "second").begin({}, shards=1)
            (tmp_path / "notes").write_text("in the same place everywhere")
            spec = Reading(tuple(Stage(run, "first").parts()), near / "stores/abc", tmp_path / "notes")
            begun = hash_file(Stage(run, "second").manifest_path)
            origin = ShardOrigin(near, "r", url, describe_state(run), begun, gather_versions())
        return ShardWork("second", 0, run.path / "second", read_all, spec, f"{url}/runs/r/second"), origin

    def test_what_it_reads_is_fetched_and_what_it_writes_is_put(
        self, work: tuple[ShardWork, ShardOrigin], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path / "far"))
        (tmp_path / "near").rename(tmp_path / "away")
        report = execute_remotely(*work)
        assert (tmp_path / "share/runs/r/second/part-00000.parquet").exists()
        assert read_report(tmp_path / "share/runs/r/second", 0) == report
        assert not (tmp_path / "near").exists()
        # The run went on meanwhile: nothing that was fetched before is taken for what it is now.
        execute_remotely(work[0], replace(work[1], state="later"))
        assert [path.name for path in (tmp_path / "far/elsewhere/r").iterdir()] == ["later"]

    def test_where_it_sees_the_folder_it_works_there(
        self, work: tuple[ShardWork, ShardOrigin], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path / "far"))
        execute_remotely(*work)
        assert (tmp_path / "near/runs/r/second/part-00000.parquet").exists()
        assert not (tmp_path / "far").exists()

    def test_without_a_storage_it_says_what_is_missing(
        self, work: tuple[ShardWork, ShardOrigin], tmp_path: Path
    ) -> None:
        (tmp_path / "near").rename(tmp_path / "away")
        with pytest.raises(RunError, match=r"does not see .*HOPWRIGHT_STORAGE"):
            execute_remotely(work[0], replace(work[1], storage=""))

    def test_without_a_storage_a_run_that_went_on_is_not_one_that_it_does_not_see(
        self, work: tuple[ShardWork, ShardOrigin]
    ) -> None:
        with pytest.raises(RunError, match="run 'r' has gone on without this shard"):
            execute_remotely(work[0], replace(work[1], storage="", state="earlier"))

    def test_other_versions_are_refused(self, work: tuple[ShardWork, ShardOrigin]) -> None:
        origin = replace(work[1], versions={**work[1].versions, "polars": "0.1"})
        with pytest.raises(RunError, match=r"other versions \(polars 0\.1 → "):
            execute_remotely(work[0], origin)

    def test_a_file_beside_the_home_must_be_in_the_same_place(
        self, work: tuple[ShardWork, ShardOrigin], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path / "far"))
        (tmp_path / "near").rename(tmp_path / "away")
        (tmp_path / "notes").unlink()
        with pytest.raises(RunError, match=r"lacks .*notes: .*same place on every machine"):
            execute_remotely(*work)

    @pytest.mark.parametrize("sees_the_folder", [True, False])
    def test_a_shard_of_a_run_that_was_started_over_meanwhile_is_dropped(
        self,
        work: tuple[ShardWork, ShardOrigin],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        sees_the_folder: bool,
    ) -> None:
        left, origin = self.leave(work, tmp_path, monkeypatch, start_over, sees_the_folder)
        with pytest.raises(RunError, match="run 'r' has gone on without this shard"):
            execute_remotely(left, origin)
        assert not list(tmp_path.rglob("second/**/part-*"))

    @pytest.mark.parametrize("sees_the_folder", [True, False])
    def test_a_shard_of_a_run_that_was_continued_meanwhile_changes_nothing(
        self,
        work: tuple[ShardWork, ShardOrigin],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        sees_the_folder: bool,
    ) -> None:
        left, origin = self.leave(work, tmp_path, monkeypatch, go_on, sees_the_folder)
        with pytest.raises(RunError, match="run 'r' has gone on without this shard"):
            execute_remotely(left, origin)
        third = RunFolder(tmp_path / "third", "r", origin.storage)
        with third.hold():
            stage = Stage(third, "second")
            assert stage.begin({}, shards=1) == []
            assert stage.finished, "as it was written by who continued it"

    def leave(
        self,
        work: tuple[ShardWork, ShardOrigin],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        process: Callable[[Reading], ShardOutput],
        sees_the_folder: bool,
    ) -> tuple[ShardWork, ShardOrigin]:
        """A worker with a shard in hand, on the run's machine or another; its driver is dead, and the lock free."""
        monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path / "far"))
        spec, origin = work[0].spec, work[1]
        (tmp_path / "notes").write_text(origin.storage)
        if not sees_the_folder:
            # Another machine takes the run up, from the storage: the worker sees neither its folder nor the old one.
            (tmp_path / "near").rename(tmp_path / "away")
            (tmp_path / "near/stores").mkdir(parents=True)
        return replace(work[0], process=process, spec=spec), origin
