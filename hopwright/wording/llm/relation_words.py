"""How a hop's relation may be said, and which words say another one: who composed for who directed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hopwright.planning.computation_forms import Extreme, GroupSize, NextOfList, read_computation
from hopwright.records import Hop
from hopwright.wording.llm.timelines import list_cues
from hopwright.wording.llm.vocabulary import Vocabulary, find_making, find_rivals, properties_in, stem, stems, widen

_KINDS_OF_TEXT = tuple(stems(words) for words in ("novel novelist", "play playwright dramatist", "libretto librettist"))
"""What is a novel is no play, although both have an author."""
_RANK = re.compile(r"\b(?:last|latest|final|second|third)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RelationWords:
    """How a hop's relation can be said: the stems of its `cues`, the rules' words for it, and what it is."""

    cues: frozenset[str]
    rules: str
    hops: tuple[Hop, ...]

    @classmethod
    def of(cls, hops: Sequence[Hop], vocabulary: Vocabulary, *rules: str) -> RelationWords:
        """The words of hops that are said together; `rules` are masked texts in which the rules say them."""
        cues = frozenset[str]().union(*(list_cues(hop, vocabulary) for hop in hops))
        return cls(cues, " ".join(rules), tuple(hops))

    def is_said(self, text: str) -> bool:
        """Whether a text says it in a word that is known."""
        return not self.cues.isdisjoint(stem_all(text))

    def find_wrong(self, text: str, more: frozenset[str] = frozenset()) -> str:
        """A word of a text that says another relation; `more` stems are allowed besides. Empty for none."""
        forms = [form for hop in self.hops if isinstance(form := read_computation(hop.derivation), Extreme | GroupSize)]
        # Beside a partner in a list (`with the editor X`), whose list it is was said by name.
        lists = any(form.members is None or not form.members.partner for form in forms)
        own = widen(self.cues | stems(self.rules), lists=lists) | more
        kinds = [one for one in _KINDS_OF_TEXT if one & stems(self.rules)]
        other = frozenset().union(*_KINDS_OF_TEXT).difference(*kinds, more) if kinds else frozenset[str]()
        return next(iter(find_rivals(text, self.cues, own - other)), "")

    def find_making(self, text: str) -> str:
        """Whether a text parts a list by when works were made, not by when they came out; empty where it does not."""
        forms = (read_computation(hop.derivation) for hop in self.hops)
        parted = any(
            isinstance(form, NextOfList) or (isinstance(form, Extreme | GroupSize) and form.moment) for form in forms
        )
        word = find_making(text) if parted else ""
        return f"says {word!r}: the list is parted by when a work came out, not by when it was made" if word else ""


def find_ranks(text: str) -> frozenset[str]:
    """Words that take one of several by its place in an order."""
    return frozenset(word.lower() for word in _RANK.findall(text))


def stem_all(text: str) -> frozenset[str]:
    """The stems of all words of a text, function words too."""
    return stems(text) | {stem(word) for word in text.split()}


def list_ties(hop: Hop) -> frozenset[str]:
    """Properties of facts of a hop that it does not ask for: that who died was the librettist of a work."""
    return frozenset(fact.property for fact in hop.evidence.triplets) - frozenset(properties_in(hop.derivation))
