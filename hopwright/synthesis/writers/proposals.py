"""A model's wrong options, each held against the graph; what cannot be shown to be wrong is not taken.

A number only takes the place of a near number on its own side of the answer: the rules draw the answer's rank among the
four evenly, and that must stay so. Dates keep the rules' options, which form a square for the same reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from hopwright.errors import ExpressionError
from hopwright.graph.store import GraphStore
from hopwright.records import Compute, Constraint, Distractor, Hop, Lookup, ReverseLookup
from hopwright.records.values import Value
from hopwright.synthesis.checks import CheckContext
from hopwright.synthesis.checks.choices import find_odd_trait, is_true, meets
from hopwright.synthesis.checks.text import differs_in_form, fold, normalise_option, read_number
from hopwright.synthesis.facts import Facts
from hopwright.synthesis.siblings import Kinds, Siblings
from hopwright.synthesis.slips import LATEST_YEAR, list_slips
from hopwright.synthesis.writers.places import write_derivation

_IDS = re.compile(r"\bQ[0-9A-Za-z_]+\b")
_YEARS_APART = 60
_TIMES_APART = 4

Refusal = Literal["true", "form", "unknown", "known"]
"""Why a proposal is not taken: it is a right answer; it has another form or sort; the graph cannot show that it is
wrong; it stands there already, or is part of the way."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The distractors of a hop after a model's proposals, and what became of each of those."""

    distractors: tuple[Distractor, ...]
    taken: tuple[str, ...] = ()
    refused: tuple[tuple[str, Refusal], ...] = ()


class Proposals:
    """Judges proposals over one graph."""

    def __init__(self, graph: GraphStore, kinds: Kinds, context: CheckContext) -> None:
        self._graph = graph
        self._siblings = Siblings(graph, kinds)
        self._context = context
        assert context.facts is not None
        self._facts: Facts = context.facts

    def choose(self, hop: Hop, texts: Sequence[str], answers: Mapping[int, Value], used: frozenset[str]) -> Choice:
        """Take what is fit. `answers` are the values of the hops so far, `used` the entities of the plan."""
        good: list[Distractor] = []
        refused: list[tuple[str, Refusal]] = []
        for text in dict.fromkeys(one.strip() for one in texts):
            outcome = self._judge(hop, text, answers, used)
            if isinstance(outcome, Distractor):
                good.append(outcome)
            else:
                refused.append((text, outcome))
        if hop.answer_type == "date":
            return Choice(hop.distractors, (), tuple(refused))
        placed = _place_numbers(hop, good) if hop.answer_type == "number" else _place_names(hop, good)
        kept = {one.text for one in hop.distractors}
        return Choice(placed, tuple(one.text for one in placed if one.text not in kept), tuple(refused))

    def _judge(self, hop: Hop, text: str, answers: Mapping[int, Value], used: frozenset[str]) -> Distractor | Refusal:
        same = normalise_option(text, hop.answer_type)
        names = {fold(name) for name in (*hop.answer_aliases, *self._names(hop))}
        if same == normalise_option(hop.answer, hop.answer_type) or fold(text) in names:
            return "true"
        if any(normalise_option(one.text, hop.answer_type) == same for one in hop.distractors):
            return "known"
        if differs_in_form(text, hop.answer, hop.answer_type, hop.unit):
            return "form"
        if hop.answer_type == "entity":
            return self._judge_entity(hop, text, answers, used)
        found = Distractor(text=text, kind=self._sort_number(hop, text, answers))
        return "true" if is_true(hop, found, answers, self._facts, self._context) else found

    def _judge_entity(
        self, hop: Hop, text: str, answers: Mapping[int, Value], used: frozenset[str]
    ) -> Distractor | Refusal:
        if hop.answer_id is None:
            return "unknown"
        candidates = [one.id for one in self._graph.find(text)]
        if any(is_true(hop, self._called(id), answers, self._facts, self._context) for id in candidates):
            return "true"
        candidates = [id for id in candidates if self._graph.label(id) == text]
        if not candidates:
            return "unknown"
        alike = [id for id in candidates if self._siblings.sort(id) == self._siblings.sort(hop.answer_id)]
        if not alike:
            return "form"
        found = alike[0]
        if found in used or not self._siblings.is_distinct(found, hop.answer_id):
            return "known"
        if not self._is_false(found, hop, answers):
            return "unknown"
        return self._called(found)

    def _called(self, id: str) -> Distractor:
        return Distractor(text=self._graph.label(id), kind="sibling", id=id)

    def _is_false(self, id: str, hop: Hop, answers: Mapping[int, Value]) -> bool:
        """Whether the graph speaks against an entity, rather than merely not for it."""
        derivation = hop.derivation
        if isinstance(derivation, Lookup):
            subject = answers.get(int(derivation.subject[3:])) if derivation.subject.startswith("hop") else None
            return id not in {object for _, object in self._graph.out_edges(str(subject or derivation.subject))}
        if isinstance(derivation, Compute):
            return True
        for condition in _conditions(derivation, answers):
            literal = condition.property in self._context.table.literal
            known = (
                self._facts.scalars(id, condition.property) if literal else self._facts.objects(id, condition.property)
            )
            try:
                if known and not meets(id, condition, answers, self._facts, self._context.table):
                    return True
            except ExpressionError:
                return False
        return False

    def _sort_number(
        self, hop: Hop, text: str, answers: Mapping[int, Value]
    ) -> Literal["slip", "operand", "neighbour"]:
        """What a wrong number is: the result of a slip, a number on the way, or merely near."""
        number = read_number(text)
        for slip, kind in list_slips(hop.derivation, answers, self._facts):
            if number is not None and Decimal(slip) == number:
                return kind
        return "neighbour"

    def _names(self, hop: Hop) -> tuple[str, ...]:
        return self._graph.aliases(hop.answer_id) if hop.answer_id else ()


def list_used(hops: Sequence[Hop]) -> frozenset[str]:
    """The entities that a plan names or passes through."""
    named = {id for hop in hops for id in _IDS.findall(write_derivation(hop))}
    return frozenset(named | {hop.answer_id for hop in hops if hop.answer_id})


def _place_names(hop: Hop, good: Sequence[Distractor]) -> tuple[Distractor, ...]:
    """Proposals before the rules' siblings; who lost a comparison stays."""
    kept = [one for one in hop.distractors if one.kind == "operand"]
    others = [one for one in hop.distractors if one.kind != "operand"]
    good = list(good)
    while good:
        distinct: dict[str, Distractor] = {}
        for one in (*kept, *good, *others):
            distinct.setdefault(fold(one.text), one)
        placed = tuple(distinct.values())[:3]
        if not find_odd_trait(hop.answer, [one.text for one in placed]):
            return placed
        good.pop()
    return hop.distractors


def _place_numbers(hop: Hop, good: Sequence[Distractor]) -> tuple[Distractor, ...]:
    """A proposal for a near number on the same side of the answer, as long as the answer does not stand out."""
    answer = read_number(hop.answer)
    placed = list(hop.distractors)
    if answer is None:
        return hop.distractors
    for one in good:
        number = read_number(one.text)
        if number is None or not _is_near(number, answer, year=hop.unit == "year"):
            continue
        for place, held in enumerate(placed):
            other = read_number(held.text)
            if held.kind != "neighbour" or held not in hop.distractors or other is None:
                continue
            changed = [*placed[:place], one, *placed[place + 1 :]]
            if (other < answer) == (number < answer) and not find_odd_trait(
                hop.answer, [each.text for each in changed]
            ):
                placed = changed
                break
    return tuple(placed)


def _is_near(number: Decimal, answer: Decimal, *, year: bool) -> bool:
    if year:
        return abs(number - answer) <= _YEARS_APART and number <= LATEST_YEAR
    if ("," in f"{number:,}") != ("," in f"{answer:,}") or number < 0:
        return False
    return answer < 10 or answer / _TIMES_APART <= number <= _TIMES_APART * answer


def _conditions(derivation: ReverseLookup, answers: Mapping[int, Value]) -> list[Constraint]:
    conditions = [Constraint(property=derivation.property, value=derivation.value), *derivation.constraints]
    return [
        Constraint(property=one.property, value=value)
        if isinstance(value := _resolve(one.value, answers), str)
        else one
        for one in conditions
    ]


def _resolve(reference: str, answers: Mapping[int, Value]) -> str:
    if re.fullmatch(r"hop\d", reference) and isinstance(value := answers.get(int(reference[3:])), str):
        return value
    return reference
