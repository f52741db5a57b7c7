"""Telling whoever listens (the command line's bars) how far a stage is."""

from __future__ import annotations

from collections.abc import Callable

Listener = Callable[[str, int, int], None]
"""Called with a stage's name, shards done, shards in all."""

ModelListener = Callable[[str, str, bool], None]
"""Called with a stage's name, a line on how its requests to language models are going, and whether it is the last."""

_listeners: list[Listener] = []
_model_listeners: list[ModelListener] = []


def listen(listener: Listener, model_listener: ModelListener | None = None) -> None:
    """Add a listener for the life of this process, and one for what language models are asked."""
    _listeners.append(listener)
    if model_listener is not None:
        _model_listeners.append(model_listener)


def tell(stage: str, done: int, total: int) -> None:
    """Tell all listeners."""
    for listener in _listeners:
        listener(stage, done, total)


def report_model_progress(stage: str, line: str, *, last: bool = False) -> None:
    """Tell how a stage's requests are going."""
    for listener in _model_listeners:
        listener(stage, line, last)
