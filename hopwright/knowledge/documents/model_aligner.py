"""Where documents state facts as a language model reads them, every reading held against the text that it names.

The model gets the sentences of a document by number, and those facts of its topic both ends of which the text names
somewhere. It tells which sentences state which fact, and in which words. It finds what is said in words that no table
lists, and what is spread over neighbouring sentences. A reading counts only where the sentences are there and no more
than three, hold the words to the letter, and name both ends of the fact as the rules find them: names that mean the
entity, dates and numbers in any form, the document's topic understood. So a model adds that a relation is said, and
never who or what it joins. Which of the two ends does what to the other, nothing but the model has read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from hopwright.errors import InputError
from hopwright.knowledge.documents.aligners import Statement, TopicPair, take_batches
from hopwright.knowledge.documents.alignment import FactEnd, Place
from hopwright.knowledge.documents.topic_facts import Fact, TopicDocument, TopicFact
from hopwright.knowledge.source import FactGraph, FactSource
from hopwright.llm.answers import ReadFact, ReadFacts
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import Outcome, Request, parse_model
from hopwright.records import Document, LiteralFact

Complete = Callable[[Iterable[Request]], list[Outcome]]
PROMPT = "align-facts"
Ruling = Literal["kept", "no_such_place", "too_wide", "words_missing", "words_say_nothing", "end_missing", "repeated"]
"""What came of a reading: kept, or the first thing that is wrong with it."""
_WORDS = 600
"""Words of a document in one request, where its sentences allow it."""
_FACTS = 40
"""Facts in one request."""
_SENTENCES = 3
"""Sentences that may state a fact together."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model read, and what came of it. Offsets are characters of the document, 0 where no place is named."""

    fact: Fact
    document: str
    start: int
    end: int
    words: str
    ruling: Ruling


@dataclass(frozen=True, slots=True)
class _Asked:
    """One request: some sentences of a document, and facts that may stand there."""

    topic: TopicDocument
    sentences: tuple[Place, ...]
    facts: tuple[TopicFact, ...]


class ModelAligner:
    """A model's reading. `readings` has every reading with its ruling, those of one document together.

    `complete` is the client's: the same documents and facts cost nothing a second time.
    """

    def __init__(self, model: str, complete: Complete) -> None:
        self.model = model
        self.readings: list[Reading] = []
        self._target = parse_model(model)
        self._complete = complete
        self._prompt = load_prompts()[PROMPT]

    def align(self, source: FactSource, documents: Iterable[TopicPair]) -> Iterator[Statement]:
        """See FactAligner. Raises InputError where a part is not answered: a place that nobody read would prove what
        is not so."""
        for batch in take_batches(documents):
            asked = [one for pair in batch for one in self._list_asked(source, pair)]
            outcomes = self._complete([self._request(source.graph, one) for one in asked])
            for one, outcome in zip(asked, outcomes, strict=True):
                yield from self._read(one, outcome)

    def list_requests(self, source: FactSource, documents: Iterable[TopicPair]) -> Iterator[Request]:
        """What aligning these documents asks."""
        for pair in documents:
            yield from (self._request(source.graph, one) for one in self._list_asked(source, pair))

    def count_rulings(self) -> Counter[Ruling]:
        """How many readings had which end."""
        return Counter(reading.ruling for reading in self.readings)

    def _list_asked(self, source: FactSource, pair: TopicPair) -> Iterator[_Asked]:
        topic = TopicDocument(source, *pair)
        facts = list(topic.facts())
        for sentences in _cut_parts(topic.document, topic.text.sentences):
            start, end = sentences[0][0], sentences[-1][1]
            likely = [one for one in facts if topic.text.locate(one.subject, one.object, start, end)]
            for first in range(0, len(likely), _FACTS):
                yield _Asked(topic, sentences, tuple(likely[first : first + _FACTS]))

    def _request(self, graph: FactGraph, asked: _Asked) -> Request:
        document = asked.topic.document
        inputs = {
            "title": document.title,
            "sentences": [" ".join(document.text[start:end].split()) for start, end in asked.sentences],
            "facts": [_say(graph, one) for one in asked.facts],
        }
        return self._prompt.request(inputs, self._target, item=f"align-{document.id}")

    def _read(self, asked: _Asked, outcome: Outcome) -> Iterator[Statement]:
        document = asked.topic.document
        if not outcome.ok or not isinstance(outcome.parsed, ReadFacts):
            reason = "no readings" if outcome.ok else outcome.reason
            raise InputError(
                f"{document.title}: {self.model} did not say where its facts stand ({reason}); run it again: what was "
                "answered is not paid twice"
            )
        seen: set[tuple[int, int, int]] = set()
        for reading in outcome.parsed.readings:
            if not 1 <= reading.fact <= len(asked.facts):
                continue
            one = asked.facts[reading.fact - 1]
            place, ruling = self._rule(reading, asked, one)
            if ruling == "kept" and (key := (reading.fact, *place)) in seen:
                ruling = "repeated"
            elif ruling == "kept":
                seen.add(key)
                yield Statement(one.fact, document, *place, self.model)
            self.readings.append(Reading(one.fact, document.id, *place, reading.words, ruling))

    def _rule(self, reading: ReadFact, asked: _Asked, one: TopicFact) -> tuple[Place, Ruling]:
        """Where a reading says that the fact stands, and whether that holds."""
        if not 1 <= reading.first <= reading.last <= len(asked.sentences):
            return (0, 0), "no_such_place"
        place = (asked.sentences[reading.first - 1][0], asked.sentences[reading.last - 1][1])
        if reading.last - reading.first >= _SENTENCES:
            return place, "too_wide"
        whole = asked.topic.document.text
        words = " ".join(reading.words.split())
        if not words or words not in " ".join(whole[place[0] : place[1]].split()):
            return place, "words_missing"
        ends = asked.topic.text.locate(one.subject, one.object, *place)
        if ends is None:
            return place, "end_missing"
        for end in filter(None, ends):
            words = words.replace(" ".join(whole[end[0] : end[1]].split()), " ")
        if one.needs_word and not one.bracketed and not any(map(str.isalpha, words)):
            return place, "words_say_nothing"
        return place, "kept"


def _cut_parts(document: Document, sentences: Sequence[Place]) -> Iterator[tuple[Place, ...]]:
    """The sentences in parts of some 600 words; a part begins with the last two sentences of the one before it."""
    held: list[Place] = []
    fresh = words = 0
    for start, end in sentences:
        held.append((start, end))
        fresh += 1
        words += len(document.text[start:end].split())
        if words >= _WORDS:
            yield tuple(held)
            held = held[-(_SENTENCES - 1) :]
            fresh = words = 0
    if fresh and held[-1][1] > held[0][0]:
        yield tuple(held)


def _say(graph: FactGraph, one: TopicFact) -> str:
    """A fact as a model is told of it: subject, relation and object."""
    subject, object = (_name(end) for end in (one.subject, one.object))
    told = one.fact.property_label if isinstance(one.fact, LiteralFact) else graph.property_label(one.property)
    relation = told or one.property
    return f"{subject} | {relation} | {object}"


def _name(end: FactEnd) -> str:
    if end.date is not None:
        return end.date.isoformat()
    if end.number is not None:
        return f"{end.number.normalize():f} {end.unit}".strip()
    return end.names[0]
