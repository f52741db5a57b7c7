"""Knowing what the graph does not know: each property classed by evidence in the graph itself.

A knowledge graph is silent about what it lacks: three listed children may be all, or those that somebody entered.
Two kinds of hop rest on nothing being missing, those that count a list and those that ask who has a value. They
are planned only where the graph gives evidence that its lists are whole, and even then an expert looks at them.

What decides (all shares are lower ends of their 95 % Wilson interval, so that few facts prove little):

- *functional*: nine in ten subjects have exactly one value;
- *complete list*: facts that are recorded a second time, as the inverse or the symmetric fact, are found here nine
  times in ten. The two records are made one by one, so the share estimates how much of the list is there, as
  capture and recapture estimates a population;
- *open list*: everything else.

How list lengths scatter, and how much of a class has the property, are given as figures. They do not make a list
complete: occupations come in short even lists that nobody would call whole. They do hold one back: a property
that hardly any of its class has shows single values by chance, so its reverse is not asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hopwright.knowledge.wikidata.layout import OTHER
from hopwright.knowledge.wikidata.roles import INSTANCE_OF
from hopwright.knowledge.wikidata.store import GraphStore

PropertyClass = Literal["functional", "complete list", "open list"]

SURE = 0.9
"""The share from which a regularity counts."""
MIN_FACTS = 20
"""Subjects, or values, below which nothing is concluded."""
COVERED = 0.2
"""The share of a class that must have a property before a single subject of a value means anything."""
PARTNER = 0.1
"""Two properties are inverse to each other when at least this share of either's facts is mirrored by the other."""
_MIN_MIRRORED = 10
_MIN_CLASS = 20
_MAX_CLASSES = 5000
_CHUNK = 1 << 21

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PropertyEvidence:
    """What the graph shows of one property. Shares are from 0 to 1; `reason` is one sentence.

    `dispersion` is the variance of list lengths over their mean (0 when all are alike). `mirrored` is the share of
    the facts recorded the other way round, by one of `partners`, that are found here; None without partners.
    `coverage` is the share of entities that have the property, in the class of a typical subject.
    """

    property: str
    label: str
    kind: PropertyClass
    facts: int
    subjects: int
    single: float
    mean_length: float
    dispersion: float
    values: int
    single_subject: float
    mirrored: float | None
    partners: tuple[str, ...]
    coverage: float
    allows_counting: bool
    allows_reverse: bool
    reason: str
    reverse_reason: str


class PropertyClasses:
    """The evidence of all properties of a store, as a planner asks for it. An unknown property allows nothing."""

    def __init__(self, evidence: Mapping[str, PropertyEvidence]) -> None:
        self._evidence = evidence

    @classmethod
    def of(cls, store: GraphStore) -> PropertyClasses:
        """Class every property of a store."""
        return cls(classify_properties(store))

    def __getitem__(self, property: str) -> PropertyEvidence:
        return self._evidence[property]

    def __iter__(self) -> Iterator[PropertyEvidence]:
        return iter(self._evidence.values())

    def __len__(self) -> int:
        return len(self._evidence)

    def allows_counting(self, property: str) -> bool:
        """Whether the number of a subject's values may be asked for."""
        found = self._evidence.get(property)
        return found is not None and found.allows_counting

    def allows_reverse(self, property: str) -> bool:
        """Whether the one subject of a value may be asked for."""
        found = self._evidence.get(property)
        return found is not None and found.allows_reverse

    def explain(self, property: str) -> str:
        """What is known of whether a value of the property has one subject: a sentence."""
        found = self._evidence.get(property)
        return f"The graph has no facts of {property} to judge it by." if found is None else found.reverse_reason


def classify_properties(store: GraphStore) -> dict[str, PropertyEvidence]:
    """Class every property of a store, by id number. Takes some seconds at Wikidata5M's size."""
    properties = store.properties()
    count = len(properties)
    forward = _Lists(store.array("out_start"), store.array("out_edge"), store.array("out_derived"), count)
    backward = _Lists(store.array("in_start"), store.array("in_edge"), store.array("in_derived"), count)
    mirrored, either = _count_mirrored(store, count)
    coverage = _measure_coverage(store, forward, properties)
    literal = _literal_lists(store, count)
    found = {}
    for number, property in enumerate(properties):
        lists = literal if literal is not None and literal.facts[number] else forward
        partners = [] if lists is literal else _partners(number, mirrored, either)
        found[property] = _judge(
            property,
            store.property_label(property),
            lists,
            None if lists is literal else backward,
            number,
            (int(mirrored[number, partners].sum()), int(either[partners].sum())),
            tuple(properties[partner] for partner in partners),
            float(coverage[number]),
            {properties[partner]: store.property_label(properties[partner]) for partner in partners},
        )
    return found


def lower_bound(hits: float, trials: float) -> float:
    """Lower end of the 95 % Wilson interval of a share; 0 without trials."""
    if trials <= 0:
        return 0.0
    z = 1.959964
    share = hits / trials
    middle = share + z * z / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    # Without hits the two are equal but for rounding, which must not lift the bound above the share itself.
    return min(share, max(0.0, (middle - spread) / (1 + z * z / trials)))


class _Lists:
    """Per property, of the recorded facts: how many, owners of a list, lists of one value, lengths' mean and spread."""

    def __init__(self, starts: NDArray[Any], edges: NDArray[Any], derived: NDArray[Any], count: int) -> None:
        owner = np.repeat(np.arange(len(starts) - 1, dtype=np.uint32), np.diff(starts.astype(np.int64)))
        property = (edges >> np.uint64(32)).astype(np.uint16)
        recorded = derived == 0
        self._tally(owner[recorded], property[recorded], count)

    @classmethod
    def of_columns(cls, owner: NDArray[Any], property: NDArray[Any], count: int) -> _Lists:
        """From columns sorted by owner and then property."""
        lists = cls.__new__(cls)
        lists._tally(owner, property, count)
        return lists

    def _tally(self, owner: NDArray[Any], property: NDArray[Any], count: int) -> None:
        first = np.ones(len(owner), bool)
        first[1:] = (owner[1:] != owner[:-1]) | (property[1:] != property[:-1])
        places = np.flatnonzero(first)
        length = np.diff(np.append(places, len(owner)))
        self.owner = owner[places]
        self.property = property[places]
        self.facts: I64 = np.bincount(property, minlength=count)
        self.owners: I64 = np.bincount(self.property, minlength=count)
        self.single: I64 = np.bincount(self.property[length == 1], minlength=count)
        squares = np.bincount(self.property, weights=length.astype(np.float64) ** 2, minlength=count)
        owners = np.maximum(self.owners, 1)
        self.mean: F64 = self.facts / owners
        variance = np.maximum(squares / owners - self.mean**2, 0.0)
        self.dispersion: F64 = variance / np.maximum(self.mean, 1.0)


def _literal_lists(store: GraphStore, count: int) -> _Lists | None:
    if not store.about["has_literals"]:
        return None
    starts = store.array("literal_start").astype(np.int64)
    owner = np.repeat(np.arange(len(starts) - 1, dtype=np.uint32), np.diff(starts))
    property, unit = store.array("literal_property"), store.array("literal_unit")
    # A coordinate is two rows of different "units": only the rows of an owner's first unit are counted.
    order = np.lexsort((unit, property, owner))
    owner, property, unit = owner[order], property[order], unit[order]
    first = np.ones(len(owner), bool)
    first[1:] = (owner[1:] != owner[:-1]) | (property[1:] != property[:-1])
    group = np.cumsum(first) - 1
    keep = unit == unit[np.flatnonzero(first)][group] if len(unit) else first
    return _Lists.of_columns(owner[keep], property[keep], count)


def _count_mirrored(store: GraphStore, count: int) -> tuple[I64, I64]:
    """Matrix of how many facts (a, p, b) have a fact (b, q, a), by p and q; and how many facts each property has,
    self-loops aside.

    One sort: of words of the pair without its direction, then the direction, then the property.
    """
    starts, edges = store.array("out_start"), store.array("out_edge")
    wide, narrow = np.uint64((len(starts) - 1).bit_length()), np.uint64(count.bit_length())
    subject = np.repeat(np.arange(len(starts) - 1, dtype=np.uint32), np.diff(starts.astype(np.int64)))
    object = (edges & np.uint64(OTHER)).astype(np.uint32)
    words: U64 = np.minimum(subject, object).astype(np.uint64)
    words <<= wide
    words |= np.maximum(subject, object)
    words <<= np.uint64(1)
    words |= subject > object
    words <<= narrow
    words |= edges >> np.uint64(32)
    # What was derived from a fact is no second record of it.
    words = words[(subject != object) & (store.array("out_derived") == 0)]
    del subject, object
    words.sort()
    mask = np.uint64((1 << int(narrow)) - 1)
    either: I64 = np.bincount((words & mask).astype(np.uint16), minlength=count)
    # A pair's facts lie together; it has facts both ways when its first is one way and its last the other.
    first = np.flatnonzero(np.concatenate([[True], _pair(words[1:], narrow) != _pair(words[:-1], narrow)]))
    last = np.append(first[1:], len(words)) - 1
    both = ((words[first] ^ words[last]) >> narrow).astype(bool) if len(words) else np.zeros(0, bool)
    first, width = first[both], (last - first + 1)[both]
    words = words[_ranges(first, width)]
    property = (words & mask).astype(np.int64)
    backward = ((words >> narrow) & np.uint64(1)).astype(bool)
    group = np.repeat(np.arange(len(width)), width)
    ways = np.bincount(group[backward], minlength=len(width))
    begin = np.cumsum(width) - ways  # where the backward facts of each pair begin
    repeats = ways[group[~backward]]
    mine = np.repeat(property[~backward], repeats)
    theirs = property[_ranges(begin[group[~backward]], repeats)]
    matrix = np.bincount(mine * count + theirs, minlength=count * count).reshape(count, count)
    return matrix + matrix.T, either


def _pair(words: U64, narrow: np.uint64) -> U64:
    return words >> (narrow + np.uint64(1))


def _ranges(first: I64, width: I64) -> I64:
    """All places of the stretches that start at `first` and are `width` long."""
    before = np.cumsum(width) - width
    total = int(width.sum())
    return np.repeat(first - before, width) + np.arange(total, dtype=np.int64)


def _measure_coverage(store: GraphStore, lists: _Lists, properties: tuple[str, ...]) -> F64:
    """Per property, the share of entities that have it, averaged over the classes of those that do."""
    count = len(properties)
    if INSTANCE_OF not in properties:
        return np.zeros(count)
    number = properties.index(INSTANCE_OF)
    places = np.sort(store.array("property_edge")[slice(*store.array("property_start")[number : number + 2])])
    starts = store.array("out_start").astype(np.int64)
    member = starts.searchsorted(places, side="right") - 1
    classes, which = np.unique(store.array("out_edge")[places] & np.uint64(OTHER), return_inverse=True)
    size = np.bincount(which, minlength=len(classes))
    chosen = np.argsort(-size, kind="stable")[:_MAX_CLASSES]
    chosen = chosen[size[chosen] >= _MIN_CLASS]
    if not len(chosen):
        return np.zeros(count)
    column = np.full(len(classes), -1)
    column[chosen] = np.arange(len(chosen))
    known = column[which] >= 0
    member, which = member[known], column[which][known]
    class_start = np.zeros(len(starts), np.int64)
    np.cumsum(np.bincount(member, minlength=len(starts) - 1), out=class_start[1:])
    having = np.zeros(count * len(chosen))
    for begin in range(0, len(lists.owner), _CHUNK):
        owner = lists.owner[begin : begin + _CHUNK].astype(np.int64)
        property = lists.property[begin : begin + _CHUNK].astype(np.int64)
        first = class_start[owner]
        width = class_start[owner + 1] - first
        cells = np.repeat(property, width) * len(chosen) + which[_ranges(first, width)]
        having += np.bincount(cells, minlength=len(having))
    table = having.reshape(count, len(chosen))
    share: F64 = (table**2 / size[chosen]).sum(axis=1) / np.maximum(table.sum(axis=1), 1.0)
    return share


def _partners(number: int, mirrored: I64, either: I64) -> list[int]:
    """The properties whose facts say the same the other way round; the property itself when it is symmetric."""
    row = mirrored[number]
    likely = np.flatnonzero(row >= _MIN_MIRRORED)
    return [
        int(other)
        for other in likely
        if row[other] >= PARTNER * either[number] and row[other] >= PARTNER * either[other]
    ]


def _judge(
    property: str,
    label: str,
    lists: _Lists,
    backward: _Lists | None,
    number: int,
    mirror: tuple[int, int],
    partners: tuple[str, ...],
    coverage: float,
    names: Mapping[str, str],
) -> PropertyEvidence:
    facts, owners, single = int(lists.facts[number]), int(lists.owners[number]), int(lists.single[number])
    values = int(backward.owners[number]) if backward is not None else 0
    alone = int(backward.single[number]) if backward is not None else 0
    hits, trials = mirror
    shown = hits / trials if trials else None
    mean = float(lists.mean[number])
    kind: PropertyClass = "open list"
    complete = lower_bound(hits, trials) >= SURE
    if owners < MIN_FACTS:
        reason = f"Only {owners} subjects have it, too few to judge."
    elif lower_bound(single, owners) >= SURE:
        kind, reason = "functional", f"{_share(single, owners)} of {owners:,} subjects have exactly one value."
    else:
        by = _name_partners(property, partners, names)
        if complete:
            kind = "complete list"
            reason = f"{_share(hits, trials)} of the {trials:,} facts recorded the other way round ({by}) are here."
        elif trials:
            reason = (
                f"Only {_share(hits, trials)} of the {trials:,} facts recorded the other way round ({by}) are here."
            )
        else:
            reason = f"Lists of {mean:.1f} values on average, and no inverse property to tell what is missing."
    reverse, why = _judge_reverse(values, alone, coverage, complete, literal=backward is None)
    return PropertyEvidence(
        property=property,
        label=label,
        kind=kind,
        facts=facts,
        subjects=owners,
        single=single / max(owners, 1),
        mean_length=mean,
        dispersion=float(lists.dispersion[number]),
        values=values,
        single_subject=alone / max(values, 1),
        mirrored=shown,
        partners=partners,
        coverage=coverage,
        allows_counting=kind == "complete list",
        allows_reverse=reverse,
        reason=reason,
        reverse_reason=why,
    )


def _judge_reverse(values: int, alone: int, coverage: float, complete: bool, *, literal: bool) -> tuple[bool, str]:
    if literal:
        return False, "Numbers and dates are shared by chance."
    if values < MIN_FACTS:
        return False, f"Only {values} values occur, too few to judge."
    shown = f"{_share(alone, values)} of {values:,} values have exactly one subject"
    if complete:
        return True, f"The lists are whole as far as their mirror images tell; {shown}."
    if lower_bound(alone, values) < SURE:
        return False, f"Only {shown}."
    if coverage < COVERED:
        return False, f"{shown}, but only {_share(coverage, 1)} of such entities have the property at all."
    return True, f"{shown}; {_share(coverage, 1)} of such entities have the property."


def _name_partners(property: str, partners: tuple[str, ...], names: Mapping[str, str]) -> str:
    return ", ".join("symmetric" if one == property else f"“{names[one] or one}”" for one in partners)


def _share(hits: float, trials: float) -> str:
    return f"{100 * hits / max(trials, 1e-9):.0f} %"
