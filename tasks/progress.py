"""Telling whoever listens (the command line's bars) how far a stage is."""

from __future__ import annotations

from collections.abc import Callable

Listener = Callable[[str, int, int], None]
"""Called with a stage's name, shards done, shards in all."""

_listeners: list[Listener] = []


def listen(listener: Listener) -> None:
    """Add a listener for the life of this process."""
    _listeners.append(listener)


def tell(stage: str, done: int, total: int) -> None:
    """Tell all listeners."""
    for listener in _listeners:
        listener(stage, done, total)
