"""What a rewriting left of the names that it was to replace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopwright.counterfactual.renamed_entities import RenamedEntity
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.text.mentions import find_mentions


def find_left(
    texts: Sequence[str], members: Sequence[RenamedEntity], graph: GraphStore, forms: Mapping[str, str]
) -> list[tuple[str, str]]:
    """(entity, name) of what was to be replaced and still is there, by every form that stands for it."""
    return [
        (member.id, name)
        for member in members
        for name in dict.fromkeys([*member.labels, *(graph.aliases(member.id) if member.id else ())])
        if name in forms and any(next(find_mentions(text, name), None) is not None for text in texts)
    ]
