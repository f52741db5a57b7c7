"""Items → items that the shortcut solvers do not see through, their votes kept on them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from hopwright.difficulty.filtering import filter_items
from hopwright.difficulty.shortcuts import shortcut_voters
from hopwright.difficulty.voters import Voter
from hopwright.records.arrow import items_to_table, read_items
from hopwright.runs import RunFolder, ShardOutput, Stage
from hopwright.settings import FilterRun
from hopwright.synthesis.properties import default_table
from tasks.engine import pick_parameters
from tasks.resources import find_store, open_graph
from tasks.work import StagePlan


@dataclass(frozen=True, slots=True)
class FilterPart:
    """One part of items, to be voted on."""

    part: Path
    store: Path
    seed: int
    max_right: int


def plan_filter(run: RunFolder, parameters: FilterRun) -> StagePlan:
    """One shard per part of the synthesize stage."""
    items = Stage(run, "synthesize")
    store = find_store(run)
    return StagePlan(
        name="filter",
        unit="items",
        parameters=pick_parameters(parameters, "filter"),
        inputs=items.output_hashes(),
        process=vote_on_part,
        specs=[FilterPart(part, store, parameters.seed, parameters.filter.max_right) for part in items.parts()],
        notes={"voters": [voter.name for voter in _open_voters(store, parameters.seed)]},
    )


def vote_on_part(spec: FilterPart) -> ShardOutput:
    """Vote on one part."""
    items = read_items(spec.part)
    kept, rejected = filter_items(items, _open_voters(spec.store, spec.seed), max_right=spec.max_right)
    return ShardOutput(items_to_table(kept), rejected, taken=len(items))


@functools.lru_cache(maxsize=1)
def _open_voters(store: Path, seed: int) -> tuple[Voter, ...]:
    return tuple(shortcut_voters(open_graph(store), default_table(), seed=seed))
