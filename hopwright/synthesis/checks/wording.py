"""Checks of wording: leaks, inputs shown, names kept, and the form of a question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from hopwright.records import Compute, Hop, Lookup
from hopwright.synthesis.checks.case import Case, Check, CheckContext, Finding
from hopwright.synthesis.checks.text import (
    find_numbers,
    holds,
    holds_alias,
    holds_exactly,
    is_telling,
    mentions_number,
    read_number,
)

_IDS = re.compile(r"\bQ[0-9A-Za-z_]+\b")
_CONSTANTS = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
# Classes and the like are worded as the noun (`the film that …`), not by their label.
_NOUNS = frozenset({"P31", "P279", "P21", "P106"})

_PLACEHOLDER = re.compile(
    r"[{}]|\bhop[1-8]\b|#[1-8]\b|\b[QP]\d{2,}\b|<[^<>]*>|\[[A-Z_ ]+\]|__|\bNone\b|\bnan\b|\bTODO\b|%[sd]\b"
)
_DOUBLED = re.compile(r"\b(the|a|an|of|in|to|is|was)\s+\1\b", re.IGNORECASE)
_DOUBLED_LOWER = re.compile(r"\b([a-z]{2,})\s+\1\b")
_DOUBLES_ALLOWED = frozenset({"had", "that"})
_SPACING = re.compile(r"\s{2,}|\s[?,;:.!)]|[,;:](?=[^\s\d\"'”’)])|^\s|\s$|[\n\t]|,,|,\?|\?{2,}")
_ARTICLE = re.compile(r"(?<![\w'’-])(?:(a|an)|^(A|An)) (\w+)")
_SILENT_H = re.compile(r"hour|honou?r|honest|heir")
_CONSONANT_U = re.compile(r"one\b|once\b|one[- ]|eu|ewe|un(?!in|im)i|us[eau]|ut[eio]|ur[aio]n|ub[io]|uk|ufo|ou[ij]")
_TIME = re.compile(
    r"\b(?:current|currently|now|today|nowadays|presently|at present|as of now|to date|recently|these days)\b",
    re.IGNORECASE,
)
_PAIRS = {"“": "”", "«": "»", "(": ")", "[": "]"}
_SHORTEST, _LONGEST = 12, 700


def check_leakage(case: Case, context: CheckContext) -> Iterator[Finding]:
    """No answer of any hop, by any of its names, stands in the multi-hop question."""
    text, padded = case.item.question, case.padded
    for hop in case.item.hops:
        if name := _find_leak(hop, text, padded, case.numbers, case, context):
            what = "final" if hop is case.last else "intermediate"
            yield hop.index, f"the question gives away the {what} answer: {name!r}"


def check_self_answer(case: Case, context: CheckContext) -> Iterator[Finding]:
    """No sub-question contains its own answer, unless it asks to choose among its inputs."""
    for hop, padded in zip(case.item.hops, case.padded_hops, strict=True):
        if case.by_selection(hop):
            continue
        if name := _find_leak(hop, hop.question, padded, find_numbers(hop.question), case, context):
            yield hop.index, f"the sub-question contains its own answer: {name!r}"


def check_inputs_shown(case: Case, context: CheckContext) -> Iterator[Finding]:
    """A sub-question names the answers of the hops that it depends on, so that it can be asked on its own."""
    hops = {hop.index: hop for hop in case.item.hops}
    for hop, padded in zip(case.item.hops, case.padded_hops, strict=True):
        for index in hop.depends_on:
            source = hops.get(index)
            if source is not None and not _shows(hop.question, padded, source):
                yield hop.index, f"does not name the answer of hop {index}, {source.answer!r}"


def check_names_kept(case: Case, context: CheckContext) -> Iterator[Finding]:
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


def check_form(case: Case, context: CheckContext) -> Iterator[Finding]:
    """Every question is one well-formed question: ending, spacing, quotes, articles, doubled words, placeholders."""
    for problem in find_form_problems(case.item.question, case):
        yield None, problem
    for hop in case.item.hops:
        for problem in find_form_problems(hop.question, case):
            yield hop.index, problem


def check_time(case: Case, context: CheckContext) -> Iterator[Finding]:
    """Nothing is asked as of today: the answer would change."""
    asked: list[tuple[int | None, str]] = [(None, case.item.question)]
    asked += [(hop.index, hop.question) for hop in case.item.hops]
    for index, text in asked:
        if match := _TIME.search(case.mask(text)):
            yield index, f"depends on the time of asking: {match[0]!r}"


def find_form_problems(question: str, case: Case) -> Iterator[str]:
    """What is wrong with the form of one question; names that the item knows are left out of the grammar rules."""
    if not question.strip():
        return
    text = case.mask(question)
    if not _SHORTEST <= len(question) <= _LONGEST:
        yield f"{len(question)} characters long, outside {_SHORTEST}–{_LONGEST}"
    if not question.endswith("?"):
        yield "does not end with a question mark"
    if question[0].islower():
        yield "begins without a capital"
    if match := _PLACEHOLDER.search(text):
        yield f"an unfilled placeholder: {match[0]!r}"
    if match := _SPACING.search(text):
        yield f"wrong spacing or punctuation near {text[max(0, match.start() - 8) : match.end() + 8]!r}"
    for match in (*_DOUBLED.finditer(text), *_DOUBLED_LOWER.finditer(text)):
        if match[1] not in _DOUBLES_ALLOWED:
            yield f"a doubled word: {match[0]!r}"
            break
    if text.count('"') % 2 or any(text.count(left) != text.count(right) for left, right in _PAIRS.items()):
        yield "unbalanced quotes or brackets"
    if case.planned and text.count("?") > 1:  # elsewhere, titles cannot be told from our wording
        yield "more than one question mark"
    if problem := _find_wrong_article(text):
        yield f"a wrong article: {problem!r}"


WORDING = (
    Check("leakage", "no answer stands in the multi-hop question", check_leakage, needs=()),
    Check("self-answer", "no sub-question contains its own answer", check_self_answer, needs=()),
    Check("inputs-shown", "sub-questions name their inputs", check_inputs_shown, needs=()),
    Check("names-kept", "what the plan names is named in the questions", check_names_kept),
    Check("form", "questions are well formed", check_form, needs=()),
    Check("time-dependence", "nothing depends on the time of asking", check_time, needs=()),
)


def _find_leak(
    hop: Hop,
    text: str,
    padded: str,
    numbers: frozenset[tuple[Decimal, bool]],
    case: Case,
    context: CheckContext,
) -> str | None:
    if hop.answer_type == "number":
        number = read_number(hop.answer)
        long = sum(character.isdigit() for character in hop.answer) >= 3
        leaked = any(one == number and (alone or long) for one, alone in numbers)
        return hop.answer if leaked else None
    if holds(padded, hop.answer) and (is_telling(hop.answer) or holds_exactly(text, hop.answer)):
        return hop.answer
    aliases = hop.answer_aliases if hop is not case.last else (*hop.answer_aliases, *case.item.answer_aliases)
    if context.graph is not None and case.planned and case.factual and hop.answer_id:
        aliases = (*aliases, *context.graph.aliases(hop.answer_id))
    return next((alias for alias in aliases if holds_alias(text, padded, alias)), None)


def _shows(question: str, padded: str, source: Hop) -> bool:
    if source.answer_type == "number":
        number = read_number(source.answer)
        return number is not None and mentions_number(question, number)
    if holds(padded, source.answer) or any(holds_alias(question, padded, name) for name in source.answer_aliases):
        return True
    if source.answer_type == "date":  # a computation may need the year alone
        return holds(padded, source.answer.rpartition(" ")[2])
    return False


def _find_constants(hop: Hop) -> tuple[list[str], list[Decimal]]:
    derivation = hop.derivation
    if isinstance(derivation, Lookup):
        written = [derivation.subject]
    elif isinstance(derivation, Compute):
        written = [derivation.expression]
    else:
        conditions = [(derivation.property, derivation.value)]
        conditions += [(one.property, one.value) for one in derivation.constraints]
        written = [value for property, value in conditions if property not in _NOUNS]
    ids = list(dict.fromkeys(id for text in written for id in _IDS.findall(text)))
    numbers = [Decimal(number) for text in written for number in _CONSTANTS.findall(_IDS.sub("", text))]
    return ids, [number for number in numbers if number > 2]  # one and two hide in grammar: next, both, pairs


def _known_names(id: str, case: Case, context: CheckContext) -> list[str]:
    label = case.labels.get(id) or (context.graph.label(id) if context.graph is not None and case.factual else "")
    return [label] if label else []


def _find_wrong_article(text: str) -> str | None:
    for match in _ARTICLE.finditer(text):
        article, word = (match[1] or match[2]).lower(), match[3]
        if (expected := _choose_article(word)) is not None and article != expected:
            return match[0]
    return None


def _choose_article(word: str) -> str | None:
    """`a` or `an` by the sound of a word; None where spelling does not tell (letters, acronyms, foreign initials)."""
    if word[0].isdigit():
        return "an" if word[0] == "8" or word in ("11", "18") else "a"
    if not word[0].isascii() or len(word) == 1 or word[:2].isupper():
        return None
    lower = word.lower()
    if lower[0] in "aeiou":
        return "a" if _CONSONANT_U.match(lower) else "an"
    if lower.startswith("hist"):
        return None
    return "an" if _SILENT_H.match(lower) else "a"
