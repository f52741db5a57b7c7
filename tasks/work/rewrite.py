"""Counterfactual twins of one part."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from hopwright.counterfactual.twins import TwinMaker
from hopwright.records import Item, Rejected
from hopwright.records.arrow import items_to_table, read_items
from hopwright.runs import ShardOutput
from hopwright.synthesis.kinds import KindIndex
from hopwright.synthesis.names import GraphNames
from hopwright.synthesis.properties import default_table
from tasks.work.resources import open_graph


@dataclass(frozen=True, slots=True)
class RewritePart:
    """One part of items, to be given twins."""

    part: Path
    store: Path
    seed: int


def twin_part(spec: RewritePart) -> ShardOutput:
    """Make the twins of one part."""
    maker = _open_maker(spec.store, spec.seed)
    items = read_items(spec.part)
    outcomes = [maker.make_twin(item) for item in items]
    twins = [one for one in outcomes if isinstance(one, Item)]
    rejected = [one for one in outcomes if isinstance(one, Rejected)]
    return ShardOutput(items_to_table(twins), rejected, taken=len(items))


@functools.lru_cache(maxsize=1)
def _open_maker(store: Path, seed: int) -> TwinMaker:
    graph = open_graph(store)
    return TwinMaker(graph, GraphNames(KindIndex(graph)), default_table(), seed=seed)
