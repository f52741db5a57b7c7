"""What a model is told of a plan: compact, without anything that it would have to guess."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from hopwright.knowledge.external.notes import write_value
from hopwright.knowledge.properties import PropertyTable
from hopwright.records import Hop, Item, LiteralFact
from hopwright.records.values import render
from hopwright.topologies import topology
from hopwright.wording.llm.computed import describe_computation
from hopwright.wording.llm.text_constraints import PlanEntity, TextConstraints, write_number
from hopwright.wording.llm.timelines import describe_holder, find_timeline

_MOST_ALIASES = 6


class NounLookup(Protocol):
    """The part of the writer's `Names` that briefs need."""

    def noun(self, entity: str) -> str:
        """A common noun for an entity: `football club`."""
        ...


class PlanBriefWriter:
    """Writes briefs; `nouns` say of what kind an answer is."""

    def __init__(self, table: PropertyTable, nouns: NounLookup) -> None:
        self._table = table
        self._nouns = nouns

    def write(self, draft: Item, places: tuple[TextConstraints, ...]) -> dict[str, Any]:
        """The inputs of the prompt `word-item`."""
        *subs, whole = places
        hops = {hop.index: hop for hop in draft.hops}
        labels = {name.id: name.label for place in places for name in place.known}
        chosen = {name.id for name in whole.chosen}
        return {
            "shape": _describe_shape(draft),
            "hops": [self._describe(hop, place, hops, labels) for hop, place in zip(draft.hops, subs, strict=True)],
            "question": draft.marked or draft.question,
            "names": _list_names(whole),
            "numbers": _list_numbers(whole),
            "never": _write_list(dict.fromkeys(hop.answer for hop in draft.hops if hop.answer_id not in chosen)),
            "once": _write_list(name.label for name in whole.chosen),
        }

    def _describe(
        self, hop: Hop, place: TextConstraints, hops: Mapping[int, Hop], labels: Mapping[str, str]
    ) -> dict[str, Any]:
        return {
            "index": hop.index,
            "builds_on": list(hop.depends_on),
            "task": hop.question,
            "means": self._explain(hop, hops, labels),
            "names": _list_names(place),
            "numbers": _list_numbers(place),
            "may_name": _write_list(name.label for name in place.optional) if place.optional else "",
            "facts": list(list_facts(hop, self._table)),
            "answer": hop.answer,
            "kind": self._name_kind(hop),
            "also_called": _pick_aliases(hop, place),
            # The graph's options that are merely of the same class are those that a model can better.
            "wanted": hop.answer_type == "entity" and any(one.kind == "sibling" for one in hop.distractors),
        }

    def _explain(self, hop: Hop, hops: Mapping[int, Hop], labels: Mapping[str, str]) -> str:
        if timeline := find_timeline(hop, self._table):
            return describe_holder(hop, timeline, hops)
        return describe_computation(hop, hops, lambda id: labels.get(id, id), self._table)

    def _name_kind(self, hop: Hop) -> str:
        if hop.answer_id:
            return self._nouns.noun(hop.answer_id)
        if hop.unit == "year":
            return "year"
        if hop.answer_type == "number":
            return f"number of {hop.unit}" if hop.unit else "number"
        return "date" if hop.answer_type == "date" else "text"


def list_facts(hop: Hop, table: PropertyTable) -> Iterator[str]:
    """The facts that a hop rests on, each in a line: `Gaslight | director | George Cukor`."""
    for triplet in hop.evidence.triplets:
        yield f"{triplet.subject_label} | {triplet.property_label} | {triplet.object_label}"
    for literal in hop.evidence.literals:
        entry = table.literal.get(literal.property)
        if entry is not None and entry.axis and table.read(literal) is None:
            continue  # the longitude beside a latitude
        yield f"{literal.subject_label} | {literal.property_label} | {_write_value(literal, table)}"
    for claim in hop.evidence.claims:
        yield f"{claim.phrase} | is | {write_value(claim)}"


def _write_value(literal: LiteralFact, table: PropertyTable) -> str:
    value = table.read(literal)
    entry = table.literal.get(literal.property)
    if value is None or entry is None:
        return literal.value
    year = entry.value == "year" or (isinstance(value, dt.date) and (value.month, value.day) == (1, 1))
    if isinstance(value, dt.date) and year:
        return str(value.year)
    return f"{render(value)} {entry.unit}".rstrip()


def _list_names(place: TextConstraints) -> str:
    names = [name.label for name in dict.fromkeys((*place.required, *place.shown))]
    return _write_list((*names, *place.phrases))


def _list_numbers(place: TextConstraints) -> str:
    spelled_out = sorted(place.constants - place.numbers)
    return _write_list((*place.written, *map(write_number, spelled_out)))


def _write_list(texts: Iterable[str]) -> str:
    return json.dumps(list(texts), ensure_ascii=False)


def _describe_shape(draft: Item) -> str:
    shape = topology(draft.topology)
    hops = "; ".join(
        f"{index} on {' and '.join(map(str, needs))}" if needs else str(index)
        for index, needs in enumerate(shape.depends_on, start=1)
    )
    return f"{shape.name} ({hops})"


def _pick_aliases(hop: Hop, place: TextConstraints) -> list[str]:
    """Other names of an answer that must be found out, as far as a reader would know them."""
    answers: list[PlanEntity] = [name for name in place.answers if name.id == hop.answer_id]
    others = [other for name in answers for other in name.others if other.isprintable() and len(other) > 2]
    plain = [other for other in others if any(letter.isascii() and letter.isalpha() for letter in other)]
    return list(dict.fromkeys(plain))[:_MOST_ALIASES]
