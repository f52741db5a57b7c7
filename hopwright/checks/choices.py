"""Checks of options and distractors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hopwright.checks.case import Check, CheckContext, CheckedItem, Finding
from hopwright.checks.open_conditions import list_compared
from hopwright.errors import ExpressionError, InputError
from hopwright.knowledge.facts import Facts, matches
from hopwright.planning.execution import resolve_given
from hopwright.planning.expressions import evaluate
from hopwright.records import LABELS, AnswerType, Compute, Constraint, Distractor, Hop, Label, Lookup, ReverseLookup
from hopwright.records.values import Value, parse
from hopwright.text.matching import (
    contains_exact_name,
    differs_in_form,
    find_numbers,
    fold,
    holds,
    is_distinctive_name,
    normalise_option,
    read_number,
)


def check_options(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """Four different options A–D, the answer once among them, under its letter; the item's are the last hop's.

    On the way, a hop that compares fewer than four things offers these alone.
    """
    item, last = case.item, case.last
    for hop in item.hops:
        letters = LABELS[: count_options(case, hop)]
        for problem in _find_option_problems(hop.options, hop.label, hop.answer, hop.answer_type, letters):
            yield hop.index, problem
    for problem in _find_option_problems(item.options, item.label, item.answer, last.answer_type):
        yield None, problem
    if (item.options, item.label) != (last.options, last.label):
        yield None, "the options or the letter are not those of the last hop"


def check_distractors(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """Three wrong options of the answer's type and form, none of them another name of the answer.

    A hop that compares fewer than four things has what it did not choose.
    """
    for hop in case.item.hops:
        texts = [one.text for one in hop.distractors]
        if len(texts) != (wanted := count_options(case, hop) - 1):
            yield hop.index, f"{len(texts)} distractors, not {wanted}"
        if len({normalise_option(text, hop.answer_type) for text in texts}) != len(texts):
            yield hop.index, f"distractors repeat: {', '.join(texts)}"
        wrong = sorted(text for label, text in hop.options.items() if label != hop.label)
        if sorted(texts) != wrong:
            yield hop.index, "the distractors are not the wrong options"
        names = {fold(name) for name in _names(hop, case, context)}
        answer = normalise_option(hop.answer, hop.answer_type)
        for one in hop.distractors:
            if normalise_option(one.text, hop.answer_type) == answer or fold(one.text) in names:
                yield hop.index, f"distractor {one.text!r} is another name of the answer"
            elif hop.answer_type == "entity" and one.id is not None and one.id == hop.answer_id:
                yield hop.index, f"distractor {one.text!r} is the answer itself ({one.id})"
            elif problem := differs_in_form(one.text, hop.answer, hop.answer_type, hop.unit):
                yield hop.index, f"distractor {one.text!r}: {problem}"


def check_distractors_false(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """No distractor is true in the graph, by its id or by its name."""
    graph, facts = context.graph, context.facts
    assert graph is not None and facts is not None
    for hop in case.item.hops:
        for one in hop.distractors:
            if one.id is not None and graph.label(one.id) != one.text:
                yield hop.index, f"distractor {one.text!r}: {one.id} is {graph.label(one.id)!r} in the graph"
            if is_true(hop, one, case.stated, facts, context):
                yield hop.index, f"distractor {one.text!r} is true as well"


def check_distractors_shown(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """No wrong option stands in the question that it is offered for: nobody takes it for the answer.

    A comparison names its two candidates, so of those hops only the multi-hop question is looked at.
    """
    for hop, padded in zip(case.item.hops, case.padded_hops, strict=True):
        texts = [] if case.by_selection(hop) else [(hop.question, padded)]
        if hop is case.last and not case.is_choice_of_named(hop):
            texts.append((case.item.question, case.padded))
        for one in hop.distractors:
            for text, folded in texts:
                if _is_shown(one.text, hop, text, folded):
                    yield hop.index, f"distractor {one.text!r} stands in the question"
                    break


def check_answer_form(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """The right option is not alone in its notation: comma, length, capital, trailing zeros."""
    for hop in case.item.hops:
        others = [text for label, text in hop.options.items() if label != hop.label]
        if hop.options and (trait := find_odd_trait(hop.answer, others)):
            yield hop.index, f"the right option alone {trait}"


CHOICES = (
    Check("options", "different options, four or all that is compared, the answer under its letter", check_options,
          needs=()),
    Check("distractors", "wrong options of the answer's type and form, as many as there are to be", check_distractors),
    Check("distractors-false", "no distractor is true in the graph", check_distractors_false,
          needs=("plan", "factual", "graph")),
    Check("distractors-shown", "no wrong option stands in the question", check_distractors_shown),
    Check("answer-form", "the right option does not stand out by its form", check_answer_form,
          severity="warning", needs=()),
)  # fmt: skip


def count_options(case: CheckedItem, hop: Hop) -> int:
    """How many options a hop has to offer: four, or on the way all that it compares where it offers just these.

    A row without a plan does not show what is compared: where it picks one of its inputs' answers, two options will do.
    """
    offered = len(hop.options)
    if hop is case.last or not 1 < offered < len(LABELS) or not case.by_selection(hop):
        return len(LABELS)
    if not case.planned:
        return offered
    assert isinstance(hop.derivation, Compute)
    return offered if len(list_compared(hop.derivation, case.stated, None)) == offered else len(LABELS)


def is_true(
    hop: Hop, distractor: Distractor, answers: Mapping[int, Value], facts: Facts, context: CheckContext
) -> bool:
    """Whether a distractor would be a right answer to its hop, by the facts.

    A distractor without an id stands for every entity of exactly that label that the answer's own facts name.
    A computation has one value, which no other option equals; it is compared by the option check. What is read in a
    document is no fact that others could have.
    """
    derivation = hop.derivation
    if isinstance(derivation, Compute):
        return False
    table = context.table
    try:
        if isinstance(derivation, Lookup):
            subject = resolve_given(derivation.subject, answers)
            if derivation.property in table.literal:
                held = facts.scalars(subject, derivation.property)
                value = parse(distractor.text, hop.answer_type)
                return not isinstance(value, str) and any(matches(value, one) for one in held)
            objects = facts.objects(subject, derivation.property)
            return distractor.id in objects or any(_is_called(one, distractor.text, context) for one in objects)
        if not isinstance(derivation, ReverseLookup):
            return False
        ids = [distractor.id] if distractor.id else _find_ids(distractor.text, context)
        return any(all(meets(id, one, answers, facts) for one in derivation.conditions()) for id in ids)
    except (ExpressionError, InputError):
        return False


def meets(id: str, condition: Constraint, answers: Mapping[int, Value], facts: Facts) -> bool:
    """Whether an entity meets one condition of a reverse look-up. Raises ExpressionError for an unreadable one."""
    value: Value = condition.value if condition.value.startswith("Q") else evaluate(condition.value, answers, facts)
    if isinstance(value, str):
        return value in facts.objects(id, condition.property)
    return any(matches(value, held) for held in facts.scalars(id, condition.property))


def find_odd_trait(answer: str, others: list[str]) -> str | None:
    """The trait of form that sets the answer apart from all other options, or None."""
    traits: dict[str, bool] = {
        "has a comma": "," in answer,
        "has a decimal point": "." in answer and read_number(answer) is not None,
        "has brackets": "(" in answer,
        "begins with a capital": answer[:1].isupper(),
    }
    lacking = {"has a comma": "lacks a comma", "begins with a capital": "begins without a capital"}
    for trait, present in traits.items():
        alike = [_has(trait, other) for other in others]
        if present and not any(alike):
            return trait
        if not present and all(alike) and trait in lacking:
            return lacking[trait]
    number = read_number(answer)
    if number is not None and abs(number) >= 1000 and number % 100 == 0:
        rounds = [one for one in map(read_number, others) if one is not None and one % 100 == 0]
        return None if rounds else "is a round number"
    if number is None and len(answer) > 12 and len(answer) > 2.5 * max(map(len, others), default=0):
        return "is far longer"
    return None


def _has(trait: str, text: str) -> bool:
    if trait == "has a comma":
        return "," in text
    if trait == "has a decimal point":
        return "." in text
    if trait == "has brackets":
        return "(" in text
    return text[:1].isupper()


def _is_shown(option: str, hop: Hop, question: str, folded: str) -> bool:
    if hop.answer_type == "number":
        number = read_number(option)
        return any(one == number for one, _ in find_numbers(question))
    return holds(folded, option) and (is_distinctive_name(option) or contains_exact_name(question, option))


def _find_option_problems(
    options: Mapping[Label, str],
    label: Label | None,
    answer: str,
    answer_type: AnswerType,
    letters: Sequence[Label] = LABELS,
) -> Iterator[str]:
    if sorted(options) != list(letters):
        yield f"options {', '.join(sorted(options)) or 'none'} instead of {', '.join(letters)}"
        return
    if not all(text.strip() for text in options.values()):
        yield "an option is empty"
    normal = {letter: normalise_option(text, answer_type) for letter, text in options.items()}
    if len(set(normal.values())) != len(letters):
        yield f"options repeat: {', '.join(options[letter] for letter in letters)}"
    right = [letter for letter in letters if options[letter] == answer]
    if not right:
        yield f"the answer {answer!r} is not among the options"
    elif label not in right:
        yield f"the letter is {label}, but {answer!r} is option {right[0]}"


def _names(hop: Hop, case: CheckedItem, context: CheckContext) -> tuple[str, ...]:
    names = hop.answer_aliases if hop is not case.last else (*hop.answer_aliases, *case.item.answer_aliases)
    if hop.answer_type == "entity" and context.graph is not None and case.factual and hop.answer_id:
        names = (*names, *context.graph.aliases(hop.answer_id))
    return names


def _is_called(id: str, name: str, context: CheckContext) -> bool:
    graph = context.graph
    if graph is None:
        return False
    folded = fold(name)
    return fold(graph.label(id)) == folded or any(fold(alias) == folded for alias in graph.aliases(id))


def _find_ids(name: str, context: CheckContext) -> list[str]:
    if context.graph is None:
        return []
    return [one.id for one in context.graph.find(name) if one.by_label]
