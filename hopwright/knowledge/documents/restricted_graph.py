"""A part of a graph's facts, under the names of all of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hopwright.knowledge.source import FactGraph
from hopwright.records import LiteralFact

Edge = tuple[str, str, str]
"""Subject, property, object."""


class RestrictedGraph:
    """A FactGraph of some facts of a whole one: names are the whole one's, since a name has to be clear beyond them."""

    def __init__(self, whole: FactGraph, edges: Iterable[Edge], literals: Mapping[str, Sequence[LiteralFact]]) -> None:
        self._whole = whole
        self._edges = list(dict.fromkeys(edges))
        self._facts = {subject: tuple(dict.fromkeys(facts)) for subject, facts in literals.items()}
        self._by_subject: dict[str, list[Edge]] = {}
        self._by_object: dict[str, list[Edge]] = {}
        self._by_property: dict[str, list[Edge]] = {}
        for edge in self._edges:
            subject, property, object = edge
            self._by_subject.setdefault(subject, []).append(edge)
            self._by_property.setdefault(property, []).append(edge)
            self._by_object.setdefault(object, []).append(edge)

    def __contains__(self, id: str) -> bool:
        return id in self._whole

    def label(self, id: str) -> str:
        """See FactGraph."""
        return self._whole.label(id)

    def aliases(self, id: str) -> tuple[str, ...]:
        """See FactGraph."""
        return self._whole.aliases(id)

    def bearers(self, name: str, *, by_label: bool = False) -> tuple[str, ...]:
        """See FactGraph: in the whole graph."""
        return self._whole.bearers(name, by_label=by_label)

    def knows_name(self, name: str) -> bool:
        """See FactGraph: in the whole graph."""
        return self._whole.knows_name(name)

    def page_url(self, id: str) -> str:
        """See FactGraph."""
        return self._whole.page_url(id)

    def property_label(self, property: str) -> str:
        """See FactGraph."""
        return self._whole.property_label(property)

    def property_aliases(self, property: str) -> tuple[str, ...]:
        """See FactGraph."""
        return self._whole.property_aliases(property)

    def objects(self, subject: str, property: str) -> tuple[str, ...]:
        """See FactGraph."""
        return tuple(o for _, p, o in self._by_subject.get(subject, ()) if p == property)

    def subjects(self, property: str, object: str) -> tuple[str, ...]:
        """See FactGraph."""
        return tuple(s for s, p, _ in self._by_object.get(object, ()) if p == property)

    def out_edges(self, subject: str) -> tuple[tuple[str, str], ...]:
        """See FactGraph."""
        return tuple((p, o) for _, p, o in self._by_subject.get(subject, ()))

    def sample_edges(self, property: str, most: int) -> tuple[tuple[str, str], ...]:
        """See FactGraph."""
        return tuple((s, o) for s, _, o in self._by_property.get(property, ())[:most])

    def properties(self) -> tuple[str, ...]:
        """The properties that there are facts of."""
        held = [one.property for facts in self._facts.values() for one in facts]
        return tuple(dict.fromkeys([*self._by_property, *held]))

    def in_properties(self, object: str) -> list[str]:
        """See FactGraph."""
        return list(dict.fromkeys(p for _, p, _ in self._by_object.get(object, ())))

    def in_edges_spread(self, object: str, most: int) -> tuple[tuple[str, str], ...]:
        """See FactGraph."""
        return tuple((p, s) for s, p, _ in self._by_object.get(object, ())[:most])

    def sample_objects(self, property: str, most: int) -> tuple[str, ...]:
        """See FactGraph."""
        return tuple(dict.fromkeys(o for _, _, o in self._by_property.get(property, ())))[:most]

    def degree(self, id: str) -> int:
        """See FactGraph."""
        ends = [*self._by_subject.get(id, ()), *self._by_object.get(id, ())]
        return len(dict.fromkeys(ends))

    def literals(self, subject: str, property: str = "") -> tuple[LiteralFact, ...]:
        """See FactGraph."""
        return tuple(one for one in self._facts.get(subject, ()) if property in ("", one.property))

    def literal_subjects(self, property: str) -> tuple[str, ...]:
        """See FactGraph."""
        return tuple(id for id, facts in self._facts.items() if any(one.property == property for one in facts))
