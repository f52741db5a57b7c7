"""What orchestration costs: an offline build by Prefect flows, against the very same functions called bare.

    python bench/orchestration.py [--drafts 2000] [--shard-size 250] [--workers 0] [--repeats 1]

prefect   `hopwright build` as a user runs it, with Prefect's server of its own; its wall clock is taken from the start
          of the command to its end, and the flow's own, which leaves out starting Python and the server, besides
plain     the same stages without Prefect: run folder only
bare      every function that the plain build has called in its worker processes, with the same arguments, called again
          in a fresh pool of the same size: what a shard returns is thrown away and no part is written

The repeats are interleaved. Task runs are counted in Prefect's own database. `cpu` is what all processes of a variant
took together: on a busy machine it tells more than the clock does.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

VARIANTS = ("prefect", "plain")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drafts", type=int, default=2_000)
    parser.add_argument("--shard-size", type=int, default=250)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--variant", choices=VARIANTS, help="used by the script itself")
    parser.add_argument("--home", type=Path, help="used by the script itself")
    options = parser.parse_args()
    if options.variant == "plain":
        print(json.dumps(run_plain(options)))
        return
    taken: dict[str, list[float]] = {}
    for _ in range(options.repeats):
        for run in (run_prefect, start_plain):
            with tempfile.TemporaryDirectory() as folder:
                for name, figure in run(options, Path(folder)).items():
                    taken.setdefault(name, []).append(figure)
    medians = {name: statistics.median(values) for name, values in taken.items()}
    print(f"{options.drafts:,} drafts in shards of {options.shard_size}: {medians.pop('task runs'):.0f} task runs")
    for name, seconds in medians.items():
        bare = medians["bare cpu" if name.endswith("cpu") else "bare"]
        print(f"{name:12} {seconds:8.1f} s  {seconds / bare - 1:+6.1%} on bare")


def run_prefect(options: argparse.Namespace, home: Path) -> dict[str, float]:
    """Seconds of the whole command, of the flow within it, of all processors, and how many task runs it took."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    command = [
        sys.executable, "-m", "flows.cli", "build", "--json", "--drafts", str(options.drafts),
        "--shard-size", str(options.shard_size), "--workers", str(options.workers),
    ]  # fmt: skip
    began, spent = time.monotonic(), count_cpu()
    subprocess.run(
        command, cwd=ROOT, check=True, env={**kept, "HOPWRIGHT_HOME": str(home)}, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    seconds = time.monotonic() - began
    spent_all = count_cpu() - spent
    with sqlite3.connect(home / "prefect" / "prefect.db") as database:
        (task_runs,) = database.execute("SELECT count(*) FROM task_run").fetchone()
        (flow,) = database.execute(
            "SELECT (julianday(end_time) - julianday(start_time)) * 86400 FROM flow_run WHERE name LIKE 'build-%'"
        ).fetchone()
    return {"prefect": seconds, "its flow": flow, "prefect cpu": spent_all, "task runs": task_runs}


def start_plain(options: argparse.Namespace, home: Path) -> dict[str, float]:
    """`run_plain` in a process of its own."""
    command = [
        sys.executable, __file__, "--variant", "plain", "--home", str(home), "--drafts", str(options.drafts),
        "--shard-size", str(options.shard_size), "--workers", str(options.workers),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


class Recorder:
    """Notes every call that goes to the worker processes."""

    def __init__(self) -> None:
        self.calls: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        self._guard = threading.Lock()

    def wrap(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """`WorkerPool.run`, noted."""

        def call(pool: Any, function: Callable[..., Any], *arguments: Any) -> Any:
            with self._guard:
                self.calls.append((function, arguments))
            return run(pool, function, *arguments)

        return call


def run_plain(options: argparse.Namespace) -> dict[str, float]:
    """Seconds of a build without Prefect, then of its functions called bare."""
    from hopwright.settings import BuildParameters
    from tasks.pool import WorkerPool, open_pool
    from tests.e2e.plain import build

    parameters = BuildParameters.model_validate(
        {
            "workers": options.workers,
            "shard_size": options.shard_size,
            "synthesize": {"drafts": options.drafts},
        }
    )
    recorder = Recorder()
    real = WorkerPool.run
    WorkerPool.run = recorder.wrap(real)  # type: ignore[method-assign]
    began, spent = time.monotonic(), count_cpu()
    build(options.home, parameters)
    plain, plain_cpu = time.monotonic() - began, count_cpu() - spent
    WorkerPool.run = real  # type: ignore[method-assign]
    # What a step finds made already it would not make again.
    shutil.rmtree(options.home / "stores")
    began, spent = time.monotonic(), count_cpu()
    with open_pool(options.workers) as pool:
        for is_shard, calls in groupby(recorder.calls, key=lambda call: call[0].__name__ == "execute_shard"):
            if is_shard:
                for _, stage in groupby((call[1][0] for call in calls), key=lambda work: work.stage):
                    with ThreadPoolExecutor(pool.workers + 1) as threads:
                        list(threads.map(lambda work: pool.run(discard, work.process, work.spec), stage))
            else:
                for function, arguments in calls:
                    pool.run(function, *arguments)
        bare = time.monotonic() - began
    return {"plain": plain, "bare": bare, "plain cpu": plain_cpu, "bare cpu": count_cpu() - spent}


def count_cpu() -> float:
    """Seconds that this process has taken of the processors so far, with all children that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def discard(function: Callable[[Any], Any], spec: Any) -> int:
    """Call a shard's function; only its row count goes back, as its report does."""
    return int(function(spec).taken)


if __name__ == "__main__":
    main()
