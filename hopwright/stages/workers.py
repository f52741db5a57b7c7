"""One shard as it travels to a worker, and the plain worker processes that all stages of a run share.

Prefect's own process pool starts again for every subflow and imports Prefect in every worker (about 7 s each time on
2 cores); this one starts once, imports only what a shard needs, and the Prefect task merely waits for its result.
A build has it imported while Prefect starts, once for all workers.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any, TypeVar

from hopwright.errors import RunError
from hopwright.runs import ShardOutput, ShardReport, part_path, rejected_path, write_shard
from hopwright.runs.spawning import (
    ApartContext,
    ForkedContext,
    let_interrupts_wait,
    start_fork_server,
)
from hopwright.runs.storage import open_storage

_T = TypeVar("_T")
ANSWERS, UNANSWERED = "answers", "without_answer"
"""The figures of a shard that asked models: answers that they gave, and requests that got none of use."""
_COLLECT = (20_000, 20, 100)
_GRACE = 8.0
"""Seconds for which the shards of an interrupted run may go on."""
_guard = threading.Lock()
_open: list[WorkerPool] = []


@dataclass(frozen=True, slots=True)
class ShardWork:
    """One shard: a module-level function and its one argument, both picklable, and where the result goes.

    `copy` is the address of the stage's copy in storage; empty where there is none.
    """

    stage: str
    index: int
    folder: Path
    process: Callable[[Any], ShardOutput]
    spec: Any
    copy: str = ""


def execute_shard(
    work: ShardWork, writing: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext
) -> ShardReport:
    """Run one shard and write its files, whole or not at all; `writing` is held while they are written."""
    before = _count_outcomes()
    output = work.process(work.spec)
    asked = {name: count - before[name] for name, count in _count_outcomes().items() if count != before[name]}
    if asked:
        # Counted with the shard, a request counts once, however often the stage was stopped meanwhile.
        output = replace(output, figures={**output.figures, **asked})
    with writing():
        report = write_shard(work.folder, work.index, output)
        if work.copy:
            storage = open_storage(work.copy)
            for path in (rejected_path(work.folder, work.index), part_path(work.folder, work.index)):
                storage.put(path, str(path.relative_to(work.folder)))
    sessions = sys.modules.get("hopwright.llm.session")
    if sessions is not None:
        # What models were asked for it is told before the shard counts as done.
        sessions.report_sessions()
    return report


def _count_outcomes() -> dict[str, int]:
    """What models were asked in this process so far; a worker makes one shard at a time."""
    sessions = sys.modules.get("hopwright.llm.session")
    answers, unanswered = (0, 0) if sessions is None else sessions.count_outcomes()
    return {ANSWERS: answers, UNANSWERED: unanswered}


class WorkerPool:
    """Runs functions in worker processes, or in this one when there is to be one worker only.

    `cluster` is the task runner of the cluster that takes shards in its place, where there is one.
    """

    def __init__(self, workers: int, *, apart: bool = False, cluster: Any = None) -> None:
        self.workers = workers
        self.cluster = cluster
        self._turn = threading.Lock()
        self._executor = None if workers == 1 and not apart else _start_workers(workers, apart)

    def run(self, function: Callable[..., _T], *args: Any) -> _T:
        """Run a module-level function and wait for its result; its errors come back as they were raised.

        Raises RunError when a worker was killed.
        """
        if self._executor is None:
            with self._turn:
                return function(*args)
        try:
            # A worker starts with a call for which none is free.
            with let_interrupts_wait():
                future = self._executor.submit(function, *args)
            return future.result()
        except BrokenExecutor:
            raise RunError(
                "a worker process ended before its work was done (killed, or out of memory): "
                "run the same command again, it continues"
            ) from None

    def close(self) -> None:
        """End the workers; shards that were not begun are dropped."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)

    def abandon(self) -> None:
        """End the workers when the run was interrupted; a shard that takes longer than some seconds is left undone.

        It may wait for a model that never answers. The next start makes it again.
        """
        if self._executor is None:
            return
        self._executor.shutdown(wait=False, cancel_futures=True)
        end = time.monotonic() + _GRACE
        for child in multiprocessing.active_children():
            child.join(max(0.0, end - time.monotonic()))
            child.terminate()


@contextlib.contextmanager
def open_pool(
    workers: int, open_cluster: Callable[[int], contextlib.AbstractContextManager[Any]] | None = None
) -> Iterator[WorkerPool]:
    """The pool of the flow that is running; a flow inside another one shares the outer one's.

    `workers` 0 takes one per processor that this process may use; `open_cluster` is told how many that are, and gives
    the task runner of a cluster, or None (`tasks.cluster.open_cluster`).
    """
    if _open:
        with _use(_open[-1]) as pool:
            yield pool
        return
    count = count_workers(workers)
    with contextlib.ExitStack() as stack:
        runner = stack.enter_context(open_cluster(count)) if open_cluster is not None else None
        pool = stack.enter_context(contextlib.closing(WorkerPool(count, cluster=runner)))
        try:
            yield stack.enter_context(_use(pool))
        except Exception:
            raise
        except BaseException:  # Ctrl-C, or what Prefect makes of a request to end
            pool.abandon()
            raise


def count_workers(wanted: int) -> int:
    """How many workers a pool has; 0 stands for one per processor that this process may use."""
    return wanted or len(os.sched_getaffinity(0))


def preload_workers(workers: int, *modules: str) -> None:
    """Begin to import what the workers of a pool to come will have in common; one worker is this process itself."""
    if count_workers(workers) > 1:
        start_fork_server(modules)


@contextlib.contextmanager
def open_single_worker() -> Iterator[WorkerPool]:
    """One process of its own for the block, in place of the flow's pool: for work that must not be done twice at once.

    What it loaded (a model, say) is given back with the block.
    """
    with contextlib.closing(WorkerPool(1, apart=True)) as pool, _use(pool):
        yield pool


def current_pool() -> WorkerPool:
    """The pool that `open_pool` opened."""
    return _open[-1]


@contextlib.contextmanager
def _use(pool: WorkerPool) -> Iterator[WorkerPool]:
    with _guard:
        _open.append(pool)
    try:
        yield pool
    finally:
        with _guard:
            _open.remove(pool)


def _start_workers(workers: int, apart: bool) -> ProcessPoolExecutor:
    # Not forked from here: the parent has threads (Prefect, polars). Who works apart loads models, with threads again.
    context = ApartContext() if apart else ForkedContext()
    return ProcessPoolExecutor(workers, context, initializer=prepare_worker)


def prepare_worker() -> None:
    """What a worker does first.

    Records are many small objects in no cycles: looking for garbage as often as Python does by itself costs a tenth of
    the time.
    """
    gc.set_threshold(*_COLLECT)
    # After everybody else's.
    Finalize(None, _leave, exitpriority=-100)
    _watch_parent()


def _leave() -> None:
    """End a worker that has nothing more to do: to take down, object by object, what it has loaded takes seconds."""
    if sys.exc_info()[0] is None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _watch_parent() -> None:
    """End this worker when its parent dies, even by SIGKILL; it would wait for work forever otherwise.

    Ctrl-C reaches every process of a terminal: it is the parent's to answer, in one line.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
