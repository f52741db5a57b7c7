"""Ways of finding where documents state facts: by words here, by a model (`model_aligner`), or by several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from hopwright.knowledge.documents.topic_facts import Fact, TopicDocument
from hopwright.knowledge.source import FactSource
from hopwright.records import Document

BATCH = 256
"""Documents that are in memory at once where several readers get them, or a model is asked about many."""
TopicPair = tuple[str, Document]
"""A document, after the entity that it is about."""


@dataclass(frozen=True, slots=True)
class Statement:
    """The characters `start` up to `end` of a document state a fact.

    `reader` is the model that says so; empty where words of the text do.
    """

    fact: Fact
    document: Document
    start: int
    end: int
    reader: str = ""


class FactAligner(Protocol):
    """Finds the statements of facts in documents."""

    def align(self, source: FactSource, documents: Iterable[TopicPair]) -> Iterator[Statement]:
        """The statements of the documents' topics in the documents' order, those of one fact in one document the best
        first."""
        ...


class WordAligner:
    """Both ends in one sentence beside a word of the relation (`alignment`)."""

    def align(self, source: FactSource, documents: Iterable[TopicPair]) -> Iterator[Statement]:
        """See FactAligner."""
        for topic, document in documents:
            read = TopicDocument(source, topic, document)
            for one in read.facts():
                for place in read.text.find(one.subject, one.object, one.cues, bracketed=one.bracketed):
                    if place.said or not one.needs_word:
                        yield Statement(one.fact, document, place.start, place.end)


class JointAligner:
    """Several ways at once: what one of them finds is found. A proof that a fact stands nowhere else needs all."""

    def __init__(self, aligners: Sequence[FactAligner]) -> None:
        self._aligners = tuple(aligners)

    def align(self, source: FactSource, documents: Iterable[TopicPair]) -> Iterator[Statement]:
        """See FactAligner; the order is that of batches of documents, and of the ways within one."""
        for batch in take_batches(documents):
            for aligner in self._aligners:
                yield from aligner.align(source, batch)


def take_batches(documents: Iterable[TopicPair]) -> Iterator[list[TopicPair]]:
    """The documents in lists of at most BATCH."""
    left = iter(documents)
    while batch := list(islice(left, BATCH)):
        yield batch
