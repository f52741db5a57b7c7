"""Where a document states a fact: the sentence, and the places of both ends in it.

A fact is *said* where both of its ends stand in one sentence beside a word of its relation, and *named* where the word
is missing. An end that the document is about counts as present in every sentence, for articles go on with "he" and
"it". Dates and numbers are found however they are written (`values`).
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from hopwright.knowledge.documents.values import find_values
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.source import FactGraph
from hopwright.text.demonyms import list_demonyms
from hopwright.text.mentions import find_mentions
from hopwright.text.stems import content_stems

SENTENCE_BREAK = re.compile(
    r"(?<=[.!?])(?<!\b[A-HJ-UWYZ]\.)(?<!\b(?:Dr|Ft|Lt|Mr|Ms|Mt|St)\.)(?<!\b(?:Col|Gen|Mrs|Rev|Sgt)\.)\s+(?=[A-Z\"“])"
)
"""The end of a sentence. The dot of an initial or a title is none, and would part a name; I, V and X are numerals."""
_SHORTEST_NAME = 3
_BRACKETS = re.compile(r"\([^()]*\)")
_OF_YEAR = re.compile(r"\b(?:is|was) an? $")
_NEAR = 2
"""Characters between a name and the brackets behind it: a quotation mark and a space."""
Place = tuple[int, int]
Bracketed = Literal["", "first", "last", "only"]
"""Which date in brackets behind a name says the fact without a word: of two the first (a birth) or the last (a death),
or the only one (a work's year, which may also stand as in `is a 1935 film`)."""


@dataclass(frozen=True, slots=True)
class StatedFact:
    """Where a text states a fact: places in characters; the place of an end that is only understood is None."""

    sentence: int
    start: int
    end: int
    subject: Place | None
    object: Place | None
    said: bool
    """Whether a word of the relation stands there, too."""


@dataclass(frozen=True, slots=True)
class FactEnd:
    """One end of a fact: the names of an entity, or a date, or a number with its base unit."""

    names: tuple[str, ...] = ()
    date: dt.date | None = None
    number: Decimal | None = None
    unit: str = ""


class AlignedText:
    """A text with its sentences, in which facts are looked for. `topic` are the names of what it is about."""

    def __init__(self, text: str, topic: Sequence[str] = (), sentences: Sequence[Place] | None = None) -> None:
        self.text = text
        self.sentences = list(sentences) if sentences is not None else split_sentences(text)
        self._topic = frozenset(name.casefold() for name in topic)
        self._stems = [content_stems(text[start:end]) for start, end in self.sentences]
        self._names: dict[str, list[Place]] = {}
        self._found_dates, self._found_numbers = find_values(text)

    def find(
        self, subject: FactEnd, object: FactEnd, cues: frozenset[str], *, bracketed: Bracketed = ""
    ) -> list[StatedFact]:
        """Where the fact is stated, the best place first: said before named, both ends there before one understood.

        `cues` are stems of the words that say the relation.
        """
        shared = _list_shared(subject, object)
        ours, theirs = self._locate(subject, shared), self._locate(object, shared)
        understood = self._is_topic(subject, shared), self._is_topic(object, shared)
        stated = []
        for number, (start, end) in enumerate(self.sentences):
            pair = _pair(_list_within(ours, start, end), _list_within(theirs, start, end), understood)
            if pair is None:
                continue
            said = bool(cues & self._stems[number]) or self._is_dated(*pair, start, end, bracketed)
            stated.append(StatedFact(number, start, end, *pair, said=said))
        return sorted(stated, key=lambda one: (not one.said, one.subject is None or one.object is None, one.sentence))

    def locate(
        self, subject: FactEnd, object: FactEnd, start: int, end: int
    ) -> tuple[Place | None, Place | None] | None:
        """Where both ends of a fact stand within some characters, nearest to each other; None for one that is only
        understood. None in all where an end is not there, or both are only understood."""
        shared = _list_shared(subject, object)
        ours, theirs = (_list_within(self._locate(one, shared), start, end) for one in (subject, object))
        return _pair(ours, theirs, (self._is_topic(subject, shared), self._is_topic(object, shared)))

    def _locate(self, end: FactEnd, shared: Set[str]) -> list[Place]:
        if end.date is not None:
            return [(one.start, one.end) for one in self._found_dates if one.is_of(end.date)]
        if end.number is not None:
            return [(one.start, one.end) for one in self._found_numbers if one.is_of(end.number, end.unit)]
        names = [name for name in end.names if name.casefold() not in shared]
        return sorted({place for name in _list_forms(names) for place in self._find_name(name)})

    def _find_name(self, name: str) -> list[Place]:
        if name not in self._names:
            found = find_mentions(self.text, name)
            self._names[name] = [(start, start + len(name)) for start in found]
        return self._names[name]

    def _is_topic(self, end: FactEnd, shared: Set[str]) -> bool:
        return not self._topic.isdisjoint({name.casefold() for name in end.names} - shared)

    def _is_dated(self, subject: Place | None, date: Place | None, start: int, end: int, which: Bracketed) -> bool:
        """Whether a date is the one that `which` says, in brackets behind the subject's name. Those of a life may stand
        anywhere in the text's first sentence, behind what the name is in other languages.
        """
        if date is None or not which:
            return False
        if which == "only" and _OF_YEAR.search(self.text, start, date[0]):
            return True
        for match in _BRACKETS.finditer(self.text, start, end):
            behind = subject is not None and 0 <= match.start() - subject[1] <= _NEAR
            if not behind and (which == "only" or start != self.sentences[0][0]):
                continue
            dates = [(one.start, one.end) for one in self._found_dates if match.start() <= one.start < match.end()]
            if len(dates) == (1 if which == "only" else 2) and dates[-1 if which == "last" else 0] == date:
                return True
        return False


def find_bracketed(property: str, table: PropertyTable) -> Bracketed:
    """Which date in brackets states a property without a word; empty for most."""
    roles = table.roles
    found: dict[str, Bracketed] = {roles.birth: "first", roles.death: "last", roles.release: "only"}
    return found.get(property, "") if property else ""


def split_sentences(text: str) -> list[Place]:
    """Where the sentences of a text begin and end, in characters."""
    starts = [0, *(match.end() for match in SENTENCE_BREAK.finditer(text))]
    ends = [*(match.start() for match in SENTENCE_BREAK.finditer(text)), len(text)]
    return list(zip(starts, ends, strict=True))


@functools.lru_cache(maxsize=4096)
def list_cues(property: str, graph: FactGraph, table: PropertyTable) -> frozenset[str]:
    """Stems of the words that tell a property in a text; empty for those that need none (a country)."""
    if (cues := table.roles.cues.get(property)) is not None:
        return frozenset(content_stems(cues))
    phrases = [graph.property_label(property), *graph.property_aliases(property)]
    if property in table.entity:
        phrases += table.entity[property].predicate
    elif property in table.literal:
        phrases += table.literal[property].year_predicate
    return frozenset(content_stems(" ".join(phrases).replace("{o}", "").replace("{y}", "")))


def _list_forms(names: Iterable[str]) -> list[str]:
    """The names and what else stands for them: demonyms of a country. Very short names mean too much."""
    held = [name for name in names if len(name) >= _SHORTEST_NAME and any(map(str.isupper, name))]
    held = held or [name for name in names if len(name) >= _SHORTEST_NAME]
    return [*held, *list_demonyms(held)]


def _list_within(places: Iterable[Place], start: int, end: int) -> list[Place]:
    return [place for place in places if start <= place[0] and place[1] <= end]


def _list_shared(subject: FactEnd, object: FactEnd) -> Set[str]:
    """The names that both ends bear, which tell neither: Salt Lake City is its airport's town, and a name of it."""
    return {name.casefold() for name in subject.names} & {name.casefold() for name in object.names}


def _pair(
    ours: Sequence[Place], theirs: Sequence[Place], understood: tuple[bool, bool]
) -> tuple[Place | None, Place | None] | None:
    """The places of both ends, of which one may be understood; None where they are not there."""
    if not (ours or understood[0]) or not (theirs or understood[1]) or not (ours or theirs):
        return None
    return _find_nearest(ours, theirs)


def _find_nearest(ours: Sequence[Place], theirs: Sequence[Place]) -> tuple[Place | None, Place | None] | None:
    """The two places that are nearest to each other and do not overlap; one alone where the other is understood."""
    if not ours or not theirs:
        return (ours[0] if ours else None), (theirs[0] if theirs else None)
    apart = [
        (max(one[0], other[0]) - min(one[1], other[1]), one, other)
        for one in ours
        for other in theirs
        if one[1] <= other[0] or other[1] <= one[0]
    ]
    if not apart:
        return None
    _, one, other = min(apart)
    return one, other
