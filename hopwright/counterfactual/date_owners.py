"""Whose dates move together in a twin's world: somebody's own, the members of a series, all that stands in a list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hopwright.counterfactual.real_names import list_series
from hopwright.counterfactual.renamed_entities import RenamedEntity
from hopwright.counterfactual.shifts import LAST_YEAR, latest_year, read_year
from hopwright.counterfactual.surrogate_names import read_dated_name
from hopwright.knowledge.properties import PropertyTable
from hopwright.planning.computation_forms import Extreme, read_computation
from hopwright.records import Compute, Hop, Item, Lookup

_SPAN = re.compile(r"\bvalue\((P\d+), (\w+)\).*\bvalue\((P\d+), \2\)")
"""Two dates of one entity in one expression: how old somebody became."""
_AGE_THEN = re.compile(r"^age\(value\((P\d+), (hop\d)\), hop\d\)$")
"""The birth of one against a date of another."""


@dataclass(frozen=True, slots=True)
class DateOwners:
    """Whose dates move together: `of` an entity (itself, or the stem of its dated name), and the years they hold,
    each with the last year that it may become.

    `stated`: the years in names that the question mentions. `people`: whose measures move gently. `follows`: dated
    names without dates of their own → whose dates they stand beside, or empty: nobody races after dying. `ends`: of
    whom the plan asks how long they lived, or a like span between two dates of one entity → the property of the later
    date, which moves on by itself.
    """

    of: dict[str, str]
    years: dict[str, list[tuple[int, int]]]
    stated: dict[str, list[int]]
    people: frozenset[str]
    follows: dict[str, str]
    ends: dict[str, str]


def find_owners(item: Item, cast: Sequence[RenamedEntity], table: PropertyTable) -> DateOwners:
    """Whose dates move together in the worlds of an item, of whose cast each has an owner of its own to begin with."""
    of = {member.key: member.owner for member in cast}
    leads = _join_series(item, of, table)
    _join_lists(item, of)
    stated: dict[str, list[int]] = {}
    years: dict[str, list[tuple[int, int]]] = {}
    for member in cast:
        if member.owner.startswith("stem:") and (name := read_dated_name(member.label)):
            years.setdefault(member.owner, []).extend((year, LAST_YEAR) for year in (name.year, name.last))
            if member.label in item.question:
                stated.setdefault(member.owner, []).extend((name.year, name.last))
    for hop in item.hops:
        for literal in hop.evidence.literals:
            if literal.datatype == "dateTime" and (year := read_year(literal.value)) is not None:
                latest = latest_year(literal.property, year)
                years.setdefault(of.get(literal.subject, literal.subject), []).append((year, latest))
    dated = {
        of.get(one.subject, one.subject)
        for hop in item.hops
        for one in hop.evidence.literals
        if one.datatype == "dateTime"
    }
    follows = {owner: "" for owner in years if owner.startswith("stem:") and owner not in dated}
    for triplet in (one for hop in item.hops for one in hop.evidence.triplets):
        ends = of.get(triplet.subject, triplet.subject), of.get(triplet.object, triplet.object)
        for owner, other in (ends, ends[::-1]):
            if owner in follows and other in dated and not follows[owner]:
                follows[owner] = other
    for owner, leader in leads.items():
        follows[owner] = leader
        years.setdefault(leader, []).extend(years.get(owner, ()))
    people = frozenset(member.id for member in cast if member.kind == "person")
    return DateOwners(of, years, stated, people, follows, _find_ends(item))


def _join_series(item: Item, of: dict[str, str], table: PropertyTable) -> dict[str, str]:
    """Have the members of a series move as one, so that they keep their order; changes their owners in `of`.

    Those with dated names keep the stem as their owner. Returns stem → the stem of the same series that it follows.
    """
    members: dict[str, set[str]] = {}
    for hop in item.hops:
        told = [(one.subject, one.property) for one in hop.evidence.triplets]
        told += [(one.subject, one.property) for one in hop.evidence.literals]
        for subject, property in told:
            if subject in of and (held := list_series((property,), table)):
                members.setdefault(subject, set()).update(held)
    # Apollo 11 is a member of two series, which then move as one.
    leads: dict[str, str] = {}
    first: dict[str, str] = {}
    for member, own in members.items():
        joined = set(own)
        for other in members.values():
            if not joined.isdisjoint(other):
                joined |= other
        series, owner = min(joined), of[member]
        if not owner.startswith("stem:"):
            of[member] = f"series:{series}"
        elif first.setdefault(series, owner) != owner:
            leads[owner] = first[series]
    return leads


def _chooses_from_list(hop: Hop) -> bool:
    """Whether a hop finds what comes next, first or last in a list of somebody's works."""
    form = read_computation(hop.derivation)
    return isinstance(form, Extreme) and form.members is not None


def _join_lists(item: Item, of: dict[str, str]) -> None:
    """Have what is chosen from a list by its dates move as one with whose list it is, and with whose death parts it.

    So nobody's film comes out after his own death. Changes the owners in `of`; who has a dated name keeps its stem.
    """
    for hop in item.hops:
        if not _chooses_from_list(hop):
            continue
        before = [item.hops[index - 1] for index in hop.depends_on]
        dated = (one for held in (hop, *before) for one in held.evidence.literals if one.datatype == "dateTime")
        joined = {one.subject for one in dated}
        joined |= {held.answer_id for held in before if held.answer_id}
        held_by = {of[one] for one in joined if one in of and not of[one].startswith("stem:")}
        of.update((one, f"list:{hop.index}") for one, owner in list(of.items()) if owner in held_by)


def _find_ends(item: Item) -> dict[str, str]:
    """Entity → the later of its dates, where a hop measures the span between two of them.

    Where one's birth is set against a date of another, it is the birth.

    So does a hop that holds the year of one's death against another's birth, since what the two are known for pins
    both of them to years that move as one.
    """
    ends: dict[str, str] = {}
    for hop in item.hops:
        if not isinstance(hop.derivation, Compute) or _chooses_from_list(hop):
            continue
        for before in (item.hops[index - 1] for index in hop.depends_on):
            found = before.derivation
            if isinstance(found, Lookup) and before.answer_type != "entity":
                holders = {one.subject for one in before.evidence.literals if one.property == found.property}
                ends.update((one, found.property) for one in holders if _is_last(item, one, found.property))
        if then := _AGE_THEN.match(hop.derivation.expression):
            person = item.hops[int(then[2][3:]) - 1].answer_id
            ends.update({person: then[1]} if person else {})
        if not (match := _SPAN.search(hop.derivation.expression)):
            continue
        reference, properties = match[2], {match[1], match[3]}
        entity = item.hops[int(reference[3:]) - 1].answer_id if reference.startswith("hop") else reference
        held = {one.property: one.value for one in hop.evidence.literals if one.subject == entity}
        if entity and properties <= held.keys() and len(properties) == 2:
            ends[entity] = max(sorted(properties), key=lambda one: held[one])
    return ends


def _is_last(item: Item, entity: str, property: str) -> bool:
    """Whether nothing that is dated of an entity comes after this, and something comes before."""
    dates = {
        (one.property, year)
        for hop in item.hops
        for one in hop.evidence.literals
        if one.subject == entity and one.datatype == "dateTime" and (year := read_year(one.value)) is not None
    }
    own = [year for held, year in dates if held == property]
    return len(own) == 1 and len(dates) > 1 and all(year < own[0] for held, year in dates if held != property)
