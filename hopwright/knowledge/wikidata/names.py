"""How entities of a graph are called in running text."""

from __future__ import annotations

import functools

from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.roles import ROLES
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records.values import EntityKind
from hopwright.text.phrases import plain_noun

# Nouns that tell nobody what a name stands for.
_VAGUE = frozenset({"person", "thing", "class", "natural feature", "transport link", "event", "work", "place", "other"})
_PLAIN = frozenset({"chemical element", "company", "business", "invention", "discovery"})
"""What needs no common noun beside the role of whoever found or founded it."""
_ART = frozenset({"painting", "sculpture"})
_CAME_OUT = (ROLES.release, "P990146", "P990149", "P990150")
"""Release, painting, publication, first performance."""
_PRONOUNS = {"male": "he", "female": "she"}
_SETTLED = frozenset({"city", "town", "village", "municipality", "commune", "settlement", "suburb", "neighbourhood"})
# What so many facts mention is known by its bare name.
_KNOWN = 60


class GraphNames:
    """Names from the graph's labels (the writer's `Names`)."""

    def __init__(self, kinds: KindIndex) -> None:
        self._kinds = kinds
        self._graph: GraphStore = kinds.graph
        self.phrase = functools.lru_cache(100_000)(self._phrase)

    def dated_phrase(self, entity: str) -> str:
        """The name; of a film, a song or a book with the year of its release, so that it is no other of that name."""
        phrase = self.phrase(entity)
        if self._kinds.kind(entity) != "work":
            return phrase
        years = {fact.value[:4] for property in _CAME_OUT for fact in self._graph.literals(entity, property)}
        noun = plain_noun(self._kinds.noun(entity))
        if len(years) != 1 or noun in _VAGUE or any(year in phrase for year in years):
            return phrase
        title = phrase.removeprefix(f"the {noun} of ").removeprefix(f"the {noun} ")
        if noun in _ART:
            return f"{title} ({min(years)})"  # who painted the 1852 painting?
        return f"the {noun} {title} ({min(years)})"

    def has_made(self, maker: str, work: str) -> bool:
        """Whether a work is one of the whole lists of somebody."""
        return any(work in self._graph.objects(maker, one) for one in default_table().lists)

    def maker_role(self, maker: str, work: str) -> str:
        """As what somebody made a work, such as `director`; empty for who did not, or had another part in it."""
        table = default_table()
        joining = [property for property, other in self._graph.out_edges(work) if other == maker]
        known = [table.entity[one].role for one in joining if one in table.entity and one not in table.credits]
        return known[0] if len(known) == len(joining) == 1 else ""

    def pronoun(self, entity: str) -> str:
        """`he` or `she`, by the gender that the graph states; empty without one."""
        stated = {ROLES.genders.get(one, "") for one in self._graph.objects(entity, ROLES.gender)}
        return _PRONOUNS.get(stated.pop(), "") if len(stated) == 1 else ""

    def noun(self, entity: str) -> str:
        """A common noun for the entity."""
        return self._kinds.noun(entity)

    def kind(self, entity: str) -> EntityKind:
        """Its coarse class."""
        return self._kinds.kind(entity)

    def _phrase(self, entity: str) -> str:
        """The label with its article or quotation marks; short and shared names with their common noun before them."""
        phrase = self._kinds.phrase(entity)
        if self._kinds.kind(entity) == "animal":
            return f"the Classic winner {phrase}"  # who rode it is asked of its victories
        noun = plain_noun(self._kinds.noun(entity))
        if noun in _VAGUE | _PLAIN or phrase.startswith("the ") or not self._needs_noun(entity, noun):
            return phrase
        return f"the {noun} of {phrase}" if noun in _SETTLED else f"the {noun} {phrase}"

    def _needs_noun(self, entity: str, noun: str) -> bool:
        """Whether the bare name leaves open what it means."""
        label, kind = self._graph.label(entity), self._kinds.kind(entity)
        words = label.split()
        if kind in ("country", "fiction") or {word.lower() for word in words} & set(noun.split()):
            return False
        if kind == "work":
            return len(words) == 1 or len(self._graph.bearers(label, by_label=True)) > 1
        if kind in ("place", "nature"):
            return len(label) <= 4 and self._graph.degree(entity) < _KNOWN
        if kind == "person":
            return len(words) == 1 or len(self._graph.matches(label)) > 1
        return len(words) == 1 and self._graph.degree(entity) < _KNOWN
