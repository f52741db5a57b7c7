"""Choices from a list that make no difference: who photographed the last film of two, if he photographed them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from hopwright.errors import ExpressionError, InputError
from hopwright.knowledge.facts import Facts
from hopwright.knowledge.properties import PropertyTable
from hopwright.planning.computation_forms import EndOfMaker, Extreme, Form, Members, NextOfList, read_computation
from hopwright.planning.execution import execute, resolve, same
from hopwright.planning.plan import Plan, PlanStep, named_entities
from hopwright.records import Lookup
from hopwright.records.values import Value

_OFTEN = 3
"""Who had the same part in so many works of a list is thought of before anybody looks."""
_CLEARLY = 1.0
"""So much better known, on the scale from 1 to 5, than all others of a list."""


def has_idle_choice(plan: Plan, answers: Mapping[int, Value], facts: Facts, table: PropertyTable) -> bool:
    """Whether a hop chooses one of a whole list for nothing.

    It is idle where what would be taken by mistake leads to the same final answer, or where nothing else leads to any.
    Of works made with a partner these are the others of the two, else those next to the chosen one by date; these need
    lead to nothing where a later hop asks what was made with whoever is found by the chosen one. It is idle as well
    where the answer had the same part in most of the list: whoever knows a director's usual cinematographer names him.
    """
    for index, step in enumerate(plan.steps[:-1], start=1):
        mistaken = _find_mistaken(read_computation(step.derivation), str(answers[index]), answers, facts, table)
        if mistaken is None:
            continue
        given = [one for other in mistaken if (one := _run_on(plan, index, other, answers, facts, table)) is not None]
        # Whoever takes another film of somebody has another cinematographer, who may have made none with the other.
        joined = any(_is_joint(read_computation(later.derivation)) for later in plan.steps[index:])
        if not (given or joined):
            return True
        # That somebody's second film has the editor of the first does no harm where all know which was the first.
        known = joined and not _is_joint(read_computation(step.derivation))
        if not known and any(same(one, answers[len(plan.steps)]) for one in given):
            return True
        if index == len(plan.steps) - 1 and _is_usual(plan.steps[-1], str(answers[index]), facts, table):
            return True
    return False


def chooses_best_known(plan: Plan, facts: Facts, table: PropertyTable, renown: Callable[[str], float]) -> bool:
    """Whether a hop chooses what is clearly the best known of a list: whoever is asked for an opera by that composer
    thinks of it before anything is worked out.
    """
    for step in plan.steps:
        if read_computation(step.derivation) is None or step.answer_type != "entity":
            continue
        chosen = str(step.value)
        for listed in table.lists:
            for owner in facts.subjects(listed, chosen):
                others = [renown(one) for one in facts.objects(owner, listed) if one != chosen]
                if others and renown(chosen) - max(others) >= _CLEARLY:
                    return True
    return False


def _is_joint(form: Form | None) -> bool:
    return isinstance(form, Extreme) and form.members is not None and bool(form.members.partner)


def _is_usual(last: PlanStep, chosen: str, facts: Facts, table: PropertyTable) -> bool:
    """Whether the answer had the part that is asked for often in the list of the chosen work."""
    if not isinstance(last.derivation, Lookup) or last.answer_type != "entity":
        return False
    property = last.derivation.property
    for listed in table.lists:
        for owner in facts.subjects(listed, chosen):
            held = Counter(end for one in facts.objects(owner, listed) for end in facts.objects(one, property))
            if held[str(last.value)] >= _OFTEN:
                return True
    return False


def has_what_is_asked(plan: Plan, answers: Mapping[int, Value], facts: Facts) -> bool:
    """Whether something else that the plan names has its answer, too: who shot the last film of two shot the one that
    stands in the question as well, and whoever thinks of that one alone is right.
    """
    last = plan.steps[-1]
    if not isinstance(last.derivation, Lookup) or not isinstance(last.value, str):
        return False
    named = {entity for step in plan.steps for entity in named_entities(step.derivation)}
    named.discard(resolve(last.derivation.subject, answers))
    return any(last.value in facts.objects(one, last.derivation.property) for one in named)


def _find_mistaken(
    form: Form | None, chosen: str, answers: Mapping[int, Value], facts: Facts, table: PropertyTable
) -> Sequence[str] | None:
    """What would be taken by mistake for what a hop chooses from a whole list; None where it chooses from none."""
    if isinstance(form, NextOfList):  # whoever forgets to go on answers of what the two made last
        return (resolve(form.reference, answers),)
    if isinstance(form, EndOfMaker):
        form = form.choose_of(facts.objects(form.reference, form.maker)[0])
    if not isinstance(form, Extreme) or form.members is None or form.entities:
        return None
    if not table.is_ordered_by(form.members.property, form.property):
        return None
    return _list_mistaken(form, form.members, chosen, answers, facts)


def _list_mistaken(
    form: Extreme, members: Members, chosen: str, answers: Mapping[int, Value], facts: Facts
) -> Sequence[str]:
    """What of a list would be taken by mistake."""
    listed = facts.objects(resolve(members.shared, answers), members.property)
    ranked = sorted(listed, key=lambda one: (str(facts.scalars(one, form.property)[0]), one))
    if members.partner:  # whoever forgets the partner takes the first or the last of the whole list
        partner = resolve(members.partner, answers)
        theirs = [one for one in listed if one != chosen and partner in facts.objects(one, members.credit)]
        return [*theirs, ranked[-1 if form.largest else 0]]
    place = ranked.index(chosen)
    return [ranked[beside] for beside in (place - 1, place + 1) if 0 <= beside < len(ranked)]


def _run_on(
    plan: Plan, index: int, other: str, answers: Mapping[int, Value], facts: Facts, table: PropertyTable
) -> Value | None:
    """The final answer if a hop had another; None where a later hop has none then."""
    found = {place: value for place, value in answers.items() if place < index} | {index: other}
    for place, step in enumerate(plan.steps[index:], start=index + 1):
        try:
            found[place] = execute(step.derivation, step.answer_type, found, facts, table, step.claims)
        except (ExpressionError, InputError, ArithmeticError):
            return None
    return found[len(plan.steps)]
