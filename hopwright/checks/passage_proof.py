"""Proofs of a plan against the passages of a corpus, as operations on the sets of passages that state its facts.

- **uniqueness**: over all that the corpus states, every hop has one answer, and it is the plan's.
- **sufficiency**: the gold passages alone give every answer.
- **necessity**: without all passages that state a hop's fact the hop has no answer, no other passage joins its two
  ends or names both of them, and no shortcut leads past it.

A plan that fails one of them is rejected with the reason; nothing is repaired.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from hopwright.errors import ExpressionError
from hopwright.knowledge.documents.stated_facts import MentionIndex, Rows, StatedFacts
from hopwright.knowledge.documents.topic_facts import Fact
from hopwright.knowledge.facts import Facts
from hopwright.planning.computation_forms import Extreme, read_form
from hopwright.planning.execution import execute, resolve, same
from hopwright.planning.necessity import find_shortcut
from hopwright.planning.plan import Plan, PlanStep
from hopwright.records import Compute, Lookup
from hopwright.records.values import Value

ProofName = Literal["uniqueness", "sufficiency", "necessity"]


class Refutation(NamedTuple):
    """Why a plan is not proven by the passages: the proof it fails, what is wrong in a few words, and where."""

    proof: ProofName
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class HopEvidence:
    """What a hop rests on: for each of its facts the statements of it, and the passages that state them."""

    facts: tuple[tuple[Fact, ...], ...]
    """One group for each fact; a group holds the facts of the source that say the same (a date in two precisions)."""
    rows: tuple[Rows, ...]
    """The passages of each group."""

    @property
    def gold(self) -> Rows:
        """All passages that state a fact of the hop."""
        return frozenset().union(*self.rows)


def gather_evidence(plan: Plan, stated: StatedFacts) -> tuple[HopEvidence, ...]:
    """The stated facts behind each hop with all their passages."""
    answers = {index: step.value for index, step in enumerate(plan.steps, start=1)}
    found = []
    for step in plan.steps:
        groups = tuple(_list_facts(step, answers, stated))
        found.append(HopEvidence(groups, tuple(stated.rows(group) for group in groups)))
    return tuple(found)


def refute(
    plan: Plan, evidence: tuple[HopEvidence, ...], stated: StatedFacts, mentions: MentionIndex
) -> Refutation | None:
    """The first proof that a plan fails; None for a proven plan."""
    answers = {index: step.value for index, step in enumerate(plan.steps, start=1)}
    if problem := _run(plan, stated.without(frozenset()), stated):
        return Refutation("uniqueness", "another answer or none", problem)
    gold: Rows = frozenset().union(*(one.gold for one in evidence))
    if problem := _run(plan, stated.within(gold), stated):
        return Refutation("sufficiency", "the gold passages do not answer", problem)
    shortcut = find_shortcut([step.derivation for step in plan.steps], answers, stated.graph, stated.table)
    if shortcut is not None:
        return Refutation("necessity", f"shortcut: {shortcut.kind}", f"hop {shortcut.hop}: {shortcut.detail}")
    return next(_list_needless(plan, evidence, stated, mentions, answers), None)


def _list_needless(
    plan: Plan,
    evidence: tuple[HopEvidence, ...],
    stated: StatedFacts,
    mentions: MentionIndex,
    answers: Mapping[int, Value],
) -> Iterator[Refutation]:
    for index, (step, hop) in enumerate(zip(plan.steps, evidence, strict=True), start=1):
        for group, rows in zip(hop.facts, hop.rows, strict=True):
            rest = stated.without(rows)
            if _has_answer(step, answers, rest, stated):
                yield Refutation("necessity", "answered without its passages", f"hop {index}")
            fact = group[0]
            if isinstance(fact, tuple):
                if joined := [one for one in stated.joining(fact[0], fact[2]) if rest.sees(one)]:
                    label = stated.graph.property_label(str(joined[0][1])) if isinstance(joined[0], tuple) else ""
                    yield Refutation("necessity", "another fact joins both ends", f"hop {index}: {label}")
                others = (mentions.rows(fact[0]) & mentions.rows(fact[2])) - rows
            else:
                value = stated.table.read(fact)
                if isinstance(value, dt.date) and (value.month, value.day) == (1, 1):
                    value = value.year
                others = frozenset() if value is None else mentions.rows_with(fact.subject, value) - rows
            if others:
                yield Refutation("necessity", "another passage names both ends", f"hop {index}: {len(others)} passages")


def _run(plan: Plan, facts: Facts, stated: StatedFacts) -> str:
    """What keeps facts from giving the plan's answers; empty where they do."""
    answers: dict[int, Value] = {}
    for index, step in enumerate(plan.steps, start=1):
        try:
            value = execute(step.derivation, step.answer_type, answers, facts, stated.table)
        except ExpressionError as error:
            return f"hop {index}: {error}"
        if not same(value, step.value):
            return f"hop {index}: {value}, not {step.value}"
        answers[index] = value
    return ""


def _has_answer(step: PlanStep, answers: Mapping[int, Value], facts: Facts, stated: StatedFacts) -> bool:
    try:
        execute(step.derivation, step.answer_type, answers, facts, stated.table)
    except ExpressionError:
        return False
    return True


def _list_facts(step: PlanStep, answers: Mapping[int, Value], stated: StatedFacts) -> Iterator[tuple[Fact, ...]]:
    derivation = step.derivation
    if isinstance(derivation, Lookup):
        subject = resolve(derivation.subject, answers)
        if derivation.property in stated.table.literal:
            yield tuple(stated.literals_of(subject, derivation.property))
        else:
            # What is said of either end counts: that she is his wife, and that he is her husband.
            fact = (subject, derivation.property, str(step.value))
            same_property = [one for one in stated.joining(fact[0], fact[2]) if one[1] == fact[1] and one != fact]  # type: ignore[index]
            yield (fact, *same_property)
    elif isinstance(derivation, Compute):
        form = read_form(derivation.expression)
        if isinstance(form, Extreme):
            for reference in form.entities:
                yield tuple(stated.literals_of(resolve(reference, answers), form.property))
