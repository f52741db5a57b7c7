from __future__ import annotations

import contextlib
import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hopwright.errors import RunError
from hopwright.records.arrow import rejected_to_table
from hopwright.runs import (
    Counts,
    RunFolder,
    ShardOutput,
    Stage,
    hash_file,
    list_runs,
    part_path,
    read_report,
    rejected_path,
    write_file,
    write_shard,
)
from hopwright.runs.code import digest_code
from hopwright.runs.files import hold_lock, remove_lock
from tests.runs.toy import ROWS, SHARDS, process, read_bytes, run_toy
from tests.stage_runs import run_stage

ROOT = Path(__file__).resolve().parents[2]


def test_counts_add_up_and_the_manifest_says_so(tmp_path: Path) -> None:
    manifest = run_toy(tmp_path)
    assert manifest.counts.taken == SHARDS * ROWS
    assert manifest.counts.taken == manifest.counts.out + sum(manifest.counts.rejected.values())
    assert manifest.notes["kept"] == manifest.counts.out
    folder = tmp_path / "runs" / "toy" / "toy"
    assert set(manifest.outputs) == {str(path.relative_to(folder)) for path in folder.rglob("*.parquet")}
    assert all(hash_file(folder / name) == digest for name, digest in manifest.outputs.items())
    written = json.loads((folder / "manifest.json").read_text())
    assert written["counts"]["in"] == SHARDS * ROWS
    assert {"hopwright", "python", "pyarrow"} <= set(written["versions"])


def test_a_finished_stage_is_left_alone(tmp_path: Path) -> None:
    first = run_toy(tmp_path)
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    assert run_toy(tmp_path) == first
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")} == stamps


def test_only_missing_shards_are_made_again(tmp_path: Path) -> None:
    run_toy(tmp_path)
    before = read_bytes(tmp_path)
    folder = tmp_path / "runs" / "toy" / "toy"
    part_path(folder, 3).unlink()
    (folder / ".part-00003.parquet.99.tmp").write_bytes(b"half")
    made: list[int] = []
    run = RunFolder(tmp_path, "toy")
    with run.hold():
        manifest = run_stage(
            Stage(run, "toy"), range(SHARDS), process, parameters={"seed": 1}, inputs={"numbers": "0" * 64},
            on_shard=lambda report: made.append(report.index),
        )  # fmt: skip
    assert made == [3]
    assert manifest.shards_found == SHARDS - 1
    assert read_bytes(tmp_path) == before
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.parametrize("moment", range(12))
def test_a_killed_run_continues_to_the_same_bytes(moment: int, tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    child = subprocess.Popen([sys.executable, "-m", "tests.runs.toy", str(tmp_path)], cwd=ROOT)
    folder = tmp_path / "runs" / "toy" / "toy"
    deadline = time.monotonic() + 300
    while len(list(folder.glob("part-*.parquet"))) < moment and time.monotonic() < deadline:
        time.sleep(0.001)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    run_toy(tmp_path)
    assert read_bytes(tmp_path) == undisturbed
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_part_is_never_there_without_its_rejected_rows(tmp_path: Path) -> None:
    run_toy(tmp_path)
    folder = tmp_path / "runs" / "toy" / "toy"
    for index in range(SHARDS):
        assert rejected_path(folder, index).stat().st_mtime_ns <= part_path(folder, index).stat().st_mtime_ns


def test_an_empty_shard_still_writes_its_part(tmp_path: Path) -> None:
    write_shard(tmp_path / "s", 0, ShardOutput(rejected_to_table([]), [], taken=0))
    assert read_report(tmp_path / "s", 0).counts == Counts()


def test_counts_that_do_not_add_up_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="5 in, 0 out, 0 rejected"):
        write_shard(tmp_path / "s", 0, ShardOutput(rejected_to_table([]), [], taken=5))
    assert not (tmp_path / "s").exists()


def test_other_parameters_are_named_and_refused(tmp_path: Path) -> None:
    run_toy(tmp_path, seed=1)
    with pytest.raises(RunError, match=r"seed 1 → 2.*or (--)?fresh to"):
        run_toy(tmp_path, seed=2)
    run = RunFolder(tmp_path, "toy")
    run.begin({"seed": 2}, fresh=True)
    assert run_toy(tmp_path, seed=2).parameters == {"seed": 2}


def test_a_run_that_made_nothing_yet_may_begin_again_otherwise(tmp_path: Path) -> None:
    run = RunFolder(tmp_path, "r")
    run.begin({"corpus": "mistyped"})
    assert run.begin({"corpus": "right"}).parameters == {"corpus": "right"}
    run_stage(Stage(run, "retrieve"), [0], process, parameters={})
    with pytest.raises(RunError, match="corpus right → other"):
        run.begin({"corpus": "other"})


def test_a_stage_refuses_other_parameters_and_other_inputs_unless_started_over(tmp_path: Path) -> None:
    run = RunFolder(tmp_path, "r")
    run.begin({"filter": {"max_right": 1}})
    stage = Stage(run, "filter")
    run_stage(stage, [0], process, parameters={"filter": {"max_right": 1}}, inputs={"a": "1"})
    run_stage(Stage(run, "later"), [0], process, parameters={})
    run.record_summary({"accepted": 7})
    with pytest.raises(RunError, match=r"filter\.max_right 1 → 2.*fresh starts it over"):
        Stage(run, "filter").begin({"filter": {"max_right": 2}}, inputs={"a": "1"}, shards=1)
    with pytest.raises(RunError, match="other input files"):
        Stage(run, "filter").begin({"filter": {"max_right": 1}}, inputs={"a": "2"}, shards=1)
    again = Stage(run, "filter")
    missing = again.begin({"filter": {"max_right": 2}}, inputs={"a": "2"}, shards=1, fresh=True, downstream=["later"])
    assert missing == [0]
    assert not (run.path / "later").exists()
    manifest = run.read_manifest()
    assert manifest is not None
    assert manifest.parameters == {"filter": {"max_right": 2}}
    assert (manifest.stages, manifest.seconds, manifest.summary) == ({}, {}, {})


def test_a_part_that_was_changed_is_noticed(tmp_path: Path) -> None:
    run_toy(tmp_path)
    part = part_path(tmp_path / "runs" / "toy" / "toy", 0)
    part.write_bytes(part.read_bytes() + b"x")
    with pytest.raises(RunError, match=r"part-00000\.parquet has changed"):
        run_toy(tmp_path)


def test_a_stage_that_is_not_finished_cannot_be_read(tmp_path: Path) -> None:
    run = RunFolder(tmp_path, "r")
    stage = Stage(run, "filter")
    with pytest.raises(RunError, match="no finished stage filter: `hopwright filter --run r` makes it"):
        stage.parts()
    for name, command in (
        ("rewrite/passages", "rewrite"), ("review", "review export"), ("review/accepted", "review adjudicate"),
        ("synthesize/drafts", "build"), ("retrieve", "build"),
    ):  # fmt: skip
        with pytest.raises(RunError, match=f"no finished stage {name}: `hopwright {command} --run r`"):
            Stage(run, name).read()
    stage.begin({}, shards=2)
    with pytest.raises(RunError, match="no finished stage filter"):
        stage.output_hashes()
    with pytest.raises(RunError, match="not whole"):
        stage.finish()


def test_a_lock_whose_file_was_removed_meanwhile_is_not_taken_for_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "r.lock"
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(2) as threads:
        held = contextlib.ExitStack()
        held.enter_context(hold_lock(path, "run r"))
        waiting = threads.submit(stack.enter_context, hold_lock(path, "run r", 30))
        time.sleep(0.5)
        remove_lock(path)
        assert path.exists(), "somebody else holds it"
        path.unlink()
        held.close()
        waiting.result()
        assert path.exists(), "made anew by the one that waited"
        with pytest.raises(RunError, match="another process"), hold_lock(path, "run r"):
            pass
    remove_lock(path)
    assert not path.exists()


def test_two_processes_never_write_one_run(tmp_path: Path) -> None:
    run = RunFolder(tmp_path, "toy")
    with run.hold():
        child = subprocess.run(
            [sys.executable, "-m", "tests.runs.toy", str(tmp_path)], cwd=ROOT, capture_output=True, text=True
        )
        assert child.returncode != 0
        assert f"being written by another process (pid {os.getpid()})" in child.stderr
        with run.hold():
            pass
    run_toy(tmp_path)


def test_of_processes_that_begin_one_run_at_the_same_moment_one_makes_it(tmp_path: Path) -> None:
    run_toy(tmp_path / "alone")
    command = [sys.executable, "-m", "tests.runs.toy", str(tmp_path / "raced")]
    racers = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    ends = [(racer.communicate()[1], racer.returncode) for racer in racers]
    assert any(code == 0 for _, code in ends)
    for said, code in ends:
        assert code == 0 or "being written by another process" in said.splitlines()[-1]
    assert read_bytes(tmp_path / "raced") == read_bytes(tmp_path / "alone")
    run_toy(tmp_path / "raced")


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "-x", "a" * 65, "a\n"])
def test_a_run_name_cannot_leave_its_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="run name"):
        RunFolder(tmp_path, name)


def test_runs_are_listed_in_the_order_they_began(tmp_path: Path) -> None:
    assert list_runs(tmp_path) == []
    run_toy(tmp_path)
    assert list_runs(tmp_path) == ["toy"]


def test_a_full_disk_leaves_nothing_and_the_run_continues(
    tmp_path: Path, undisturbed: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0
    real = os.fsync

    def fail_after_nine(handle: int) -> None:
        nonlocal calls
        calls += 1
        if calls > 9:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", fail_after_nine)
    with pytest.raises(RunError, match="disk full while writing") as caught:
        run_toy(tmp_path)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.rglob("*.tmp"))
    monkeypatch.undo()
    run_toy(tmp_path)
    assert read_bytes(tmp_path) == undisturbed


def test_a_clock_that_is_set_back_changes_nothing(
    tmp_path: Path, undisturbed: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files are dated an hour back from one write to the next, and so are the manifests."""
    real, writes = os.fsync, 0

    def set_back(handle: int) -> None:
        nonlocal writes
        writes += 1
        real(handle)
        os.utime(handle, (2_000_000_000 - 3600 * writes,) * 2)
        if writes == 15:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", set_back)
        with pytest.raises(KeyboardInterrupt):
            run_toy(tmp_path)
        manifest = run_toy(tmp_path)
    assert writes > 15
    assert read_bytes(tmp_path) == undisturbed
    assert 0 < manifest.shards_found < SHARDS
    assert manifest.seconds >= 0
    assert run_toy(tmp_path) == manifest


def test_a_file_size_limit_is_one_line(tmp_path: Path, file_size_limit: None) -> None:
    with pytest.raises(RunError, match="file too large while writing"):
        write_file(tmp_path / "big", b"x" * 100_000)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(RunError, match="a file stands where a folder should be"):
        run_toy(tmp_path / "home")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder_is_one_line(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(RunError, match="make it writable"):
        run_toy(tmp_path / "home")


def test_a_refused_write_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(RunError, match=r"Read-only file system.*HOPWRIGHT_HOME"):
        write_file(tmp_path / "x", b"")


@pytest.fixture
def file_size_limit() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    signal.signal(signal.SIGXFSZ, handler)


def test_a_half_made_stage_is_not_continued_by_other_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunFolder(tmp_path, "coded")
    with run.hold():
        stage = Stage(run, "toy")
        stage.begin({}, shards=2)
        write_shard(stage.folder, 0, process(0))
        monkeypatch.setattr("hopwright.runs.stage.digest_code", lambda _: "changed")
        with pytest.raises(RunError, match=r"begun by another version of the code \(\w+, now changed\)"):
            Stage(run, "toy").begin({}, shards=2)
        monkeypatch.undo()
        again = Stage(run, "toy")
        assert again.begin({}, shards=2) == [1]
        write_shard(again.folder, 1, process(1))
        again.finish()
        monkeypatch.setattr("hopwright.runs.stage.digest_code", lambda _: "changed")
        kept = Stage(run, "toy")
        assert kept.begin({}, shards=2) == []
        assert kept.finished, "what is finished is kept"
        fresh = Stage(run, "toy")
        assert fresh.begin({}, shards=2, fresh=True) == [0, 1]


def test_the_version_of_the_code_is_that_of_what_shapes_the_stage() -> None:
    assert digest_code("rewrite") == digest_code("rewrite/drafts") != digest_code("release")
