"""No second answer: a search of its own over the sample's files, which knows nothing of stores, tables or planners."""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

import pytest

from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Compute, Derivation, Item, Lookup
from tests.conftest import SAMPLE
from tests.drafts import draft_items

SYMMETRIC = {"P26", "P47", "P190", "P197", "P451", "P530", "P1382", "P2789", "P3373"}
# (a, first, b) says (b, second, a).
SAYS_REVERSED = {
    ("P36", "P1376"), ("P1376", "P36"), ("P527", "P361"), ("P361", "P527"), ("P155", "P156"), ("P156", "P155"),
    ("P355", "P749"), ("P749", "P355"), ("P150", "P131"), ("P22", "P40"), ("P25", "P40"), ("P184", "P185"),
    ("P185", "P184"), ("P127", "P1830"), ("P1830", "P127"), ("P1365", "P1366"), ("P1366", "P1365"),
    ("P115", "P466"), ("P466", "P115"), ("P710", "P1344"), ("P1923", "P1344"), ("P286", "P6087"), ("P6087", "P286"),
}  # fmt: skip
UPWARD = {"P17", "P30", "P131", "P276", "P361", "P706"}
DATES = {"P571", "P580", "P582", "P585"}
MEMBER = re.compile(r"object\((P\d+), (\w+)\) == (\w+)")


class RawFacts:
    """The sample's lines, each read from both of its ends."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.subjects: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.wholes: dict[str, set[str]] = defaultdict(set)
        self.years: dict[tuple[str, str], set[int]] = defaultdict(set)
        self.values: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.classes: dict[str, set[str]] = defaultdict(set)
        for subject, property, object in read_lines("wikidata5m_all_triplet.txt.gz"):
            self.add(subject, property, object)
            if property in SYMMETRIC:
                self.add(object, property, subject)
            for first, second in SAYS_REVERSED:
                if property == first:
                    self.add(object, second, subject)
        for subject, property, _, _, value, *_ in read_lines("attribute_literals.tsv.gz"):
            self.values[subject, property].add(value)
            if match := re.match(r"(\d{4})-", value):
                self.years[subject, property].add(int(match[1]))

    def add(self, subject: str, property: str, object: str) -> None:
        if subject == object:
            return
        self.objects[subject, property].add(object)
        self.subjects[property, object].add(subject)
        if property in UPWARD:
            self.wholes[subject].add(object)
        if property == "P31":
            self.classes[subject].add(object)

    def lies_in(self, part: str, whole: str) -> bool:
        seen, waiting = {part}, [part]
        while waiting:
            for one in self.wholes[waiting.pop()] - seen:
                seen.add(one)
                waiting.append(one)
        return whole in seen and part != whole


def read_lines(name: str) -> Iterator[list[str]]:
    with gzip.open(SAMPLE / name, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield line.rstrip("\n").split("\t")


@pytest.fixture(scope="module")
def raw() -> RawFacts:
    return RawFacts()


def find_second_answers(derivation: Derivation, answers: Mapping[int, str], answer: str, raw: RawFacts) -> list[str]:
    """What else a hop's question may be answered with, or why that cannot be told."""

    def resolve(reference: str) -> str:
        return answers[int(reference[3:])] if re.fullmatch(r"hop\d", reference) else reference

    if isinstance(derivation, Lookup):
        found = raw.objects[resolve(derivation.subject), derivation.property]
        return sorted(found - {answer}) if found else []
    if isinstance(derivation, Compute):
        pairs = [(property, subject, object) for property, subject, object in MEMBER.findall(derivation.expression)]
        return [
            f"{held} and {resolve(object)}"
            for property, subject, object in pairs
            for held in raw.objects[resolve(subject), property]
            if raw.lies_in(held, resolve(object)) or raw.lies_in(resolve(object), held)
        ]
    conditions = [(derivation.property, derivation.value), *((c.property, c.value) for c in derivation.constraints)]
    joined = [(property, resolve(value)) for property, value in conditions if property not in DATES]
    dated = [property for property, _ in conditions if property in DATES]
    sets = [raw.subjects[pair] for pair in joined]
    peers = set.intersection(*sets)
    if not dated:
        # The neighbours of every country are listed, so that two of them single out who borders both.
        listed = {property for property, _ in joined} == {"P47"}
        return sorted(peers - {answer}) + (["two open conditions"] if len(joined) > 1 and not listed else [])
    (property,), ((condition, _),) = dated, joined
    (year,) = raw.years[answer, property]
    alike = {one for one in peers - {answer} if raw.classes[one] & raw.classes[answer]}
    second = [one for one in peers - {answer} if year in raw.years[one, property]]
    second += [f"{one} without a date" for one in alike if not raw.years[one, property]]
    for (one, held), years in raw.years.items():
        if (
            held == property
            and year in years
            and one != answer
            and raw.classes[one] & raw.classes[answer] - {"Q3624078"}
        ):
            second += [] if raw.objects[one, condition] else [f"{one} with nothing known of {condition}"]
    return second


def list_hops(item: Item) -> Iterator[tuple[Derivation, dict[int, str], str]]:
    answers: dict[int, str] = {}
    for hop in item.hops:
        yield hop.derivation, dict(answers), hop.answer_id or hop.answer
        answers[hop.index] = hop.answer_id or hop.answer


def test_no_hop_of_a_draft_has_a_second_answer(sample: GraphStore, raw: RawFacts) -> None:
    second = [
        (item.id, derivation, found)
        for item in draft_items(sample, 240)
        for derivation, answers, answer in list_hops(item)
        if (found := find_second_answers(derivation, answers, answer, raw))
    ]
    assert second == []
