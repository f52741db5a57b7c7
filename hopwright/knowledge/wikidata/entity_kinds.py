"""Coarse kinds of entities, and the kinds that a question asks for.

Both sides reduce a noun phrase to its head ("city of the United States" → city, "What record label did …" →
label) and look it up in one lexicon. An entity without a class is judged by the facts that it takes part in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.text import english

LinkingKind = Literal[
    "person", "country", "division", "settlement", "water", "land", "site", "way", "sky",
    "company", "school", "team", "band", "body", "screen", "text", "music", "art", "game",
    "event", "award", "vehicle", "thing",
]  # fmt: skip
FAMILIES: tuple[frozenset[LinkingKind], ...] = (
    frozenset({"country", "division", "settlement", "water", "land", "site", "way", "sky"}),
    frozenset({"company", "school", "team", "band", "body"}),
    frozenset({"screen", "text", "music", "art", "game"}),
)
"""Kinds that a general noun covers together: places, groups, works."""

_FACTS_OUT: dict[frozenset[LinkingKind], frozenset[str]] = {
    frozenset({"person"}): frozenset({"P27", "P106", "P19", "P20", "P21", "P22", "P26", "P69", "P54"}),
    FAMILIES[0]: frozenset({"P131", "P421", "P47", "P36", "P150", "P206", "P403"}),
    FAMILIES[2]: frozenset({"P57", "P161", "P50", "P58", "P136", "P175"}),
}
_FACTS_IN: dict[frozenset[LinkingKind], frozenset[str]] = {
    frozenset({"person"}): frozenset({"P57", "P161", "P50", "P58", "P86", "P26", "P22", "P25", "P40", "P170"}),
    FAMILIES[0]: frozenset({"P19", "P20", "P131", "P150", "P36", "P1376", "P276", "P551", "P7938", "P30", "P47"}),
    FAMILIES[1]: frozenset({"P108", "P69", "P54", "P463", "P102", "P272", "P264", "P127"}),
    frozenset({"award"}): frozenset({"P166", "P1411"}),
    frozenset({"event"}): frozenset({"P1344", "P607"}),
}
_LITERAL = frozenset((*english.words("words", "dates"), *english.words("words", "numbers")))
_IS_A = re.compile(r"\b(?:is|was|are|were) (?:a|an|the|one of the) (\w[^.]*)")
_ASKS = re.compile(r"\?|>>|^\W*(?:in |of |for |by )?(?:who|what|which|where|when|how)\b", re.IGNORECASE)
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_YEAR_FIRST = re.compile(r"^\W*\d{4}\W+")
_SPLIT = re.compile(r"[^\w'.-]+")
_STOP = re.compile(
    r"\b(?:of|in|on|at|with|for|by|from|to|that|which|who|is|was|were|are|did|does|do|has|have|had|can|could|"
    r"will|would|and|or|whose|where|as|about|between|near|located|directed|based|representing|held)\b|[(,;:?]"
)


@dataclass(frozen=True, slots=True)
class ExpectedAnswerKind:
    """What kind of answer a question wants. `literal`: a date or a number, so no entity at all."""

    kinds: frozenset[LinkingKind] = frozenset()
    noun: str = ""
    literal: bool = False


def head_noun(phrase: str) -> str:
    """The head of a noun phrase: its last word before the first preposition or clause; lower case,
    singular.
    """
    words = [word for word in _SPLIT.split(_STOP.split(phrase.lower(), maxsplit=1)[0]) if word]
    return _singular(words[-1].strip("'.-")) if words else ""


def kinds_of_noun(noun: str) -> frozenset[LinkingKind]:
    """The kinds that a noun may name; empty for a noun that is not in the lexicon."""
    return _NOUN_KINDS.get(noun, frozenset())


def kinds_of(store: GraphStore, id: str) -> frozenset[LinkingKind]:
    """The kinds of an entity: by its classes, else by the facts that it takes part in; empty when nothing
    tells.
    """
    kinds: set[LinkingKind] = set()
    for noun in class_nouns(store, id):
        kinds |= kinds_of_noun(noun)
    if kinds:
        return frozenset(kinds)
    outward = {property for property, _ in store.recorded_out_edges(id)}
    inward = set(store.in_properties(id))
    for some, properties in _FACTS_OUT.items():
        if outward & properties:
            kinds |= some
    for some, properties in _FACTS_IN.items():
        if inward & properties:
            kinds |= some
    return frozenset(kinds)


def class_nouns(store: GraphStore, id: str) -> list[str]:
    """Head nouns of the labels of the entity's classes."""
    nouns = (head_noun(store.label(one)) for one in store.objects(id, "P31"))
    return [noun for noun in dict.fromkeys(nouns) if noun]


def expect(question: str) -> ExpectedAnswerKind:
    """Read the interrogative and the noun that follows it. `X >> relation` counts as asking for the
    relation.
    """
    text = question.strip().lower()
    if ">>" in text:
        relation = text.rpartition(">>")[2].strip()
        noun = head_noun(relation)
        if noun in _LITERAL or relation.startswith(("date", "number of", "inception")):
            return ExpectedAnswerKind(literal=True, noun=noun)
        return ExpectedAnswerKind(kinds_of_noun(noun), noun)
    match = re.search(r"\b(who|whom|whose|when|where|which|what|how)\b\s*(.*)", text)
    if match is None:
        return ExpectedAnswerKind()
    word, rest = match[1], match[2]
    if word == "when" or (word == "how" and not rest.startswith(("is ", "was ", "are ", "were "))):
        return ExpectedAnswerKind(literal=True)
    if word in ("who", "whom"):
        return ExpectedAnswerKind(FAMILIES[1] | {"person"})
    if word == "where":
        return ExpectedAnswerKind(FAMILIES[0] | FAMILIES[1])
    copula = re.match(r"(?:is|was|are|were|'s)\s+(?:the\s+)?(?:names?\s+of\s+)?(?:the\s+)?(.*)", rest)
    noun = head_noun(copula[1] if copula else rest)
    if noun in _LITERAL:
        return ExpectedAnswerKind(literal=True, noun=noun)
    return ExpectedAnswerKind(kinds_of_noun(noun), noun)


def describe_kind(text: str, name: str) -> ExpectedAnswerKind:
    """What a text says that the name is: the head of a bare description, or of `NAME … is a …` in a sentence.

    Empty when it says no such thing.
    """
    flat = _BRACKETS.sub(" ", text)
    said = _IS_A.search(flat)
    if said is not None and name.lower() in flat[: said.start() + 1].lower():
        noun = head_noun(said[1])
    elif said is None and len(flat.split()) <= 16 and not _ASKS.search(flat):
        noun = head_noun(_YEAR_FIRST.sub("", flat))
    else:
        return ExpectedAnswerKind()
    return ExpectedAnswerKind(kinds_of_noun(noun), noun)


def widen(kinds: frozenset[LinkingKind]) -> frozenset[LinkingKind]:
    """The kinds with the rest of their families."""
    wide = set(kinds)
    for family in FAMILIES:
        if kinds & family:
            wide |= family
    return frozenset(wide)


def _singular(word: str) -> str:
    if word in _NOUN_KINDS or len(word) < 4:
        return word
    for ending, other in (("ies", "y"), ("ses", "s"), ("es", "e"), ("s", "")):
        if word.endswith(ending) and word[: -len(ending)] + other in _NOUN_KINDS:
            return word[: -len(ending)] + other
    return word


def _make_nouns() -> dict[str, frozenset[LinkingKind]]:
    nouns: dict[str, set[LinkingKind]] = {}
    for kind in get_args(LinkingKind):
        for word in english.words("kinds", kind):
            nouns.setdefault(word, set()).add(kind)
    for family, name in zip(FAMILIES, ("places", "groups", "works"), strict=True):
        for word in english.words("families", name):
            nouns.setdefault(word, set()).update(family)
    for word in english.words("words", "sites"):
        nouns.setdefault(word, set()).update(("site", "body", "settlement"))
    return {word: frozenset(kinds) for word, kinds in nouns.items()}


_NOUN_KINDS = _make_nouns()
