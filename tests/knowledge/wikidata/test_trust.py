"""trust.toml: every property of the table is judged, and the judgements do not contradict each other."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import hopwright.knowledge.wikidata
from hopwright.knowledge.wikidata.properties import default_table

TRUST: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(hopwright.knowledge.wikidata.__file__).parent / "trust.toml").read_text("utf-8")
)
FLAGS = ("dated", "disputed", "many_valued", "list_complete", "symmetric", "containment")
MEASURED = ("facts", "several", "both_ways", "reversed")


def test_every_property_of_the_table_is_judged() -> None:
    table = default_table()
    assert not (table.entity.keys() | table.literal.keys()) - TRUST.keys()
    for property, entry in TRUST.items():
        assert all(isinstance(entry[flag], bool) for flag in FLAGS), property
        assert not entry.keys() - {*FLAGS, *MEASURED, "inverse", "reason"}, property


def test_inverses_are_mutual() -> None:
    for property, entry in TRUST.items():
        for other in entry["inverse"]:
            assert other not in TRUST or property in TRUST[other]["inverse"], (property, other)
        assert not (entry["symmetric"] and entry["inverse"]), property


def test_what_stands_both_ways_is_known_to_be_symmetric() -> None:
    for property, entry in TRUST.items():
        if entry.get("both_ways", 0) > 0.2:
            assert entry["symmetric"], property


def test_what_has_one_value_seldom_has_several() -> None:
    for property, entry in TRUST.items():
        if not entry["many_valued"] and entry.get("facts", 0) >= 10:
            assert entry["several"] <= 0.15, property
