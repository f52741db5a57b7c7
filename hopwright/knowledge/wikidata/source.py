"""Wikidata as a source of facts: the store, its property table, the kinds of its entities, its complete lists."""

from __future__ import annotations

import functools

from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.completeness import PropertyClasses
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore


class WikidataSource:
    """A FactSource over one store. Kinds and completeness are worked out once."""

    def __init__(self, graph: GraphStore, table: PropertyTable | None = None, kinds: KindIndex | None = None) -> None:
        self.graph = graph
        self.table = table or default_table()
        self.kinds = kinds or KindIndex(graph)

    @functools.cached_property
    def completeness(self) -> PropertyClasses:
        """Every property classed by evidence in the store."""
        return PropertyClasses.of(self.graph)
