"""Renaming everybody and every place of a book: each word of a name gets a surrogate, wherever it stands.

Titles, particles and common endings of places stay, so that a Lady remains one and a Park a park. A given name gets one
of the same gender that the book does not have, and its short forms get short forms of that. Surnames and places are
made of syllables, and occur nowhere in the book.
"""

from __future__ import annotations

import functools
import random
import re
import tomllib
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hopwright.knowledge.books.book import Book
from hopwright.knowledge.books.mentions import Entity, MentionGraph
from hopwright.knowledge.books.name_words import Gender, NameWords, load_name_words

TWIN = "~twin"
"""What the id of a renamed book ends with."""
_LETTER = "A-Za-zÀ-ÖØ-öø-ÿ"
_WORD = re.compile(rf"[{_LETTER}]+(?:['’][{_LETTER}]+)*(?:-[{_LETTER}]+)*")
_PREFIX = re.compile(r"^(?:[dDlLO]['’]|Mc|Mac(?=[A-Z]))")
_STAYS = frozenset("de la du von van Van des St of and the s".split())

_ODD = frozenset({"Milady", "Renfield"})
"""Given names of the list that are somebody's own."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The characters `start` up to `end` of a book's text are replaced by `new`."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Renaming:
    """A book's surrogates by word, and the edits that put them in place, in the order of the text."""

    words: Mapping[str, str]
    edits: tuple[Edit, ...]

    def rename(self, name: str) -> str:
        """A name with the surrogates of its words."""
        return _WORD.sub(lambda match: rename_word(match[0], self.words) or match[0], name)

    def move(self, place: int) -> int:
        """Where a place of the book's text is in the renamed text."""
        return place + sum(len(one.new) - (one.end - one.start) for one in self.edits if one.end <= place)


def make_renaming(book: Book, graph: MentionGraph, seed: int) -> Renaming:
    """Draw the surrogates of a book. The same book, graph and seed give the same."""
    words = _WordDrawer(book, graph, seed).draw()
    return Renaming(words, tuple(_list_edits(book, graph, words)))


def rename_book(book: Book, edits: Sequence[Edit]) -> Book:
    """The book with its edits made; blocks and chapters are where they are in the new text."""
    parts: list[str] = []
    ends: list[int] = []
    shifts = [0]
    place = 0
    for edit in edits:
        parts += [book.text[place : edit.start], edit.new]
        place = edit.end
        ends.append(edit.end)
        shifts.append(shifts[-1] + len(edit.new) - (edit.end - edit.start))
    parts.append(book.text[place:])
    return replace(
        book,
        id=book.id + TWIN,
        text="".join(parts),
        blocks=tuple(
            replace(one, start=_move(one.start, ends, shifts), end=_move(one.end, ends, shifts)) for one in book.blocks
        ),
        chapters=tuple(
            replace(one, start=_move(one.start, ends, shifts))
            for one in book.chapters
        ),
    )


def list_core_words(names: Iterable[str]) -> frozenset[str]:
    """The words of names without titles, particles, endings of places, plurals and possessives."""
    known = load_name_words()
    words = {re.sub(r"['’]s$", "", word) for name in names for word in _WORD.findall(name)}
    kept = {word for word in words if word not in known.titles | known.endings | _STAYS and len(word) > 1}
    return frozenset(word for word in kept if not {word.removesuffix("s"), word.removesuffix("es")} & (kept - {word}))


def rename_word(word: str, words: Mapping[str, str]) -> str:
    """The surrogate of a word, of its plural or its possessive; empty for a word that stays."""
    if word in words:
        return words[word]
    for tail in ("'s", "’s", "es", "s"):
        if word.endswith(tail) and (new := words.get(word.removesuffix(tail))):
            return new + ("s" if tail == "es" else tail)
    if word.isupper() and len(word) > 1:
        for known in (word.capitalize(), word):
            if new := words.get(known):
                return new.upper()
    return ""


def _move(place: int, ends: Sequence[int], shifts: Sequence[int]) -> int:
    return place + shifts[bisect_right(ends, place)]


def _list_edits(book: Book, graph: MentionGraph, words: Mapping[str, str]) -> Iterator[Edit]:
    """Names first, then every other place of a word that this book only uses as a name."""
    found: dict[int, Edit] = {}
    for mention in graph.mentions():
        if mention.entities:
            for match in _WORD.finditer(book.text, mention.start, mention.end):
                if new := rename_word(match[0], words):
                    found[match.start()] = Edit(match.start(), match.end(), new)
    story = [(one.start, one.end) for one in book.blocks]
    vocabulary = Counter(
        match[0] for start, end in story for match in _WORD.finditer(book.text, start, end) if match[0].islower()
    )
    own = {word: new for word, new in words.items() if not vocabulary[word.lower()]}
    for start, end in story:
        for match in _WORD.finditer(book.text, start, end):
            if match.start() in found or match[0].islower():
                continue
            if new := rename_word(match[0], own):
                found[match.start()] = Edit(match.start(), match.end(), new)
            elif "-" in match[0]:
                joined = "-".join(rename_word(part, own) or part for part in match[0].split("-"))
                if joined != match[0]:
                    found[match.start()] = Edit(match.start(), match.end(), joined)
    last = 0
    for start in sorted(found):
        # A name with a hyphen is one word of the text, and may be two of a name.
        if start >= last:
            last = found[start].end
            yield found[start]


class _WordDrawer:
    """Draws the surrogates of one book's words."""

    def __init__(self, book: Book, graph: MentionGraph, seed: int) -> None:
        self._names = load_name_words()
        self._rng = random.Random(f"{seed}:{book.sha256}:surrogates")
        self._taken = {match[0].casefold() for match in _WORD.finditer(book.text)}
        self._entities = [one for one in graph.entities if one.name]
        self._graph = graph

    def draw(self) -> dict[str, str]:
        """Word → surrogate, for every word of every name."""
        people: dict[str, Counter[Gender]] = defaultdict(Counter)
        places: set[str] = set()
        for one in self._entities:
            for word in self._list_words(one):
                if one.kind == "place":
                    places.add(word)
                else:
                    people[word][one.gender] += one.mentions
        plurals = {one + tail for one in people for tail in ("s", "es")}
        for word in plurals & people.keys():
            if not self._names.gender_of_given(word):
                del people[word]
        given = {word for word in people if self._names.gender_of_given(word)}
        drawn = self._draw_given(sorted(given))
        tails = _load_parts()
        for word in sorted(set(people) - set(drawn)):
            drawn[word] = self._invent(word, tails["surname_tails"])
        for word in sorted(places - set(drawn)):
            drawn[word] = self._invent(word, tails["place_tails"])
        return drawn

    def _list_words(self, entity: Entity) -> Iterator[str]:
        """The words of an entity's names that are not titles, particles or endings of places."""
        names = self._names
        for alias in entity.aliases:
            parts = _WORD.findall(alias)
            for place, word in enumerate(parts):
                bare = word.removesuffix("'s").removesuffix("’s")
                stays = bare in _STAYS or bare in names.titles or bare.rstrip(".") in names.titles or len(bare) < 2
                ends = entity.kind == "place" and place and bare in names.endings
                if not stays and not ends and bare[0].isupper() | bool(_PREFIX.match(bare)):
                    yield bare

    def _draw_given(self, given: Sequence[str]) -> dict[str, str]:
        """Given names for given names; a name and its short forms get one with short forms."""
        names = self._names
        shorts: dict[str, list[str]] = defaultdict(list)
        for short, whole in sorted(names.short.items()):
            shorts[whole].append(short)
        groups: dict[str, list[str]] = defaultdict(list)
        for word in given:
            groups[names.short.get(word, word)].append(word)
        free = {
            gender: [one for one in sorted(pool - _ODD) if one.casefold() not in self._taken and one not in names.short]
            for gender, pool in (("male", names.male), ("female", names.female))
        }
        drawn: dict[str, str] = {}
        for whole in sorted(groups, key=lambda one: (-len(groups[one]), one)):
            gender = names.gender_of_given(whole)
            need = [word for word in groups[whole] if word != whole]
            pool = [
                one for one in free[gender]
                if sum(short.casefold() not in self._taken for short in shorts[one]) >= len(need)
            ] or free[gender]  # fmt: skip
            if not pool:
                continue
            new = pool[self._rng.randrange(len(pool))]
            free[gender].remove(new)
            spare = [short for short in shorts[new] if short.casefold() not in self._taken]
            for word in groups[whole]:
                if word == whole:
                    drawn[word] = new
                elif spare:
                    drawn[word] = spare.pop(0)
                    self._taken.add(drawn[word].casefold())
            self._taken.add(new.casefold())
        return drawn

    def _invent(self, word: str, tails: Sequence[str]) -> str:
        """A name of two syllables that the book does not have, with the prefix of the old one."""
        heads = _load_parts()["heads"]
        prefix = match[0] if (match := _PREFIX.match(word)) else ""
        for _ in range(10_000):
            new = heads[self._rng.randrange(len(heads))] + tails[self._rng.randrange(len(tails))]
            if new.casefold() not in self._taken and not _is_known(new, self._names):
                self._taken.add(new.casefold())
                return prefix + new
        raise RuntimeError("there are not enough syllables for the names of a book")


def _is_known(word: str, names: NameWords) -> bool:
    return word in names.places or word in names.male or word in names.female or word in names.harmless


@functools.cache
def _load_parts() -> dict[str, list[str]]:
    table = tomllib.loads(Path(__file__).with_name("surrogates.toml").read_text("utf-8"))
    return {name: line.split() for name, line in table.items()}
