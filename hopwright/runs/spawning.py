"""Worker processes that do not run the script again which started them.

Python's own spawned processes begin by importing the main module of their parent. A script that calls Hopwright at its
top level would start itself anew in each of them, and one that came over standard input is not there to be imported.
What runs in our workers is in modules, so they need no main module.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from multiprocessing.context import SpawnContext, SpawnProcess
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
