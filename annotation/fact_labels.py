"""What a property is called on the pages: its label, or how the questions call it; never an id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from hopwright.knowledge.wikidata.properties import default_table

_EVENT = re.compile(r"(?:the )?(.+) of \{s\}")
_PROPERTY, _ENTITY = re.compile(r"\bP\d+\b"), re.compile(r"\bQ\w+\b")
_EXTREMES = {"argmax of": "the largest", "argmin of": "the smallest"}
_ID = re.compile(r"[PQ][0-9A-Za-z_]*\d")


def label_property(property: str, stated: str = "") -> str:
    """A property's label; of one that the table does not know, what an item states, or words that say nothing."""
    label = default_table().label(property)
    if label == property:
        label = stated
    return "value" if not label or _ID.fullmatch(label) else label


def label_literal(property: str, subject: str, stated: str = "") -> str:
    """The same of a fact about a subject: of a state the `independence`, as its questions say, not the `inception`."""
    table = default_table()
    entry = table.literal.get(property)
    if entry is None or subject not in table.continents:
        return label_property(property, stated)
    events = entry.worded("country").event
    match = _EVENT.fullmatch(events[0]) if events and events != entry.event else None
    return match[1] if match else label_property(property, stated)


def label_relation(property: str, subject: str, stated: str = "") -> str:
    """The same of a fact about two entities: where lists are of land borders, `shares a land border with`."""
    table = default_table()
    if property in table.closed and subject in table.continents:
        predicate = table.entity[property].worded("country", "country").predicate[0]
        return predicate.removesuffix(" {o}")
    return label_property(property, stated)


def name_group(property: str, owner: str) -> str:
    """All that an owner has of a property: `countries that border Peru`, `those in the cast of Rocky`."""
    entry = default_table().entity.get(property)
    if entry is None or not entry.group:
        return f"all entries for “{label_property(property)}” of {owner}"
    told = entry.group[-1].format(s=owner)
    return f"those {told}" if told.split()[0] in ("among", "heard", "in", "on") else told


def say_plainly(text: str, labels: Mapping[str, str]) -> str:
    """What a check says, with labels for ids (`labels` by entity) and words for functions."""
    for function, words in _EXTREMES.items():
        text = text.replace(function, words)
    text = _PROPERTY.sub(lambda match: f"“{label_property(match[0])}”", text)
    return _ENTITY.sub(lambda match: labels.get(match[0], match[0]), text)


def join_names(names: Iterable[str]) -> str:
    """`Peru, Chile and Bolivia`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
