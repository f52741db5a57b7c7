"""Workers that are forked from a process beside the run's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_RUN = """
import os, sys
from hopwright.stages.workers import open_pool, preload_workers
from tests.runs.test_spawning import look
preload_workers(2, "wave", "no_such_module")
with open_pool(2) as pool:
    os.environ["HOPWRIGHT_TEST"] = "set later"
    os.environ.pop("HOPWRIGHT_GONE")
    forker, *found = pool.run(look)
    print(*found)
    print(pool.run(look)[0] == forker != os.getpid(), "wave" in sys.modules)
print(forker)
"""


def look() -> tuple[int, bool, str, bool]:
    """What a worker has: its parent, whether the module is loaded, and its environment."""
    return os.getppid(), "wave" in sys.modules, os.environ.get("HOPWRIGHT_TEST", ""), "HOPWRIGHT_GONE" in os.environ


def test_workers_share_what_was_imported_and_have_the_environment_of_their_run() -> None:
    environment = {**os.environ, "HOPWRIGHT_GONE": "yes", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", _RUN], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    shared, same, forker = done.stdout.splitlines()
    assert (shared, same) == ("True set later False", "True False")
    assert not Path(f"/proc/{forker}").exists()


def test_one_worker_needs_nothing_imported_elsewhere() -> None:
    code = (
        "import multiprocessing.forkserver as server\n"
        "from hopwright.stages.workers import preload_workers\n"
        "preload_workers(1, 'wave')\n"
        "print(server._forkserver._forkserver_pid)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "None\n"


def test_what_a_build_imports_beforehand_starts_no_threads_of_polars() -> None:
    code = "import sys, flows.preloading; print('polars' in sys.modules, 'prefect' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
