"""Answers that are kept, because plan after plan asks the same: a source does not change while it is planned over."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")


class Memory(dict[_K, _V]):
    """What a function of one argument gives, found when it is first asked for; all is forgotten when it is full.

    A dictionary that finds what is missing costs a fraction of a call: `memory[key]`, or `memory.__getitem__` where a
    function is wanted. The function must give the same whenever it is asked, and may ask the memory itself.
    """

    __slots__ = ("_find", "_most")

    def __init__(self, find: Callable[[_K], _V], most: int) -> None:
        super().__init__()
        self._find = find
        self._most = most

    def __missing__(self, key: _K) -> _V:
        found = self._find(key)
        if len(self) >= self._most:
            self.clear()
        self[key] = found
        return found
