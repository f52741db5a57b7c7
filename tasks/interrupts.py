"""Ctrl-C that is answered at once, and not lost.

Prefect drops one that comes while a subflow tells the server that it has ended; what is at hand takes a while to end.
"""

from __future__ import annotations

import contextlib
import os
import signal

_came = False
_SAID = "\nhopwright: interrupted; what is at hand is brought to an end, which may take half a minute\n"


def remember_interrupts() -> None:
    """From now on Ctrl-C is answered and remembered, besides being raised as ever; called in the main thread."""
    signal.signal(signal.SIGINT, _interrupt)


def raise_missed() -> None:
    """Raise KeyboardInterrupt where one came before and was dropped: asked before each stage."""
    if _came:
        raise KeyboardInterrupt


def _interrupt(number: int, frame: object) -> None:
    global _came
    if not _came:
        # Not by a stream of Python's, in whose writing the signal may have come.
        with contextlib.suppress(OSError):
            os.write(2, _SAID.encode())
    _came = True
    raise KeyboardInterrupt
