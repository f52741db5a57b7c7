from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from hopwright.errors import InputError, RunError
from hopwright.stages.workers import WorkerPool, current_pool, open_pool

ROOT = Path(__file__).resolve().parents[2]


def refuse(text: str) -> None:
    raise InputError(text)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_work_runs_elsewhere_and_errors_come_back_as_they_were() -> None:
    with open_pool(2) as pool:
        assert pool.run(os.getpid) != os.getpid()
        with pytest.raises(InputError, match=r"^no such thing$"):
            pool.run(refuse, "no such thing")
        with open_pool(5) as inner:
            assert inner is pool is current_pool()
        assert pool.run(os.getpid) > 0


_SCRIPT = (
    "import os\n"
    "print('started', flush=True)\n"
    "from hopwright.stages.workers import open_pool\n"
    "with open_pool(2) as pool:\n"
    "    print(pool.run(os.getpid) != os.getpid())\n"
)


@pytest.mark.parametrize("way", ["file", "standard input"])
def test_a_script_need_not_guard_its_top_level(tmp_path: Path, way: str) -> None:
    (tmp_path / "script.py").write_text(_SCRIPT)
    with (tmp_path / "script.py").open() as script:
        words = [] if way == "standard input" else [tmp_path / "script.py"]
        done = subprocess.run(
            [sys.executable, *words], stdin=script, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
    assert (done.stdout, done.stderr) == ("started\nTrue\n", "")


def test_one_worker_is_this_process() -> None:
    with open_pool(1) as pool:
        assert pool.run(os.getpid) == os.getpid()


def test_a_worker_that_is_killed_is_one_line() -> None:
    with open_pool(2) as pool, pytest.raises(RunError, match="run the same command again"):
        pool.run(die)


def test_workers_end_when_their_parent_is_killed() -> None:
    code = (
        "import os, time\n"
        "from hopwright.stages.workers import open_pool\n"
        "if __name__ == '__main__':\n"
        "    with open_pool(2) as pool:\n"
        "        print(pool.run(os.getpid), flush=True)\n"
        "        time.sleep(600)\n"
    )
    script = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert script.stdout is not None
    worker = int(script.stdout.readline())
    script.kill()
    script.wait()
    deadline = time.monotonic() + 180
    while is_running(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(worker)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_an_interrupted_run_does_not_wait_for_a_worker_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopwright.stages.workers._GRACE", 0.5)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), open_pool(2) as pool:
        waiting = threading.Thread(target=wait_for_nothing, args=(pool,), daemon=True)
        waiting.start()
        pool.run(os.getpid)
        raise KeyboardInterrupt
    waiting.join(30)
    assert time.monotonic() - began < 120 and not waiting.is_alive()


def wait_for_nothing(pool: WorkerPool) -> None:
    with contextlib.suppress(RunError, CancelledError):
        pool.run(time.sleep, 600)
