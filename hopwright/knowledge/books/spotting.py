"""From the names that a tagger or a language model found to mentions: every place of the book where one stands.

Such a finder sees a part of the text at a time, and overlooks in one paragraph what it finds in another. A proof needs
all paragraphs that name somebody, so what is once a name is one wherever it stands.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hopwright.knowledge.books.book import Book
from hopwright.knowledge.books.mentions import FoundNames
from hopwright.knowledge.books.name_words import NameWords, load_name_words
from hopwright.knowledge.books.scanning import (
    ABBREVIATED_TITLES,
    LETTER,
    MOST_TITLES,
    NAME_BEGINS,
    SAME_TITLE,
    NameKind,
    Phrase,
)

_POSSESSIVE = re.compile(r"(?:['’]s?|[\s,.;:!?—–-]+)$")
_OPENS = re.compile(r"(?:[.!?:“\"‘—_(\[*]|--)[\s\"“‘_('*]*$|^\s*$")
_FEWEST = 2
_SHARE = 0.25
"""A name of one sentence that is seldom taken for one elsewhere is a tagger's mistake."""


@dataclass(frozen=True, slots=True)
class TaggedName:
    """A name as it was found, and what it was taken for."""

    text: str
    kind: NameKind


def spot_names(book: Book, tagged: Iterable[TaggedName], *, checked: bool) -> FoundNames:
    """All places of the names in a book. `checked`: each name is to be believed; otherwise one that was tagged once,
    or at few of its places, is left out."""
    words = load_name_words()
    votes: dict[str, Counter[NameKind]] = defaultdict(Counter)
    for one in tagged:
        if name := strip_titles(one.text, words):
            votes[name][one.kind] += 1
    kinds = {name: held.most_common(1)[0][0] for name, held in votes.items()}
    phrases = list(_find(book, kinds, words))
    if not checked:
        places = Counter(" ".join(one.words) for one in phrases)
        kept = {
            name for name, held in votes.items()
            if held.total() >= _FEWEST and held.total() >= _SHARE * max(places[name], 1)
        }  # fmt: skip
        kinds = {name: kind for name, kind in kinds.items() if name in kept}
        phrases = list(_find(book, kinds, words))
    return FoundNames(phrases, kinds)


def strip_titles(text: str, words: NameWords) -> str:
    """A name without the titles before it, the possessive after it and what is no part of it; empty for no name."""
    parts = _POSSESSIVE.sub("", " ".join(text.split())).split()
    while parts and (parts[0].rstrip(".") in words.titles or not parts[0][0].isalpha() or parts[0][0].islower()):
        if parts[0] in ("de", "du", "von", "van", "d’", "d'") or re.match(r"[dl]['’][A-Z]", parts[0]):
            break
        parts = parts[1:]
    if not parts or " ".join(parts) in words.harmless or not any(one[0].isupper() for one in parts):
        return "" if not parts or not re.match(r"[dl]['’][A-Z]", parts[0]) else " ".join(parts)
    return " ".join(parts)


def _find(book: Book, kinds: Iterable[str], words: NameWords) -> Iterator[Phrase]:
    """Every place of these names, the longest at each, with the titles before it."""
    names = sorted(kinds, key=lambda one: (-len(one), one))
    if not names:
        return
    titles = "|".join(sorted(ABBREVIATED_TITLES))
    others = "|".join(sorted(words.titles - ABBREVIATED_TITLES, key=lambda one: (-len(one), one)))
    held = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in names)
    pattern = re.compile(
        rf"{NAME_BEGINS}(?P<titles>(?:(?:(?:{titles})\b\.?|(?:{others})\b)\s+){{0,{MOST_TITLES}}})(?P<words>{held})(?![{LETTER}])"
    )
    for index, block in enumerate(book.blocks):
        for match in pattern.finditer(book.text, block.start, block.end):
            start = match.start()
            before = book.text[max(block.start, start - 12) : start]
            read = (SAME_TITLE.get(one.rstrip("."), one.rstrip(".")) for one in match["titles"].split())
            opens = start == block.start or bool(_OPENS.search(before))
            yield Phrase(
                index, start, match.end(), tuple(one for one in read if one), tuple(match["words"].split()), opens
            )
