"""What a model's questions are held against by counting: the rules of AgenticRAGTracer (section 3) and of its code.

Each rule has a code, under which the yield counts what it rejects. No rule asks a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from hopwright.foreign import find_control
from hopwright.knowledge.documents.alignment import split_sentences
from hopwright.scoring.answers import normalise

LONGEST_ANSWER = 9
"""Tokens of the longest answer: the paper takes fewer than ten."""
KNOWN_SCORE = 1
"""A judge's score from which on an answer without the gold passages counts as known."""
RIGHT_SCORE = 2
"""The score of an answer that means the right one."""
_MOST_SHARED = 0.5
"""The share of an answer's tokens that may stand in its question."""
_TOKEN = re.compile(r"\w+")
_YEAR = re.compile(r"(?<!\d)(?<!\d[,.])(?:1\d{3}|20\d{2})(?!\d|[,.]\d)")
_SPEAKS_OF_TEXT = re.compile(
    r"\b(?:passages?|documents?|excerpts?|paragraphs?|according to|(?:this|the|given|above) (?:text|article))\b",
    re.IGNORECASE,
)


class Fault(StrEnum):
    """Why something that a model was asked for, or that was found for it, goes no further."""

    TITLE_EXCLUDED = "title_excluded"
    PASSAGE_USED = "passage_used"
    ENTITY_NOT_NAMED = "entity_not_named"
    REQUEST_FAILED = "request_failed"
    NOTHING_ASKED = "nothing_asked"
    TOO_MANY = "too_many"
    FORM = "form"
    ANSWER_LONG = "answer_long"
    ANSWER_IN_QUESTION = "answer_in_question"
    ANSWER_NUMBER = "answer_number"
    SPAN_MISSING = "span_missing"
    ENTITY_MISSING = "entity_missing"
    REPEATED = "repeated"
    CIRCULAR = "circular"
    BEAM = "beam"
    OBJECTED = "objected"
    NOT_LONGER = "not_longer"
    YEAR_LOST = "year_lost"
    ANSWER_LEAKED = "answer_leaked"
    CONCATENATED = "concatenated"
    NOT_COMPARED = "not_compared"
    KNOWN = "known"
    NOT_SUFFICIENT = "not_sufficient"
    NOT_NECESSARY = "not_necessary"
    SHARED = "shared"
    ENOUGH = "enough"


def list_tokens(text: str) -> list[str]:
    """The words and numbers of a text, in lower case."""
    return _TOKEN.findall(text.casefold())


def list_years(text: str) -> set[str]:
    """The years from 1000 to 2099 that a text writes in digits."""
    return set(_YEAR.findall(text))


def holds_words(text: str, words: str) -> bool:
    """Whether a text holds these words next to each other, whatever their case and punctuation; False for no words."""
    wanted = list_tokens(words)
    return bool(wanted) and f" {' '.join(wanted)} " in f" {' '.join(list_tokens(text))} "


def check_form(question: str) -> Fault | None:
    """A question is one line with one question mark, at its end, and does not speak of a text."""
    if not question.endswith("?") or question.count("?") > 1 or find_control(question):
        return Fault.FORM
    if _SPEAKS_OF_TEXT.search(question):
        return Fault.FORM
    return None


def check_atomic(question: str, answer: str) -> Fault | None:
    """The rules for an atomic question by itself: its form, its answer's length, what of the answer it gives away."""
    if fault := check_form(question):
        return fault
    tokens = list_tokens(answer)
    if not tokens or len(tokens) > LONGEST_ANSWER:
        return Fault.ANSWER_LONG
    asked = set(list_tokens(question))
    if sum(token in asked for token in tokens) > _MOST_SHARED * len(tokens):
        return Fault.ANSWER_IN_QUESTION
    return None


def is_number(answer: str) -> bool:
    """Whether an answer is a number and nothing else: nothing can be asked about it, and it is found everywhere."""
    return not any(letter.isalpha() for letter in answer)


def check_merged(question: str, before: str, following: str, hidden: Iterable[str], lost: str) -> Fault | None:
    """The rules for a question in the place of two, `before` and `following`.

    `hidden` are the answers that it must not hold. Years that stand in `lost`, the answer in whose place a description
    was put, need not be kept.
    """
    if fault := check_form(question):
        return fault
    if any(holds_words(question, answer) for answer in hidden):
        return Fault.ANSWER_LEAKED
    if len(list_tokens(question)) <= len(list_tokens(before)):
        return Fault.NOT_LONGER
    if not list_years(before) | (list_years(following) - list_years(lost)) <= list_years(question):
        return Fault.YEAR_LOST
    # "Who directed it and where was he born?" goes through no step; "the one who directed it" does.
    words = list_tokens(before)
    if list_tokens(question)[: len(words)] == words or holds_words(question, following):
        return Fault.CONCATENATED
    return None


def is_same(one: str, other: str) -> bool:
    """Whether two answers are the same by SQuAD's normalisation."""
    return normalise(one) == normalise(other)


def find_span(text: str, answer: str, question: str) -> tuple[int, int] | None:
    """Where a text has the answer letter for letter, as whole words; white space may differ. None where nowhere.

    Of several places the one counts whose sentence has most of the question's words.
    """
    if not any(letter.isalnum() for letter in answer):
        return None
    words = r"\s+".join(map(re.escape, answer.split()))
    pattern = rf"(?<!\w){words}(?!\w)"
    places = [match.span() for match in re.finditer(pattern, text)]
    asked = set(list_tokens(question))
    return max(places, key=lambda place: _count_shared(text, place, asked), default=None)


def find_sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentence begins and ends that a span lies in; from the first to the last one of a longer span."""
    sentences: Sequence[tuple[int, int]] = [one for one in split_sentences(text) if one[0] < end and start < one[1]]
    return (min(sentences[0][0], start), max(sentences[-1][1], end)) if sentences else (start, end)


def _count_shared(text: str, place: tuple[int, int], asked: set[str]) -> int:
    start, end = find_sentence(text, *place)
    return len(asked & set(list_tokens(text[start:end])))
