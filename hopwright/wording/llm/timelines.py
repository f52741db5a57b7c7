"""What a wording of a look-up in a timeline has to keep: which list it is, and which part of its entry is asked for.

The list may go by another name than the rules' (`who occupied the White House`), but the Winter Games are not the
Summer Games, a nominee is not a laureate, and whoever was elected in a year did not hold the office in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from hopwright.knowledge.properties import LiteralProperty, PropertyTable
from hopwright.records import Hop, ReverseLookup
from hopwright.wording.llm.vocabulary import Vocabulary, load_words, properties_in, stem

_SLOT = re.compile(r"\{\w\}")
_WORD = re.compile(r"[^\W\d_]+")
_CAPITAL = re.compile(r"(?<![\w'’])[A-Z][\w]+")
_PARTS = (
    ("host", ("host", "venue")),
    ("winner", ("winner", "champion")),
    ("award", ("prize", "award", "medal", "palme")),
)
"""What a timeline's label says of its entries, for one that the word lists do not know."""


@dataclass(frozen=True, slots=True)
class TimelineWords:
    """The words of one timeline.

    `part`: what its entries are (`host`, `winner`, `award`, `office`); `said`: patterns that have to be found in a
    wording of it, all of them; `names`: words with a capital that may stand there besides those of the rules; `does`:
    words of which one has to say the part (none: the name of the list says it); `never`: words that make another part
    of it.
    """

    label: str
    part: str
    said: tuple[re.Pattern[str], ...]
    names: frozenset[str]
    does: frozenset[str]
    never: frozenset[str]

    @property
    def stems(self) -> frozenset[str]:
        """The stems of all words by which a wording may say it."""
        return frozenset(map(stem, (*self.names, *self.does)))


def find_timeline(hop: Hop, table: PropertyTable) -> LiteralProperty | None:
    """The timeline that a hop looks up; None for another hop."""
    derivation = hop.derivation
    if not isinstance(derivation, ReverseLookup) or derivation.constraints:
        return None
    entry = table.literal.get(derivation.property)
    return entry if entry is not None and entry.timeline else None


def describe_holder(hop: Hop, timeline: LiteralProperty, hops: Mapping[int, Hop]) -> str:
    """What a look-up in a timeline does, in so many words."""
    assert isinstance(hop.derivation, ReverseLookup)
    part = read_timeline(timeline).part
    year = hop.derivation.value
    if year.startswith("hop"):
        year = hops[int(year[3:])].answer
    return (
        f"the {_SAID[part]} of {year} in the list `{timeline.label}`: of this list and of no other, whatever it is "
        f"called, and {_KEPT[part]}"
    )


def read_hop(hop: Hop, table: PropertyTable) -> TimelineWords | None:
    """The words of the timeline that a hop looks up; None for another hop."""
    found = find_timeline(hop, table)
    return read_timeline(found) if found is not None else None


def list_cues(hop: Hop, vocabulary: Vocabulary) -> frozenset[str]:
    """The stems by which a wording can say what a hop asks for: of its properties, or of its timeline."""
    found = frozenset[str]().union(*(vocabulary.cues(one) for one in properties_in(hop.derivation)))
    words = read_hop(hop, vocabulary.table)
    return found | words.stems if words is not None else found


def find_wrong_timeline(words: TimelineWords, rules: str, text: str, bare: str, own: str = "") -> str:
    """What a text says wrongly of a timeline, as the end of `the question must …`; empty where it is right.

    `bare` is the text without names, `own` the part of it that no other hop shares (empty: all); words that the rules'
    own wording has belong to other hops.
    """
    if not all(pattern.search(text) for pattern in words.said):
        return f"make clear that {words.label!r} is meant, and no other list"
    said = _WORD.findall(bare.lower())
    kept = {stem(word) for word in _WORD.findall(rules.lower())}
    told = _WORD.findall((own or bare).lower())
    if wrong := [word for word in dict.fromkeys(told) if word in words.never and stem(word) not in kept]:
        return f"ask for the {_SAID[words.part]}, which {wrong[0]!r} does not say"
    if words.does and words.does.isdisjoint({*said, *(word.removesuffix("s") for word in said)}):
        return f"say that the {_SAID[words.part]} is meant"
    return ""


@cache
def read_timeline(timeline: LiteralProperty) -> TimelineWords:
    """The words of a timeline: from the word lists, and where these do not know it, from the rules' own templates."""
    lists = load_words()["timelines"]
    known = lists.get(timeline.timeline, {})
    part = known.get("part") or _guess_part(timeline.label)
    said = known.get("said") or [rf"\b{re.escape(word)}" for word in sorted(_list_names(timeline))]
    told = load_words()["parts"][part]
    return TimelineWords(
        timeline.label,
        part,
        tuple(re.compile(pattern, re.IGNORECASE) for pattern in said),
        frozenset(known.get("names", "").split()),
        frozenset(told.get("does", "").split()),
        frozenset(told["never"].split()),
    )


def _guess_part(label: str) -> str:
    folded = label.lower()
    return next((part for part, words in _PARTS if any(word in folded for word in words)), "office")


def _list_names(timeline: LiteralProperty) -> frozenset[str]:
    """The words with a capital that all of its questions share, the first of each aside."""
    found = [frozenset(_read_names(template)) for template in timeline.holder_ask]
    return frozenset.intersection(*found) if found else frozenset()


def _read_names(template: str) -> Iterator[str]:
    yield from _CAPITAL.findall(_SLOT.sub(" ", template.partition(" ")[2]))


_SAID = {
    "host": "host",
    "winner": "winner",
    "award": "recipient",
    "office": "holder",
}
_KEPT = {
    "host": "the host, never a winner",
    "winner": "the winner, never a host or a finalist",
    "award": "whoever got it, never a nominee",
    "office": "whoever held it in that year, not who was elected, appointed or crowned in it",
}
