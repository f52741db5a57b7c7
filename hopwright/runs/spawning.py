"""Worker processes that do not run the script again which started them.

Python's own spawned processes begin by importing the main module of their parent. A script that calls Hopwright at its
top level would start itself anew in each of them, and one that came over standard input is not there to be imported.
What runs in our workers is in modules, so they need no main module.

The workers of a run are forked: not from the run's own process, which has threads, but from one beside it, which does
nothing else and may have imported beforehand what they all need (Python's `forkserver`).
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess, SpawnContext, SpawnProcess
from typing import Any

_guard = threading.Lock()


class ApartProcess(SpawnProcess):
    """A spawned process that leaves the main module of its parent alone."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 — multiprocessing's own name
        with _hide_main():
            return SpawnProcess._Popen(process_obj)


class ApartContext(SpawnContext):
    """For `ProcessPoolExecutor`: functions have to be those of modules."""

    Process = ApartProcess


class ForkedProcess(ForkServerProcess):
    """A forked process that leaves the main module of its parent alone, and has its environment as it is at the start.

    The process that it is forked from knows only what was set when that one started; keys may have come since.
    """

    def start(self) -> None:
        """See multiprocessing."""
        self._environment = dict(os.environ)
        super().start()

    def run(self) -> None:
        """See multiprocessing."""
        take_environment(self._environment)
        super().run()

    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 — multiprocessing's own name
        with _hide_main():
            return ForkServerProcess._Popen(process_obj)


class ForkedContext(ForkServerContext):
    """For `ProcessPoolExecutor`: functions have to be those of modules. What is loaded is shared, not loaded again."""

    Process = ForkedProcess


def start_fork_server(modules: Sequence[str]) -> None:
    """Start the process from which workers will be forked, and have it import these modules meanwhile.

    Where it runs already it stays as it is.
    """
    forkserver.set_forkserver_preload(list(modules))
    with let_interrupts_wait(), _hide_main():
        forkserver.ensure_running()
    atexit.register(_end_fork_server)


def _end_fork_server() -> None:
    """Wait until it has ended: what it and its workers took of the processors then counts as this process's.

    It ends by itself once this process has; Python has no other name for it.
    """
    end = getattr(getattr(forkserver, "_forkserver", None), "_stop", None)
    if end is not None:
        end()


@contextlib.contextmanager
def let_interrupts_wait() -> Iterator[None]:
    """A process that starts meanwhile inherits that Ctrl-C waits: it would find it at its imports."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def take_environment(environment: Mapping[str, str]) -> None:
    """In a forked process: have its parent's environment, which may have changed since the fork server started."""
    if dict(os.environ) != environment:
        os.environ.clear()
        os.environ.update(environment)


@contextlib.contextmanager
def _hide_main() -> Iterator[None]:
    """While a process starts, the main module says of no file and no name that it came from."""
    main = sys.modules["__main__"]
    with _guard:
        held = {name: getattr(main, name) for name in ("__spec__", "__file__") if hasattr(main, name)}
        main.__spec__ = None
        if "__file__" in held:
            del main.__file__
        try:
            yield
        finally:
            for name, value in held.items():
                setattr(main, name, value)
