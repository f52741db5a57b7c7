"""Literals of many entities from an endpoint, ranked and normalised, as the records that a graph store holds.

What cannot be compared with other values of its property (an unknown unit, a date known to the century only) is
kept apart with the reason: it is written to a file of its own, and no graph takes it in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from hopwright.errors import ServiceError
from hopwright.knowledge.wikidata.sparql.client import SparqlClient
from hopwright.knowledge.wikidata.sparql.dialects import (
    EARTH,
    Rank,
    Statement,
    keep_best,
    read_statement,
    read_truthy,
    write_statement_query,
    write_truthy_query,
)
from hopwright.knowledge.wikidata.sparql.terms import check_entities, check_properties
from hopwright.knowledge.wikidata.sparql.units import name_unit, normalise, write_number
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import LiteralFact

LATITUDE = "Latitude"
LONGITUDE = "Longtiude"
"""What the corpus writes in the place of a coordinate's unit; the spelling is the corpus's own."""
YEAR, DAY = 9, 11
"""Wikidata's precisions of a date that is known to the year, and to the day."""
_JULIAN = "Q1985786"
_DATE = re.compile(r"^([+-]?)(\d{4,})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?$")
_COARSE = {8: "decade", 7: "century", 6: "millennium"}

LiteralOrigin = Literal["endpoint", "store"]


@dataclass(frozen=True, slots=True)
class FetchedLiteral:
    """A literal as a graph store holds it, and what the endpoint says beyond that.

    `fact` is normalised: quantities in base units, dates known to the month or the year as 1 January of that year
    (the layout has no precision, and a 1 January is read as a bare year). `original` and `original_unit` are the
    endpoint's own; `precision` is Wikidata's, None where it is not known. `apart` says why the value may not be
    compared with others; empty means that it may.
    """

    fact: LiteralFact
    origin: LiteralOrigin = "endpoint"
    rank: Rank | None = None
    precision: int | None = None
    original: str = ""
    original_unit: str = ""
    apart: str = ""


@dataclass(frozen=True, slots=True)
class LiteralBatch:
    """The literals of some entities. `unknown`: pairs of subject and property of which only that is known."""

    entities: tuple[str, ...]
    literals: tuple[FetchedLiteral, ...]
    origin: LiteralOrigin
    unknown: tuple[tuple[str, str], ...] = ()


class LiteralSource:
    """Literals from an endpoint, batch by batch; from a store where the endpoint cannot be had.

    Without a client everything comes from the store. Without a store a failing endpoint raises ServiceError. An
    endpoint that fails once (after all tries) is not asked again: what the cache knows still comes from there, the
    rest from the store, and `note` says so. Cached answers older than `max_age_s` seconds are asked for again.
    """

    def __init__(
        self, client: SparqlClient | None, store: GraphStore | None = None, *, max_age_s: float | None = None
    ) -> None:
        if client is None and store is None:
            raise ValueError("a client or a store is needed")
        self._client = client
        self._store = store
        self._max_age_s = max_age_s
        self.note = "" if client is not None else "offline: these are the store's own literals"
        self._down = client is None

    def batches(
        self, ids: Iterable[str], properties: Sequence[str], progress: Callable[[int, int], None] | None = None
    ) -> Iterator[LiteralBatch]:
        """The entities' literals of these properties, in batches by number; `progress` gets batches done and all.

        Raises InputError for a malformed id, ServiceError when the endpoint fails and there is no store.
        """
        wanted, asked = check_entities(ids), check_properties(properties)
        size = self._client.settings.batch_size if self._client is not None else 1000
        total = -(-len(wanted) // size)
        for number in range(total if asked else 0):
            batch = tuple(wanted[number * size : (number + 1) * size])
            yield self._fetch(batch, asked) or self._fall_back(batch, asked)
            if progress is not None:
                progress(number + 1, total)

    def _fetch(self, batch: tuple[str, ...], properties: list[str]) -> LiteralBatch | None:
        """The endpoint's batch; None when it is down and the cache does not know it."""
        if self._client is None:
            return None
        try:
            statements = self._client.has_statements()
            query = (write_statement_query if statements else write_truthy_query)(batch, properties)
            if self._down and not self._client.is_cached(query):
                return None
            rows = self._client.select(query, max_age_s=self._max_age_s)
        except ServiceError as error:
            if self._store is None:
                raise
            if not self._down:
                self._down = True
                self.note = f"{error}; the store's own literals stand in"
            return None
        units = self._client.settings.truthy_units
        found = [read_statement(row) if statements else read_truthy(row, units) for row in rows]
        best = keep_best(one for one in found if one is not None)
        literals = {literal for one in best for literal in read_literals(one, self._store)}
        unknown = {(one.subject, one.property) for one in best if one.kind == "unknown"}
        return LiteralBatch(batch, tuple(sorted(literals, key=_place)), "endpoint", tuple(sorted(unknown)))

    def _fall_back(self, batch: tuple[str, ...], properties: list[str]) -> LiteralBatch:
        assert self._store is not None
        wanted = set(properties)
        literals = [
            FetchedLiteral(fact, "store", original=fact.value, original_unit=fact.unit)
            for id in batch
            for fact in self._store.literals(id)
            if fact.property in wanted
        ]
        return LiteralBatch(batch, tuple(sorted(literals, key=_place)), "store")


def read_literals(statement: Statement, labels: GraphStore | None) -> Iterator[FetchedLiteral]:
    """The literals of one statement: one, or two of a coordinate (latitude and longitude), or none where the value
    is unknown."""
    if statement.kind == "time":
        yield _read_time(statement, labels)
    elif statement.kind == "quantity":
        yield _read_quantity(statement, labels)
    elif statement.kind == "coordinate":
        apart = "" if statement.globe == EARTH else f"lies on {statement.globe}, not on Earth"
        for part, value in ((LATITUDE, statement.latitude), (LONGITUDE, statement.longitude)):
            fact = _fact(statement, labels, value, part, "double")
            yield FetchedLiteral(fact, rank=statement.rank, original=value, apart=apart)


def known_literal_properties(store: GraphStore) -> tuple[str, ...]:
    """The properties of which the store holds literals."""
    return tuple(property for property in store.properties() if store.literal_subjects(property))


def _read_time(statement: Statement, labels: GraphStore | None) -> FetchedLiteral:
    value, apart = statement.value, ""
    precision = statement.precision
    date = _DATE.match(value)
    if date is None:
        apart = "no date that can be read"
    else:
        year, month, day = f"{'-' if date[1] == '-' else ''}{date[2]}", date[3], date[4]
        # The day of a date in the old calendar differs with who converts it; its year hardly ever does.
        whole = precision is None or (precision >= DAY and statement.calendar != _JULIAN)
        value = f"{year}-{month}-{day}T00:00:00Z" if whole else f"{year}-01-01T00:00:00Z"
        if precision is not None and precision < YEAR:
            apart = f"known to the {_COARSE.get(precision, 'geological age')} only"
    fact = _fact(statement, labels, value, "", "dateTime")
    return FetchedLiteral(fact, rank=statement.rank, precision=precision, original=statement.value, apart=apart)


def _read_quantity(statement: Statement, labels: GraphStore | None) -> FetchedLiteral:
    known = normalise(statement.value, statement.unit)
    if known is not None:
        value, unit, apart = write_number(known.value), known.unit, ""
    else:
        value, unit = statement.value, statement.unit
        apart = f"unknown unit: {name_unit(unit)}" if unit else "the endpoint gives no unit"
    fact = _fact(statement, labels, value, unit, "decimal")
    return FetchedLiteral(
        fact, rank=statement.rank, original=statement.value, original_unit=statement.unit, apart=apart
    )


def _fact(
    statement: Statement,
    labels: GraphStore | None,
    value: str,
    unit: str,
    datatype: Literal["decimal", "dateTime", "double"],
) -> LiteralFact:
    return LiteralFact(
        subject=statement.subject,
        property=statement.property,
        value=value,
        unit=unit,
        datatype=datatype,
        subject_label=labels.label(statement.subject) if labels is not None else "",
        property_label=labels.property_label(statement.property) if labels is not None else "",
    )


def _place(literal: FetchedLiteral) -> tuple[int, int, str, str, str, str]:
    fact = literal.fact
    number = int(fact.subject[1:]), int(fact.property[1:])
    return (*number, fact.value, fact.unit, literal.original, f"{literal.precision} {literal.rank}")
