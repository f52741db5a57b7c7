"""Running a plan: each derivation gives exactly one value, or an error that says why not."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from hopwright.errors import ExpressionError
from hopwright.knowledge.facts import Facts, matches
from hopwright.knowledge.properties import PropertyTable
from hopwright.planning.expressions import evaluate, hops_in, read_hop
from hopwright.records import AnswerType, Claim, Compute, Constraint, Derivation, Hop, Lookup, ReverseLookup
from hopwright.records.values import Scalar, Value, parse, render

_HOP = re.compile(r"^hop([1-8])$")
_ENTITY = re.compile(r"^Q[0-9A-Za-z_]+$")


def hops_used(derivation: Derivation) -> tuple[int, ...]:
    """The hops whose answers a derivation needs, in ascending order."""
    return tuple(sorted({hop for text in derivation.references() for hop in hops_in(text)}))


def resolve(reference: str, answers: Mapping[int, Value]) -> str:
    """The entity that an earlier hop found (`hopN`); any other reference as it is. Raises KeyError for a later hop."""
    return str(answers[int(reference[3:])]) if reference.startswith("hop") else reference


def resolve_given(reference: str, answers: Mapping[int, Value]) -> str:
    """The same where the answer of that hop may not be given yet: then it is empty."""
    return reference if (hop := read_hop(reference)) is None else str(answers.get(hop, ""))


def execute(
    derivation: Derivation,
    answer_type: AnswerType,
    answers: Mapping[int, Value],
    facts: Facts,
    table: PropertyTable,
    claims: Sequence[Claim] = (),
) -> Value:
    """Run one derivation on earlier answers; only a computation may rest on `claims`.

    A date asked for as a number gives its year. Raises ExpressionError when there is no value, or more than one.
    """
    if isinstance(derivation, Compute):
        return evaluate(derivation.expression, answers, facts, claims)
    if isinstance(derivation, Lookup):
        subject = _entity(derivation.subject, answers)
        found: Sequence[Value]
        if derivation.property in table.literal:
            found = facts.scalars(subject, derivation.property)
            if answer_type == "number":
                found = sorted({one.year if isinstance(one, dt.date) else one for one in found}, key=str)
        else:
            found = facts.objects(subject, derivation.property)
        return _only(found, f"{derivation.property} of {subject}")
    if not isinstance(derivation, ReverseLookup):
        raise ExpressionError(f"{derivation.op}: the graph does not hold document {derivation.document}")
    conditions = derivation.conditions()
    wanted = [(condition, _wanted(condition, answers, facts, table)) for condition in conditions]
    # Entities first: they leave few to look at, and the values of a literal need no index then.
    wanted.sort(key=lambda pair: not isinstance(pair[1], str))
    matching: set[str] | None = None
    for condition, value in wanted:
        if isinstance(value, str):
            subjects = set(facts.subjects(condition.property, value))
            matching = subjects if matching is None else matching & subjects
        elif matching is None:
            matching = set(facts.subjects_of_scalar(condition.property, value))
        else:
            matching = {one for one in matching if _holds(one, condition.property, value, facts)}
    return _only(sorted(matching or ()), " and ".join(f"{c.property}={c.value}" for c in conditions))


def run_plan(hops: Sequence[Hop], facts: Facts, table: PropertyTable) -> dict[int, Value]:
    """Run every hop in order, each on the computed answers of those before it; index → value."""
    answers: dict[int, Value] = {}
    for hop in hops:
        answers[hop.index] = execute(hop.derivation, hop.answer_type, answers, facts, table, hop.evidence.claims)
    return answers


def stated_value(hop: Hop) -> Value:
    """The value that a hop's own text states: the Q-id of an entity answer, else its parsed number or date."""
    if hop.answer_type == "entity":
        return hop.answer_id or hop.answer
    return parse(hop.answer, hop.answer_type)


def same(one: Value, other: Value) -> bool:
    """Equality over mixed numbers."""
    if isinstance(one, int | Decimal) and isinstance(other, int | Decimal):
        return Decimal(one) == Decimal(other)
    return one == other


def render_answer(value: Value, hop_unit: str) -> str:
    """Write a computed value as an answer; years carry the unit `year` and get no thousands separator."""
    if isinstance(value, str):
        return value
    return render(value, year=hop_unit == "year")


def _wanted(condition: Constraint, answers: Mapping[int, Value], facts: Facts, table: PropertyTable) -> Value:
    """What a condition asks for: a Q-id, a number, a year or a date."""
    value: Value = condition.value if _ENTITY.match(condition.value) else evaluate(condition.value, answers, facts)
    if not isinstance(value, str) and condition.property not in table.literal:
        raise ExpressionError(f"{condition.property} takes an entity, not {value}")
    return value


def _holds(entity: str, property: str, value: Scalar, facts: Facts) -> bool:
    return any(matches(value, held) for held in facts.scalars(entity, property))


def _entity(reference: str, answers: Mapping[int, Value]) -> str:
    if match := _HOP.match(reference):
        value = answers.get(int(match[1]))
        if not isinstance(value, str):
            raise ExpressionError(f"{reference} is no entity: {value!r}")
        return value
    return reference


def _only(found: Sequence[Value], what: str) -> Value:
    if len(found) != 1:
        raise ExpressionError(f"{len(found)} answers to {what}, not one")
    return found[0]
