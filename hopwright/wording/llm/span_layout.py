"""A marked question taken apart: which words stand for which hop, and whether its spans are nested as its plan is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from hopwright.planning.computation_forms import Combinations, GroupSize, read_computation
from hopwright.records import Compute, Hop, Item, Lookup
from hopwright.text.matching import pad
from hopwright.wording.llm.problems import WordingProblem
from hopwright.wording.llm.vocabulary import stems
from hopwright.wording.marks import MarkedSpan, MarkError

_EMPTY = frozenset(
    "it its that this these those there one ones same latter former two both three them they their he she his her him "
    "hers such another other others who whom whose which so then".split()
)
"""Words that take something up without saying what."""
_PRONOUN = re.compile(r"\b(?:his|her|hers|him|she|he|its?|their|them|they|that|this)\b", re.IGNORECASE)
_BESIDE_YEAR = re.compile(r"\b(?:following|next|previous|preceding|that|same)\b(?: \w+)? ?year", re.IGNORECASE)


@dataclass(slots=True)
class HopText:
    """What a question says of one hop: the words of its spans, of those that it shares, and the hops inside them."""

    words: list[str] = field(default_factory=list)
    labelled: list[str] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    inner: set[int] = field(default_factory=set)
    beside: set[int] = field(default_factory=set)
    """Hops that share a span with it: `the country where X was born` is said of a town and of its country."""

    @property
    def all(self) -> str:
        return " … ".join([*self.words, *self.shared])

    def says_something(self) -> bool:
        """Whether any word does more than take something up."""
        return any(len(word) > 1 and word not in _EMPTY and stems(word) for word in pad(self.all).split())


@dataclass(frozen=True)
class Layout:
    """A question taken apart: what stands for each hop; hops that another one says along with itself."""

    texts: Mapping[int, HopText]
    merged: Mapping[int, int]

    def list_near(self, index: int) -> set[int]:
        """The hops that a hop builds on or that build on it: people say one relation of both ("the same director")."""
        outer = {other for other, text in self.texts.items() if index in text.inner}
        return {index, *self.texts[index].inner, *outer}

    def join(self, indices: Iterable[int]) -> str:
        """What is said of some hops."""
        return " … ".join(self.texts[index].all for index in sorted(indices))


def lay_out_spans(draft: Item, root: MarkedSpan, birth: str) -> Layout:
    """Take a marked question apart; `birth` is the property of births. Raises MarkError for a hop that is not there."""
    last = len(draft.hops)
    texts = {hop.index: HopText() for hop in draft.hops}
    seen = Counter(index for span in root.walk() for index in span.hops)
    for span in root.walk():
        for index in span.hops or (last,):
            if index not in texts:
                raise MarkError(f"there is no hop {index}")
            text = texts[index]
            (text.words if len(span.hops) < 2 else text.shared).append(span.own)
            text.labelled.append(span.labelled)
            text.inner |= {inner for child in span.children for inner in child.hops}
            text.beside |= {*span.hops} - {index}
    for index, text in texts.items():
        text.inner.discard(index)
        text.inner |= text.beside.intersection(draft.hops[index - 1].depends_on)
    _take_up(draft, root, texts)
    merged: dict[int, int] = {}
    for hop in draft.hops[:-1]:
        dependents = [one for one in draft.hops if hop.index in one.depends_on]
        if not seen[hop.index] and len(dependents) == 1 and _may_merge(hop, dependents[0], birth):
            merged[hop.index] = dependents[0].index
    return Layout(texts, merged)


def _take_up(draft: Item, root: MarkedSpan, texts: Mapping[int, HopText]) -> None:
    """Count what a span takes up by a pronoun alone as if it were marked, where it can be nothing else.

    After `{1: The laureate of 1953} died.` there is one whom `his` in `{2: his death}` can mean; after two people there
    is none.
    """
    told: list[int] = []
    for span in _list_outer(root):
        for one in reversed(list(span.walk())):
            for index in one.hops if len(one.hops) == 1 else ():
                hop, text = draft.hops[index - 1], texts[index]
                missing = [need for need in hop.depends_on if need not in text.inner and texts[need].all]
                before = [other for other in told if other != index and other not in text.inner]
                if len(missing) == 1 and before == missing and _takes_up(one.own, draft.hops[missing[0] - 1]):
                    text.inner.add(missing[0])
        held = {inner for child in span.children for one in child.walk() for inner in one.hops}
        told += [index for index in span.hops if index not in (*told, *held)]


def _list_outer(root: MarkedSpan) -> Iterator[MarkedSpan]:
    """The spans that stand in no other, in the order in which they are read."""
    yield from root.children


def _takes_up(words: str, hop: Hop) -> bool:
    """Whether words refer to what a hop gives, without a mark."""
    pattern = _PRONOUN if hop.answer_type == "entity" else _BESIDE_YEAR
    return pattern.search(words) is not None


def _may_merge(hop: Hop, dependent: Hop, birth: str) -> bool:
    """Whether people say a hop along with the one that builds on it: a birth with an age, a set with its pairs."""
    if isinstance(hop.derivation, Lookup) and hop.derivation.property == birth:
        return isinstance(dependent.derivation, Compute)
    counted, chosen = read_computation(hop.derivation), read_computation(dependent.derivation)
    return isinstance(counted, GroupSize) and isinstance(chosen, Combinations)


def _list_needs(draft: Item, layout: Layout, index: int) -> set[int]:
    """The hops that the spans of a hop hold: what it builds on, or what that builds on where it is said along."""
    found: set[int] = set()
    for one in draft.hops[index - 1].depends_on:
        found |= _list_needs(draft, layout, one) if one in layout.merged else {one}
    return found


def find_misplaced(draft: Item, layout: Layout) -> Iterator[WordingProblem]:
    """Spans that are missing, or inside one that does not build on them."""
    last = len(draft.hops)
    for hop in draft.hops[:-1]:
        if hop.index not in layout.merged and not layout.texts[hop.index].all:
            yield WordingProblem(
                "structure",
                f"no words are marked for hop {hop.index}: put {{{hop.index}: …}} around what stands for it",
            )
        elif hop.index not in layout.merged and not layout.texts[hop.index].says_something():
            yield WordingProblem("structure", f"nothing says what hop {hop.index} is: its words only refer to it")
    for hop in draft.hops:
        if hop.index in layout.merged:
            continue
        called = "the whole question" if hop.index == last else f"the span of hop {hop.index}"
        needs, strange = _list_needs(draft, layout, hop.index), set(layout.texts[hop.index].inner)
        for missing in sorted(needs - strange):
            yield WordingProblem(
                "structure", f"{called} builds on hop {missing}: the words for hop {missing} must stand inside it"
            )
        strange -= needs
        for one in needs:  # what is said in one breath with what it builds on holds that one's spans as well
            strange -= layout.texts[one].beside
            strange -= layout.texts[one].inner if one in layout.texts[hop.index].beside else set()
        if hop.index == last:
            # A scene before the question may hold anything that is taken up where it belongs.
            strange -= {one for index, text in layout.texts.items() if index != last for one in text.inner}
        for index in sorted(strange):
            yield WordingProblem(
                "structure", f"{called} must not hold hop {index}, on which hop {hop.index} does not build"
            )
