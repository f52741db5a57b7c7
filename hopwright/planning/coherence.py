"""How well the parts of a plan belong together, from 0 to 1, and how hard it is by what one has to know.

Coherence joins three figures: how closely the branches are related in the graph, how natural the computations are, and
how specific the looked-up facts are.
"""

from __future__ import annotations

import math
import statistics
from typing import NamedTuple

from hopwright.planning.computation_forms import (
    AgeAt,
    AgeInYear,
    ClaimComputation,
    Combinations,
    Difference,
    EndMember,
    EndOfMaker,
    Extreme,
    GroupSize,
    NextOfList,
    Rate,
    ShiftedYear,
    YearDistance,
    read_form,
)
from hopwright.planning.execution import hops_used
from hopwright.planning.plan import Plan, PlanStep, named_entities
from hopwright.planning.relations import Relations
from hopwright.planning.traversals import GraphTraversals
from hopwright.records import Compute, Lookup

_WEIGHTS = (0.4, 0.35, 0.25)
_NATURAL: dict[type, float] = {
    AgeAt: 1.0, NextOfList: 1.0, EndOfMaker: 1.0, EndMember: 1.0, Extreme: 0.95, AgeInYear: 0.85, ShiftedYear: 0.8,
    YearDistance: 0.75, Difference: 0.6, Rate: 0.6, GroupSize: 0.6, ClaimComputation: 0.4, Combinations: 0.35,
}  # fmt: skip
"""How readily people compute something, by form; what is not listed is rarer."""
_OTHER = 0.25
_CROWD = 10_000
_SELDOM = 0.5
_MANY_FACTS = 5
_FEW_FACTS = 3


class Coherence(NamedTuple):
    """The score of a plan, and the three figures behind it."""

    score: float
    relatedness: float
    naturalness: float
    specificity: float

    def __str__(self) -> str:
        return (
            f"{self.score:.2f}: branches related {self.relatedness:.2f}, computations natural {self.naturalness:.2f}, "
            f"facts specific {self.specificity:.2f}"
        )


class CoherenceScorer:
    """Scores plans over one graph."""

    def __init__(self, traversals: GraphTraversals, relations: Relations) -> None:
        self._traversals = traversals
        self._relations = relations

    def score(self, plan: Plan) -> Coherence:
        """Rate a plan."""
        parts = (self._relate(plan), _rate_computations(plan), self._rate_facts(plan))
        return Coherence(sum(w * part for w, part in zip(_WEIGHTS, parts, strict=True)), *parts)

    def _relate(self, plan: Plan) -> float:
        """How closely the branches' beginnings are related: each to the nearest of those before it."""
        roots = [named_entities(step.derivation) for step in plan.steps if not hops_used(step.derivation)]
        found = [
            max(
                (self._relations.related(one, other) for before in roots[:place] for one in before for other in root),
                default=0.0,
            )
            for place, root in enumerate(roots)
            if place
        ]
        return statistics.fmean(found) if found else 1.0

    def _rate_facts(self, plan: Plan) -> float:
        """How few others have what is looked up: the fewer, the more a step says."""
        found = []
        for step in plan.steps:
            derivation = step.derivation
            if not isinstance(derivation, Lookup) or not isinstance(step.value, str):
                continue
            share = 1 - min(1.0, math.log10(max(1, self._traversals.degree(step.value))) / math.log10(_CROWD))
            found.append(share * (_SELDOM if derivation.property in self._traversals.roles.seldom else 1.0))
        return statistics.fmean(found) if found else 1.0


def _rate_computations(plan: Plan) -> float:
    found = [
        _NATURAL.get(type(read_form(step.derivation.expression)), _OTHER)
        for step in plan.steps
        if isinstance(step.derivation, Compute)
    ]
    return statistics.fmean(found) if found else 1.0


def count_facts(plan: Plan) -> int:
    """The facts that have to be known: one a look-up or a condition, and one for each value that is compared."""
    return sum(map(_count_step, plan.steps))


def _count_step(step: PlanStep) -> int:
    derivation = step.derivation
    if not isinstance(derivation, Compute):
        return 1 + len(getattr(derivation, "constraints", ()))
    form = read_form(derivation.expression)
    if isinstance(form, Extreme):
        return len(form.entities) * (2 if form.members is not None and form.members.is_test() else 1)
    if isinstance(form, GroupSize):
        return len(form.members.entities)
    return derivation.expression.count("value(")


def rate_difficulty(plan: Plan, band: str) -> str:
    """`hard`, `medium` or `easy`, by the number of facts needed, and the popularity band of what is rarest there."""
    facts = count_facts(plan)
    if band == "tail" and facts >= _MANY_FACTS:
        return "hard"
    return "easy" if band == "head" or facts <= _FEW_FACTS else "medium"
