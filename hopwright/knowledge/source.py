"""What a source of facts gives: planning, proofs and wording ask nothing else of it.

A source is one folder beside this module. Entity ids begin with `Q`, property ids are `P` and a number: expressions
are written with them. Unknown ids give empty results. All answers are in a fixed order, since random draws follow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hopwright.knowledge.properties import PropertyTable
from hopwright.records import LiteralFact
from hopwright.records.values import EntityKind

"""What rests on a list being complete: counting it, or asking who alone has a value."""


class FactGraph(Protocol):
    """Entities, their names, and the facts that join them or give them a number or a date."""

    def __hash__(self) -> int:
        """Graphs are keys of caches."""
        ...

    def __contains__(self, id: str) -> bool:
        """Whether the source knows the entity."""
        ...

    def label(self, id: str) -> str:
        """The entity's name; empty when it has none."""
        ...

    def aliases(self, id: str) -> tuple[str, ...]:
        """The entity's other names."""
        ...

    def bearers(self, name: str, *, by_label: bool = False) -> tuple[str, ...]:
        """The entities that a name may mean, the likeliest first; with `by_label`, those whose label it is."""
        ...

    def knows_name(self, name: str) -> bool:
        """Whether any entity bears a name, letter case aside."""
        ...

    def property_label(self, property: str) -> str:
        """The property's name; empty when it has none."""
        ...

    def property_aliases(self, property: str) -> tuple[str, ...]:
        """The property's other names."""
        ...

    def page_url(self, id: str) -> str:
        """An address at which a reader finds the entity described; empty without one."""
        ...

    def degree(self, id: str) -> int:
        """The number of facts that join the entity to others: how well known it is."""
        ...

    def objects(self, subject: str, property: str) -> tuple[str, ...]:
        """All objects of (subject, property, ·)."""
        ...

    def subjects(self, property: str, object: str) -> tuple[str, ...]:
        """All subjects of (·, property, object)."""
        ...

    def out_edges(self, subject: str) -> tuple[tuple[str, str], ...]:
        """(property, object) of every fact that the entity is subject of, facts of one property together."""
        ...

    def in_properties(self, object: str) -> Sequence[str]:
        """The distinct properties of the facts that the entity is object of."""
        ...

    def in_edges_spread(self, object: str, most: int) -> tuple[tuple[str, str], ...]:
        """At most so many (property, subject) of the facts that the entity is object of, shared among properties."""
        ...

    def sample_edges(self, property: str, most: int) -> tuple[tuple[str, str], ...]:
        """At most so many (subject, object) of a property, evenly spread over its facts."""
        ...

    def sample_objects(self, property: str, most: int) -> tuple[str, ...]:
        """At most so many distinct objects of a property, evenly spread over its facts."""
        ...

    def literals(self, subject: str, property: str = "") -> tuple[LiteralFact, ...]:
        """The entity's numbers and dates as the source writes them; of one property if named."""
        ...

    def literal_subjects(self, property: str) -> tuple[str, ...]:
        """The entities that have a number or a date of the property."""
        ...


class EntityKinds(Protocol):
    """What an entity is in plain English."""

    def kind(self, id: str) -> EntityKind:
        """The coarse kind; `other` where nothing is known."""
        ...

    def sort(self, id: str) -> str:
        """The finer class whose members compare with each other and can stand in each other's place."""
        ...

    def noun(self, id: str) -> str:
        """The nearest common noun, singular, without an article: `film`, `Italian municipality`."""
        ...

    def phrase(self, id: str) -> str:
        """The label as it stands in running text, with its article or quotation marks."""
        ...


class ListCompleteness(Protocol):
    """What a source knows of what it lacks, by property. A property that it cannot judge allows nothing."""

    def allows_counting(self, property: str) -> bool:
        """Whether the number of a subject's values may be asked for."""
        ...

    def allows_reverse(self, property: str) -> bool:
        """Whether the one subject of a value may be asked for."""
        ...

    def explain(self, property: str) -> str:
        """What is known of whether a value of the property has one subject: a sentence."""
        ...


class FactSource(Protocol):
    """A source of knowledge: its facts, the table that words them, what entities are, and which lists are whole."""

    @property
    def graph(self) -> FactGraph:
        """Entities and facts."""
        ...

    @property
    def table(self) -> PropertyTable:
        """How properties are worded and read, and the roles that they play."""
        ...

    @property
    def kinds(self) -> EntityKinds:
        """Kinds, sorts and nouns of entities."""
        ...

    @property
    def completeness(self) -> ListCompleteness:
        """Which lists are complete."""
        ...
