"""The year by which an entity is known: of birth, foundation, publication, start, and our own properties like them."""

from __future__ import annotations

from hopwright.knowledge.wikidata.store import GraphStore

_ERA = frozenset(
    "P569 P571 P577 P580 P585 P1619 P619 "
    "P990134 P990139 P990141 P990146 P990147 P990148 P990149 P990150 P990151 P990295".split()
)


def find_year(graph: GraphStore, entity: str) -> int | None:
    """The year of the first such date that the graph holds of an entity; None where it holds none."""
    for literal in graph.literals(entity):
        if literal.property in _ERA and literal.value[:4].isdigit():
            return int(literal.value[:4])
    return None
