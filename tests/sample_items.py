"""Items of the shipped sample, planned and worded by rule, for the stages that take items."""

from __future__ import annotations

import functools

from hopwright.graph.store import GraphStore
from hopwright.records import Anchor, Item
from hopwright.synthesis.pipeline import Synthesizer
from hopwright.synthesis.properties import default_table


@functools.cache
def draft_sample_items(graph: GraphStore, slots: int = 300) -> tuple[Item, ...]:
    """The items of so many draft slots around evenly drawn entities."""
    anchors = [
        Anchor(question_id=f"q-{id}", question="?", answer=graph.label(id), entity=id, entity_label=graph.label(id))
        for id in list(graph.entities())[::31]
        if graph.degree(id) > 4
    ]
    items, _ = Synthesizer(graph, default_table(), seed=3).draft(anchors, 0, slots)
    return tuple(items)
