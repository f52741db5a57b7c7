"""Keeping what is trained on apart from what is tested on: which items of one set give away something of another.

An item gives something away when it shares with a protected item

- its anchor: the MuSiQue question, or one of that question's single hops;
- a fact: a triplet or a literal that any hop rests on, computing hops included (MuSiQue too keeps the single hops of
  its test set out of its training set);
- its wording: the questions are nearly the same, whatever they rest on.

In a small graph everybody meets at the same few facts (when a country was founded, how large it is), and hardly an item
is left. The rule `paths` is for those: single facts may be shared, but no two of them of which one rests on the other,
which is what makes a question multi-hop. A release states which rule it keeps, and what the other would have held back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from hopwright.checks.near_duplicates import NearDuplicateFinder
from hopwright.errors import InputError
from hopwright.records import Hop, Item
from hopwright.records.base import Record

SeparationRule = Literal["facts", "paths"]
Reason = Literal["anchor", "fact", "path", "near_duplicate", "original_held_back"]
Fact = tuple[str, str, str]
"""Two ends and a property; the ends of a triplet in a fixed order, for a border is shared both ways."""

REASONS: tuple[Reason, ...] = ("anchor", "fact", "path", "near_duplicate")
_RULES: dict[SeparationRule, frozenset[Reason]] = {
    "facts": frozenset({"anchor", "fact", "path", "near_duplicate"}),
    "paths": frozenset({"anchor", "path", "near_duplicate"}),
}


class HeldBack(Record):
    """An item that was kept out of a set: why, for the sake of which protected item, and what the two share."""

    id: str
    reason: Reason
    shares_with: str
    what: str


class SeparationReport(Record):
    """What was held back of one set for the sake of those before it."""

    rule: SeparationRule
    considered: int
    """Items that were looked at."""
    held_back: dict[str, int]
    """Reason → items, each counted under its first reason."""
    sharing: dict[str, int]
    """Reason → items to which it applies, under either rule; an item may count under several."""
    under_rule: dict[str, int]
    """Rule → items that it holds back."""
    twins: int = 0
    """Twins that went with their originals, or nearly repeat a protected question themselves."""

    @property
    def total(self) -> int:
        """Items held back; twins not counted."""
        return sum(self.held_back.values())


@dataclass(frozen=True, slots=True)
class ItemSet:
    """Items and their twins; where several sets are kept apart, such as can be iterated again."""

    factual: Iterable[Item] = ()
    twins: Iterable[Item] = ()


@dataclass(frozen=True, slots=True)
class Separation:
    """Which items and twins are held back, by id, and per set that had to give way the figures."""

    held: Mapping[str, HeldBack] = field(default_factory=dict)
    reports: Mapping[str, SeparationReport] = field(default_factory=dict)

    def keep(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items that are not held back; an original whose twin is stands alone."""
        for item in items:
            if item.id not in self.held:
                yield item.model_copy(update={"twin": None}) if item.twin in self.held else item


class LeakageGuard:
    """Remembers protected items, and finds what an item shares with them."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self._shared: dict[Hashable, tuple[str, str]] = {}
        self._near = NearDuplicateFinder()

    def protect(self, item: Item) -> None:
        """Remember an item; of a twin only the question, for its facts hold in its own world."""
        self._near.insert(item.question, item.id)
        self.ids.add(item.id)
        if item.variant == "factual":
            for key, text in (*_list_anchors(item), *_list_facts(item), *_list_paths(item)):
                self._shared.setdefault(key, (item.id, text))

    def find(self, item: Item) -> dict[Reason, HeldBack]:
        """Every reason to hold an item back, with the first thing that is shared."""
        found: dict[Reason, HeldBack] = {}
        if item.variant == "factual":
            listed: tuple[tuple[Reason, Iterator[tuple[Hashable, str]]], ...] = (
                ("anchor", _list_anchors(item)),
                ("fact", _list_facts(item)),
                ("path", _list_paths(item)),
            )
            for reason, keys in listed:
                key = next((key for key, _ in keys if key in self._shared), None)
                if key is not None:
                    other, what = self._shared[key]
                    found[reason] = HeldBack(id=item.id, reason=reason, shares_with=other, what=what)
        near = self._near.find_all(item.question)
        if near:
            what = f"the questions share {near[0].share:.0%} of their pieces of three words"
            found["near_duplicate"] = HeldBack(id=item.id, reason="near_duplicate", shares_with=near[0].key, what=what)
        return found


def separate(sets: Mapping[str, ItemSet], rule: SeparationRule = "facts") -> Separation:
    """What has to be held back so that no set gives away anything of those before it.

    `sets` come in order: the first is whole, each further one gives way to all before it. A twin goes with its
    original, and for its own wording. Raises InputError when an item stands in two sets, and for sets that can be
    iterated only once.
    """
    if any(isinstance(items, Iterator) for one in sets.values() for items in (one.factual, one.twins)):
        raise InputError("sets that are kept apart are read more than once: give lists, not iterators")
    guard, last = LeakageGuard(), list(sets)[-1]
    held: dict[str, HeldBack] = {}
    reports: dict[str, SeparationReport] = {}
    for name, items in sets.items():
        if guard.ids:
            found, reports[name] = _hold_back(items, guard, rule)
            held |= found
        if name != last:
            for item in (*items.factual, *items.twins):
                if item.id not in held:
                    guard.protect(item)
    return Separation(held, reports)


def facts_of(hop: Hop) -> dict[Fact, str]:
    """The facts that a hop rests on, each with its text."""
    found: dict[Fact, str] = {}
    for one in hop.evidence.triplets:
        first, last = sorted((one.subject, one.object))
        found[first, one.property, last] = f"{one.subject_label} – {one.property_label} – {one.object_label}"
    for fact in hop.evidence.literals:
        found[fact.subject, fact.property, fact.value] = f"{fact.subject_label} – {fact.property_label} – {fact.value}"
    for claim in hop.evidence.claims:
        found[claim.id, "", claim.value] = f"{claim.phrase} – {claim.value}"
    return found


def _hold_back(
    items: ItemSet, guard: LeakageGuard, rule: SeparationRule
) -> tuple[dict[str, HeldBack], SeparationReport]:
    """What of one set has to be held back for the sake of those that are protected."""
    held: dict[str, HeldBack] = {}
    sharing, under = Counter[str](), Counter[str]()
    considered = 0
    for item in items.factual:
        considered += 1
        if item.id in guard.ids:
            raise InputError(f"{item.id} stands in two sets that are to be kept apart")
        found = guard.find(item)
        sharing.update(found.keys())
        under.update(name for name, reasons in _RULES.items() if not reasons.isdisjoint(found))
        reason = next((one for one in REASONS if one in found and one in _RULES[rule]), None)
        if reason is not None:
            held[item.id] = found[reason]
    counts = Counter(one.reason for one in held.values())
    twins: dict[str, HeldBack] = {}
    for twin in items.twins:
        if (original := held.get(twin.twin or "")) is not None:
            twins[twin.id] = original.model_copy(update={"id": twin.id, "reason": "original_held_back"})
        elif (near := guard.find(twin).get("near_duplicate")) is not None:
            twins[twin.id] = near
    report = SeparationReport(
        rule=rule,
        considered=considered,
        held_back={reason: counts[reason] for reason in REASONS if counts[reason]},
        sharing={reason: sharing[reason] for reason in REASONS},
        under_rule={name: under[name] for name in _RULES},
        twins=len(twins),
    )
    return held | twins, report


def _list_anchors(item: Item) -> Iterator[tuple[Hashable, str]]:
    if item.anchor is not None:
        yield ("anchor", item.anchor.question_id), f"anchor {item.anchor.question_id}"
        for hop in item.anchor.hops:
            yield ("single hop", hop.single_hop_id), f"single hop {hop.single_hop_id} of an anchor"


def _list_facts(item: Item) -> Iterator[tuple[Hashable, str]]:
    for hop in item.hops:
        yield from facts_of(hop).items()


def _list_paths(item: Item) -> Iterator[tuple[Hashable, str]]:
    """Pairs of a fact and one that its hop's answer leads to; facts that one hop puts together are no path."""
    facts = [facts_of(hop) for hop in item.hops]
    for hop, later in zip(item.hops, facts, strict=True):
        for index in hop.depends_on:
            for one, text in facts[index - 1].items():
                yield from (((one, other), f"{text}; {words}") for other, words in later.items() if other != one)
