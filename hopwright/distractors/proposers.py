"""Where other packages propose wrong options: what they propose stands for choice beside our own candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from hopwright.records import Hop
from hopwright.records.values import Value
from hopwright.registry import Registry

Proposer = Callable[[Hop, Mapping[int, Value]], Iterable[Value]]
"""From a hop and the answers of the hops before it (index → value) to ids or numbers, the same in every process."""
PROPOSERS = Registry[Proposer]("hopwright.distractors", "proposer of distractors")
"""Name → proposer. Another package adds one as an entry point of this group; our rules choose from all proposals."""


def propose(hop: Hop, answers: Mapping[int, Value]) -> list[Value]:
    """Return what all proposers propose for a hop."""
    return [value for proposer in PROPOSERS.values() for value in proposer(hop, answers)]
