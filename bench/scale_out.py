"""Drafts on a local Dask cluster of one and of two workers: time, and whether the bytes are the same.

    python bench/scale_out.py [--drafts 2000] [--workers 2] [--repeats 3]

Retrieval is done before the clock starts, and so are the cluster and its workers' imports: what is timed is the stage
of drafts, from its first shard's submission to the manifest. The pool of processes is timed alike, for comparison; and
processes that do nothing but count, for what the machine itself gives: two processors that share one core do not give
twice the work of one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drafts", type=int, default=2_000)
    parser.add_argument("--workers", type=int, default=2, help="beside one")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--once", nargs=2, metavar=("CLUSTER", "WORKERS"), help="used by the script itself")
    options = parser.parse_args()
    if options.once:
        draft(options.drafts, options.once[0].strip("-"), int(options.once[1]))
        return
    numbers = (1, options.workers)
    kinds = [(cluster, workers) for workers in numbers for cluster in ("", "local")]
    taken: dict[tuple[str, int], list[float]] = {kind: [] for kind in kinds}
    digests = set()
    counted: dict[int, list[float]] = {workers: [] for workers in numbers}
    for _ in range(options.repeats):
        for workers in numbers:
            counted[workers].append(count_together(workers))
        for kind in kinds:
            with tempfile.TemporaryDirectory() as folder:
                command = [sys.executable, __file__, "--drafts", str(options.drafts)]
                done = subprocess.run(
                    [*command, "--once", kind[0] or "-", str(kind[1])],
                    cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True,
                    env={**os.environ, "HOPWRIGHT_HOME": folder},
                )  # fmt: skip
            found = json.loads(done.stdout.splitlines()[-1])
            taken[kind].append(found["seconds"])
            digests.add(found["digest"])
    for (cluster, workers), seconds in taken.items():
        tell("Dask" if cluster else "processes", workers, seconds, taken[cluster, 1])
    for workers, seconds in counted.items():
        tell("counting", workers, seconds, counted[1])
    print("the same bytes" if len(digests) == 1 else f"DIFFERENT BYTES: {digests}")


def tell(what: str, workers: int, seconds: list[float], before: list[float]) -> None:
    """One line: the median, and how many times as fast as before."""
    base, now = statistics.median(before), statistics.median(seconds)
    print(f"{what:10} {workers} workers  {now:7.2f} s  {base / now:4.2f} times as fast as with one")


def count_together(workers: int) -> float:
    """Seconds of so many processes for one amount of pure computation, each doing its part."""
    part = f"for _ in range({80_000_000 // workers}): pass"
    began = time.monotonic()
    for child in [subprocess.Popen([sys.executable, "-c", part]) for _ in range(workers)]:
        child.wait()
    return time.monotonic() - began


def draft(drafts: int, cluster: str, workers: int) -> None:
    """One stage of drafts, its workers warm; prints seconds and a digest of what it wrote."""
    from flows.local import prefect_server
    from hopwright.settings import SynthesizeParameters, SynthesizeRun, home
    from tests.e2e.wording import RUN, retrieve

    retrieve()
    with prefect_server(home()) as wait:
        from prefect import flow

        from hopwright.stages.synthesize import plan_drafts
        from hopwright.stages.workers import current_pool
        from tasks.engine import make_task_runner, open_run

        wait()
        parameters = SynthesizeRun(
            run=RUN, workers=workers, cluster=cluster, shard_size=100, synthesize=SynthesizeParameters(drafts=drafts)
        )

        @flow(name="drafts", task_runner=make_task_runner())
        def run_drafts() -> float:
            with open_run(parameters) as engine:
                plan = plan_drafts(engine.run, parameters)
                warm(current_pool(), plan.specs[0], workers)
                return engine.execute(plan).seconds

        seconds = run_drafts()
    digest = hashlib.sha256()
    for path in sorted((home() / "runs" / RUN / "synthesize").rglob("*.parquet")):
        digest.update(path.read_bytes())
    print(json.dumps({"seconds": seconds, "digest": digest.hexdigest()[:16]}))


def warm(pool: object, spec: object, workers: int) -> None:
    """Let every worker import what it needs, map the graph, and draft a little."""
    from concurrent.futures import ThreadPoolExecutor
    from dataclasses import replace
    from typing import Any

    from hopwright.stages.drafting import draft_slots

    held: Any = pool
    little: Any = replace(spec, count=20)  # type: ignore[type-var]
    if held.cluster is not None:
        client = held.cluster.client
        client.wait_for_workers(workers)
        for address in client.scheduler_info()["workers"]:
            # The task engine is Prefect's: its import is a start-up cost, too.
            client.submit(__import__, "prefect.task_engine", workers=[address], pure=False).result()
            client.submit(count_rows, draft_slots, little, workers=[address], pure=False).result()
        return
    with ThreadPoolExecutor(workers) as threads:
        list(threads.map(lambda _: held.run(count_rows, draft_slots, little), range(workers)))


def count_rows(function: object, spec: object) -> int:
    """Call a shard's function; only a number goes back."""
    called: object = function(spec)  # type: ignore[operator]
    return int(called.taken)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
