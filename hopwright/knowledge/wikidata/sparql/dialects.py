"""The two ways in which endpoints write literals: Wikidata's statements, and plain triples.

Each dialect is a query and a reader of its rows; both give `Statement`s, which `literals` ranks and normalises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hopwright.knowledge.wikidata.sparql.client import SparqlRow
from hopwright.knowledge.wikidata.sparql.terms import (
    check_properties,
    entity_values,
    is_property,
    local_id,
    prologue,
    read_count,
)

Rank = Literal["preferred", "normal"]
_XSD = "http://www.w3.org/2001/XMLSchema#"
_WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"
_POINT = re.compile(r"^\s*(?:<([^>]*)>\s*)?POINT\s*\(\s*(\S+)\s+(\S+)\s*\)\s*$", re.IGNORECASE)
_NUMBERS = frozenset(
    f"{_XSD}{name}"
    for name in (
        "decimal", "integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger",
        "nonPositiveInteger", "negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte",
        "double", "float",
    )
)  # fmt: skip
# Wikidata's precisions: 9 is a year, 10 a month, 11 a day.
_TIMES = {"dateTime": None, "date": 11, "gYearMonth": 10, "gYear": 9}
EARTH = "Q2"


@dataclass(frozen=True, slots=True)
class Statement:
    """What an endpoint says about one subject and property, as it says it.

    `kind` `unknown` stands for Wikidata's "unknown value" and "no value". `unit` is a Q-id, empty where the
    endpoint gives none; `precision` is Wikidata's (9 year, 10 month, 11 day), None where it is not known.
    """

    subject: str
    property: str
    kind: Literal["time", "quantity", "coordinate", "entity", "unknown"]
    rank: Rank | None = None
    value: str = ""
    unit: str = ""
    precision: int | None = None
    calendar: str = ""
    latitude: str = ""
    longitude: str = ""
    globe: str = ""


def write_statement_query(ids: Iterable[str], properties: Sequence[str]) -> str:
    """All statements of these entities and properties that are not deprecated, with their full values."""
    branches = "\n  UNION ".join(
        f"{{ ?s p:{id} ?statement . OPTIONAL {{ ?statement psv:{id} ?value }} BIND(wd:{id} AS ?p) }}"
        for id in check_properties(properties)
    )
    # Where there is no value node, the statement takes its place: it must be bound, or it would match them all.
    return (
        prologue("wd", "p", "psv", "wikibase")
        + "SELECT ?s ?p ?statement ?rank ?time ?precision ?calendar ?amount ?unit ?latitude ?longitude ?globe\n"
        + f"WHERE {{\n  {entity_values('s', ids)}\n  {branches}\n"
        + "  ?statement wikibase:rank ?rank .\n"
        + "  FILTER(?rank != wikibase:DeprecatedRank)\n"
        + "  BIND(COALESCE(?value, ?statement) AS ?node)\n"
        + "  OPTIONAL { ?node wikibase:timeValue ?time ; wikibase:timePrecision ?precision .\n"
        + "    OPTIONAL { ?node wikibase:timeCalendarModel ?calendar } }\n"
        + "  OPTIONAL { ?node wikibase:quantityAmount ?amount ; wikibase:quantityUnit ?unit }\n"
        + "  OPTIONAL { ?node wikibase:geoLatitude ?latitude ; wikibase:geoLongitude ?longitude .\n"
        + "    OPTIONAL { ?node wikibase:geoGlobe ?globe } }\n"
        + "}"
    )


def read_statement(row: SparqlRow) -> Statement | None:
    """One row of `write_statement_query`; None for a deprecated or malformed one."""
    subject, property = _ids(row)
    rank = _read_rank(row)
    if not subject or not property or rank is None:
        return None
    if "time" in row and "precision" in row:
        return Statement(
            subject, property, "time", rank, row["time"].value,
            precision=read_count(row["precision"].value), calendar=_local(row, "calendar"),
        )  # fmt: skip
    if "amount" in row and "unit" in row:
        return Statement(
            subject, property, "quantity", rank, row["amount"].value, unit=_local(row, "unit") or row["unit"].value
        )
    if "latitude" in row and "longitude" in row:
        return Statement(
            subject, property, "coordinate", rank, latitude=row["latitude"].value, longitude=row["longitude"].value,
            globe=_local(row, "globe") or EARTH,
        )  # fmt: skip
    return Statement(subject, property, "unknown", rank)


def write_truthy_query(ids: Iterable[str], properties: Sequence[str]) -> str:
    """All literals that these entities have directly."""
    values = " ".join(f"wdt:{id}" for id in check_properties(properties))
    return (
        prologue("wd", "wdt")
        + "SELECT ?s ?p ?value WHERE {\n"
        + f"  {entity_values('s', ids)}\n  VALUES ?p {{ {values} }}\n  ?s ?p ?value .\n"
        + "  FILTER(isLiteral(?value))\n}"
    )


def read_truthy(row: SparqlRow, units: Mapping[str, str]) -> Statement | None:
    """One row of `write_truthy_query`; None for text and other types. `units` are by property, as set."""
    subject, property = _ids(row)
    term = row.get("value")
    if not subject or not property or term is None:
        return None
    if term.datatype in _NUMBERS:
        return Statement(subject, property, "quantity", value=term.value, unit=units.get(property, ""))
    if term.datatype == _WKT:
        point = _POINT.match(term.value)
        if point is None:
            return None
        globe = local_id(point[1]) if point[1] else EARTH
        return Statement(
            subject, property, "coordinate", longitude=point[2], latitude=point[3], globe=globe or point[1]
        )
    name = term.datatype.removeprefix(_XSD)
    if name in _TIMES:
        return Statement(subject, property, "time", value=_complete(term.value, name), precision=_TIMES[name])
    return None


def write_object_query(ids: Iterable[str], properties: Sequence[str], *, statements: bool) -> str:
    """The entities that these subjects have for these properties."""
    if not statements:
        values = " ".join(f"wdt:{id}" for id in check_properties(properties))
        return (
            prologue("wd", "wdt")
            + f"SELECT ?s ?p ?o WHERE {{\n  {entity_values('s', ids)}\n  VALUES ?p {{ {values} }}\n"
            + "  ?s ?p ?o .\n}"
        )
    branches = "\n  UNION ".join(
        f"{{ ?s p:{id} ?statement . OPTIONAL {{ ?statement ps:{id} ?o }} BIND(wd:{id} AS ?p) }}"
        for id in check_properties(properties)
    )
    return (
        prologue("wd", "p", "ps", "wikibase")
        + f"SELECT ?s ?p ?statement ?rank ?o WHERE {{\n  {entity_values('s', ids)}\n  {branches}\n"
        + "  ?statement wikibase:rank ?rank .\n  FILTER(?rank != wikibase:DeprecatedRank)\n}"
    )


def read_object(row: SparqlRow) -> Statement | None:
    """One row of `write_object_query`: `value` is the object's id; of kind `unknown` where it is no entity."""
    subject, property = _ids(row)
    rank = _read_rank(row) if "rank" in row else None
    if not subject or not property or ("rank" in row and rank is None):
        return None
    term = row.get("o")
    id = local_id(term.value) if term is not None and term.kind == "uri" else ""
    if not id or is_property(id):
        return Statement(subject, property, "unknown", rank)
    return Statement(subject, property, "entity", rank, value=id)


def keep_best(statements: Iterable[Statement]) -> list[Statement]:
    """The statements of the best rank for each subject and property: preferred ones, else the normal ones.

    A preferred "unknown value" silences the normal ones too, as it does in Wikidata's truthy triples.
    """
    kept: dict[tuple[str, str], list[Statement]] = {}
    for one in dict.fromkeys(statements):
        kept.setdefault((one.subject, one.property), []).append(one)
    best = []
    for group in kept.values():
        preferred = [one for one in group if one.rank == "preferred"]
        best.extend(preferred or group)
    return best


def _ids(row: SparqlRow) -> tuple[str, str]:
    subject, property = _local(row, "s"), _local(row, "p")
    return (subject, property) if subject and is_property(property) else ("", "")


def _local(row: SparqlRow, name: str) -> str:
    term = row.get(name)
    return local_id(term.value) if term is not None and term.kind == "uri" else ""


def _read_rank(row: SparqlRow) -> Rank | None:
    name = row["rank"].value.rpartition("#")[2] if "rank" in row else ""
    if name == "PreferredRank":
        return "preferred"
    return "normal" if name == "NormalRank" else None


def _complete(value: str, name: str) -> str:
    """A date or a year written as a dateTime."""
    sign, rest = ("-", value[1:]) if value.startswith("-") else ("", value)
    if name == "dateTime":
        return value
    digits = rest.removesuffix("Z").split("+")[0].split("-")
    digits = [*digits, "01", "01"][:3]
    return f"{sign}{'-'.join(digits)}T00:00:00Z"
