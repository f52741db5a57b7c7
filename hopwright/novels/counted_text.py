"""What the second proof reads: the paragraphs of a window, the names in them, and who is named as speaking.

It shares nothing with what `hopwright.knowledge.books` reads; it knows the published list of a book's names alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from hopwright.knowledge.books.name_words import load_name_words
from hopwright.novels.book_names import BookNames

_VERBS = (
    "said|says|cried|replied|answered|asked|returned|continued|exclaimed|added|observed|repeated|rejoined|remarked"
    "|murmured|whispered|resumed|interrupted|inquired|enquired|demanded|retorted|began"
)
_LEAST = 30
_LETTER = "A-Za-zÀ-ÖØ-öø-ÿ"
_GAP = re.compile(r"\r?\n(?:[ \t\f]*\r?\n)+|\r\r+")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_RUN = re.compile(rf"(?<![{_LETTER}])(?<![{_LETTER}]['’])[{_LETTER}]+")
_CAPITALS = re.compile(r"(?<![A-Za-z])[A-ZÀ-Þ]{2,}(?![a-z])")
_OF = re.compile(r"[A-Z][a-z]+\s+of\s+$")
_SAID_AFTER = re.compile(rf"[\s,]*\b(?:{_VERBS})\s+")
_SAYS_NEXT = re.compile(rf"\s+(?:{_VERBS})\b(?!\s+(?:that|if|whether|how|what|why|he|she|it|they|nothing|so)\b)")
"""`"…?" Elizabeth replied that it was` tells her own answer, and not who spoke."""
_SAID_BEFORE = re.compile(rf"\s+(?:{_VERBS})(?:\s+\w+){{0,3}}\s*[,:]\s*(?:--)?\s*")
_TELLS = (
    rf"(?:{_VERBS}|cries|replies|answers|asks|returns|continues|exclaims|adds|observes|repeats|remarks|murmurs|whispers"
    r"|inquires|enquires|demands|interrupts|begins|pursued|pursues|proceeded|shouted|screamed|muttered|growled|echoed"
    r"|suggested|went\s+on|put\s+in|broke\s+in|burst\s+out)\b"
)
_NAME, _PAIR, _QUOTED, _TOLD = "\ue000\ue001\ue002\ue003"
"""Marks for a name, for one with a word of saying, for a quotation, and for one that such a pair tells of."""
_BESIDE = re.compile(rf"\b{_TELLS}\s+{_NAME}|{_NAME}\s+{_TELLS}")
_TELLING = re.compile(rf"\b{_TELLS}")
_TOLD_OF = re.compile(
    rf"(?<={_PAIR})(?P<lead>(?:\s+\w+){{0,3}}\s*[,:]\s*(?:--)?\s*){_QUOTED}|{_QUOTED}(?=[\s,—-]*{_PAIR})"
)
_GOES_ON = re.compile(
    rf"(?P<told>{_TOLD}[\s,—-]*{_PAIR}(?:(?![.!?][^\w{_QUOTED}]{{1,8}}\w)[^{_QUOTED}{_TOLD}])*){_QUOTED}"
)
_INNER = re.compile(r"[a-zà-ÿ,;]\s+([A-ZÀ-Þ][a-zà-ÿ]+)")
_OPENING = re.compile('["“]')
_HEADING = re.compile(r"\s*(?:[A-Za-z]+\s+)?([IVXLC]+|\d+)\b")
_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
SOMEBODY = -1
"""Who may be meant by a name of which nothing is known."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A name in a paragraph: its place in the paragraph's text, and whom it may mean; nobody where it is not known.

    within: places whose name is a part of somebody's, who may be said to be named there. unnamed: whether the words are
    no name, and speak of somebody.
    """

    start: int
    end: int
    who: frozenset[int]
    thing: bool
    within: frozenset[int] = frozenset()
    unnamed: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph of a window.

    sure and possible: whom it surely names, or may name. stranger: it holds a name of which nothing is known. unnamed:
    it speaks of somebody without a name. things: it names what is neither a person nor a place, or has a word that may.
    called: whom a name in the spoken words surely means by a word of its own name. shared: it is not sure that one
    alone says all of them. voices: whom names outside quotation marks may mean, SOMEBODY for one of whom
    nothing is known; nobody where there are no marks.
    """

    start: int
    text: str
    names: tuple[Seen, ...]
    sure: frozenset[int]
    possible: frozenset[int]
    stranger: bool
    unnamed: bool
    things: bool
    voices: frozenset[int]
    spoken: frozenset[int]
    called: frozenset[int]
    shared: bool
    folded: str
    long_enough: bool


class TextReader:
    """Reads paragraphs by the list of a book's names. persons and places: the numbers of those that it lists."""

    def __init__(self, names: BookNames) -> None:
        self.persons = frozenset(one.id for one in names.entities if one.kind == "person")
        self.places = frozenset(one.id for one in names.entities if one.kind == "place")
        self._meant = names.forms
        self._things = frozenset(names.things)
        self._unnamed = frozenset(names.unnamed)
        self._forms = _sort_forms(names.forms)
        self._own_words = {one.id: _list_own_words(one.name) for one in names.entities}
        self._last_words: dict[str, set[int]] = {}
        for one in names.entities:
            for alias in one.aliases:
                self._last_words.setdefault(alias.split()[-1].casefold(), set()).add(one.id)

    def read(self, text: str, start: int) -> Paragraph:
        """A paragraph that begins at a place of the book."""
        names = tuple(self.find_names(text))
        shouted = {word.casefold() for word in _CAPITALS.findall(text)}
        if len(_WORD.findall(text)) <= 15 and text.rstrip(" _)")[-1:] not in ".!?,;”\"":
            shouted |= {word.casefold() for word in re.findall(rf"[{_LETTER}]+", text)}
        capitals = {who for word in shouted for who in self._last_words.get(word, ())}
        quotes = list(list_quotes(text))
        told, said = _part(names, quotes)
        voices, spoken = self._find_voices(told, said) if quotes else (frozenset[int](), frozenset[int]())
        people = [one for one in told if one.who & self.persons]
        return Paragraph(
            start=start,
            text=text,
            names=names,
            sure=frozenset(next(iter(one.who)) for one in names if len(one.who) == 1),
            possible=frozenset(unite(names) | capitals).union(*(one.within for one in names)),
            stranger=any(not one.who and not one.thing and not one.unnamed for one in names),
            unnamed=any(one.unnamed for one in names),
            things=any(one.thing for one in names) or _has_strange_word(text, names),
            voices=voices,
            spoken=spoken,
            called=frozenset(self._list_called(text, said)),
            shared=not _is_one_voice(text, people, quotes),
            folded=fold(text),
            long_enough=len(_WORD.findall(text)) >= _LEAST,
        )

    def find_names(self, text: str) -> Iterator[Seen]:
        """The names of a text, from left to right, the longest form at each place."""
        end = 0
        runs = list(_RUN.finditer(text))
        for number, run in enumerate(runs):
            if run.start() < end:
                continue
            for pattern, form in self._list_forms(runs, number):
                if match := pattern.match(text, run.start()):
                    who = frozenset(self._meant[form])
                    within: frozenset[int] = frozenset()
                    if who & self.places and _OF.search(text, max(0, run.start() - 20), run.start()):
                        who, within = frozenset(), who
                    end = match.end()
                    yield Seen(run.start(), end, who, form in self._things, within, form in self._unnamed)
                    break

    def _list_forms(self, runs: Sequence[re.Match[str]], number: int) -> Iterator[tuple[re.Pattern[str], str]]:
        """The forms whose runs of letters the text has from a run on, the longest first."""
        node = self._forms
        found: list[_Forms] = []
        while number < len(runs) and runs[number][0] in node.longer:
            node = node.longer[runs[number][0]]
            found.append(node)
            number += 1
        for one in reversed(found):
            yield from one.here

    def _list_called(self, text: str, said: Sequence[Seen]) -> Iterator[int]:
        for one in said:
            if len(one.who) == 1:
                (who,) = one.who
                if who in self._own_words and self._own_words[who] & set(text[one.start : one.end].split()):
                    yield who

    def _find_voices(
        self, told: Sequence[Seen], said: Sequence[Seen]
    ) -> tuple[frozenset[int], frozenset[int]]:
        """Whom names outside quotations and inside them may mean."""
        outside, inside = ([one for one in names if not one.thing and not one.unnamed] for names in (told, said))
        voices = {who for one in outside for who in (one.who & self.persons if one.who else {SOMEBODY})}
        spoken = {who for one in inside for who in (one.who | one.within if one.who else {SOMEBODY, *one.within})}
        return frozenset(voices), frozenset(spoken)


def _part(names: Sequence[Seen], quotes: Sequence[tuple[int, int]]) -> tuple[list[Seen], list[Seen]]:
    """The names outside quotations, and those inside."""
    opened = [start for start, _ in quotes]
    found: tuple[list[Seen], list[Seen]] = ([], [])
    for one in names:
        before = bisect_right(opened, one.start) - 1
        found[before >= 0 and one.start < quotes[before][1]].append(one)
    return found


def _list_own_words(name: str) -> set[str]:
    """The words of a name but for its titles, if it has others."""
    titles = load_name_words().titles
    return {word for word in name.split() if word.rstrip(".") not in titles} or set(name.split())


def _has_strange_word(text: str, names: Sequence[Seen]) -> bool:
    """Whether a sentence has a capital in it that is no listed name's, and no word that is none: it may be a place."""
    known = load_name_words()
    starts = [one.start for one in names]
    for match in _INNER.finditer(text):
        before = bisect_left(starts, match.end()) - 1
        free = before < 0 or names[before].end <= match.start(1)
        if free and match[1] not in known.harmless and match[1] not in known.titles:
            return True
    return False


def _is_one_voice(text: str, people: Sequence[Seen], quotes: Sequence[tuple[int, int]]) -> bool:
    """Whether every quotation has the name of somebody and a word of saying right beside it, or goes on in the sentence
    behind such a pair, and no word of saying stands without a name."""
    spans = [(start - 1, min(end + 1, len(text)), _QUOTED) for start, end in quotes]
    spans += [(one.start, one.end, _NAME) for one in people]
    drawn: list[str] = []
    place = 0
    for start, end, mark in sorted(spans):
        drawn += [text[place:start], mark]
        place = end
    plan = _BESIDE.sub(_PAIR, "".join([*drawn, text[place:]]))
    if _TELLING.search(plan):
        return False
    plan = _TOLD_OF.sub(lambda match: (match["lead"] or "") + _TOLD, plan)
    return _QUOTED not in _GOES_ON.sub(lambda match: match["told"], plan)


@dataclass(slots=True)
class _Forms:
    """Forms by their runs of letters: those that end here, the longest first, and those that go on, by the next run."""

    here: list[tuple[re.Pattern[str], str]] = field(default_factory=list)
    longer: dict[str, _Forms] = field(default_factory=dict)


def _sort_forms(forms: Iterable[str]) -> _Forms:
    top = _Forms()
    for form in sorted(forms, key=lambda one: (-len(one), one)):
        node = top
        for run in _RUN.findall(form) if _RUN.match(form) else ():
            node = node.longer.setdefault(run, _Forms())
        if node is not top:
            spaced = r"\s+".join(re.escape(word) for word in form.split())
            node.here.append((re.compile(rf"{spaced}(?![{_LETTER}])"), form))
    return top


def find_speaker(
    text: str, people: Sequence[Seen], starts: Sequence[int], quote: tuple[int, int], closed: int
) -> frozenset[int]:
    """Whom the words right beside a quotation name as its speaker; `closed` is where the one before it ends."""
    start, end = quote
    if (after := bisect_right(starts, end)) < len(people):
        seen = people[after]
        if _OPENING.search(text, end + 1, seen.start) is None:
            between = text[end + 1 : seen.start]
            if _SAID_AFTER.fullmatch(between) or (not between.strip(" \r\n,") and _SAYS_NEXT.match(text, seen.end)):
                return seen.who
    before = bisect_left(starts, start) - 1
    while before >= 0 and people[before].end >= start:
        before -= 1
    # What stands before another quotation does not say who speaks in this one.
    if before >= 0 and people[before].end > closed:
        seen = people[before]
        if _SAID_BEFORE.fullmatch(text, seen.end, start - 1):
            return seen.who
        # `"…," said N, "…"`: the second part is said by N, too.
        if closed >= 0 and re.fullmatch(r"[,;.:]\s+", text[seen.end : start - 1]):
            return seen.who if _SAID_AFTER.fullmatch(text[closed + 1 : seen.start]) else frozenset()
    return frozenset()


def cut_text(text: str) -> Iterator[tuple[int, int]]:
    """The places of the paragraphs of a text, between blank lines."""
    place = 0
    for gap in (*_GAP.finditer(text), None):
        part = text[place : gap.start() if gap else len(text)]
        if kept := part.strip():
            first = place + len(part) - len(part.lstrip())
            yield first, first + len(kept)
        place = gap.end() if gap else len(text)


def read_heading(text: str) -> int | None:
    """The number at the beginning of a chapter's heading, in digits or Roman."""
    match = _HEADING.match(text)
    if match is None:
        return None
    if match[1].isdigit():
        return int(match[1])
    total = 0
    for place, letter in enumerate(match[1]):
        value = _DIGITS[letter]
        total += -value if any(_DIGITS[later] > value for later in match[1][place + 1 : place + 2]) else value
    return total


def list_quotes(text: str) -> Iterator[tuple[int, int]]:
    """Spans between double quotation marks; what is not closed reaches to the end."""
    opened: int | None = None
    for match in re.finditer("[“”\"]", text):
        if match[0] == "“" or (match[0] == '"' and opened is None):
            opened = match.end()
        elif opened is not None:
            yield opened, match.start()
            opened = None
    if opened is not None:
        yield opened, len(text)


def fold(text: str) -> str:
    """A text in one line, without capitals and marks of emphasis."""
    return " ".join(text.replace("_", "").split()).casefold()


def unite(names: Iterable[Seen]) -> set[int]:
    """Everybody whom names may mean."""
    return {who for one in names for who in one.who}
