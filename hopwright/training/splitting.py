"""What is trained on and what is tested on: no fact stands behind items of both.

Which items are tested on is drawn by the seed. Items that share a fact hang together; whole groups that fit are taken
first, for they cost nothing. Of a group that is larger than all that is wanted, items are drawn one by one, and what
shares a fact with them is held back from training. A twin goes where its original goes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass

from hopwright.evaluation.items import EvalHop, EvalItem
from hopwright.records import Triplet

_LOOKED_AT = 16


@dataclass(frozen=True, slots=True)
class TaskSplit:
    """Pairs (an item and its twin) by where they belong: train + test + held back = all."""

    train: frozenset[str]
    test: frozenset[str]
    held_back: dict[str, str]
    """A pair that is in neither → the pair of the test set that it shares a fact with."""


def split_items(items: Sequence[EvalItem], test_share: float, seed: int) -> TaskSplit:
    """Split the pairs of items; `test_share` of all pairs are tested on, as near as facts allow."""
    facts: dict[str, set[Hashable]] = {}
    for item in items:
        facts.setdefault(item.pair, set()).update(*map(list_facts, item.hops))
    wanted = round(test_share * len(facts))
    groups = [sorted(group, key=lambda pair: (_draw(seed, pair), pair)) for group in _group(facts)]
    groups.sort(key=lambda group: (len(group) > wanted, _draw(seed, group[0]), group[0]))
    test: set[str] = set()
    for group in groups:
        free = wanted - len(test)
        if len(group) <= free:
            test.update(group)
        elif len(group) > wanted:
            test.update(_pick(group, free, facts))
    tested: dict[Hashable, str] = {fact: pair for pair in sorted(test, reverse=True) for fact in facts[pair]}
    held: dict[str, str] = {}
    for pair in sorted(set(facts) - test):
        shared = sorted(tested[fact] for fact in facts[pair] if fact in tested)
        if shared:
            held[pair] = shared[0]
    return TaskSplit(frozenset(set(facts) - test - set(held)), frozenset(test), held)


def list_facts(hop: EvalHop) -> set[Hashable]:
    """The facts that a hop rests on: of the graph, or the places that it cites."""
    found: set[Hashable] = set()
    for fact in hop.facts:
        if isinstance(fact, Triplet):
            found.add((*sorted((fact.subject, fact.object)), fact.property))
        else:
            found.add((fact.subject, fact.property, fact.value))
    return found or {(span.document, span.start, span.end) for span in hop.spans}


def _group(facts: dict[str, set[Hashable]]) -> list[list[str]]:
    """Pairs that hang together by facts, directly or not."""
    leader = {pair: pair for pair in facts}
    holder: dict[Hashable, str] = {}
    for pair, own in facts.items():
        for fact in own:
            one, other = _find(leader, pair), _find(leader, holder.setdefault(fact, pair))
            leader[max(one, other)] = min(one, other)
    groups: dict[str, list[str]] = {}
    for pair in facts:
        groups.setdefault(_find(leader, pair), []).append(pair)
    return list(groups.values())


def _find(leader: dict[str, str], pair: str) -> str:
    while leader[pair] != pair:
        leader[pair] = leader[leader[pair]]
        pair = leader[pair]
    return pair


def _pick(group: Sequence[str], count: int, facts: Mapping[str, Set[Hashable]]) -> set[str]:
    """So many of a group, in its drawn order, each time the one of a few that keeps the fewest others from training.

    Those that are lost to training already come first.
    """
    holders: dict[Hashable, set[str]] = {}
    for pair in group:
        for fact in facts[pair]:
            holders.setdefault(fact, set()).add(pair)
    around = {pair: set[str]().union(*(holders[fact] for fact in facts[pair])) for pair in group}
    picked: set[str] = set()
    lost: set[str] = set()
    while len(picked) < min(count, len(group)):
        free = [pair for pair in group if pair not in picked]
        few = [pair for pair in free if pair in lost][:_LOOKED_AT] or free[:_LOOKED_AT]
        best = min(few, key=lambda pair: len(around[pair] - lost - picked))
        picked.add(best)
        lost |= around[best]
    return picked


def _draw(seed: int, key: str) -> bytes:
    return hashlib.blake2b(f"{seed}:split:{key}".encode(), digest_size=8).digest()
