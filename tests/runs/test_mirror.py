"""A run's copy in storage, here a folder that stands for the share of two machines (two homes)."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hopwright.errors import InputError, RunError, ServiceError
from hopwright.runs import RunFolder, Stage, mirror, part_path
from hopwright.runs.storage import Storage, open_storage
from hopwright.settings import storage as named_storage
from tests.runs.toy import process, read_bytes, run_toy
from tests.stage_runs import run_stage

ROOT = Path(__file__).resolve().parents[2]


class Cut(BaseException):
    """The moment at which a process is killed, in a test that goes on."""


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    yield (tmp_path / "share").as_uri()
    open_storage.cache_clear()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that nobody renews is stale at once."""
    monkeypatch.setattr(mirror, "_STALE_S", -1.0)


def test_the_copy_is_the_run_and_another_machine_makes_nothing_again(
    tmp_path: Path, url: str, undisturbed: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run_toy(tmp_path / "a", storage=url)
    assert read_bytes(tmp_path / "a") == read_bytes(tmp_path / "share") == undisturbed
    monkeypatch.setattr("tests.runs.toy.process", refuse_work)
    assert run_toy(tmp_path / "b", storage=url) == first
    assert read_bytes(tmp_path / "b") == undisturbed
    assert not list((tmp_path / "share" / "locks").iterdir())


@pytest.mark.parametrize("moment", [0, 1, 5, 11])
def test_a_killed_run_is_continued_on_another_machine(
    moment: int, tmp_path: Path, url: str, undisturbed: dict[str, bytes], impatient: None
) -> None:
    child = subprocess.Popen([sys.executable, "-m", "tests.runs.toy", str(tmp_path / "a"), url], cwd=ROOT)
    deadline = time.monotonic() + 300
    while len(list((tmp_path / "a").glob("runs/toy/toy/part-*"))) < moment and time.monotonic() < deadline:
        time.sleep(0.001)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    run_toy(tmp_path / "b", storage=url)
    # And back again: the first machine's folder is what it left.
    run_toy(tmp_path / "a", storage=url)
    assert read_bytes(tmp_path / "a") == read_bytes(tmp_path / "b") == undisturbed
    assert read_bytes(tmp_path / "share") == undisturbed


@pytest.mark.parametrize("method", ["write", "put", "fetch", "remove", "create"])
def test_cut_at_any_step_of_starting_over_nothing_of_the_old_run_is_mixed_in(
    method: str, tmp_path: Path, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = {seed: write_expected(tmp_path / f"expected-{seed}", seed) for seed in (1, 2)}
    for step in range(100):
        base = tmp_path / str(step)
        url = (base / "share").as_uri()
        run_seeded(base / "a", 1, url)
        with monkeypatch.context() as patched:
            patched.setattr(Storage, method, cut_after(getattr(Storage, method), step))
            try:
                run_seeded(base / "b", 2, url, fresh=True)
            except Cut:
                cut = True
            else:
                cut = False
        seed = run_seeded(base / "a", None, url)
        assert run_seeded(base / "b", None, url) == seed
        assert read_bytes(base / "a") == read_bytes(base / "b") == read_bytes(base / "share") == expected[seed]
        if not cut:
            assert step > 0
            break
    assert seed == 2


def test_two_machines_never_write_one_run(tmp_path: Path, url: str) -> None:
    ours, theirs = RunFolder(tmp_path / "a", "toy", url), RunFolder(tmp_path / "b", "toy", url)
    with ours.hold():
        with pytest.raises(RunError, match=r"^run 'toy' is being written by another machine \(.*pid \d+\)"):
            theirs.hold().__enter__()
        with ours.hold():
            pass
    with theirs.hold():
        pass


def test_a_lock_of_a_killed_process_of_this_home_is_taken_over(tmp_path: Path, url: str) -> None:
    child = subprocess.Popen([sys.executable, "-m", "tests.runs.toy", str(tmp_path / "a"), url], cwd=ROOT)
    deadline = time.monotonic() + 300
    while not (tmp_path / "share/locks/toy.json").exists() and time.monotonic() < deadline:
        time.sleep(0.001)
    child.kill()
    child.wait()
    assert (tmp_path / "share/locks/toy.json").exists()
    run_toy(tmp_path / "a", storage=url)
    assert not (tmp_path / "share/locks/toy.json").exists()


@pytest.mark.parametrize("links", [True, False])
def test_a_lock_is_there_whole_or_not_at_all_and_one_of_many_gets_it(
    links: bool, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = open_storage(url)
    if not links:
        monkeypatch.setattr("os.link", refuse_links)
    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", cut_after(os.fsync, 0))
        with pytest.raises(Cut):
            storage.create("locks/toy.json", b"cut short")
    assert storage.list() == []
    contents = [f"{number}".encode() * 1000 for number in range(8)]
    with ThreadPoolExecutor(len(contents)) as pool:
        created = list(pool.map(lambda data: storage.create("locks/toy.json", data), contents))
    assert sum(created) == 1
    assert storage.read("locks/toy.json") == contents[created.index(True)]
    assert [path.name for path in Path(url.removeprefix("file://"), "locks").iterdir()] == ["toy.json"]


def test_a_run_that_was_made_without_the_storage_is_handed_over(
    tmp_path: Path, url: str, undisturbed: dict[str, bytes]
) -> None:
    run_toy(tmp_path / "a")
    run_toy(tmp_path / "a", storage=url)
    assert read_bytes(tmp_path / "share") == undisturbed


def test_two_runs_of_one_name_are_not_mixed(tmp_path: Path, url: str) -> None:
    run_seeded(tmp_path / "a", 1, url)
    run_toy(tmp_path / "b", seed=2)
    before = read_bytes(tmp_path / "b")
    with pytest.raises(RunError, match=r"begun here at .* another one of that name.*use another (--)?run name"):
        run_toy(tmp_path / "b", seed=2, storage=url)
    assert read_bytes(tmp_path / "b") == before


def test_a_stage_that_was_started_over_elsewhere_takes_the_later_stages_with_it(tmp_path: Path, url: str) -> None:
    for home in (tmp_path / "a", tmp_path / "b"):
        make_two_stages(home, url, 1)
    run = RunFolder(tmp_path / "b", "r", url)
    with run.hold():
        stage = Stage(run, "first")
        stage.begin({"n": 2}, inputs={"a": "2"}, shards=1, fresh=True, downstream=["later"])
    run = RunFolder(tmp_path / "a", "r", url)
    with run.hold():
        assert not part_path(run.path / "first", 0).exists()
        assert not (run.path / "later").exists()


def test_a_stage_that_was_made_without_the_storage_is_handed_over_or_told_of(tmp_path: Path, url: str) -> None:
    make_two_stages(tmp_path / "a", url, 1)
    bare = RunFolder(tmp_path / "a", "r")
    run_stage(Stage(bare, "forgotten"), [0], process, parameters={"n": 1})
    with RunFolder(tmp_path / "a", "r", url).hold():
        pass
    other = RunFolder(tmp_path / "b", "r", url)
    with other.hold():
        assert part_path(other.path / "forgotten", 0).exists()
        Stage(other, "later").begin({"n": 3}, shards=1, fresh=True)
    Stage(bare, "later").begin({"n": 4}, shards=1, fresh=True)
    with pytest.raises(RunError, match=r"later was made here without the storage, and otherwise by another machine"):
        RunFolder(tmp_path / "a", "r", url).hold().__enter__()
    assert Stage(bare, "later").manifest_path.exists()


def test_files_beside_the_stages_are_copied_when_they_change(tmp_path: Path, url: str) -> None:
    run = RunFolder(tmp_path / "a", "r", url)
    with run.hold():
        run.begin({})
        (run.path / "pushed.json").write_text("[1]")
    with run.hold():
        (run.path / "pushed.json").write_text("[2]")
    other = RunFolder(tmp_path / "b", "r", url)
    with other.hold():
        assert (other.path / "pushed.json").read_text() == "[2]"


def test_what_changed_here_after_a_kill_is_handed_over_and_never_overwritten(
    tmp_path: Path, url: str, impatient: None
) -> None:
    run, other = RunFolder(tmp_path / "a", "r", url), RunFolder(tmp_path / "b", "r", url)
    with run.hold():
        run.begin({})
        (run.path / "pushed.json").write_text("[1]")
    # Changed, and killed before it was copied.
    (run.path / "pushed.json").write_text("[2]")
    with run.hold():
        assert (run.path / "pushed.json").read_text() == "[2]"
    with other.hold():
        assert (other.path / "pushed.json").read_text() == "[2]"
        (other.path / "pushed.json").write_text("[3]")
    (run.path / "pushed.json").write_text("[4]")
    with pytest.raises(RunError, match=r"pushed\.json was changed here and, by another machine"):
        run.hold().__enter__()
    assert (run.path / "pushed.json").read_text() == "[4]"
    (run.path / "pushed.json").unlink()
    with run.hold():
        assert (run.path / "pushed.json").read_text() == "[3]"


def test_a_copy_here_that_was_started_over_by_hand_is_not_dropped(tmp_path: Path, url: str) -> None:
    run_seeded(tmp_path / "a", 1, url)
    run = RunFolder(tmp_path / "a", "toy")
    run.begin({"seed": 9}, fresh=True)
    manifest = json.loads(run.manifest_path.read_text())
    run.manifest_path.write_text(json.dumps({**manifest, "started": "2031-01-01T00:00:00+00:00"}))
    with pytest.raises(RunError, match="another one of that name"):
        run_seeded(tmp_path / "a", 9, url)
    assert run.read_manifest() is not None


def test_a_storage_that_is_away_ends_the_run_in_one_line_and_it_continues(
    tmp_path: Path, url: str, undisturbed: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Storage, "_locate", fail_after(Storage._locate, 20))
        with pytest.raises(ServiceError, match=r"^storage .*: the share is away; .*continues$"):
            run_toy(tmp_path / "a", storage=url)
    assert 0 < len(read_bytes(tmp_path / "a")) < len(undisturbed)
    run_toy(tmp_path / "a", storage=url)
    assert read_bytes(tmp_path / "a") == read_bytes(tmp_path / "share") == undisturbed


@pytest.mark.parametrize(("text", "line"), [("share/folder", "is no address"), ("nosuch://x/y", "nosuch")])
def test_an_address_that_cannot_be_used_is_one_line(
    text: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPWRIGHT_STORAGE", text)
    with pytest.raises(InputError, match=line) as caught:
        RunFolder(tmp_path, "r", named_storage())
    assert "\n" not in str(caught.value)


def run_seeded(home: Path, seed: int | None, url: str, *, fresh: bool = False) -> int:
    """A toy run whose rows depend on the seed; with None, that with which the run began. Returns the seed."""
    run = RunFolder(home, "toy", url)
    with run.hold():
        begun = run.read_manifest()
        wanted = seed or int(begun.parameters["seed"] if begun is not None else 2)
        run.begin({"seed": wanted}, fresh=fresh)
        run_stage(Stage(run, "toy"), [100 * wanted, 100 * wanted + 1], process, parameters={"seed": wanted})
    return wanted


def write_expected(home: Path, seed: int) -> dict[str, bytes]:
    run = RunFolder(home, "toy")
    run_stage(Stage(run, "toy"), [100 * seed, 100 * seed + 1], process, parameters={"seed": seed})
    return read_bytes(home)


def make_two_stages(home: Path, url: str, number: int) -> None:
    run = RunFolder(home, "r", url)
    with run.hold():
        run.begin({"n": number})
        for name in ("first", "later"):
            run_stage(Stage(run, name), [0], process, parameters={"n": number}, inputs={"a": str(number)})


def refuse_work(shard: int) -> Any:
    raise AssertionError(f"shard {shard} was made again")


def refuse_links(*_: Any) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


def cut_after(method: Callable[..., Any], calls: int) -> Callable[..., Any]:
    """The method, until a process would be killed in the middle of its n-th call."""
    left = calls

    def call(*arguments: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise Cut
        return method(*arguments)

    return call


def fail_after(method: Callable[..., Any], calls: int) -> Callable[..., Any]:
    left = calls

    def call(*arguments: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise ConnectionError("the share is away")
        return method(*arguments)

    return call
