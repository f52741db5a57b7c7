"""The builders' world as a graph store kept in dictionaries, with a few entities more for siblings."""

from __future__ import annotations

from collections.abc import Iterator

from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.store import EntityCandidate, GraphStore
from hopwright.records import LiteralFact
from tests.builders import ALIAS, LABEL, LITERALS, PROPERTY, TRIPLETS


def settle_all(table: PropertyTable) -> PropertyTable:
    """The table as it holds in an invented world, where nobody disputes in which year a state became independent."""
    return PropertyTable(table.entity, table.literal, table.misleading, table.roles, table.domains, table.trust)


class DictGraph(GraphStore):
    """A GraphStore over plain tuples; every method does what the store's contract says."""

    def __init__(self, labels=None, aliases=None, triplets=None, literals=None) -> None:
        self._labels = dict(LABEL if labels is None else labels)
        self._aliases = dict(ALIAS if aliases is None else aliases)
        self._triplets = list(TRIPLETS if triplets is None else triplets)
        self._literals = list(LITERALS if literals is None else literals)
        self._out: dict[str, list[tuple[str, str]]] = {}
        self._in: dict[str, list[tuple[str, str]]] = {}
        for subject, property, object in self._triplets:
            self._out.setdefault(subject, []).append((property, object))
            self._in.setdefault(object, []).append((property, subject))

    def label(self, id: str) -> str:
        return self._labels.get(id, "")

    def aliases(self, id: str) -> tuple[str, ...]:
        return tuple(self._aliases.get(id, ()))

    def description(self, id: str) -> str:
        return ""

    def stored_description(self, id: str) -> str:
        return ""

    def property_label(self, property: str) -> str:
        return PROPERTY.get(property, "")

    def entities(self) -> Iterator[str]:
        return iter(self._labels)

    def properties(self) -> tuple[str, ...]:
        return tuple(sorted({property for _, property, _ in self._triplets}))

    def objects(self, subject: str, property: str) -> tuple[str, ...]:
        return tuple(sorted(o for p, o in self._out.get(subject, ()) if p == property))

    def subjects(self, property: str, object: str) -> tuple[str, ...]:
        return tuple(sorted(s for p, s in self._in.get(object, ()) if p == property))

    def out_edges(self, subject: str) -> tuple[tuple[str, str], ...]:
        return tuple(self._out.get(subject, ()))

    def in_edges(self, object: str) -> tuple[tuple[str, str], ...]:
        return tuple(self._in.get(object, ()))

    def in_properties(self, object: str) -> list[str]:
        return list(dict.fromkeys(property for property, _ in self._in.get(object, ())))

    def recorded_out_edges(self, subject: str, limit: int | None = None) -> tuple[tuple[str, str], ...]:
        return self.out_edges(subject)[:limit]

    def recorded_in_edges(self, object: str, limit: int | None = None) -> tuple[tuple[str, str], ...]:
        return self.in_edges(object)[:limit]

    def edges(self, property: str) -> tuple[tuple[str, str], ...]:
        return tuple((s, o) for s, p, o in self._triplets if p == property)

    def sample_objects(self, property: str, most: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(o for _, p, o in self._triplets if p == property))[:most]

    def degree(self, id: str) -> int:
        return len(self._out.get(id, ())) + len(self._in.get(id, ()))

    def literals(self, subject: str, property: str = "") -> tuple[LiteralFact, ...]:
        return tuple(
            LiteralFact(
                subject=s, property=p, value=v, datatype=d, subject_label=self.label(s),
                property_label=PROPERTY.get(p, p),
            )
            for s, p, v, d in self._literals
            if s == subject and property in ("", p)
        )  # fmt: skip

    def literal_subjects(self, property: str) -> tuple[str, ...]:
        return tuple(sorted({s for s, p, _, _ in self._literals if p == property}))

    def find(self, name: str) -> tuple[EntityCandidate, ...]:
        found = []
        for id, label in self._labels.items():
            by_label = label.casefold() == name.casefold()
            if by_label or any(alias.casefold() == name.casefold() for alias in self.aliases(id)):
                found.append(
                    EntityCandidate(id=id, label=label, description="", degree=self.degree(id), by_label=by_label)
                )
        return tuple(found)

    def knows_name(self, name: str) -> bool:
        return bool(self.find(name))


class DictKinds:
    """Kinds by `instance of`: the fake of the project's KindIndex over a DictGraph."""

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph

    def kind(self, id: str) -> str:
        return {"Q5": "person", "Q6256": "country", "Q11424": "work"}.get(self.sort(id), "place")

    def sort(self, id: str) -> str:
        return next(iter(self._graph.objects(id, "P31")), "")

    def noun(self, id: str) -> str:
        return self._graph.label(self.sort(id))
