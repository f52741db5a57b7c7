"""Finding in a running text what it names, by the names that the graph knows.

Runs of words that may be a name are looked up in the store's hash index, longest first. It is a look-up, not a model:
what the graph has no name for is not found, and of several bearers of a name the one that fits the text's other names,
else the best connected one, is taken.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hopwright.counterfactual.mention_forms import is_distinctive_form
from hopwright.counterfactual.surrogate_names import is_class_word
from hopwright.knowledge.documents.passage_graph import EntityMention
from hopwright.knowledge.wikidata.entity_kinds import kinds_of_noun
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.text.demonyms import find_country

_WORD = re.compile(r"[^\W_](?:[\w.'’]*[\w])?\.?", re.UNICODE)
_GAP = re.compile(r"^(?: |-|–| - |- |, | & |\. |: )$")
# Words that say nothing alone and open a name when another word with a capital follows.
_LEADS = frozenset(
    "black white red blue green golden big little great grand old new north south east west northern southern eastern "
    "western first second third saint san la le el".split()
)
_ARTICLES = frozenset({"The", "A", "An"})
_LONGEST = 8
_LOWER = 3
_WELL_KNOWN = 3
_ACRONYMS = frozenset({"US", "UK", "UN", "EU", "U.S.", "U.K."})
# A line break ends a title; what follows it begins a sentence.
_ENDS = re.compile(r'[.!?:;"“”()\n]')
# Words with which a passage likes to open, and which are no names.
PARTICIPLES = frozenset(
    "Based Born Built Buried Commissioned Composed Covering Created Designed Developed Directed Discovered Edited "
    "Educated Established Filmed Formed Founded Held Home Known Led Located Lying Made Married Named Narrated Produced "
    "Published Raised Recorded Released Set Shot Situated Starring Written".split()
)
_ABBREVIATIONS = frozenset({"St.", "Dr.", "Jr.", "Sr.", "Mt."})


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    text: str
    opens: bool
    """Whether it opens a sentence, where any word has a capital."""


class Recogniser:
    """Finds mentions of a graph's entities. Look-ups are cached, for the graph does not change."""

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self._bearers = functools.lru_cache(200_000)(self._find_bearers)

    def find(self, text: str, *, known: Iterable[str] = ()) -> list[EntityMention]:
        """All mentions, in order, not overlapping. known: entities that are taken first where they bear a name."""
        words = list(_list_words(text))
        chosen = dict.fromkeys(known)
        found: list[tuple[int, int, str, tuple[str, ...]]] = []
        place = 0
        while place < len(words):
            match = self._match(text, words, place)
            if match is None:
                place += 1
                continue
            stop, bearers = match
            if (stop == place + 1 and find_country(words[place].text)) or not _is_part(text, words, place, stop):
                start, end = words[place].start, words[stop - 1].end
                found.append((start, end, text[start:end], bearers))
            place = stop
        # Full names decide first whom a shared shorter one means.
        for *_, bearers in sorted(found, key=lambda one: -len(one[2])):
            if len(bearers) == 1 or not any(one in chosen for one in bearers):
                chosen[next((one for one in bearers if one in chosen), bearers[0])] = None
        return [
            EntityMention(start, end, name, next((one for one in bearers if one in chosen), bearers[0]))
            for start, end, name, bearers in found
        ]

    def find_unknown(self, text: str, mentions: Sequence[EntityMention], title: int = 0) -> list[EntityMention]:
        """Runs of capitalised words that no mention covers: names that the graph does not know.

        A single word that opens a sentence is one only where it also stands elsewhere, or in the title, which is the
        text's first so many letters. Their `entity` is empty.
        """
        words = list(_list_words(text))
        covered = [False] * len(words)
        spans = iter([*mentions, EntityMention(len(text) + 1, len(text) + 1, "", "")])
        span = next(spans)
        for place, word in enumerate(words):
            while span.end <= word.start:
                span = next(spans)
            covered[place] = span.start <= word.start
        found: list[tuple[EntityMention, bool]] = []
        place = 0
        while place < len(words):
            stop = place + 1
            first = words[place].text
            titled = first[0].isupper() and (is_class_word(first) or first.casefold() in _LEADS)
            participle = words[place].opens and first in PARTICIPLES and words[place].end > title
            if (
                covered[place]
                or participle
                or not (
                    is_distinctive_form(words[place].text)
                    or (titled and stop < len(words) and not covered[stop] and _continues(text, words, stop))
                )
            ):
                place += 1
                continue
            while stop < len(words) and not covered[stop] and _continues(text, words, stop):
                stop += 1
            start, end = words[place].start, words[stop - 1].end
            weak = words[place].opens and stop == place + 1 and end > title
            found.append((EntityMention(start, end, text[start:end], ""), weak))
            place = stop
        sure = {mention.text for mention, weak in found if not weak}
        return [mention for mention, weak in found if len(mention.text) > 1 and (not weak or mention.text in sure)]

    def _match(self, text: str, words: Sequence[_Word], place: int) -> tuple[int, tuple[str, ...]] | None:
        """The longest name that begins with a word: (word after its last, who bears it)."""
        first = words[place]
        if not (first.text[0].isupper() or (first.text[0].isdigit() and len(first.text) > 1)):
            return None
        for stop in reversed(_list_stops(text, words, place)):
            name = text[first.start : words[stop - 1].end]
            if stop == place + 1 and not self._may_stand_alone(first):
                return None
            # "The Queen" is a film, and a queen in almost every text.
            if stop == place + 2 and first.text in _ARTICLES and not is_distinctive_form(words[place + 1].text):
                continue
            if bearers := self._bearers(name):
                if stop == place + 1 and first.opens and self._graph.label(bearers[0]) != name:
                    continue
                # "Buried" is a film, and how a passage about anybody may begin.
                if stop == place + 1 and first.opens and name in PARTICIPLES and _goes_on_small(words, stop):
                    continue
                return stop, bearers
        return None

    def _may_stand_alone(self, word: _Word) -> bool:
        text = word.text
        if text[0].isdigit():
            return False
        if text.isupper():
            return text in _ACRONYMS or len(text) >= _WELL_KNOWN
        return len(text) >= _WELL_KNOWN and is_distinctive_form(text)

    def _find_bearers(self, name: str) -> tuple[str, ...]:
        """Entities with exactly that name, capitals included, best first; a demonym is borne by its country."""
        if country := find_country(name):
            return self._look_up(country) or self._look_up(f"{country} of America")
        return self._look_up(name)

    def _look_up(self, name: str) -> tuple[str, ...]:
        bearers: list[str] = []
        for match in self._graph.matches(name):
            if match.rank > 1:
                break
            id = self._graph.id_of(match.entity)
            # Whose label it is is meant rather than whose alias: Florence is also called Italy somewhere.
            best = not bearers or self._graph.label(bearers[0]) != name
            if name == self._graph.label(id) or (best and name in self._graph.aliases(id)):
                bearers.append(id)
        return tuple(bearers)


def _is_part(text: str, words: Sequence[_Word], place: int, stop: int) -> bool:
    """Whether words are but a part of a longer name: "Joseph" in "Joseph Bradley Story"."""
    before = (
        place > 0
        and stop == place + 1
        and text[words[place - 1].end : words[place].start] == " "
        and is_distinctive_form(words[place - 1].text)
        and not find_country(words[place - 1].text)
    )
    return (before and not words[place].opens) or (stop < len(words) and _continues(text, words, stop))


def _continues(text: str, words: Sequence[_Word], place: int) -> bool:
    """Whether a word goes on with the name before it."""
    word, gap = words[place], text[words[place - 1].end : words[place].start]
    if gap not in (" ", "-", "- ", ". ") or word.opens or not word.text[0].isupper() or find_country(word.text):
        return False
    return is_distinctive_form(word.text) or is_class_word(word.text)


def _goes_on_small(words: Sequence[_Word], place: int) -> bool:
    return place < len(words) and words[place].text[0].islower() and words[place].text not in ("is", "was", "are")


def _list_words(text: str) -> Iterator[_Word]:
    opens = True
    last = 0
    for match in _WORD.finditer(text):
        gap = text[last : match.start()]
        opens = last == 0 or (gap != " " and _ENDS.search(gap) is not None)
        word = match[0]
        end = match.end()
        # A full stop belongs to an initial or an abbreviation, not to the last word of a sentence.
        if word[-1] == "." and not (len(word) == 2 or "." in word[:-1] or word in _ABBREVIATIONS):
            word, end = word[:-1], end - 1
        if word[-2:] in ("'s", "’s"):
            word, end = word[:-2], end - 2
        if word:
            yield _Word(match.start(), end, word, opens)
        last = end


def _list_stops(text: str, words: Sequence[_Word], place: int) -> list[int]:
    """Where a name that begins here may stop: after a word with a capital or a digit, or after a class noun."""
    stops = [place + 1]
    lower = 0
    for stop in range(place + 2, min(place + _LONGEST, len(words)) + 1):
        before, word = words[stop - 2], words[stop - 1]
        gap = text[before.end : word.start]
        if not (_GAP.match(gap) or gap in ("'s ", "’s ", "' ", "’ ", '" ')):
            break
        if word.text[0].isupper() or word.text[0].isdigit():
            lower = 0
            stops.append(stop)
            continue
        lower += 1
        if lower > _LOWER:
            break
        if is_class_word(word.text) or kinds_of_noun(word.text):
            stops.append(stop)
    return stops
