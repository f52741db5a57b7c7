"""Aliases that are no names of what bears them: what follows a comma in a longer name (`NJ` of `Hackensack, NJ`),
other people's names, and what all members of a series are called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hopwright.knowledge.wikidata.series import load_series
from hopwright.text.matching import fold
from sample.gathering import Merge, containers

_STATE, _PROVINCE, _HUMAN = "Q35657", "Q11828004", "Q5"
_COUNTRIES = frozenset({"Q6256", "Q3624078"})
_TAILS = frozenset(
    ["1st baronet", "a", "an", "called", "city", "co", "county", "inc", "jr", "llc", "ltd", "phd", "s.a.d", "sr", "the",
     "town"]
)  # fmt: skip
"""What is left of a name after its last comma, and names nothing, without the final stop."""
_STEPS = 4


def drop_tails(merge: Merge) -> int:
    """Take such aliases away, and say how many: tails that name nothing, what somebody or something lies in, a person's
    that is the name of another one and has no word in common with their own, the noun of a series
    (`German federal election`), and a country's that is another one's.
    """
    nouns = {fold(one.place.series) for one in load_series()}
    inside = containers(merge)
    for subject, property, object in merge.edges:
        if property in ("P131", "P17"):
            inside[subject].add(object)
    kinds = {(subject, object) for subject, property, object in (*merge.base, *merge.edges) if property == "P31"}
    states = {id for id, kind in kinds if kind in (_STATE, _PROVINCE)}
    abbreviations = {alias for id in states for alias in merge.names.get(id, ()) if len(alias) <= 5}
    people = {id for id, kind in kinds if kind == _HUMAN}
    called = {merge.names[id][0]: id for id in people if id in merge.names}
    countries = {id for id, kind in kinds if kind in _COUNTRIES and id in merge.names}
    others = {one: id for id in countries for one in merge.names[id] if one in merge.names[id][0]}
    dropped = 0
    for id, (label, *aliases) in merge.names.items():
        around = {name for one in _list_around(id, inside) for name in merge.names.get(one, ())}
        if id not in states and id in inside:
            around |= abbreviations
        kept = [one for one in aliases if not _is_tail(one) and (one not in around or _is_short_for(one, label))]
        kept = [one for one in kept if fold(one) not in nouns]
        if id in people:
            kept = [one for one in kept if called.get(one, id) == id or {*one.split()} & {*label.split()}]
        if id in countries:
            kept = [one for one in kept if others.get(one, id) == id or one in label]
        dropped += len(aliases) - len(kept)
        merge.names[id] = [label, *kept]
    return dropped


def _list_around(id: str, inside: Mapping[str, set[str]]) -> set[str]:
    """All that an entity lies in, a few steps up, but itself."""
    found: set[str] = set()
    reached = {id}
    for _ in range(_STEPS):
        reached = {outer for one in reached for outer in inside.get(one, ())} - found
        found |= reached
    return found - {id}


def _is_tail(alias: str) -> bool:
    return alias.strip('" ').rstrip(".").casefold() in _TAILS


def _is_short_for(alias: str, label: str) -> bool:
    """Whether an alias is made of the first letters of a label (`LA`), or is a form of it."""
    return alias.replace(".", "") == _join_initials(label.split()) or fold(alias) in fold(label)


def _join_initials(words: Iterable[str]) -> str:
    return "".join(word[0] for word in words if word[:1].isupper())
