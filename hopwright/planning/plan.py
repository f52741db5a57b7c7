"""A plan: the executable program behind a question, proven before it is worded."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field

from hopwright.planning.execution import hops_used
from hopwright.records import AnswerType, Claim, Compute, Derivation, GraphDerivation, Lookup, ReverseLookup, plan_id
from hopwright.records.values import Value

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One hop before it is worded. `value` is a Q-id, a number or a date; `unit` is `year` for years.

    `claims` are the facts from outside the graph that a computation rests on.
    """

    derivation: GraphDerivation
    value: Value
    answer_type: AnswerType
    unit: str = ""
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Plan:
    """Steps in order; hop i of the item is `steps[i - 1]`."""

    topology: str
    steps: tuple[PlanStep, ...]

    @functools.cached_property
    def id(self) -> str:
        """Content hash, the item's id."""
        return plan_id(self.topology, tuple(step.derivation for step in self.steps))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims that it rests on."""
        return tuple(claim for step in self.steps for claim in step.claims)


@dataclass(slots=True)
class PartialPlan:
    """A plan under construction: steps are added in order and referred to as `hopN`."""

    steps: list[PlanStep] = field(default_factory=list)

    def add(
        self,
        derivation: GraphDerivation,
        value: Value,
        answer_type: AnswerType = "entity",
        unit: str = "",
        claims: tuple[Claim, ...] = (),
    ) -> str:
        """Append a step and return its reference."""
        self.steps.append(PlanStep(derivation, value, answer_type, unit, claims))
        return f"hop{len(self.steps)}"

    def depends_on(self) -> tuple[tuple[int, ...], ...]:
        """The dependencies of the steps so far, as a topology states them."""
        return tuple(hops_used(step.derivation) for step in self.steps)


def properties_of(plan: Plan) -> frozenset[str]:
    """All properties that a plan's derivations use."""
    return frozenset().union(*(properties_of_step(step.derivation) for step in plan.steps))


def properties_of_step(derivation: Derivation) -> frozenset[str]:
    """All properties that one derivation uses."""
    if isinstance(derivation, Compute):
        return frozenset(word for word in _words(derivation.expression) if word[0] == "P" and word[1:].isdigit())
    if isinstance(derivation, ReverseLookup):
        return frozenset(condition.property for condition in derivation.conditions())
    return frozenset({derivation.property} if isinstance(derivation, Lookup) else ())


def named_entities(derivation: Derivation) -> tuple[str, ...]:
    """The entities that a derivation names outright (not through a hop), in order."""
    words = (word for text in derivation.references() for word in _words(text))
    return tuple(dict.fromkeys(word for word in words if word.startswith("Q")))


def entities_of(plan: Plan) -> tuple[str, ...]:
    """What the plan's steps name, and their entity answers."""
    found = [entity for step in plan.steps for entity in named_entities(step.derivation)]
    found += [step.value for step in plan.steps if isinstance(step.value, str)]
    return tuple(dict.fromkeys(found))


def stated_numbers(derivation: Derivation) -> frozenset[str]:
    """The whole numbers that a derivation states, and so the question; one and two hide in grammar."""
    words = (word for text in derivation.references() for word in _words(text))
    return frozenset(word for word in words if word.isdigit() and int(word) > 2)


@functools.lru_cache(20_000)
def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text))
