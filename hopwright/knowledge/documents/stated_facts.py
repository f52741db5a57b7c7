"""Which passages state which fact, in both directions; and what can still be read when some passages are gone.

Proofs over documents are operations on these sets: what a reader finds without some passages, or in some alone.
"""

from __future__ import annotations

import bisect
import datetime as dt
import re
from collections.abc import Callable, Iterable
from decimal import Decimal

from hopwright.knowledge.documents.corpus_source import CorpusGraph
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.knowledge.documents.topic_facts import Fact, list_names
from hopwright.knowledge.documents.values import find_dates
from hopwright.knowledge.facts import matches
from hopwright.knowledge.properties import PropertyTable
from hopwright.records import LiteralFact
from hopwright.records.values import Scalar
from hopwright.text.mentions import find_mentions

Rows = frozenset[int]
"""Passages, by their rows in the corpus."""
_WORD = re.compile(r"\w+")
_NOTHING: Rows = frozenset()


class StatedFacts:
    """The facts that the passages of a corpus state. A sentence that was cut counts for both passages."""

    def __init__(self, graph: CorpusGraph, store: CorpusStore, table: PropertyTable) -> None:
        self.graph = graph
        self.table = table
        places: dict[str, list[tuple[int, int, int]]] = {}
        for passage in store.passages(range(len(store))):
            places.setdefault(passage.document, []).append((passage.start, passage.end, passage.row))
        self.by_fact: dict[Fact, Rows] = {}
        self._between: dict[tuple[str, str], list[Fact]] = {}
        for fact in graph.facts():
            rows = {
                row
                for span in graph.quote(fact)
                for start, end, row in places[span.document]
                if start < span.end and span.start < end
            }
            self.by_fact[fact] = frozenset(rows)
            if isinstance(fact, tuple):
                self._between.setdefault((min(fact[0], fact[2]), max(fact[0], fact[2])), []).append(fact)

    def rows(self, facts: Iterable[Fact]) -> Rows:
        """All passages that state any of the facts."""
        return _NOTHING.union(*(self.by_fact.get(fact, _NOTHING) for fact in facts))

    def joining(self, one: str, other: str) -> tuple[Fact, ...]:
        """The stated facts that join two entities, in whichever direction."""
        return tuple(self._between.get((min(one, other), max(one, other)), ()))

    def literals_of(self, subject: str, property: str) -> tuple[LiteralFact, ...]:
        """The stated numbers and dates of an entity."""
        return self.graph.literals(subject, property)

    def without(self, gone: Rows) -> VisibleFacts:
        """What the corpus states when some passages are taken out of it."""
        return VisibleFacts(self, lambda rows: not rows <= gone)

    def within(self, given: Rows) -> VisibleFacts:
        """What some passages alone state."""
        return VisibleFacts(self, lambda rows: not rows.isdisjoint(given))


class VisibleFacts:
    """Facts (see `hopwright.knowledge.facts`) of a part of a corpus's passages."""

    def __init__(self, stated: StatedFacts, is_visible: Callable[[Rows], bool]) -> None:
        self._stated = stated
        self._is_visible = is_visible

    def sees(self, fact: Fact) -> bool:
        """Whether a passage that is there states the fact."""
        return self._is_visible(self._stated.by_fact[fact])

    def objects(self, subject: str, property: str) -> tuple[str, ...]:
        """See Facts."""
        found = self._stated.graph.objects(subject, property)
        return tuple(sorted(one for one in found if self.sees((subject, property, one))))

    def subjects(self, property: str, object: str) -> tuple[str, ...]:
        """See Facts."""
        found = self._stated.graph.subjects(property, object)
        return tuple(sorted(one for one in found if self.sees((one, property, object))))

    def scalars(self, subject: str, property: str) -> tuple[Scalar, ...]:
        """See Facts."""
        held = (one for one in self._stated.literals_of(subject, property) if self.sees(one))
        values = {value for one in held if (value := self._stated.table.read(one)) is not None}
        return tuple(sorted(values, key=str))

    def subjects_of_scalar(self, property: str, value: int | Decimal | dt.date) -> tuple[str, ...]:
        """See Facts."""
        subjects = self._stated.graph.literal_subjects(property)
        return tuple(sorted(one for one in subjects if any(matches(value, x) for x in self.scalars(one, property))))


class MentionIndex:
    """Which passages name an entity, found in the texts themselves; a document's title names it in every passage."""

    def __init__(self, graph: CorpusGraph, store: CorpusStore) -> None:
        self._graph = graph
        self._texts: list[str] = []
        self._by_word: dict[str, list[int]] = {}
        for passage in store.passages(range(len(store))):
            text = f"{passage.title}\n{passage.text}"
            self._texts.append(text)
            for word in set(_WORD.findall(text.casefold())):
                self._by_word.setdefault(word, []).append(passage.row)
        self._known: dict[str, Rows] = {}

    def rows(self, entity: str) -> Rows:
        """The passages in which one of the entity's names stands."""
        if entity not in self._known:
            names = [name for name in list_names(self._graph, entity) if len(name) >= 3]
            self._known[entity] = _NOTHING.union(*map(self._find, names))
        return self._known[entity]

    def rows_with(self, subject: str, value: Scalar) -> Rows:
        """The passages that name the entity and a date, or a number as it is written."""
        return frozenset(row for row in self.rows(subject) if self._says(self._texts[row], value))

    def _find(self, name: str) -> Rows:
        words = sorted({word: self._by_word.get(word, []) for word in _WORD.findall(name.casefold())}.values(), key=len)
        if not words or not words[0]:
            return _NOTHING
        rarest, rest = words[0], words[1:]
        rows = [row for row in rarest if all(_holds(others, row) for others in rest)]
        return frozenset(row for row in rows if any(True for _ in find_mentions(self._texts[row], name)))

    def _says(self, text: str, value: Scalar) -> bool:
        if isinstance(value, dt.date):
            return any(one.month > 0 and one.is_of(value) for one in find_dates(text))
        written = (f"{value:,}", str(value))
        return any(True for form in written for _ in find_mentions(text, form))


def _holds(rows: list[int], row: int) -> bool:
    place = bisect.bisect_left(rows, row)
    return place < len(rows) and rows[place] == row
