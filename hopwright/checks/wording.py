"""Checks of what a wording says: leaks, inputs shown, names kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from hopwright.checks.case import Check, CheckContext, CheckedItem, Finding
from hopwright.knowledge.wikidata.roles import ROLES
from hopwright.records import Hop, ReverseLookup
from hopwright.text.demonyms import list_demonyms
from hopwright.text.matching import (
    contains_alias,
    contains_exact_name,
    find_numbers,
    holds,
    is_distinctive_name,
    mentions_number,
    read_number,
)

_IDS = re.compile(r"\bQ[0-9A-Za-z_]+\b")
_CONSTANTS = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")


def check_leakage(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """No answer of any hop, by any of its names, stands in the multi-hop question; one of several named may."""
    text, padded = case.item.question, case.padded
    for hop in case.item.hops:
        if case.is_choice_of_named(hop):
            continue
        # Who reads of a German pavilion thinks of Germany.
        adjectives = list_demonyms((hop.answer,)) if hop is case.last else ()
        adjective = next((one for one in adjectives if contains_alias(text, padded, one)), "")
        if name := _find_leak(hop, text, padded, case.numbers, case, context) or adjective:
            what = "final" if hop is case.last else "intermediate"
            yield hop.index, f"the question gives away the {what} answer: {name!r}"


def check_self_answer(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """No sub-question contains its own answer, unless it asks to choose among its inputs."""
    for hop, padded in zip(case.item.hops, case.padded_hops, strict=True):
        if case.by_selection(hop):
            continue
        if name := _find_leak(hop, hop.question, padded, find_numbers(hop.question), case, context):
            yield hop.index, f"the sub-question contains its own answer: {name!r}"


def check_inputs_shown(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """A sub-question names the answers of the hops that it depends on, so that it can be asked on its own."""
    hops = {hop.index: hop for hop in case.item.hops}
    for hop, padded in zip(case.item.hops, case.padded_hops, strict=True):
        for index in hop.depends_on:
            source = hops.get(index)
            if source is not None and not _shows(hop.question, padded, source):
                yield hop.index, f"does not name the answer of hop {index}, {source.answer!r}"


def check_names_kept(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """Every entity and number that the plan names stands in its sub-question and in the multi-hop question."""
    for hop, padded in zip(case.item.hops, case.padded_hops, strict=True):
        ids, numbers = _find_constants(hop)
        for id in ids:
            names = _known_names(id, case, context)
            if not names:
                yield hop.index, f"no name is known for {id}, which its derivation uses"
                continue
            if not any(holds(padded, name) for name in names):
                yield hop.index, f"does not name {names[0]!r}"
            if not any(holds(case.padded, name) for name in names):
                yield hop.index, f"the multi-hop question does not name {names[0]!r}"
        for number in numbers:
            if not mentions_number(hop.question, number):
                yield hop.index, f"does not state {number}"
            if not mentions_number(case.item.question, number):
                yield hop.index, f"the multi-hop question does not state {number}"


WORDING = (
    Check("leakage", "no answer stands in the multi-hop question", check_leakage, needs=()),
    Check("self-answer", "no sub-question contains its own answer", check_self_answer, needs=()),
    Check("inputs-shown", "sub-questions name their inputs", check_inputs_shown, needs=()),
    Check("names-kept", "what the plan names is named in the questions", check_names_kept),
)


def _find_leak(
    hop: Hop,
    text: str,
    padded: str,
    numbers: frozenset[tuple[Decimal, bool]],
    case: CheckedItem,
    context: CheckContext,
) -> str | None:
    if hop.answer_type == "number":
        number = read_number(hop.answer)
        long = sum(character.isdigit() for character in hop.answer) >= 3
        leaked = any(one == number and (alone or long) for one, alone in numbers)
        return hop.answer if leaked else None
    if holds(padded, hop.answer) and (is_distinctive_name(hop.answer) or contains_exact_name(text, hop.answer)):
        return hop.answer
    aliases = hop.answer_aliases if hop is not case.last else (*hop.answer_aliases, *case.item.answer_aliases)
    if context.graph is not None and case.planned and case.factual and hop.answer_id:
        aliases = (*aliases, *context.graph.aliases(hop.answer_id))
    return next((alias for alias in aliases if contains_alias(text, padded, alias)), None)


def _shows(question: str, padded: str, source: Hop) -> bool:
    if source.answer_type == "number":
        number = read_number(source.answer)
        return number is not None and mentions_number(question, number)
    if holds(padded, source.answer) or any(contains_alias(question, padded, name) for name in source.answer_aliases):
        return True
    if source.answer_type == "date":  # a computation may need the year alone
        return holds(padded, source.answer.rpartition(" ")[2])
    return False


def _find_constants(hop: Hop) -> tuple[list[str], list[Decimal]]:
    derivation = hop.derivation
    written = derivation.references()
    if isinstance(derivation, ReverseLookup):
        written = tuple(one.value for one in derivation.conditions() if one.property not in ROLES.class_like)
    ids = list(dict.fromkeys(id for text in written for id in _IDS.findall(text)))
    numbers = [Decimal(number) for text in written for number in _CONSTANTS.findall(_IDS.sub("", text))]
    return ids, [number for number in numbers if number > 2]  # one and two hide in grammar: next, both, pairs


def _known_names(id: str, case: CheckedItem, context: CheckContext) -> list[str]:
    label = case.labels.get(id) or (context.graph.label(id) if context.graph is not None and case.factual else "")
    return [label] if label else []
