"""Votes of the shortcut solvers."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from hopwright.difficulty.filtering import filter_items
from hopwright.difficulty.shortcuts import shortcut_voters
from hopwright.difficulty.voters import Voter
from hopwright.records.arrow import items_to_table, read_items
from hopwright.runs import ShardOutput
from hopwright.synthesis.properties import default_table
from tasks.work.resources import open_graph


@dataclass(frozen=True, slots=True)
class FilterPart:
    """One part of items, to be voted on."""

    part: Path
    store: Path
    seed: int
    max_right: int


def vote_on_part(spec: FilterPart) -> ShardOutput:
    """Vote on one part."""
    items = read_items(spec.part)
    kept, rejected = filter_items(items, _open_voters(spec.store, spec.seed), max_right=spec.max_right)
    return ShardOutput(items_to_table(kept), rejected, taken=len(items))


def name_voters(store: Path, seed: int) -> list[str]:
    """The solvers that vote."""
    return [voter.name for voter in _open_voters(store, seed)]


@functools.lru_cache(maxsize=1)
def _open_voters(store: Path, seed: int) -> tuple[Voter, ...]:
    return tuple(shortcut_voters(open_graph(store), default_table(), seed=seed))
