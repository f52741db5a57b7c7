"""How passages tell the facts of each property: wordings by form (`passage_phrases.toml`)."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from hopwright.counterfactual.passage_frames import find_role
from hopwright.knowledge import wikidata
from hopwright.records.values import EntityKind

_FORMS = ("post", "verb", "own", "inverse")
_OF_SUBJECT = re.compile(r"^the (.+?)(?:, in ([^,{}]+),)? (?:of|in|behind) \{s\}$")
_PASSIVE = re.compile(r"^(?:was|is|were) (\w+(?:ed|en|un|in|on|by|lt|wn|ught)\b.*)$")


@functools.lru_cache(maxsize=4096)
def find_phrases(property: str, kind: EntityKind) -> Mapping[str, tuple[str, ...]]:
    """The wordings of a property for a kind of subject, by form; empty where there are none.

    Forms: `post` follows a noun, `verb` the subject, `own` is a sentence, `inverse` follows the object as subject.
    """
    entry: dict[str, Any] = _load().get(property, {})
    chosen = {**entry, **entry[kind]} if kind in entry else entry
    return {form: tuple(chosen[form]) for form in _FORMS if form in chosen}


def has_inverse(property: str) -> bool:
    """Whether a passage about the object of a property can tell it."""
    return "inverse" in _load().get(property, {})


@functools.cache
def list_alternatives() -> tuple[frozenset[str], ...]:
    """Groups of properties of which a passage tells one."""
    return tuple(map(frozenset, _load()["roles"]["alternatives"]))


def find_calling(property: str) -> str:
    """What the object of a credit is by calling: a composer, a novelist; empty where that says nothing."""
    return str(_load()["callings"].get(find_role(property), ""))


def find_owner_calling(property: str) -> str:
    """What the owner of a list of works is by calling."""
    return str(_load()["owners"].get(property, ""))


@functools.cache
def list_role(role: str) -> tuple[str, ...]:
    """The properties that play a part in passages, as the data names it: `first`, `last`, `gone`, `dull`, …."""
    return tuple(_load()["roles"][role])


def derive_phrases(predicates: Sequence[str], nouns: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """The forms of a property that has no wordings of its own, from its predicates and noun phrases in the table."""
    own: tuple[str, ...] = ()
    if not predicates and nouns and (match := _OF_SUBJECT.match(nouns[0])):
        unit = f" {match[2]}" if match[2] else ""
        own = (f"{{its}} {match[1]} is {{o}}{unit}",)
    post: tuple[str, ...] = ()
    if predicates and (passive := _PASSIVE.match(predicates[0])):
        post = (passive[1],)
    elif predicates and re.match(r"^(?:has|had) \{o\} as ", predicates[0]):
        post = ("with" + predicates[0][3:],)
    return {"post": post, "verb": tuple(predicates[:1]), "own": own}


@functools.cache
def _load() -> dict[str, dict[str, Any]]:
    return tomllib.loads(resources.files(wikidata).joinpath("passage_phrases.toml").read_text("utf-8"))
