"""How entities of a graph are called in running text."""

from __future__ import annotations

from hopwright.synthesis.kinds import KindIndex
from hopwright.synthesis.properties import Kind


class GraphNames:
    """Names from the graph's labels (the writer's `Names`)."""

    def __init__(self, kinds: KindIndex) -> None:
        self._kinds = kinds

    def phrase(self, entity: str) -> str:
        """The label with its article or quotation marks."""
        return self._kinds.phrase(entity)

    def noun(self, entity: str) -> str:
        """A common noun for the entity."""
        return self._kinds.noun(entity)

    def kind(self, entity: str) -> Kind:
        """Its coarse class."""
        return self._kinds.kind(entity)
