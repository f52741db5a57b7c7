"""What the graph knows and a passage says: a small graph of the facts that both hold.

A fact counts when the passage mentions both of its ends in one sentence and words of its property stand there, too:
that two names meet does not yet mean that the passage says how they are related.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hopwright.knowledge.documents.alignment import SENTENCE_BREAK, list_cues
from hopwright.knowledge.documents.restricted_graph import Edge, RestrictedGraph
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.source import FactGraph, FactSource
from hopwright.records import LiteralFact
from hopwright.text.stems import content_stems


@dataclass(frozen=True, slots=True)
class EntityMention:
    """A stretch of a text and the entity that it names."""

    start: int
    end: int
    text: str
    entity: str


class PassageGraph(RestrictedGraph):
    """A FactGraph of what one passage states; names and labels are those of the graph that knows the facts."""

    def __init__(
        self, whole: FactGraph, table: PropertyTable, title: str, text: str, mentions: Sequence[EntityMention]
    ) -> None:
        self.mentioned = tuple(dict.fromkeys(mention.entity for mention in mentions))
        self.subject = next((mention.entity for mention in mentions if mention.end <= len(title)), "")
        edges: list[Edge] = []
        literals: dict[str, list[LiteralFact]] = {}
        for sentence, present in _list_sentences(title, text, mentions, self.subject):
            reading = _SentenceReading(whole, table, sentence, present, self.subject)
            edges += reading.list_edges()
            for literal in reading.list_literals():
                literals.setdefault(literal.subject, []).append(literal)
        super().__init__(whole, edges, literals)


class _SentenceReading:
    """The facts that one sentence of a passage states."""

    def __init__(
        self, whole: FactGraph, table: PropertyTable, sentence: str, present: Sequence[str], subject: str
    ) -> None:
        self._whole = whole
        self._table = table
        self._sentence = sentence
        self._present = present
        self._subject = subject
        self._stems = content_stems(sentence)

    def list_edges(self) -> Iterator[Edge]:
        ids = set(self._present)
        for entity in self._present:
            for property, object in self._whole.out_edges(entity):
                known = object in ids and object != entity and property in self._table.entity
                if known and self._is_said(property, entity):
                    yield entity, property, object

    def list_literals(self) -> Iterator[LiteralFact]:
        years = re.findall(r"\d{3,4}", self._sentence)
        for entity in self._present:
            for literal in self._whole.literals(entity):
                value = self._table.read(literal)
                if isinstance(value, dt.date) and str(value.year) in years and self._is_said(literal.property, entity):
                    yield literal

    def _is_said(self, property: str, entity: str) -> bool:
        cues = list_cues(property, self._whole, self._table)
        # What is said without words of its own (a country) is said of what the passage is about.
        return bool(cues & self._stems) if cues else entity == self._subject


class PassageSource:
    """A FactSource of one passage: words, kinds and complete lists are those of the source that knows the facts."""

    def __init__(self, whole: FactSource, graph: PassageGraph) -> None:
        self.graph = graph
        self.table = whole.table
        self.kinds = whole.kinds
        self.completeness = whole.completeness


def _list_sentences(
    title: str, text: str, mentions: Sequence[EntityMention], subject: str
) -> Iterator[tuple[str, list[str]]]:
    """Each sentence with the entities that it mentions; the passage's own subject is meant in all of them."""
    start = len(title) + 1
    for sentence in SENTENCE_BREAK.split(text):
        stop = start + len(sentence)
        present = [mention.entity for mention in mentions if start <= mention.start < stop]
        yield sentence, list(dict.fromkeys([*([subject] if subject else []), *present]))
        start = stop + 1
