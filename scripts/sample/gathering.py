"""What is gathered from all sources: names, triplets, dates and numbers, each with the sources that state it."""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hopwright.knowledge.wikidata.nouns import KindIndex
from sample.days import Day

RULES: dict[str, Any] = tomllib.loads(Path(__file__).parents[1].joinpath("make_sample.toml").read_text("utf-8"))
HUMAN, COUNTRY, PROFESSION = "Q5", "Q6256", "Q28640"
TAIL = re.compile(r"\s*\([^()]*\)$")
"""What tells namesakes apart in a title."""


@dataclass(slots=True)
class Merge:
    """What is gathered: names, triplets and claims about literals, each with the sources that make it."""

    names: dict[str, list[str]]
    relations: dict[str, list[str]]
    base: set[tuple[str, str, str]]
    literals: dict[tuple[str, str], list[tuple[str, str, str]]]
    """(subject, property): [(unit, value, type)], of Wikidata's file."""
    labels: dict[str, str]
    edges: dict[tuple[str, str, str], set[str]] = field(default_factory=dict)
    days: dict[tuple[str, str], dict[str, set[Day]]] = field(default_factory=dict)
    numbers: dict[tuple[str, str], tuple[str, str, str, str]] = field(default_factory=dict)
    """(subject, property): (unit, value, year, source), where Wikidata's file has none or an undated one."""
    points: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """subject: (latitude, longitude, source), in degrees; where Wikidata's file has none."""
    timelines: set[tuple[str, str, str]] = field(default_factory=set)
    """(holder, timeline, year)"""
    disagreements: list[tuple[str, str, str, str]] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    taken: Counter[str] = field(default_factory=Counter)
    drop: set[tuple[str, str]] = field(default_factory=set)

    def add_edge(self, subject: str, property: str, object: str, source: str) -> None:
        """Note a triplet; one that is there already, or a loop, says nothing."""
        if subject == object:
            self.refused[f"{source}: a loop"] += 1
        elif (subject, property, object) in self.base:
            self.refused[f"{source}: known"] += 1
        else:
            self.edges.setdefault((subject, property, object), set()).add(source)

    def add_day(self, subject: str, property: str, day: Day | None, source: str) -> None:
        """Note a date that a source states."""
        if day is None:
            self.refused[f"{source}: unreadable date"] += 1
        else:
            self.days.setdefault((subject, property), {}).setdefault(source, set()).add(day)


class Names:
    """Entities by their names, with what is known of what they are."""

    def __init__(self, merge: Merge, kinds: KindIndex, texts: Mapping[str, str]) -> None:
        self._kinds = kinds
        self.texts = texts
        self._labels: dict[str, set[str]] = defaultdict(set)
        self._any: dict[str, set[str]] = defaultdict(set)
        self.added: dict[str, str] = {}
        """Kinds of entities that Wikidata's files do not have."""
        for id, names in merge.names.items():
            self.learn(id, names)

    def learn(self, id: str, names: Iterable[str]) -> None:
        """Note an entity's names, its label first."""
        for number, name in enumerate(names):
            self._any[name].add(id)
            if not number:
                self._labels[name].add(id)

    def kind(self, id: str) -> str:
        """What an entity is, coarsely."""
        return self.added.get(id) or (self._kinds.kind(id) if id in self._kinds.graph else "other")

    def sort(self, id: str) -> str:
        """What an entity is, in a word."""
        return self._kinds.sort(id) if id in self._kinds.graph else ""

    def link(self, name: str, kinds: Iterable[str], *, labels: bool = False) -> str:
        """The only entity of one of these kinds with this name, or an empty string. Very short names say nothing.

        With `labels`, an alias is not enough.
        """
        name = re.sub(r"\s+", " ", name).strip()
        if len(name) < 4:
            return ""
        wanted = frozenset(kinds)
        found = self._any.get(name, set())
        fitting = [id for id in found if self.kind(id) in wanted]
        # A name that something of another kind has too is no sure sign, unless it is that one's alias only.
        others = [id for id in self._labels.get(name, set()) if id not in fitting]
        if len(fitting) != 1 or others or (labels and fitting[0] not in self._labels.get(name, ())):
            return ""
        return fitting[0]

    def noun(self, id: str) -> str:
        """What an entity is called, in a common noun."""
        return self._kinds.noun(id) if id in self._kinds.graph else ""

    def bearers(self, name: str) -> list[str]:
        """All entities that bear a name, as a label or as an alias."""
        return sorted(self._any.get(name, ()))

    def labelled(self, name: str) -> list[str]:
        """All entities with this label."""
        return sorted(self._labels.get(name, ()))


def containers(merge: Merge) -> dict[str, set[str]]:
    """What every entity lies in, one step up."""
    inside: dict[str, set[str]] = defaultdict(set)
    for subject, property, object in merge.base:
        if property in ("P131", "P17", "P361", "P276"):
            inside[subject].add(object)
    return inside


def contains(inside: Mapping[str, set[str]], inner: str, outer: str) -> bool:
    """Whether one lies in the other, over any number of steps."""
    seen, todo = {inner}, [inner]
    while todo:
        for one in inside.get(todo.pop(), ()):
            if one == outer:
                return True
            if one not in seen:
                seen.add(one)
                todo.append(one)
    return False
