"""Shards on a Dask cluster, through Prefect's own task runner for it."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import time
from collections.abc import Iterable, Iterator
from typing import Any

from hopwright.errors import InputError, ServiceError

LOCAL = "local"
_PATIENCE_S = 60
_LOOK_S = 0.05


@contextlib.contextmanager
def open_cluster(address: str, workers: int) -> Iterator[Any]:
    """The task runner of a Dask cluster, connected; None for an empty address.

    `local` starts a cluster of so many worker processes here, which ends with the block; anything else is the address
    of a scheduler that runs. Raises InputError where the extra is not installed, ServiceError when no scheduler answers
    or no worker has joined it.
    """
    if not address:
        yield None
        return
    if importlib.util.find_spec("prefect_dask") is None:
        raise InputError("shards on a Dask cluster need the extra: `pip install '.[dask]'`")
    import dask
    from prefect_dask.task_runners import DaskTaskRunner

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    # A worker that is lost is nothing to fail for: its shard is made by another one, up to three times.
    with dask.config.set({"distributed.scheduler.allowed-failures": 3}), contextlib.ExitStack() as stack:
        runner: Any = DaskTaskRunner(
            address=None if address == LOCAL else address,
            cluster_kwargs=_describe_cluster(workers) if address == LOCAL else None,
            client_kwargs={"timeout": _PATIENCE_S},
        )
        stack.enter_context(runner)
        try:
            runner.client.wait_for_workers(1, timeout=_PATIENCE_S)
        except (OSError, TimeoutError) as error:
            why = f"no Dask worker can be reached by {address} ({type(error).__name__})"
            raise ServiceError(f"{why}: start a scheduler and a worker, or choose no cluster") from None
        yield runner


def yield_done(futures: Iterable[Any]) -> Iterator[Any]:
    """The shards' futures as they are done. Raises ServiceError when the scheduler is lost.

    Dask then cancels what was handed to it; Prefect's own `as_completed` would wait for that for ever.
    """
    pending = list(futures)
    while pending:
        done = [future for future in pending if future.wrapped_future.done()]
        if any(future.wrapped_future.cancelled() for future in pending):
            raise ServiceError(
                "the scheduler of the Dask cluster is gone: what is finished stays; when it is there again, run the "
                "same command again, it continues"
            )
        pending = [future for future in pending if future not in done]
        yield from done
        if not done:
            time.sleep(_LOOK_S)


def explain_lost_workers(error: Exception) -> Exception:
    """What to tell of a shard whose workers died under it again and again; other errors as they are."""
    if type(error).__name__ != "KilledWorker":
        return error
    return ServiceError(
        "workers of the Dask cluster ended again and again while they made one shard (killed, or out of memory): "
        "run the same command again, it continues"
    )


def _describe_cluster(workers: int) -> dict[str, Any]:
    return {
        "n_workers": workers,
        "threads_per_worker": 1,
        "host": "127.0.0.1",
        "dashboard_address": None,
        # As in the pool of processes: who runs out of memory is told so by the kernel, not at a share of it.
        "memory_limit": 0,
        "silence_logs": logging.CRITICAL,
    }
