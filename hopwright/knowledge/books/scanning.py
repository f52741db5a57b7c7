"""Finding capitalised phrases in a book, and deciding which of them are names, of persons or of places."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from hopwright.knowledge.books.book import Book
from hopwright.knowledge.books.name_words import NameWords

LETTER = "A-Za-zÀ-ÖØ-öø-ÿ"
NAME_BEGINS = rf"(?<![{LETTER}])(?<![{LETTER}]['’])"
"""Where a name may begin: not within a word, but behind a single quotation mark."""
_NAME = r"(?:[dDlL]['’]|O['’]|Mc|Mac|St\. ?)?[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ]+(?:-[A-ZÀ-ÖØ-Þ]?[a-zà-öø-ÿ]+)*"
_PARTICLE = r"(?:de la|de|du|von|van|Van|des)"
_SPEECH = (
    "said|says|cried|replied|answered|asked|returned|continued|exclaimed|added|observed|repeated|rejoined|remarked"
    "|murmured|whispered|resumed|interrupted|inquired|enquired|demanded|pursued|retorted|began|called|thought|went on"
)
_PLACE_BEFORE = re.compile(r"\b(?:in|at|near|into|through|towards|round|throughout|quit|leave|left|reach|reached)\s+$")
_GOING_BEFORE = re.compile(r"\b(?:to|from|of)\s+$")
_ARTICLE_BEFORE = re.compile(r"\b(?:[Tt]he|[Aa]n?|[Tt]his|[Tt]hat|[Ee]very|[Nn]o)\s+$")
_SPEECH_BEFORE = re.compile(rf"\b(?:{_SPEECH})\s+$")
_AFTER = re.compile(
    rf"\s+(?:(?P<speech>{_SPEECH})\b|(?P<verb>was|had|is|has|would|could|did|looked|took|came|felt|saw|made|gave|stood"
    r"|sat|knew|turned|smiled|laughed|bowed|seemed|herself|himself)\b)"
)
_SENTENCE_BEFORE = re.compile(r"(?:[.!?:“\"‘—_(\[*]|--|['’]{2})[\s\"“‘_('*]*$|^\s*$")
_QUOTE_BEFORE = re.compile(r"[\"“‘'(_]\s*$")
PARTICLES = frozenset("de la du von van Van des".split())
MOST_TITLES = 4
"""Titles in a row before a name: of a longer row, each would begin a search of all that follow it."""
ABBREVIATED_TITLES = frozenset("Mr Mrs Ms Messrs M Mme Mlle Dr Prof Rev Capt Col Gen".split())
SAME_TITLE = {"M": "Monsieur", "Mme": "Madame", "Mlle": "Mademoiselle", "Doctor": "Dr", "Prof": "Professor",
    "Messrs": "Mr", "Rev": "Reverend", "Old": "", "Young": ""}  # fmt: skip
_LOWER = re.compile(rf"(?<![{LETTER}'’])[a-zà-öø-ÿ]+(?:-[a-zà-öø-ÿ]+)*")


NameKind = Literal["person", "place", "thing", "unknown"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A capitalised phrase: its titles (without full stops), its other words with their particles, its place.

    `opens` says that it begins a sentence, so that its first capital says nothing.
    """

    block: int
    start: int
    end: int
    titles: tuple[str, ...]
    words: tuple[str, ...]
    opens: bool


@dataclass(slots=True)
class WordCounts:
    """What a book does with one capitalised word or phrase."""

    inside: int = 0
    opening: int = 0
    titled: int = 0
    acting: int = 0
    speaking: int = 0
    placed: int = 0
    reached: int = 0
    articled: int = 0
    total: int = 0


@dataclass(slots=True)
class ScannedBook:
    """All capitalised phrases of a book, cut to names, and what is known of words and of whole names."""

    phrases: list[Phrase]
    words: dict[str, WordCounts] = field(default_factory=dict)
    names: dict[str, WordCounts] = field(default_factory=dict)
    lower: Counter[str] = field(default_factory=Counter)


def scan_book(book: Book, words: NameWords) -> ScannedBook:
    """Find the names in all blocks of a book."""
    text = book.text
    pattern = _compile(words)
    lower: Counter[str] = Counter()
    raw: list[Phrase] = []
    for index, block in enumerate(book.blocks):
        lower.update(_LOWER.findall(text, block.start, block.end))
        raw += _find(pattern, text, index, block.start, block.end, words.places)
    found = ScannedBook(raw, lower=lower)
    _count_words(found)
    found.phrases = [kept for one in raw for kept in _trim(one, found, words, text)]
    _count_names(found, text)
    return found


def name_kind(name: str, counts: WordCounts, words: NameWords) -> NameKind:
    """Whose name it is, from what stands around it; `unknown` where nothing tells."""
    if _is_place(name, counts, words):
        return "place"
    if counts.titled:
        return "person"
    if counts.articled >= 0.3 * counts.total:
        return "thing"
    if words.gender_of_given(name.split()[0]):
        return "person"
    if counts.placed and counts.placed + counts.reached / 3 >= counts.speaking + counts.acting:
        return "unknown"  # "Surry had …" says no more than "in Surry"
    return "person" if counts.speaking or counts.acting >= 2 else "unknown"


def _is_place(name: str, counts: WordCounts, words: NameWords) -> bool:
    last = name.split()[-1]
    if counts.titled > 0.1 * counts.total:
        return False
    first = name.split()[0]
    if name in words.places or (" " in name and (last in words.endings or first in words.beginnings)):
        return True
    if counts.titled or counts.speaking > 1 or counts.articled > 0.3 * counts.total:
        return False
    if words.gender_of_given(name.split()[0]) and counts.placed < counts.total / 2:
        return False
    telling = counts.placed + counts.reached / 3
    return telling >= 2 and telling > 2 * (counts.acting + counts.speaking) and telling >= 0.2 * counts.total


def _compile(words: NameWords) -> re.Pattern[str]:
    short = "|".join(sorted(ABBREVIATED_TITLES))
    titles = "|".join(sorted(words.titles - ABBREVIATED_TITLES, key=lambda one: (-len(one), one)))
    endings = "|".join(sorted(words.endings))
    # "Poor Mrs. S": what stands before a title is no part of the name.
    name = rf"(?!(?:{short}|{titles})\b){_NAME}(?:['’]s(?=\s+(?:{endings})\b))?"
    return re.compile(
        rf"{NAME_BEGINS}(?P<titles>(?:(?:(?:{short})\b\.?|(?:{titles})\b)\s+(?:of\s+(?=[A-ZÀ-Þ]))?){{0,{MOST_TITLES}}})"
        rf"(?P<words>(?:{_PARTICLE}\s+)?{name}(?:\s+(?:{_PARTICLE}\s+)?{name})*)(?![{LETTER}])"
    )


def _find(
    pattern: re.Pattern[str], text: str, index: int, start: int, end: int, places: frozenset[str]
) -> Iterator[Phrase]:
    for match in pattern.finditer(text, start, end):
        first, held = match.start(), match["titles"].split()
        if "of" in held and match["words"].split()[0] in places:
            # "the King of Spain" is not called Spain.
            first, held = match.start("words"), []
        titles = tuple(SAME_TITLE.get(word.rstrip("."), word.rstrip(".")) for word in held if word != "of")
        titles = tuple(title for title in titles if title)
        before = text[max(start, first - 12) : first]
        opens = first == start or bool(_SENTENCE_BEFORE.search(before)) or bool(_QUOTE_BEFORE.search(before))
        yield Phrase(index, first, match.end(), titles, tuple(match["words"].split()), opens)


def _count_words(found: ScannedBook) -> None:
    for one in found.phrases:
        for place, word in enumerate(one.words):
            counts = found.words.setdefault(word, WordCounts())
            counts.total += 1
            if one.titles:
                counts.titled += 1
            if place == 0 and one.opens and not one.titles:
                counts.opening += 1
            else:
                counts.inside += 1


def _trim(one: Phrase, found: ScannedBook, words: NameWords, text: str) -> list[Phrase]:
    """The names in a phrase: words that are no names are cut away, and part it where they stand between."""
    titles, kept = one.titles, one.words
    base = one.end - _measure_words(one, text)
    spans = [match.span() for match in re.finditer(r"\S+", text[base : one.end])]
    parts: list[Phrase] = []
    run: list[int] = []
    for place in range(len(kept) + 1):
        if place < len(kept) and (
            _is_name_word(kept[place], found, words, titled=bool(titles) and place == 0)
            or (run and not titles and kept[place] in words.endings)
            or (not titles and _begins_place(kept, place, found, words))
            or (run and _is_rare_surname(kept[place], kept[run[-1]], found, words))
        ):
            run.append(place)
            continue
        while run and (kept[run[-1]] in PARTICLES or kept[run[-1]] == "St."):
            run.pop()
        if run:
            has_titles = bool(titles) and run[0] == 0
            start = one.start if has_titles else base + spans[run[0]][0]
            opens = one.opens and run[0] == 0
            own = titles if has_titles else ()
            held = tuple(kept[number] for number in run)
            parts.append(Phrase(one.block, start, base + spans[run[-1]][1], own, held, opens))
        run = []
    return parts


def _begins_place(kept: tuple[str, ...], place: int, found: ScannedBook, words: NameWords) -> bool:
    """Whether a word makes a place of the name behind it, as in Castle Dracula."""
    following = kept[place + 1 : place + 2]
    return kept[place] in words.beginnings and any(_is_name_word(one, found, words, titled=False) for one in following)


def _is_rare_surname(word: str, before: str, found: ScannedBook, words: NameWords) -> bool:
    """Whether a word that is hardly ever used is the surname behind a given name: without it, "Ellen Terry" would be
    another Ellen."""
    bare = word.removesuffix("'s").removesuffix("’s")
    known = bare in words.titles or bare in words.harmless or word in PARTICLES
    return not known and bool(words.gender_of_given(before)) and not found.lower[word[0].lower() + word[1:]]


def _measure_words(one: Phrase, text: str) -> int:
    """Characters that the phrase has after its titles."""
    shown = text[one.start : one.end]
    place = len(shown)
    for word in reversed(one.words):
        place = shown.rindex(word, 0, place)
    return len(shown) - place


def _is_name_word(word: str, found: ScannedBook, words: NameWords, *, titled: bool) -> bool:
    if word in PARTICLES:
        return True
    if word in words.titles or word in words.harmless:
        return False
    counts = found.words[word]
    if titled:
        return True
    low = found.lower[word[0].lower() + word[1:]]
    if word in words.places or words.gender_of_given(word):
        return low <= 2 * counts.inside + 1
    return counts.inside >= 2 and low <= 0.3 * counts.inside


def _count_names(found: ScannedBook, text: str) -> None:
    for one in found.phrases:
        counts = found.names.setdefault(" ".join(one.words), WordCounts())
        counts.total += 1
        counts.titled += bool(one.titles)
        before = text[max(0, one.start - 24) : one.start]
        after = _AFTER.match(text, one.end, one.end + 24)
        counts.articled += bool(_ARTICLE_BEFORE.search(before))
        counts.placed += bool(_PLACE_BEFORE.search(before))
        counts.reached += bool(_GOING_BEFORE.search(before))
        counts.speaking += bool(_SPEECH_BEFORE.search(before)) or bool(after and after["speech"])
        counts.acting += bool(after and after["verb"])
