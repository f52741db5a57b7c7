"""What a name and the words beside it say of whom it means, and how an alias is like the label of its bearer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from hopwright.knowledge.wikidata.entity_kinds import head_noun, kinds_of_noun
from hopwright.text.folding import fold, squeeze
from hopwright.text.stems import content_stems

AliasLikeness = Literal["same", "part", "initials", "unlike"]

_BRACKET = re.compile(r"\s*\(([^()]*)\)\s*$")
_BRACKET_AFTER = re.compile(r"\s*\(([^()]*)\)")
_YEAR = re.compile(r"(?<!\d)(1\d{3}|20\d{2})(?!\d)")
_WORD = re.compile(r"\w+")
_WORD_BEFORE = re.compile(r"([a-z]+) $")
_SMALL = frozenset({"of", "the", "and", "for", "de", "la", "du"})


@dataclass(frozen=True, slots=True)
class NameDescription:
    """What is said of a name: the head nouns, the years in its brackets (four digits), the stems of the brackets."""

    nouns: tuple[str, ...] = ()
    years: frozenset[int] = frozenset()
    stems: frozenset[str] = frozenset()


def strip_brackets(name: str) -> str:
    """The name without a disambiguator in brackets at its end; the name itself where nothing else is left."""
    return _BRACKET.sub("", name).strip() or name


def describe_name(name: str, text: str) -> NameDescription:
    """Read the brackets at the end of the name, or after it in the text, and a noun of a kind right before it there.

    `Devotion (1950 film)` is a film of 1950, and so is `Devotion` in a text that has it with these brackets.
    """
    bare = strip_brackets(name)
    own = _BRACKET.search(name)
    said = own[1] if own and bare != name else ""
    nouns: list[str] = []
    for place in _find_places(bare, text):
        after = _BRACKET_AFTER.match(text, place + len(bare))
        said = said or (after[1] if after else "")
        before = _WORD_BEFORE.search(text[:place])
        if before and kinds_of_noun(noun := head_noun(before[1])):
            nouns.append(noun)
    years = frozenset(map(int, _YEAR.findall(said)))
    if noun := head_noun(_YEAR.sub(" ", said).strip(" ,;-–")):
        nouns.insert(0, noun)
    return NameDescription(tuple(dict.fromkeys(nouns)), years, frozenset(content_stems(_YEAR.sub(" ", said))))


def find_years(text: str) -> frozenset[int]:
    """Years of four digits in a text."""
    return frozenset(map(int, _YEAR.findall(text)))


def compare_alias(name: str, label: str) -> AliasLikeness:
    """How a name by which an entity was found is like its label.

    `same`: but for marks and brackets; `part`: they share a word, such as a surname; `initials`: of the label's words;
    `unlike`: nothing in common, as a nickname has, or what was never a name (`France` of Marseille).
    """
    one, other = fold(strip_brackets(name)), fold(strip_brackets(label))
    if squeeze(one) == squeeze(other):
        return "same"
    words, others = _WORD.findall(one), _WORD.findall(other)
    if {word[:5] for word in words if word not in _SMALL} & {word[:5] for word in others}:
        return "part"
    letters = "".join(words)
    for held in (others, [word for word in others if word not in _SMALL]):
        if len(held) > 1 and letters == "".join(word[0] for word in held):
            return "initials"
    return "unlike"


def _find_places(bare: str, text: str) -> list[int]:
    """Where the name stands in the text as whole words, whatever its case."""
    if not bare or not text:
        return []
    return [found.start() for found in re.finditer(rf"(?<!\w){re.escape(bare)}(?!\w)", text, re.IGNORECASE)]
