"""What a document may state: the facts of the one entity that its title names, with the words that tell either end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from hopwright.knowledge.documents.alignment import AlignedText, Bracketed, FactEnd, find_bracketed, list_cues
from hopwright.knowledge.documents.restricted_graph import Edge
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.source import FactGraph, FactSource
from hopwright.knowledge.wikidata.sparql.units import name_unit, normalise
from hopwright.records import Document, LiteralFact
from hopwright.text.matching import is_distinctive_name

_COUNT = "1"
"""What the table of units calls the unit of a bare number."""
_LEAST_COUNT = 100
"""Bare numbers below this stand in texts for a hundred other reasons."""
_MOST_INWARD = 500
"""Facts of which a document's topic is the object that are looked for."""
Fact = Edge | LiteralFact


@dataclass(frozen=True, slots=True)
class TopicFact:
    """A fact of a document's topic, and its two ends as a text may name them.

    `cues` are stems of the words that say its relation. `needs_word` is False
    where none is needed: a country, where the document is about what lies there or comes from there.
    """

    fact: Fact
    subject: FactEnd
    object: FactEnd
    cues: frozenset[str]
    bracketed: Bracketed
    needs_word: bool

    @property
    def property(self) -> str:
        """The property of the fact."""
        return self.fact.property if isinstance(self.fact, LiteralFact) else self.fact[1]


class TopicDocument:
    """A document that is about one entity."""

    def __init__(self, source: FactSource, topic: str, document: Document) -> None:
        self.document = document
        self._graph, self._table = source.graph, source.table
        self._topic = topic
        bare = document.title.partition(" (")[0]
        names = [document.title, bare, *list_names(self._graph, topic)]
        self._about = FactEnd(tuple(dict.fromkeys(names)))
        self.text = AlignedText(document.text, self._about.names)

    def facts(self) -> Iterator[TopicFact]:
        """The facts that the source knows of the topic, in a fixed order."""
        graph, table, topic, about = self._graph, self._table, self._topic, self._about
        for property, object in graph.out_edges(topic):
            if property in table.entity and object != topic:
                yield self._describe((topic, property, object), about, FactEnd(list_names(graph, object)))
        for property, subject in graph.in_edges_spread(topic, _MOST_INWARD):
            if property in table.entity and subject != topic:
                yield self._describe((subject, property, topic), FactEnd(list_names(graph, subject)), about)
        for literal in graph.literals(topic):
            if (value := _read_literal(table, literal)) is not None:
                yield self._describe(literal, about, value)

    def _describe(self, fact: Fact, subject: FactEnd, object: FactEnd) -> TopicFact:
        property = fact.property if isinstance(fact, LiteralFact) else fact[1]
        cues = list_cues(property, self._graph, self._table)
        bracketed = find_bracketed(property, self._table)
        return TopicFact(fact, subject, object, cues, bracketed, bool(cues) or subject is not self._about)


def find_topic(graph: FactGraph, title: str) -> str:
    """The entity that a title names; empty where there is none, or several that it may mean."""
    bearers = graph.bearers(title)
    return bearers[0] if len(bearers) == 1 else ""


def list_names(graph: FactGraph, entity: str) -> tuple[str, ...]:
    """The entity's label, and the aliases that mean it before anything else: Michigan, which Detroit has, is none."""
    aliases = (name for name in graph.aliases(entity) if is_distinctive_name(name))
    return (graph.label(entity), *(name for name in aliases if graph.bearers(name)[:1] == (entity,)))


def _read_literal(table: PropertyTable, literal: LiteralFact) -> FactEnd | None:
    """What a text would have to say; None for what the table does not read, and for units that are not known."""
    entry = table.literal.get(literal.property)
    if entry is None:
        return None
    value = table.normalise(literal.property, literal.value, literal.datatype)
    if entry.value in ("date", "year"):
        return None if value is None or isinstance(value, int | Decimal) else FactEnd(date=value)
    if not literal.unit:
        return None
    quantity = normalise(literal.value.removeprefix("+"), literal.unit)
    if quantity is None:
        return None
    unit = name_unit(quantity.unit)
    if unit != _COUNT:
        return FactEnd(number=quantity.value, unit=unit)
    return FactEnd(number=quantity.value) if quantity.value >= _LEAST_COUNT else None
