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
_KIN = (
    r"(?:(?:step|grand)?(?:father|mother|son|daughter|child|children|parent)s?(?:-in-law)?"
    r"|husband|wife|spouse|widow|brother|sister|sibling|uncle|aunt)"
)
_KIN_AFTER = re.compile(rf"\s*(?:\([^()]*\))?['’]s (?:[a-z]+ )?{_KIN}\b")
_KIN_BEFORE = re.compile(rf"\b{_KIN} of $")
_LIST_BEFORE = re.compile(r"\b([a-z]+) (?:[^a-z\s]\S* )+(?:and|or) $")
_CHOICE_BEFORE = re.compile(r"(?:^|[.?!] )(?:(Who)|(?:Which|What) ([a-z]+))\b[^,?]*, (?:[^?]* or )?$")
_LONGER_AFTER = re.compile(r",? (?:\d+(?i:st|nd|rd|th)\b|[A-Z])")
_AROUND = 300
"""Characters before and after a name that may say what it is."""
_SMALL = frozenset({"of", "the", "and", "for", "de", "la", "du"})


@dataclass(frozen=True, slots=True)
class NameDescription:
    """What is said of a name: the head nouns, the years in its brackets (four digits), the stems of the brackets.

    `found`: the text holds the name. `longer`: it does so only as the beginning of a longer name.
    """

    nouns: tuple[str, ...] = ()
    years: frozenset[int] = frozenset()
    stems: frozenset[str] = frozenset()
    found: bool = False
    longer: bool = False


def strip_brackets(name: str) -> str:
    """The name without a disambiguator in brackets at its end; the name itself where nothing else is left."""
    return _BRACKET.sub("", name).strip() or name


def describe_name(name: str, text: str) -> NameDescription:
    """Read the brackets at the end of the name, or after it in the text, and what the words around it there call it.

    `Devotion (1950 film)` is a film of 1950, and so is `Devotion` in a text that has it with these brackets. A noun of
    a kind may stand right before the name, before a list with it (`the films Arden and Devotion`) or in a question
    that offers it (`Which film is older, Arden or Devotion?`); whoever has kin is a person.
    """
    bare = strip_brackets(name)
    own = _BRACKET.search(name)
    said = own[1] if own and bare != name else ""
    nouns: list[str] = []
    places = _find_places(bare, text)
    for place in places:
        after = _BRACKET_AFTER.match(text, place + len(bare))
        said = said or (after[1] if after else "")
        nouns += _read_around(text[max(place - _AROUND, 0) : place], text[place + len(bare) :][:_AROUND])
    years = frozenset(map(int, _YEAR.findall(said)))
    if noun := head_noun(_YEAR.sub(" ", said).strip(" ,;-–")):
        nouns.insert(0, noun)
    return NameDescription(
        tuple(dict.fromkeys(nouns)),
        years,
        frozenset(content_stems(_YEAR.sub(" ", said))),
        found=bool(places),
        longer=bool(places) and all(_LONGER_AFTER.match(text, place + len(bare)) for place in places),
    )


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


def _read_around(before: str, after: str) -> list[str]:
    """Nouns of a kind that the words on both sides of a name call it."""
    if _KIN_AFTER.match(after) or _KIN_BEFORE.search(before):
        return ["person"]
    choice = _CHOICE_BEFORE.search(before) if "?" in after else None
    if choice and choice[1]:
        return ["person"]
    said = (_WORD_BEFORE.search(before), _LIST_BEFORE.search(before))
    words = [*(found[1] for found in said if found), *([choice[2]] if choice else [])]
    return [noun for noun in map(head_noun, words) if kinds_of_noun(noun)][:1]


def _find_places(bare: str, text: str) -> list[int]:
    """Where the name stands in the text as whole words, whatever its case."""
    if not bare or not text:
        return []
    return [found.start() for found in re.finditer(rf"(?<!\w){re.escape(bare)}(?!\w)", text, re.IGNORECASE)]
