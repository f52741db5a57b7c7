"""The form and the grammar of questions. Names that the item knows are left out: titles have rules of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from hopwright.checks.case import Check, CheckContext, CheckedItem, Finding

_PLACEHOLDER = re.compile(
    r"[{}]|\bhop[1-8]\b|#[1-8]\b|\b[QP]\d{2,}\b|<[^<>]*>|\[[A-Z_ ]+\]|__|\bNone\b|\bnan\b|\bTODO\b|%[sd]\b"
)
_SPACING = re.compile(r"\s{2,}|\s[?,;:.!)]|[,;:](?=[^\s\d\"'”’)])|^\s|\s$|[\n\t]|,,|,\?|\?{2,}|\(\s")
_SHORTEST, _LONGEST = 12, 700
ASKING_TITLE = ('?"', "?”")
"""How a question may end whose last words are a title with a question mark of its own."""

_DOUBLED = re.compile(r"\b(the|a|an|of|in|to|is|was)\s+\1\b", re.IGNORECASE)
_DOUBLED_LOWER = re.compile(r"\b([a-z]{2,})\s+\1\b")
_DOUBLES_ALLOWED = frozenset({"had", "that"})
_ARTICLES = re.compile(r"\b(?:a (?:an|the)|an (?:a|the)|the (?:a|an))\b")
_RELATIVES = re.compile(
    r"\b(?:(?:who|whom|which|whose|where) (?:who|whom|which|whose)|that (?:that|who|whom|whose|which)"
    r"|who (?:that|where))\b"
)
_PREPOSITIONS = re.compile(r"\b(?:(?:in|by|from|with|to) of|(?:of|in|by|from|with|to) than|in by)\b")
_AGREEMENT = re.compile(r"\bHow (?:many (?:people|countries|goals|matches) (?:is|was)|much (?:years|people|goals))\b")
_ENDING = re.compile(r"\b(?:the|a|an|and|or|whose|which|exactly)\?$")
_ARTICLE = re.compile(r"(?<![\w'’-])(?:(a|an)|^(A|An)) (\w+)")
_SILENT_H = re.compile(r"hour|honou?r|honest|heir")
_CONSONANT_U = re.compile(r"one\b|once\b|one[- ]|eu|ewe|un(?!in|im)i|us[eau]|ut[eio]|ur[aio]n|ub[io]|uk|ufo|ou[ij]")
_PAIRS = {"“": "”", "«": "»", "(": ")", "[": "]"}
_MISPLACED = re.compile(
    r"(?<=[a-z0-9,:;] )(?:The|A|An|Of|In|Who|Which|What|Where|When|That|And|Or|Is|Was|How|Its)\b(?= [\w\"“])"
)
_AFTER_FULL_STOP = re.compile(r"(?<=[a-z]{3}[.?!] )[a-z]")
_ENUMERATION = re.compile(
    r"(?:^|\s)(?:\([1-4a-d]\)|[1-4]\))\s|[:;.]\s[1-4]\.\s|(?<!\w)(?:[Ss]tep|[Hh]op|[Pp]art) (?:one|two|three|[1-4])\b"
    r"|\b[Ff]irst(?:ly)?, [^?]*\b(?:second|then|next)(?:ly)?\b|\bthen\b[^?]*\bthen\b|\bafter that\b[^?]*\bafter that\b"
    r"|;[^;?]*;|\b[Ff]inally,|\brespectively\b|\b[Ss]ub-?questions?\b"
)
_MOST_ANDS = 5


def check_form(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """Every question is one question: its ending, length, spacing and punctuation, nothing left unfilled."""
    yield from _check_each(case, find_form_problems)


def check_grammar(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """No doubled words or pronouns, no wrong articles, capitals or quotes in any question."""
    yield from _check_each(case, find_grammar_problems)


def check_list(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """The multi-hop question is a question, not a list of steps."""
    text = case.mask(case.item.question)
    if match := _ENUMERATION.search(text):
        yield None, f"reads like a list of steps: {match[0].strip()[:60]!r}"
    elif (count := text.count(" and ")) > _MOST_ANDS:
        yield None, f"strings its parts together: {count} times 'and'"


def find_form_problems(question: str, case: CheckedItem) -> Iterator[str]:
    """What is wrong with the form of one question."""
    if not question.strip():
        return
    text = case.mask(question)
    if not _SHORTEST <= len(question) <= _LONGEST:
        yield f"{len(question)} characters long, outside {_SHORTEST}–{_LONGEST}"
    if not question.endswith(("?", *ASKING_TITLE)):
        yield "does not end with a question mark"
    if question[0].islower():
        yield "begins without a capital"
    if match := _PLACEHOLDER.search(text):
        yield f"an unfilled placeholder: {match[0]!r}"
    if match := _SPACING.search(text):
        yield f"wrong spacing or punctuation near {text[max(0, match.start() - 8) : match.end() + 8]!r}"
    if case.planned and text.count("?") > 1:  # elsewhere, titles cannot be told from our wording
        yield "more than one question mark"


def find_grammar_problems(question: str, case: CheckedItem) -> Iterator[str]:
    """What is wrong with the grammar of one question, as far as patterns tell."""
    text = case.mask(question)
    for match in (*_DOUBLED.finditer(text), *_DOUBLED_LOWER.finditer(text)):
        if match[1] not in _DOUBLES_ALLOWED:
            yield f"a doubled word: {match[0]!r}"
            break
    if text.count('"') % 2 or any(text.count(left) != text.count(right) for left, right in _PAIRS.items()):
        yield "unbalanced quotes or brackets"
    if problem := _find_wrong_article(text):
        yield f"a wrong article: {problem!r}"
    for pattern, what in _PATTERNS:
        found = pattern.search(text)
        # Where no plan says what is a name, a capital before another one may begin a title.
        if found and (case.planned or pattern is not _MISPLACED or text[found.end() + 1].islower()):
            yield f"{what}: {text[max(0, found.start() - 12) : found.end() + 12].strip()!r}"


_PATTERNS = (
    (_ARTICLES, "two articles"),
    (_RELATIVES, "a doubled relative pronoun"),
    (_PREPOSITIONS, "two prepositions that do not go together"),
    (_AGREEMENT, "number and verb disagree"),
    (_ENDING, "ends in the middle of a phrase"),
    (_MISPLACED, "a capital in the middle"),
    (_AFTER_FULL_STOP, "a sentence without a capital"),
)

GRAMMAR = (
    Check("form", "questions are well formed", check_form, needs=()),
    Check("grammar", "no doubled words, wrong articles, stray capitals or open quotes", check_grammar, needs=()),
    Check("list", "the multi-hop question does not read like a list of steps", check_list, needs=()),
)


def _check_each(case: CheckedItem, find: Callable[[str, CheckedItem], Iterator[str]]) -> Iterator[Finding]:
    for problem in find(case.item.question, case):
        yield None, problem
    for hop in case.item.hops:
        for problem in find(hop.question, case):
            yield hop.index, problem


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
