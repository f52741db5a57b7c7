"""Wikidata's property table, loaded from the data beside this module: wording, domains, misleading facts, roles."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources
from typing import Any

from pydantic import ValidationError

from hopwright.errors import InputError
from hopwright.foreign import explain_invalid
from hopwright.knowledge.properties import DomainRules, EntityProperty, LiteralProperty, PropertyTable
from hopwright.knowledge.wikidata.roles import BORDERS, INCEPTION, ROLES
from hopwright.knowledge.wikidata.series import load_series
from hopwright.knowledge.wikidata.trust import load_trust
from hopwright.records import Domain
from hopwright.records.values import EntityKind


@functools.cache
def default_table() -> PropertyTable:
    """Load the shipped table. Raises InputError naming the property and the field that is wrong."""
    raw = _read("properties.toml")
    entity: dict[str, EntityProperty] = {}
    literal: dict[str, LiteralProperty] = {}
    for property, fields in raw.items():
        try:
            if "value" in fields:
                literal[property] = LiteralProperty(**fields)
            else:
                entity[property] = EntityProperty(**fields)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InputError(f"properties.toml, {property}, {where}: {explain_invalid(first)}") from None
    for series in load_series():
        literal[series.property] = series.place
        entity |= series.columns
    return PropertyTable(
        entity,
        literal,
        frozenset((s, p, o) for s, p, o in _read_rows("misleading.tsv")),
        ROLES,
        _load_domains(),
        load_trust(),
        _load_settled(),
        {BORDERS: _load_borders()},
        _load_disputed(),
        {state: continent for state, _, continent in _read_rows("continents.tsv")},
        _load_unlisted(),
    )


def _load_domains() -> DomainRules:
    raw = _read("domains.toml")
    return DomainRules(
        by_subject=frozenset(raw["by_subject"]),
        by_noun={noun: Domain(name) for noun, name in raw["noun"].items()},
        by_kind={kind: Domain(name) for kind, name in raw["kind"].items()},
    )


def _load_settled() -> dict[tuple[str, EntityKind], frozenset[str]]:
    """The founding of a state is asked only where it is its independence, and of one undisputed year."""
    return {(INCEPTION, "country"): frozenset(state for state, *_ in _read_rows("independence.tsv"))}


def _load_borders() -> dict[str, frozenset[str]]:
    """The neighbours on land of every country that has any."""
    return {country: frozenset(others) for country, _, *others in _read_rows("land_borders.tsv")}


def _load_disputed() -> dict[str, dict[str, str]]:
    """What nobody is asked about a state, and why."""
    disputed: dict[str, dict[str, str]] = {}
    for entity, _, property, reason in _read_rows("disputed.tsv"):
        disputed.setdefault(property, {})[entity] = reason
    return disputed


def _load_unlisted() -> dict[str, frozenset[int]]:
    """The years in which somebody brought out what some would put on a whole list of theirs."""
    years: dict[str, set[int]] = {}
    for maker, _, year, _ in _read_rows("unlisted.tsv"):
        years.setdefault(maker, set()).add(int(year))
    return {maker: frozenset(found) for maker, found in years.items()}


def _read_rows(name: str) -> list[list[str]]:
    lines = resources.files(__package__).joinpath(name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text("utf-8"))
