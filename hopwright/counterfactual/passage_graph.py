"""What the graph knows and a passage says: a small graph of the facts that both hold.

A fact counts when the passage mentions both of its ends in one sentence and words of its property stand there, too:
that two names meet does not yet mean that the passage says how they are related.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from collections.abc import Iterator, Sequence

from hopwright.counterfactual.recognition import EntityMention
from hopwright.knowledge.wikidata.context import content_stems
from hopwright.knowledge.wikidata.facts import GraphFacts
from hopwright.knowledge.wikidata.properties import PropertyTable
from hopwright.knowledge.wikidata.store import GraphStore, NameMatch
from hopwright.planning.traversals import GraphTraversals
from hopwright.records import LiteralFact

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“])")
# Words that say a relation and are in none of its names.
_CUES = {
    "P19": "born birth native", "P20": "died death", "P569": "born birth", "P570": "died death", "P27": "",
    "P57": "directed director helmed", "P161": "starring stars featuring cast", "P58": "written screenplay writer",
    "P22": "father son daughter child", "P25": "mother son daughter child", "P26": "married wife husband spouse",
    "P40": "father mother son daughter", "P577": "released published release", "P571": "founded established formed",
    "P86": "music score composed composer", "P175": "performed recorded sung by", "P17": "", "P131": "located",
    "P495": "", "P106": "", "P272": "produced", "P162": "produced producer", "P112": "founded founder",
}  # fmt: skip


class PassageGraph(GraphStore):
    """A graph store of one passage's facts, asked as any other; names and labels are those of the whole graph."""

    def __init__(
        self, whole: GraphStore, table: PropertyTable, title: str, text: str, mentions: Sequence[EntityMention]
    ) -> None:
        # Nothing of the parent's is opened: every method that reads its arrays is replaced.
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
                value = table.normalise(literal.property, literal.value, literal.datatype)
                said = isinstance(value, dt.date) and str(value.year) in re.findall(r"\d{3,4}", sentence)
                if said and self._is_said(literal.property, entity, table, stems):
                    held = self._facts.setdefault(entity, [])
                    if literal not in held:
                        held.append(literal)

    def _is_said(self, property: str, entity: str, table: PropertyTable, stems: set[str]) -> bool:
        cues = _stems_of(property, self._whole, table)
        # What is said without words of its own (a country) is said of what the passage is about.
        return bool(cues & stems) if cues else entity == self.subject

    def label(self, id: str) -> str:
        """See GraphStore."""
        return self._whole.label(id)

    def aliases(self, id: str) -> tuple[str, ...]:
        """See GraphStore."""
        return self._whole.aliases(id)

    def matches(self, name: str) -> list[NameMatch]:
        """See GraphStore."""
        return self._whole.matches(name)

    def property_label(self, property: str) -> str:
        """See GraphStore."""
        return self._whole.property_label(property)

    def entities(self) -> Iterator[str]:
        """The entities that the passage mentions."""
        return iter(self.mentioned)

    def objects(self, subject: str, property: str) -> tuple[str, ...]:
        """See GraphStore."""
        return tuple(o for s, p, o in self._edges if (s, p) == (subject, property))

    def subjects(self, property: str, object: str) -> tuple[str, ...]:
        """See GraphStore."""
        return tuple(s for s, p, o in self._edges if (p, o) == (property, object))

    def out_edges(self, subject: str) -> tuple[tuple[str, str], ...]:
        """See GraphStore."""
        return tuple((p, o) for s, p, o in self._edges if s == subject)

    def in_edges(self, object: str, limit: int | None = None) -> tuple[tuple[str, str], ...]:
        """See GraphStore."""
        return tuple((p, s) for s, p, o in self._edges if o == object)[:limit]

    def edges(self, property: str) -> tuple[tuple[str, str], ...]:
        """See GraphStore."""
        return tuple((s, o) for s, p, o in self._edges if p == property)

    def sample_edges(self, property: str, most: int) -> tuple[tuple[str, str], ...]:
        """See GraphStore."""
        return self.edges(property)[:most]

    def properties(self) -> tuple[str, ...]:
        """The properties that the passage's facts are of."""
        held = [one.property for facts in self._facts.values() for one in facts]
        return tuple(dict.fromkeys([*(p for _, p, _ in self._edges), *held]))

    def in_properties(self, object: str) -> list[str]:
        """See GraphStore."""
        return list(dict.fromkeys(p for _, p, o in self._edges if o == object))

    def out_edges_spread(self, subject: str, most: int) -> tuple[tuple[str, str], ...]:
        """See GraphStore."""
        return self.out_edges(subject)[:most]

    def in_edges_spread(self, object: str, most: int) -> tuple[tuple[str, str], ...]:
        """See GraphStore."""
        return self.in_edges(object)[:most]

    def sample_objects(self, property: str, most: int) -> tuple[str, ...]:
        """See GraphStore."""
        return tuple(dict.fromkeys(o for _, o in self.edges(property)))[:most]

    def number(self, id: str) -> int:
        """See GraphStore."""
        return self._whole.number(id)

    def id_of(self, number: int) -> str:
        """See GraphStore."""
        return self._whole.id_of(number)

    def description(self, id: str) -> str:
        """See GraphStore."""
        return self._whole.description(id)

    def stored_description(self, id: str) -> str:
        """See GraphStore."""
        return self._whole.stored_description(id)

    def degree(self, id: str) -> int:
        """See GraphStore."""
        return sum(id in (s, o) for s, _, o in self._edges)

    def literals(self, subject: str, property: str = "") -> tuple[LiteralFact, ...]:
        """See GraphStore."""
        return tuple(one for one in self._facts.get(subject, ()) if property in ("", one.property))

    def literal_subjects(self, property: str) -> tuple[str, ...]:
        """See GraphStore."""
        return tuple(id for id, facts in self._facts.items() if any(one.property == property for one in facts))


class PassageTraversals(GraphTraversals):
    """The planner's moves inside one passage. whole: the moves of the whole graph, for what concerns classes and
    kinds.
    """

    def __init__(self, whole: GraphTraversals, graph: PassageGraph) -> None:
        for name, value in vars(whole).items():
            # What is remembered of the whole graph does not hold in the passage: every memory starts anew.
            looked_up = getattr(value, "__wrapped__", None)
            if looked_up is not None:
                value = functools.lru_cache(1_000)(looked_up.__func__.__get__(self))
            setattr(self, name, value)
        self.graph = graph
        self.facts = GraphFacts(graph, whole.table)
        self.nameable = whole.nameable


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
def _stems_of(property: str, graph: GraphStore, table: PropertyTable) -> frozenset[str]:
    """Stems of the words that tell a property in a text; empty for those that need none (a country)."""
    if property in _CUES:
        return frozenset(content_stems(_CUES[property]))
    entry = table.entity.get(property)
    phrases = [graph.property_label(property), *graph.property_aliases(property)]
    phrases += list(entry.predicate) if entry is not None else list(table.literal[property].year_predicate)
    return frozenset(content_stems(" ".join(phrases).replace("{o}", "").replace("{y}", "")))
