"""What a derivation may ask of the world: a source's facts, or the evidence that travels with an item."""

from __future__ import annotations

import datetime as dt
import functools
from decimal import Decimal
from typing import Protocol

from hopwright.knowledge.properties import LiteralProperty, PropertyTable
from hopwright.knowledge.source import FactGraph
from hopwright.records import Hop, LiteralFact
from hopwright.records.values import Scalar, render


class Facts(Protocol):
    """The questions that derivations ask. Ids are `Q…` and `P…`; empty tuples where nothing is known."""

    def objects(self, subject: str, property: str) -> tuple[str, ...]:
        """All objects of (subject, property, ·), sorted by id number."""
        ...

    def subjects(self, property: str, object: str) -> tuple[str, ...]:
        """All subjects of (·, property, object), sorted by id number."""
        ...

    def scalars(self, subject: str, property: str) -> tuple[Scalar, ...]:
        """The distinct normalised literal values (see PropertyTable.normalise), sorted."""
        ...

    def subjects_of_scalar(self, property: str, value: int | Decimal | dt.date) -> tuple[str, ...]:
        """Entities that have this normalised literal value; an int asked of a date property means the year."""
        ...


class GraphFacts:
    """Facts straight from a source, literals normalised by the property table."""

    def __init__(self, graph: FactGraph, table: PropertyTable) -> None:
        self._graph = graph
        self._table = table
        self._by_value: dict[str, dict[Scalar, set[str]]] = {}
        # Planning, distractors and checks ask for the same few literals again and again.
        self.scalars = functools.lru_cache(100_000)(self._read_scalars)
        self.objects = graph.objects
        self.subjects = graph.subjects

    def subjects_of_scalar(self, property: str, value: int | Decimal | dt.date) -> tuple[str, ...]:
        """See Facts."""
        index = self._by_value.get(property)
        if index is None:
            index = self._by_value[property] = {}
            for subject in self._graph.literal_subjects(property):
                for held in self.scalars(subject, property):
                    index.setdefault(held, set()).add(subject)
                    if isinstance(held, dt.date):
                        index.setdefault(held.year, set()).add(subject)
        return tuple(sorted(index.get(value, ()), key=_number))

    def _read_scalars(self, subject: str, property: str) -> tuple[Scalar, ...]:
        values = {
            value
            for literal in self._graph.literals(subject, property)
            if (value := self._table.read(literal)) is not None
        }
        return tuple(sorted(values, key=str))


class EvidenceFacts:
    """Facts from the evidence of an item's hops only: for counterfactual worlds, and for files read without a graph."""

    def __init__(self, hops: tuple[Hop, ...], table: PropertyTable) -> None:
        self._objects: dict[tuple[str, str], set[str]] = {}
        self._subjects: dict[tuple[str, str], set[str]] = {}
        self._scalars: dict[tuple[str, str], set[Scalar]] = {}
        for hop in hops:
            for triplet in hop.evidence.triplets:
                self._objects.setdefault((triplet.subject, triplet.property), set()).add(triplet.object)
                self._subjects.setdefault((triplet.property, triplet.object), set()).add(triplet.subject)
            for literal in hop.evidence.literals:
                value = table.read(literal)
                if value is not None:
                    self._scalars.setdefault((literal.subject, literal.property), set()).add(value)

    def objects(self, subject: str, property: str) -> tuple[str, ...]:
        """See Facts."""
        return tuple(sorted(self._objects.get((subject, property), ()), key=_number))

    def subjects(self, property: str, object: str) -> tuple[str, ...]:
        """See Facts."""
        return tuple(sorted(self._subjects.get((property, object), ()), key=_number))

    def scalars(self, subject: str, property: str) -> tuple[Scalar, ...]:
        """See Facts."""
        return tuple(sorted(self._scalars.get((subject, property), ()), key=str))

    def subjects_of_scalar(self, property: str, value: int | Decimal | dt.date) -> tuple[str, ...]:
        """See Facts."""
        found = {
            subject
            for (subject, held), values in self._scalars.items()
            if held == property and any(matches(value, one) for one in values)
        }
        return tuple(sorted(found, key=_number))


def read_renown(graph: FactGraph, property: str, entity: str) -> float:
    """How well known something is, from 1 to 5, by the property that rates it, if any; 0 where nobody has rated it."""
    rated = graph.literals(entity, property) if property else ()
    return max((float(one.value) for one in rated), default=0.0)


def matches(wanted: Scalar, held: Scalar) -> bool:
    """Whether a held literal equals the wanted value; a whole number asked of a date means its year."""
    if isinstance(held, dt.date) and not isinstance(wanted, dt.date):
        return held.year == wanted
    if isinstance(held, dt.date) or isinstance(wanted, dt.date):
        return held == wanted
    return Decimal(held) == Decimal(wanted)


def write_literal(fact: LiteralFact, table: PropertyTable) -> str:
    """A literal as answers are written, in its property's unit; a number that the table does not know, as stored."""
    value = table.read(fact)
    if value is not None:
        return write_scalar(value, table.literal[fact.property])
    try:
        return write_scalar(dt.date.fromisoformat(fact.value[:10])) if fact.datatype == "dateTime" else fact.value
    except ValueError:  # before year 1, or no date
        return fact.value


def write_scalar(value: Scalar, entry: LiteralProperty | None = None) -> str:
    """A value of a property as answers are written. The layout has no precision: 1 January stands for a bare year."""
    if isinstance(value, dt.date) and (value.replace(month=1, day=1) == value or (entry and entry.value == "year")):
        return render(value.year, year=True)
    return f"{render(value)} {entry.unit if entry else ''}".rstrip()


def _number(entity: str) -> tuple[int, str]:
    return (int(entity[1:]), "") if entity[1:].isdigit() else (0, entity)
