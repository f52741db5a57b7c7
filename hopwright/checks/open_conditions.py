"""The conditions that a question states openly: what an option must meet, or it is struck out without any computing.

Of a reverse look-up's conditions all but one are open. The one that is not tells the answer from its rivals: it rests
on a computed number, else on an earlier answer, else it is the first stated value. A look-up of an earlier answer is as
open as that answer is: the capital of the country that borders Bulgaria must be a capital of a country that does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hopwright.errors import ExpressionError
from hopwright.knowledge.facts import Facts, matches
from hopwright.planning.computation_forms import EndOfMaker, Extreme, NextOfList, read_computation, read_form
from hopwright.planning.expressions import evaluate
from hopwright.records import Compute, Constraint, Derivation, Hop, Lookup, ReverseLookup
from hopwright.records.values import Scalar, Value

_ENTITY = re.compile(r"^Q[0-9A-Za-z_]+$")
_HOP = re.compile(r"^hop([1-8])$")
_REFERENCES = re.compile(r"\b(?:hop[1-8]|Q[0-9A-Za-z_]+)\b")
_MOST_SUBJECTS = 300
FEWEST_COMPARED = 4
"""A comparison of so many needs no option beside what is compared."""


@dataclass(frozen=True, slots=True)
class OpenCondition:
    """What an option must meet.

    `object`: it has `value` for the property. `scalar`: it has `number`. `known`: it has any value. `role`: it is
    the value of something that meets `within`. `link`: some value that it has meets `within`. `compared`:
    it is among `entities`.
    """

    kind: Literal["object", "scalar", "known", "role", "link", "compared"]
    property: str = ""
    value: str = ""
    number: Scalar | None = None
    within: tuple[OpenCondition, ...] = ()
    entities: tuple[str, ...] = ()


def read_open_conditions(
    hop: Hop, earlier: Sequence[Hop], answers: Mapping[int, Value], facts: Facts, *, final: bool = False
) -> tuple[OpenCondition, ...]:
    """Read the open conditions on a hop's answer; of a number there are none.

    `earlier`: the hops before it; `answers`: their values. `final`: also what the multi-hop question says of the
    earlier answers that it does not name.
    """
    if hop.answer_type != "entity":
        return ()
    derivation = hop.derivation
    if isinstance(derivation, Compute):
        if final and is_hidden_choice(derivation):
            return ()
        compared = list_compared(derivation, answers, facts)
        return (OpenCondition("compared", entities=compared),) if len(compared) >= FEWEST_COMPARED else ()
    if isinstance(derivation, Lookup):
        within = _read_source(derivation.subject, earlier, answers, facts) if final else ()
        return (OpenCondition("role", derivation.property, within=within),) if within else ()
    if not isinstance(derivation, ReverseLookup):
        return ()
    conditions = list_conditions(derivation)
    telling = find_telling_condition(derivation, answers)
    found: list[OpenCondition] = []
    for place, condition in enumerate(conditions):
        value = resolve_value(condition.value, answers, facts)
        if place == telling:
            within = _read_source(condition.value, earlier, answers, facts) if final and isinstance(value, str) else ()
            found.append(OpenCondition("link" if within else "known", condition.property, within=within))
        elif isinstance(value, str):
            found.append(OpenCondition("object", condition.property, value=value))
        elif value is None or "hop" in condition.value:
            found.append(OpenCondition("known", condition.property))
        else:
            found.append(OpenCondition("scalar", condition.property, number=value))
    return tuple(found)


def is_met(condition: OpenCondition, entity: str, facts: Facts) -> bool:
    """Whether an entity meets an open condition, by what the facts record."""
    if condition.kind == "compared":
        return entity in condition.entities
    if condition.kind == "object":
        return condition.value in facts.objects(entity, condition.property)
    if condition.kind == "scalar":
        assert condition.number is not None
        return any(matches(condition.number, held) for held in facts.scalars(entity, condition.property))
    if condition.kind == "known":
        return bool(facts.scalars(entity, condition.property) or facts.objects(entity, condition.property))
    others = (
        facts.subjects(condition.property, entity)
        if condition.kind == "role"
        else facts.objects(entity, condition.property)
    )
    return any(all(is_met(one, other, facts) for one in condition.within) for other in others[:_MOST_SUBJECTS])


def list_conditions(derivation: ReverseLookup) -> tuple[Constraint, ...]:
    """All conditions of a reverse look-up, in the order in which they are stated."""
    return Constraint(property=derivation.property, value=derivation.value), *derivation.constraints


def find_telling_condition(derivation: ReverseLookup, answers: Mapping[int, Value]) -> int:
    """The place of the condition that takes the most working out: it tells the answer from its rivals."""
    ranks = [_rank(one.value, answers) for one in list_conditions(derivation)]
    return ranks.index(min(ranks))


def list_compared(derivation: Compute, answers: Mapping[int, Value], facts: Facts | None) -> tuple[str, ...]:
    """The entities among which a computation picks: as they stand in its expression, or all of a set that it names.

    Without facts, none of such a set.
    """
    form = read_form(derivation.expression)
    references: Sequence[str]
    if isinstance(form, Extreme) and form.members is not None and not form.entities:
        owner = str(_find(form.members.shared, answers))
        references = facts.objects(owner, form.members.property) if facts is not None else ()
    elif isinstance(form, NextOfList | EndOfMaker):
        work = str(_find(form.reference, answers))
        makers = facts.objects(work, form.maker) if facts is not None else ()
        references = facts.objects(makers[0], form.property) if facts is not None and makers else ()
    elif isinstance(form, Extreme):
        references = form.entities
    else:
        references = _REFERENCES.findall(derivation.expression)
    found = (_find(one, answers) for one in references)
    return tuple(dict.fromkeys(one for one in found if isinstance(one, str)))


def _find(reference: str, answers: Mapping[int, Value]) -> Value | None:
    """What a reference stands for; None for a hop without an answer."""
    match = _HOP.match(reference)
    return answers.get(int(match[1])) if match else reference


def is_hidden_choice(derivation: Derivation) -> bool:
    """Whether a computation chooses from all that belongs to what an earlier hop finds, so that nobody sees the set."""
    form = read_computation(derivation)
    return (
        isinstance(form, Extreme) and form.members is not None and not form.entities and not form.moment
        and not form.members.partner
        and form.members.shared.startswith("hop")
    )  # fmt: skip


def is_choice_of_hops(derivation: Derivation) -> bool:
    """Whether a computation chooses among what earlier hops find."""
    form = read_computation(derivation)
    return isinstance(form, Extreme) and any(one.startswith("hop") for one in form.entities)


def resolve_value(text: str, answers: Mapping[int, Value], facts: Facts) -> Value | None:
    """What a condition asks for: the Q-id, number or date of its value; None where it cannot be worked out."""
    if _ENTITY.match(text):
        return text
    try:
        return evaluate(text, answers, facts)
    except (ExpressionError, ArithmeticError):
        return None


def _read_source(
    reference: str, earlier: Sequence[Hop], answers: Mapping[int, Value], facts: Facts
) -> tuple[OpenCondition, ...]:
    """The open conditions on an earlier answer, where they hold anything that a named entity or value settles."""
    match = _HOP.match(reference)
    source = next((one for one in earlier if match is not None and one.index == int(match[1])), None)
    if source is None:
        return ()
    conditions = read_open_conditions(source, earlier, answers, facts, final=True)
    return conditions if any(map(_is_grounded, conditions)) else ()


def _is_grounded(condition: OpenCondition) -> bool:
    return condition.kind in ("object", "scalar") or any(map(_is_grounded, condition.within))


def _rank(value: str, answers: Mapping[int, Value]) -> int:
    if match := _HOP.match(value):
        return 1 if isinstance(answers.get(int(match[1])), str) else 0
    if _ENTITY.match(value):
        return 3
    return 0 if "hop" in value else 2
