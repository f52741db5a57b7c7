"""What orchestration costs: an offline build by Prefect flows, against the very same functions called bare.

    python bench/orchestration.py [--drafts 2000] [--shard-size 250] [--workers 0] [--repeats 1] [--plain]

prefect   `hopwright build` as a user runs it, with Prefect's server of its own; the flow's own seconds, which leave out
          starting Python and the server, besides. Of the same command, the seconds in which no worker process had
          anything to do: whatever the machine's speed does from one run to the next, these are not the work's
plain     the same stages without Prefect: run folder only (with `--plain`)
bare      every function that the build has called in its worker processes, with the same arguments, called again in a
          fresh pool of the same size, side by side where they were: what a shard returns is thrown away and no part is
          written

Seconds are those from the start of a command to its end; `cpu` is what all its processes took together, which on a busy
machine tells more than the clock does. In a new home Prefect first makes its database; that is done, and timed, before.
The repeats are interleaved. Task runs are counted in Prefect's own database.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
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
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

CALLS = "calls.pickle"


class Call(NamedTuple):
    """A function that went to a worker process, and the seconds between which it was there."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    began: float
    ended: float


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drafts", type=int, default=2_000)
    parser.add_argument("--shard-size", type=int, default=250)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--plain", action="store_true", help="also without Prefect, in a run folder")
    parser.add_argument("--variant", choices=("first start", "prefect", "plain", "bare"), help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.variant:
        run_variant(options)
        return
    taken: dict[str, list[float]] = {}
    for _ in range(options.repeats):
        with tempfile.TemporaryDirectory() as folder:
            for variant in ("first start", "prefect", "bare", *(["plain"] if options.plain else [])):
                home = Path(folder) / ("plain" if variant == "plain" else "home")
                for name, figure in measure(variant, options, home).items():
                    taken.setdefault(name, []).append(figure)
    medians = {name: statistics.median(values) for name, values in taken.items()}
    print(
        f"{options.drafts:,} drafts in shards of {options.shard_size}, {medians.pop('items'):,.0f} items: "
        f"{medians.pop('task runs'):.0f} task runs; Prefect's first start in the home took "
        f"{medians.pop('first start'):.1f} s ({medians.pop('first start cpu'):.1f} s cpu)"
    )
    idle = medians.pop("idle")
    print(f"no worker at work: {idle:.1f} s, {idle / medians['prefect']:.1%} of the command")
    for name, seconds in medians.items():
        bare = medians["bare cpu" if name.endswith("cpu") else "bare"]
        print(f"{name:12} {seconds:8.1f} s  {1 - bare / seconds:6.1%} of them on top of bare")


def measure(variant: str, options: argparse.Namespace, home: Path) -> dict[str, float]:
    """One variant in a process of its own: its seconds, those of all its processors, and what it says of itself."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    command = [
        sys.executable, __file__, "--variant", variant, "--home", str(home), "--drafts", str(options.drafts),
        "--shard-size", str(options.shard_size), "--workers", str(options.workers),
    ]  # fmt: skip
    began, spent = time.monotonic(), count_cpu()
    done = subprocess.run(
        command, cwd=ROOT, env={**kept, "HOPWRIGHT_HOME": str(home)}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{variant}: {done.stderr[-2000:]}")
    figures = {variant: time.monotonic() - began, f"{variant} cpu": count_cpu() - spent}
    if variant == "prefect":
        summary = json.loads(done.stdout)
        calls: list[Call] = pickle.loads((home / CALLS).read_bytes())
        figures["idle"] = figures[variant] - sum(
            max(call.ended for call in wave) - wave[0].began for wave in cut_waves(calls)
        )
        figures |= {"items": summary["accepted"], **ask_prefect(home / "prefect" / "prefect.db")}
    return figures


def ask_prefect(path: Path) -> dict[str, float]:
    """The seconds of the flow, and how many task runs it took."""
    with sqlite3.connect(path) as database:
        (task_runs,) = database.execute("SELECT count(*) FROM task_run").fetchone()
        (flow,) = database.execute(
            "SELECT (julianday(end_time) - julianday(start_time)) * 86400 FROM flow_run WHERE name LIKE 'build-%'"
        ).fetchone()
    return {"its flow": flow, "task runs": task_runs}


def run_variant(options: argparse.Namespace) -> None:
    """What a process of a variant does."""
    if options.variant == "first start":
        start_prefect(options.home)
    elif options.variant == "prefect":
        build_recorded(options)
    elif options.variant == "plain":
        build_plain(options)
    else:
        call_bare(options)


def start_prefect(home: Path) -> None:
    """Start Prefect's server in a new home, and end it."""
    from flows.local import prefect_server

    with prefect_server(home) as wait:
        wait()


def build_recorded(options: argparse.Namespace) -> None:
    """`hopwright build --json`; the calls that went to its workers are left in the home."""
    from flows.cli import main as run_command
    from hopwright.stages.workers import WorkerPool

    calls: list[Call] = []
    guard = threading.Lock()
    run = WorkerPool.run

    def note(pool: WorkerPool, function: Callable[..., Any], *arguments: Any) -> Any:
        began = time.monotonic()
        result = run(pool, function, *arguments)
        with guard:
            calls.append(Call(function, arguments, began, time.monotonic()))
        return result

    WorkerPool.run = note  # type: ignore[method-assign, assignment]
    sys.argv = [
        "hopwright", "build", "--json", "--drafts", str(options.drafts), "--shard-size", str(options.shard_size),
        "--workers", str(options.workers),
    ]  # fmt: skip
    try:
        run_command()
    finally:
        (options.home / CALLS).write_bytes(pickle.dumps(calls))


def build_plain(options: argparse.Namespace) -> None:
    """The same build without Prefect."""
    from hopwright.settings import BuildParameters
    from tests.e2e.plain import build

    wanted = {
        "workers": options.workers,
        "shard_size": options.shard_size,
        "synthesize": {"drafts": options.drafts},
    }
    build(options.home, BuildParameters.model_validate(wanted))


def call_bare(options: argparse.Namespace) -> None:
    """The recorded calls again, each stage's shards side by side."""
    from flows.console.build import PRELOADING
    from hopwright.stages.workers import open_pool, preload_workers

    preload_workers(options.workers, PRELOADING)
    calls: list[Call] = pickle.loads((options.home / CALLS).read_bytes())
    # What a step finds made already it would not make again.
    shutil.rmtree(options.home / "stores")
    with open_pool(options.workers) as pool:
        for wave in cut_waves(calls):
            with ThreadPoolExecutor(pool.workers + 1) as threads:
                list(threads.map(lambda call: pool.run(call_again, call), wave))


def cut_waves(calls: list[Call]) -> list[list[Call]]:
    """The calls in their order, cut where none of them was going on."""
    waves: list[list[Call]] = []
    end = 0.0
    for call in sorted(calls, key=lambda one: one.began):
        if call.began > end:
            waves.append([])
        waves[-1].append(call)
        end = max(end, call.ended)
    return waves


def count_cpu() -> float:
    """Seconds that this process has taken of the processors so far, with all children that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def call_again(call: Call) -> Any:
    """In a worker: a step, or what a shard makes without writing it; of a shard only its row count goes back."""
    if call.function.__name__ != "execute_shard":
        return call.function(*call.arguments)
    (work,) = call.arguments
    return int(work.process(work.spec).taken)


if __name__ == "__main__":
    # Workers know the functions of modules only, and this one by its name.
    from bench.orchestration import main as run_benchmark

    run_benchmark()
