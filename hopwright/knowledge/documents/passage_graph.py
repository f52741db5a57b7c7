"""What the graph knows and a passage says: a small graph of the facts that both hold.

A fact counts when the passage mentions both of its ends in one sentence and words of its property stand there, too:
that two names meet does not yet mean that the passage says how they are related.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.source import FactGraph, FactSource
from hopwright.records import LiteralFact
from hopwright.text.stems import content_stems

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“])")


@dataclass(frozen=True, slots=True)
class EntityMention:
    """A stretch of a text and the entity that it names."""

    start: int
    end: int
    text: str
    entity: str


class PassageGraph:
    """A FactGraph of what one passage states; names and labels are those of the graph that knows the facts."""

    def __init__(
        self, whole: FactGraph, table: PropertyTable, title: str, text: str, mentions: Sequence[EntityMention]
    ) -> None:
        self._whole = whole
        self._edges: list[tuple[str, str, str]] = []
        self._facts: dict[str, list[LiteralFact]] = {}
        self.mentioned = tuple(dict.fromkeys(mention.entity for mention in mentions))
        self.subject = next((mention.entity for mention in mentions if mention.end <= len(title)), "")
        for sentence, present in _list_sentences(title, text, mentions, self.subject):
            self._read_sentence(table, sentence, present)
        self._edges = list(dict.fromkeys(self._edges))

    def _read_sentence(self, table: PropertyTable, sentence: str, present: Sequence[str]) -> None:
        stems = content_stems(sentence)
        ids = set(present)
        for entity in present:
            for property, object in self._whole.out_edges(entity):
                if (
                    object in ids
                    and object != entity
                    and property in table.entity
                    and self._is_said(property, entity, table, stems)
                ):
                    self._edges.append((entity, property, object))
            for literal in self._whole.literals(entity):
                value = table.read(literal)
                said = isinstance(value, dt.date) and str(value.year) in re.findall(r"\d{3,4}", sentence)
                if said and self._is_said(literal.property, entity, table, stems):
                    held = self._facts.setdefault(entity, [])
                    if literal not in held:
                        held.append(literal)

    def _is_said(self, property: str, entity: str, table: PropertyTable, stems: set[str]) -> bool:
        cues = _stems_of(property, self._whole, table)
        # What is said without words of its own (a country) is said of what the passage is about.
        return bool(cues & stems) if cues else entity == self.subject

    def __contains__(self, id: str) -> bool:
        return id in self._whole

    def label(self, id: str) -> str:
        """See FactGraph."""
        return self._whole.label(id)

    def aliases(self, id: str) -> tuple[str, ...]:
        """See FactGraph."""
        return self._whole.aliases(id)

    def bearers(self, name: str, *, by_label: bool = False) -> tuple[str, ...]:
        """See FactGraph: in the whole graph, since a name has to be clear beyond the passage."""
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
        return tuple(o for s, p, o in self._edges if (s, p) == (subject, property))

    def subjects(self, property: str, object: str) -> tuple[str, ...]:
        """See FactGraph."""
        return tuple(s for s, p, o in self._edges if (p, o) == (property, object))

    def out_edges(self, subject: str) -> tuple[tuple[str, str], ...]:
        """See FactGraph."""
        return tuple((p, o) for s, p, o in self._edges if s == subject)

    def sample_edges(self, property: str, most: int) -> tuple[tuple[str, str], ...]:
        """See FactGraph."""
        return tuple((s, o) for s, p, o in self._edges if p == property)[:most]

    def properties(self) -> tuple[str, ...]:
        """The properties that the passage's facts are of."""
        held = [one.property for facts in self._facts.values() for one in facts]
        return tuple(dict.fromkeys([*(p for _, p, _ in self._edges), *held]))

    def in_edges_spread(self, object: str, most: int) -> tuple[tuple[str, str], ...]:
        """See FactGraph."""
        return tuple((p, s) for s, p, o in self._edges if o == object)[:most]

    def sample_objects(self, property: str, most: int) -> tuple[str, ...]:
        """See FactGraph."""
        return tuple(dict.fromkeys(o for _, p, o in self._edges if p == property))[:most]

    def degree(self, id: str) -> int:
        """See FactGraph."""
        return sum(id in (s, o) for s, _, o in self._edges)

    def literals(self, subject: str, property: str = "") -> tuple[LiteralFact, ...]:
        """See FactGraph."""
        return tuple(one for one in self._facts.get(subject, ()) if property in ("", one.property))

    def literal_subjects(self, property: str) -> tuple[str, ...]:
        """See FactGraph."""
        return tuple(id for id, facts in self._facts.items() if any(one.property == property for one in facts))


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
    for sentence in _SENTENCE.split(text):
        stop = start + len(sentence)
        present = [mention.entity for mention in mentions if start <= mention.start < stop]
        yield sentence, list(dict.fromkeys([*([subject] if subject else []), *present]))
        start = stop + 1


@functools.lru_cache(maxsize=4096)
def _stems_of(property: str, graph: FactGraph, table: PropertyTable) -> frozenset[str]:
    """Stems of the words that tell a property in a text; empty for those that need none (a country)."""
    if (cues := table.roles.cues.get(property)) is not None:
        return frozenset(content_stems(cues))
    entry = table.entity.get(property)
    phrases = [graph.property_label(property), *graph.property_aliases(property)]
    phrases += list(entry.predicate) if entry is not None else list(table.literal[property].year_predicate)
    return frozenset(content_stems(" ".join(phrases).replace("{o}", "").replace("{y}", "")))
