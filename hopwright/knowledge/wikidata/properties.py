"""Wikidata's property table, loaded from the data beside this module: wording, domains, misleading facts, roles."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources
from typing import Any

from pydantic import ValidationError

from hopwright.errors import InputError
from hopwright.knowledge.properties import DomainRules, EntityProperty, LiteralProperty, PropertyTable
from hopwright.knowledge.wikidata.roles import BORDERS, INCEPTION, ROLES
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
            raise InputError(f"properties.toml, {property}, {where}: {first['msg']}") from None
    lines = resources.files(__package__).joinpath("misleading.tsv").read_text("utf-8").splitlines()
    facts = (line.split("\t") for line in lines if not line.startswith("#"))
    return PropertyTable(
        entity,
        literal,
        frozenset((s, p, o) for s, p, o in facts),
        ROLES,
        _load_domains(),
        load_trust(),
        _load_settled(),
        {BORDERS: _load_borders()},
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
    lines = resources.files(__package__).joinpath("independence.tsv").read_text("utf-8").splitlines()
    return {(INCEPTION, "country"): frozenset(line.partition("\t")[0] for line in lines if not line.startswith("#"))}


def _load_borders() -> dict[str, frozenset[str]]:
    """The neighbours on land of every country that has any."""
    lines = resources.files(__package__).joinpath("land_borders.tsv").read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return {country: frozenset(others) for country, _, *others in rows}


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text("utf-8"))
