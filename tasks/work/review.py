"""The sample that goes to the experts."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from pathlib import Path

from hopwright.records import Item
from hopwright.records.arrow import read_items


def write_sample(parts: list[Path], count: int, seed: int, folder: Path) -> None:
    """Draw items evenly over the topologies, the same ones for the same seed, and write them as tasks."""
    from annotation.export import write_tasks

    names = _count_topologies(parts)
    chosen: list[Item] = []
    left = count
    # The rarest first, so that what it cannot fill goes to the others.
    for done, (name, available) in enumerate(sorted(names.items(), key=lambda pair: (pair[1], pair[0]))):
        share = min(available, -(-left // (len(names) - done)))
        items = (item for item in _read_all(parts) if item.topology == name)
        chosen += heapq.nsmallest(share, items, key=lambda item: _shuffle(item, seed))
        left -= share
    write_tasks(sorted(chosen, key=lambda item: _shuffle(item, seed)), folder)


def _count_topologies(parts: Iterable[Path]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in _read_all(parts):
        counts[item.topology] = counts.get(item.topology, 0) + 1
    return counts


def _read_all(parts: Iterable[Path]) -> Iterator[Item]:
    for part in parts:
        yield from read_items(part)


def _shuffle(item: Item, seed: int) -> bytes:
    return hashlib.blake2b(f"review:{seed}:{item.id}".encode()).digest()
