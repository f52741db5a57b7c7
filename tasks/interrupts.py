"""Ctrl-C that is not lost: Prefect drops one that comes while a subflow tells the server that it has ended."""

from __future__ import annotations

import signal

_came = False


def remember_interrupts() -> None:
    """From now on Ctrl-C is remembered, besides being raised as ever; to be called in the main thread."""
    signal.signal(signal.SIGINT, _interrupt)


def raise_missed() -> None:
    """Raise KeyboardInterrupt where one came before and was dropped: asked before each stage."""
    if _came:
        raise KeyboardInterrupt


def _interrupt(number: int, frame: object) -> None:
    global _came
    _came = True
    raise KeyboardInterrupt
