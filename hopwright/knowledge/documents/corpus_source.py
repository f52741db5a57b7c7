"""A corpus as a source of facts: those of a graph that its documents state, each with the sentences that do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hopwright.knowledge.documents.aligners import FactAligner, TopicPair, WordAligner
from hopwright.knowledge.documents.restricted_graph import RestrictedGraph
from hopwright.knowledge.documents.topic_facts import Fact, find_topic
from hopwright.knowledge.source import FactSource
from hopwright.records import Document, LiteralFact, Span


class CorpusGraph(RestrictedGraph):
    """A FactGraph of what documents say of the things that they are about, with the quotations that say it."""

    def __init__(
        self, source: FactSource, documents: Iterable[Document], aligner: FactAligner | None = None
    ) -> None:
        """Read the documents whose title names one entity, and no other, of the source that knows the facts.

        `aligner` finds what they state; without one, the words do.
        """
        self.topics: dict[str, str] = {}
        """The entity of each document that is about one, by the document's id."""
        self._spans: dict[Fact, list[Span]] = {}
        self._readers: dict[Fact, str] = {}
        for one in (aligner or WordAligner()).align(source, self._find_topics(source, documents)):
            spans = self._spans.setdefault(one.fact, [])
            if any(_overlaps(span, one.document.id, one.start, one.end) for span in spans):
                continue
            if one.reader and not spans:
                self._readers[one.fact] = one.reader
            elif not one.reader:
                self._readers.pop(one.fact, None)
            spans.append(one.document.cite(one.start, one.end))
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

    def name_reader(self, fact: Fact) -> str:
        """The model without whose reading nothing would state a fact; empty where words do."""
        return self._readers.get(fact, "")

    def _find_topics(self, source: FactSource, documents: Iterable[Document]) -> Iterator[TopicPair]:
        for document in documents:
            if topic := find_topic(source.graph, document.title):
                self.topics[document.id] = topic
                yield topic, document


class CorpusSource:
    """A FactSource of a corpus: words, kinds and complete lists are those of the source that knows the facts."""

    def __init__(self, whole: FactSource, documents: Iterable[Document], aligner: FactAligner | None = None) -> None:
        self.graph = CorpusGraph(whole, documents, aligner)
        self.table = whole.table
        self.kinds = whole.kinds
        self.completeness = whole.completeness


def _overlaps(span: Span, document: str, start: int, end: int) -> bool:
    return span.document == document and span.start < end and start < span.end
