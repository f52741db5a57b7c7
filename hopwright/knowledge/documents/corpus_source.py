"""A corpus as a source of facts: those of a graph that its documents state, each with the sentences that do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

from hopwright.knowledge.documents.alignment import AlignedText, FactEnd, StatedFact, list_cues
from hopwright.knowledge.documents.restricted_graph import Edge, RestrictedGraph
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.source import FactGraph, FactSource
from hopwright.knowledge.wikidata.sparql.units import name_unit, normalise
from hopwright.records import Document, LiteralFact, Span
from hopwright.text.matching import is_distinctive_name

_COUNT = "1"
"""What the table of units calls the unit of a bare number."""
_LEAST_COUNT = 100
"""Bare numbers below this stand in texts for a hundred other reasons."""
_MOST_INWARD = 500
"""Facts of which a document's topic is the object that are looked for."""
Fact = Edge | LiteralFact


class CorpusGraph(RestrictedGraph):
    """A FactGraph of what documents say of the things that they are about, with the quotations that say it."""

    def __init__(self, source: FactSource, documents: Iterable[Document]) -> None:
        """Read the documents whose title names one entity, and no other, of the source that knows the facts."""
        self.topics: dict[str, str] = {}
        """The entity of each document that is about one, by the document's id."""
        self._spans: dict[Fact, list[Span]] = {}
        for document in documents:
            topic = find_topic(source.graph, document.title)
            if topic:
                self.topics[document.id] = topic
                for fact, stated in align_document(source.graph, source.table, topic, document):
                    self._spans.setdefault(fact, []).append(document.cite(stated.start, stated.end))
        literals: dict[str, list[LiteralFact]] = {}
        for fact in self._spans:
            if isinstance(fact, LiteralFact):
                literals.setdefault(fact.subject, []).append(fact)
        super().__init__(source.graph, [fact for fact in self._spans if isinstance(fact, tuple)], literals)

    def facts(self) -> tuple[Fact, ...]:
        """Every fact that a document states, in the documents' order."""
        return tuple(self._spans)

    def quote(self, fact: Fact) -> tuple[Span, ...]:
        """Every sentence that states a fact, a document's best one first; empty for a fact that none states."""
        return tuple(self._spans.get(fact, ()))


class CorpusSource:
    """A FactSource of a corpus: words, kinds and complete lists are those of the source that knows the facts."""

    def __init__(self, whole: FactSource, documents: Iterable[Document]) -> None:
        self.graph = CorpusGraph(whole, documents)
        self.table = whole.table
        self.kinds = whole.kinds
        self.completeness = whole.completeness


def find_topic(graph: FactGraph, title: str) -> str:
    """The entity that a title names; empty where there is none, or several that it may mean."""
    bearers = graph.bearers(title)
    return bearers[0] if len(bearers) == 1 else ""


def align_document(
    graph: FactGraph, table: PropertyTable, topic: str, document: Document
) -> Iterator[tuple[Fact, StatedFact]]:
    """The facts of its topic that a document says, with every place that says it, the best first."""
    names = list_names(graph, topic)
    bare = document.title.partition(" (")[0]
    about = FactEnd(tuple(dict.fromkeys([document.title, bare, *names])))
    text = AlignedText(document.text, about.names)
    for fact, one, other in _list_facts(graph, table, topic, about):
        property = fact.property if isinstance(fact, LiteralFact) else fact[1]
        cues = list_cues(property, graph, table)
        life = {table.roles.birth: 1, table.roles.death: 2}.get(property, 0) if property else 0
        # A country needs no word where the document is about what lies there or comes from there.
        said = [place for place in text.find(one, other, cues, life=life) if place.said or (not cues and one is about)]
        for place in said:
            yield fact, place


def _list_facts(
    graph: FactGraph, table: PropertyTable, topic: str, about: FactEnd
) -> Iterator[tuple[Fact, FactEnd, FactEnd]]:
    for property, object in graph.out_edges(topic):
        if property in table.entity and object != topic:
            yield (topic, property, object), about, FactEnd(list_names(graph, object))
    for property, subject in graph.in_edges_spread(topic, _MOST_INWARD):
        if property in table.entity and subject != topic:
            yield (subject, property, topic), FactEnd(list_names(graph, subject)), about
    for literal in graph.literals(topic):
        if (value := _read_literal(table, literal)) is not None:
            yield literal, about, value


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
