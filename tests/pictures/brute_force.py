"""Answers of picture questions worked out again from the sample's own files, with none of Hopwright's planner.

Facts are read line by line; borders count both ways. Derivations are taken apart by regular expressions and answered by
plain loops, so that a fault of the planner or of its expressions does not hide in its own proof.
"""

from __future__ import annotations

import datetime as dt
import gzip
import re
from collections import defaultdict
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.records import Compute, Item, Lookup, ReverseLookup

BORDERS = "P47"


class RawFacts:
    """The sample's triplets and literals, as its files have them."""

    def __init__(self, folder: Path) -> None:
        self.objects: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.values: dict[tuple[str, str], set[Any]] = defaultdict(set)
        self.holders: dict[tuple[str, int], set[str]] = defaultdict(set)
        table = default_table()
        with gzip.open(folder / "wikidata5m_all_triplet.txt.gz", "rt") as lines:
            for line in lines:
                subject, property, object = line.rstrip("\n").split("\t")
                self.objects[subject, property].add(object)
                if property == BORDERS:
                    self.objects[object, property].add(subject)
        with gzip.open(folder / "attribute_literals.tsv.gz", "rt") as lines:
            for line in lines:
                subject, property, _, unit, value, datatype = line.rstrip("\n").split("\t")
                read = table.normalise(property, value, datatype.rpartition("#")[2], unit)
                if read is None:
                    continue
                self.values[subject, property].add(read)
                if isinstance(read, dt.date):
                    self.holders[property, read.year].add(subject)

    def one(self, subject: str, property: str) -> Any:
        """The only value or object; None where there is none or several."""
        found = self.values.get((subject, property)) or self.objects.get((subject, property)) or ()
        return next(iter(found)) if len(found) == 1 else None


def answer_hops(
    derivations: Sequence[Any], pictures: Sequence[str], units: Sequence[str], facts: RawFacts
) -> list[Any]:
    """The values of all hops, the pictures' first; None from the first hop on that has not exactly one."""
    values: list[Any] = list(pictures)
    for derivation, unit in zip(derivations, units, strict=True):
        if any(value is None for value in values):
            values.append(None)
        elif isinstance(derivation, Lookup):
            found = facts.one(_resolve(derivation.subject, values), derivation.property)
            values.append(found.year if isinstance(found, dt.date) and unit == "year" else found)
        elif isinstance(derivation, ReverseLookup):
            values.append(_reverse(derivation, values, facts))
        else:
            values.append(_compute(derivation, values, facts))
    return values


def answer_item(item: Item, pictures: Sequence[str], facts: RawFacts) -> list[Any]:
    """The values of an item's hops with these entities in its pictures."""
    steps = item.hops[len(pictures) :]
    return answer_hops([hop.derivation for hop in steps], pictures, [hop.unit for hop in steps], facts)


def _resolve(reference: str, values: Sequence[Any]) -> Any:
    return values[int(reference[3:]) - 1]


def _reverse(derivation: ReverseLookup, values: Sequence[Any], facts: RawFacts) -> Any:
    if derivation.constraints:
        (other,) = derivation.constraints
        one, two = _resolve(derivation.value, values), _resolve(other.value, values)
        both = facts.objects[one, derivation.property] & facts.objects[two, other.property]
        return next(iter(both)) if len(both) == 1 else None
    held = facts.holders[derivation.property, _resolve(derivation.value, values)]
    return next(iter(held)) if len(held) == 1 else None


def _compute(derivation: Compute, values: Sequence[Any], facts: RawFacts) -> Any:
    text = derivation.expression
    if match := re.fullmatch(r"arg(max|min)\((P\d+), (.+)\)", text):
        inner = re.fullmatch(rf"all\({BORDERS}, (hop\d)\)", match[3])
        members = (
            sorted(facts.objects[_resolve(inner[1], values), BORDERS])
            if inner
            else [_resolve(one, values) for one in match[3].split(", ")]
        )
        ranked = [(facts.one(one, match[2]), one) for one in members]
        if len(ranked) < 2 or any(value is None for value, _ in ranked):
            return None
        ranked.sort(reverse=match[1] == "max")
        return None if ranked[0][0] == ranked[1][0] else ranked[0][1]
    sizes = [
        len(facts.objects[_resolve(ref, values), BORDERS])
        for ref in re.findall(rf"size\(all\({BORDERS}, (hop\d)\)\)", text)
    ]
    if sizes:
        return None if min(sizes) < 2 else sizes[0] if len(sizes) == 1 else sizes[0] - sizes[1]
    read = [
        facts.one(_resolve(ref, values), property) for property, ref in re.findall(r"value\((P\d+), (hop\d)\)", text)
    ]
    if any(one is None for one in read):
        return None
    one, other = read
    if text.startswith("age("):
        return other.year - one.year - ((other.month, other.day) < (one.month, one.day))
    if text.startswith("abs(year("):
        return abs(one.year - other.year)
    if text.startswith("abs("):
        return abs(one - other)
    if text.startswith("round("):
        return (Decimal(one) / Decimal(other)).quantize(Decimal("0.1"), ROUND_HALF_UP)
    raise AssertionError(f"a new kind of computation: {text}")
