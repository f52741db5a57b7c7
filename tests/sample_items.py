"""Items of the shipped sample, planned and worded by rule, for the stages that take items."""

from __future__ import annotations

import functools

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Anchor, Item
from hopwright.stages.drafting import Synthesizer


@functools.cache
def draft_sample_items(graph: GraphStore, count: int = 90) -> tuple[Item, ...]:
    """At least so many different items around evenly drawn entities, unless the slots run out before."""
    anchors = [
        Anchor(question_id=f"q-{id}", question="?", answer=graph.label(id), entity=id, entity_label=graph.label(id))
        for id in list(graph.entities())[::11]
        if graph.degree(id) > 4
    ]
    synthesizer = Synthesizer(graph, default_table(), seed=3)
    found: dict[str, Item] = {}
    for start in range(0, 4000, 100):
        items, _ = synthesizer.draft(anchors, start, 100)
        found.update((item.id, item) for item in items)
        if len(found) >= count:
            break
    return tuple(found.values())
