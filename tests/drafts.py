"""Items drafted from the shipped sample, for tests that need many real ones."""

from __future__ import annotations

import functools

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Anchor, Item
from hopwright.stages.drafting import Synthesizer


@functools.cache
def draft_items(graph: GraphStore, count: int = 150, step: int = 250) -> tuple[Item, ...]:
    """At least `count` checked items around entities from all over the sample, `step` slots at a time."""
    entities = [entity for entity in graph.entities() if 4 <= graph.degree(entity) <= 400][::23]
    anchors = [
        Anchor(
            question_id=entity,
            question="?",
            answer=graph.label(entity),
            entity=entity,
            entity_label=graph.label(entity),
        )
        for entity in entities
    ]
    synthesizer = Synthesizer(graph, default_table(), seed=5)
    items: list[Item] = []
    for start in range(0, 20_000, step):
        items += synthesizer.draft(anchors, start, step)[0]
        if len(items) >= count:
            return tuple(items)
    raise AssertionError(f"only {len(items)} items from 20,000 slots")
