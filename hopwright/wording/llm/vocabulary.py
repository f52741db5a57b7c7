"""The words of a plan: which of them say its steps, and which say a step that it does not have."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.roles import ROLES
from hopwright.records import Compute, Derivation, Hop, Lookup, ReverseLookup
from hopwright.text.matching import fold
from hopwright.wording.llm.computed import Meaning, read_meaning

_PROPERTY = re.compile(r"\bP\d+\b")
_NO_PHRASES = frozenset(
    "label domain avoid avoid_nouns unit value timeline subject object reverse ordered_by ends besides preposition "
    "more less first last axis finale".split()
)
"""Fields of a property that are no words of it, or words for the way it points, which every property shares."""
_SUFFIXES = (
    "ational", "ations", "ation", "itions", "ition", "ality", "ments", "ment", "ships", "ship", "ings", "ing", "ators",
    "ator", "ated", "ates", "ate", "ions", "ion", "ers", "ors", "ies", "ied", "ous", "er", "or", "ed", "es", "al", "s",
    "e", "y",
)  # fmt: skip
_LETTERS = re.compile(r"[^\W\d_]+")
_NOUNS = frozenset({"publisher"})
"""Rivals that no other form of the word says: what was published has a publisher, who is not asked for."""
_SHORTEST = 3
_BARE = frozenset(
    "a an the and or of in on at to by for from with as is are was were be been did do does has have had it its that "
    "which what who whom whose when where how many much one two that this there he she his her their they year years "
    "s o y a b n name no not than if all any so more most out up over under into only same".split()
)


@functools.lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """A word without its endings, so that forms of one word agree: director, directed, directing."""
    folded = fold(word)
    if folded in ("mayor", "mayors"):
        return "mayor"  # not the month of May
    while True:
        suffix = next((one for one in _SUFFIXES if folded.endswith(one) and len(folded) - len(one) >= _SHORTEST), "")
        if not suffix:
            return folded
        folded = folded[: -len(suffix)]


def stems(text: str) -> frozenset[str]:
    """The stems of a text's words, function words aside."""
    return frozenset(stem(word) for word in fold(text).split() if word not in _BARE and len(word) > 1)


def properties_in(derivation: Derivation) -> tuple[str, ...]:
    """The properties that a derivation rests on, those that are worded as a noun aside."""
    found: list[str] = []
    if isinstance(derivation, Lookup):
        found = [derivation.property]
    elif isinstance(derivation, Compute):
        found = _PROPERTY.findall(derivation.expression)
    elif isinstance(derivation, ReverseLookup):
        found = [condition.property for condition in derivation.conditions()]
    return tuple(one for one in dict.fromkeys(found) if one not in ROLES.class_like)


class Vocabulary:
    """What the words of a property table say."""

    def __init__(self, table: PropertyTable) -> None:
        self._table = table
        self._cues: dict[str, frozenset[str]] = {}
        self._moments: dict[str, frozenset[str]] = {}

    def cues(self, property: str) -> frozenset[str]:
        """The stems by which a wording can say this property: its label, its phrases, and synonyms."""
        known = self._cues.get(property)
        if known is None:
            texts = [
                self._table.label(property),
                self._table.roles.relation_words.get(property, ""),
                *self._phrases(property),
            ]
            found = frozenset(word for text in texts for word in stems(text))
            # `the country` alone says neither citizenship nor birth; where nothing else is there, it must do.
            kept = found if property in self._table.roles.loose else found - _kinds()
            known = self._cues[property] = kept or found
        return known

    def name_member(self, property: str) -> frozenset[str]:
        """The stems of what a member of a property's series is called when it is meant again: `that tournament`."""
        entry = self._table.entity.get(property)
        if entry is None or not entry.series:
            return frozenset()
        return stems(self._table.literal[entry.series].series_short)

    def moments(self) -> dict[str, frozenset[str]]:
        """Births, deaths and releases: each with the stems that say it and nothing else."""
        roles = self._table.roles
        for name in (roles.birth, roles.death, roles.release) if not self._moments else ():
            self._moments[name] = stems(roles.cues.get(name, ""))
        return self._moments

    def read_meaning(self, hop: Hop, hops: Mapping[int, Hop]) -> Meaning | None:
        """What a wording of a computing hop has to keep; None where only the rules' words say it."""
        return read_meaning(hop, hops, self._table)

    @property
    def table(self) -> PropertyTable:
        """The properties whose words these are."""
        return self._table

    def label(self, property: str) -> str:
        """What a property is called."""
        return self._table.label(property)

    def _phrases(self, property: str) -> Iterable[str]:
        entry = self._table.entity.get(property) or self._table.literal.get(property)
        if entry is None:
            return ()
        return list(_list_phrases(entry.model_dump()))


def find_steps(text: str, own: frozenset[str]) -> list[str]:
    """Words of a text that say a step of reasoning which `own` stems do not account for, each once."""
    words = dict.fromkeys(re.findall(r"[^\W\d_]+", text.lower()))
    return [word for word in words if word in other_steps() and stem(word) not in own]


@functools.cache
def load_words() -> dict[str, Any]:
    """The word lists of `relations.toml`."""
    return tomllib.loads(resources.files(__package__).joinpath("relations.toml").read_text("utf-8"))


def widen(own: Iterable[str], *, lists: bool = True) -> frozenset[str]:
    """Stems that a plan accounts for, and those that people use where these are said (`may` in `relations.toml`).

    `lists` False: without the words for whoever has a list of works, which is not what the text is about.
    """
    known = frozenset(own)
    return known.union(*(may for where, may, of_lists in _load_may() if where & known and (lists or not of_lists)))


@functools.cache
def _load_may() -> tuple[tuple[frozenset[str], frozenset[str], bool], ...]:
    return tuple(
        (_stem_words(one["where"]), _stem_words(one["may"]), one.get("lists", False)) for one in load_words()["may"]
    )


@functools.cache
def rivals() -> dict[str, frozenset[str]]:
    """Relations that are put for one another and are never the same, each with the words that say it."""
    return {name: frozenset(words.split()) for name, words in load_words()["rivals"].items()}


def find_rivals(text: str, cues: frozenset[str], allowed: frozenset[str]) -> list[str]:
    """Words of a text that say another relation than the `allowed` stems do, where both are known for being mixed up.

    `cues` are the stems of the relation that is meant: a text that has none of them must not say `wrote` either, unless
    it is allowed.
    """
    words = dict.fromkeys(_LETTERS.findall(text.lower()))
    own = {name for name, said in rivals().items() if not allowed.isdisjoint(map(stem, said))} - _NOUNS
    unsaid = cues.isdisjoint({*map(stem, words), *stems(text)})
    return [
        word
        for word in words
        if (
            (kinds := {name for name, said in rivals().items() if word in said})
            and kinds.isdisjoint(own)
            and (stem(word) not in allowed or kinds & _NOUNS)
        )
        or (unsaid and cues and word in _verbs("wrote") and stem(word) not in allowed)
    ]  # fmt: skip


def find_making(text: str) -> str:
    """A word that says how a work was made, in a text that says nothing of its coming out; empty for none."""
    words = _LETTERS.findall(text.lower())
    if not _verbs("out").isdisjoint(words):
        return ""
    return next((word for word in words if word in _verbs("made")), "")


@functools.cache
def _verbs(name: str) -> frozenset[str]:
    return frozenset(load_words()["verbs"][name].split())


def _stem_words(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())


@functools.cache
def other_steps() -> frozenset[str]:
    """Words that say a step of reasoning, as they are written: stems would take `may` for a mayor."""
    words = [word for line in load_words()["other"] for word in line.split()]
    return frozenset(words) | frozenset(f"{word}s" for word in words)


@functools.cache
def _kinds() -> frozenset[str]:
    return frozenset(stem(word) for word in load_words()["kinds"].split())


@functools.cache
def side_of(word: str) -> str:
    """Which way a word points: `greater`, `smaller`, `later`, `earlier`, or nowhere (empty)."""
    for side, words in load_words()["sides"].items():
        if word in words.split():
            return str(side)
    return ""


@functools.cache
def openings() -> frozenset[str]:
    """Words that may open a sentence."""
    return frozenset(load_words()["glue"]["openings"].split())


@functools.cache
def months() -> frozenset[str]:
    """The names of the months."""
    return frozenset(load_words()["glue"]["months"].split())


def _list_phrases(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield re.sub(r"\{\w\}", " ", value)
    elif isinstance(value, dict):
        for name, one in value.items():
            if name not in _NO_PHRASES:
                yield from _list_phrases(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _list_phrases(one)
