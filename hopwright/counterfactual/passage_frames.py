"""Sentences of passages that tell several facts at once, and which of them fit (`passage_frames.toml`)."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from importlib import resources
from typing import Any

from hopwright.knowledge import wikidata
from hopwright.records.values import EntityKind
from hopwright.text.articles import article
from hopwright.text.phrases import plain_noun

_SLOT = re.compile(r"\{(\w+)\}")
_GRAMMAR = frozenset({"s", "it", "its", "is", "has", "stands", "belongs", "name", "noun", "a"})
_YEAR = re.compile(r"^in (\d{1,4})$")
LAST_GROUP = 99


@dataclass(frozen=True, slots=True)
class ToldFact:
    """The value of one fact as it stands in a sentence. many: whether it is a list of several."""

    told: str
    many: bool = False

    @property
    def year(self) -> str:
        """The bare year of a value that is told as `in 1956`; empty otherwise."""
        match = _YEAR.match(self.told)
        return match[1] if match else ""


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence with slots. slots: (placeholder, role) of the facts that it tells, each role once."""

    text: str
    slots: tuple[tuple[str, str], ...]
    with_noun: bool

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of the facts, in the order of the sentence."""
        return tuple(role for _, role in self.slots)

    def fits(self, facts: Mapping[str, ToldFact], manners: Mapping[str, str]) -> bool:
        """Whether every slot can be filled, and of nobody it is left out how they did what they did."""
        apart = (manners[role] for role in self.roles if role in manners)
        return all(_write(slot, role, facts) for slot, role in self.slots) and not any(
            manner in facts and manner not in self.roles for manner in apart
        )

    def fill(self, facts: Mapping[str, ToldFact]) -> str:
        """The sentence with the facts in it; what stands for the subject is left."""
        text = self.text
        for slot, role in self.slots:
            text = text.replace(f"{{{slot}}}", _write(slot, role, facts))
        return text


@dataclass(frozen=True, slots=True)
class FrameFamily:
    """The sentences for one sort of subject.

    groups: role → the place of its group in a passage. called: noun → what stands for it. manners: role → the role of
    what says how somebody played it.
    """

    groups: Mapping[str, int]
    openings: tuple[Frame, ...]
    frames: tuple[Frame, ...]
    called: Mapping[str, str]
    manners: Mapping[str, str]


_NO_FAMILY = FrameFamily({}, (), (), {}, {})


def find_family(series: Set[str], noun: str, kind: EntityKind, properties: Iterable[str]) -> FrameFamily:
    """The sentences for a subject: by its series, by its noun together with what is told of it, by its kind."""
    words = plain_noun(noun).lower()
    told = set(properties)
    for match, family in _load()[1]:
        known = words in match.nouns if match.nouns else bool(match.properties)
        if series & match.series or (known and (not match.properties or told & match.properties)):
            return family
    return next((family for match, family in _load()[1] if kind in match.kinds), _NO_FAMILY)


def find_role(property: str) -> str:
    """The role that a property plays in the sentences; empty for none."""
    return _load()[0].get(property, "")


def list_properties(role: str) -> tuple[str, ...]:
    """The properties that play a role."""
    return tuple(property for property, one in _load()[0].items() if one == role)


@dataclass(frozen=True, slots=True)
class _Match:
    series: frozenset[str]
    nouns: frozenset[str]
    properties: frozenset[str]
    kinds: frozenset[str]


def _write(slot: str, role: str, facts: Mapping[str, ToldFact]) -> str:
    fact = facts.get(role)
    if fact is None:
        return ""
    if slot == f"{role}1":
        return "" if fact.many else fact.told
    if slot == f"{role}_year":
        return fact.year
    if slot == f"a_{role}":
        return f"{article(fact.year)} {fact.year}" if fact.year else ""
    return fact.told


def _read_frame(text: str, roles: Set[str]) -> Frame:
    slots: list[tuple[str, str]] = []
    for slot in dict.fromkeys(_SLOT.findall(text)):
        if slot in _GRAMMAR:
            continue
        role = next(one for one in (slot, slot.removesuffix("1"), slot.removesuffix("_year"), slot[2:]) if one in roles)
        slots.append((slot, role))
    return Frame(text, tuple(slots), "{a}" in text or "{noun}" in text)


@functools.cache
def _load() -> tuple[Mapping[str, str], tuple[tuple[_Match, FrameFamily], ...]]:
    raw: dict[str, dict[str, Any]] = tomllib.loads(
        resources.files(wikidata).joinpath("passage_frames.toml").read_text("utf-8")
    )
    roles = {property: role for role, properties in raw.pop("roles").items() for property in properties}
    known = set(roles.values())
    families = []
    for entry in raw.values():
        match = _Match(*(frozenset(entry.get(key, ())) for key in ("series", "nouns", "properties", "kinds")))
        groups = {role: place for place, group in enumerate(entry["groups"]) for role in group}
        openings, frames = (tuple(_read_frame(text, known) for text in entry[key]) for key in ("openings", "frames"))
        family = FrameFamily(groups, openings, frames, entry.get("called", {}), entry.get("manners", {}))
        families.append((match, family))
    return roles, tuple(families)
