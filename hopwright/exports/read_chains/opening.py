"""Atomic questions: what a model asks about passages, held against the passages and the rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hopwright.exports.read_chains.asking import cost_of
from hopwright.exports.read_chains.chains import AtomicPair
from hopwright.exports.read_chains.funnel import Funnel
from hopwright.exports.read_chains.rules import Fault, check_atomic, find_span, holds_words, is_same
from hopwright.knowledge.documents.store import CorpusText
from hopwright.llm.answers import AtomicQuestions
from hopwright.llm.asking import RequestCosts
from hopwright.llm.types import Outcome

Judge = Callable[[AtomicPair], Fault | None]
"""What else is asked of a pair that the rules let pass."""


def read_pairs(
    funnel: Funnel, stage: str, passage: CorpusText, outcome: Outcome, most: int, judge: Judge
) -> list[tuple[AtomicPair, RequestCosts]]:
    """The questions about one passage that pass, each with what the request cost.

    `stage` has the two stages `passages` and `questions`, which count the answer and the questions in it. The passage
    was counted as it came in.
    """
    said = outcome.parsed if outcome.ok else None
    if not outcome.ok:
        funnel.reject(f"{stage}: passages", Fault.REQUEST_FAILED, passage.id, outcome.kind)
    if not isinstance(said, AtomicQuestions):
        return []
    if not said.questions:
        funnel.reject(f"{stage}: passages", Fault.NOTHING_ASKED, passage.id)
    kept: list[AtomicPair] = []
    funnel.enter(f"{stage}: questions", len(said.questions))
    for place, one in enumerate(said.questions):
        question, answer, entity = (" ".join(text.split()) for text in (one.question, one.answer, one.entity))
        pair = _make_pair(passage, question, answer, entity)
        fault = Fault.TOO_MANY if place >= most else check_atomic(question, answer)
        if fault is None and pair is None:
            fault = Fault.SPAN_MISSING
        if fault is None and not holds_words(question, entity):
            fault = Fault.ENTITY_MISSING
        if fault is None and any(is_same(answer, other.answer) or question == other.question for other in kept):
            fault = Fault.REPEATED
        if fault is None and pair is not None:
            fault = judge(pair)
        if fault is not None:
            funnel.reject(f"{stage}: questions", fault, passage.id, f"{question} ({answer})")
        elif pair is not None:
            kept.append(pair)
    return [(pair, cost_of(outcome)) for pair in kept]


def accept(_: AtomicPair) -> Fault | None:
    """Ask nothing more of a pair."""
    return None


def keep_titles(
    funnel: Funnel, stage: str, passages: Sequence[CorpusText], excluded: frozenset[str]
) -> list[CorpusText]:
    """The passages whose title is not excluded; all are counted as they come in."""
    funnel.enter(f"{stage}: passages", len(passages))
    kept = []
    for passage in passages:
        if fold_title(passage.title) in excluded:
            funnel.reject(f"{stage}: passages", Fault.TITLE_EXCLUDED, passage.id, passage.title)
        else:
            kept.append(passage)
    return kept


def fold_title(title: str) -> str:
    """A title as excluded ones are compared: without regard to case and white space."""
    return " ".join(title.casefold().split())


def _make_pair(passage: CorpusText, question: str, answer: str, entity: str) -> AtomicPair | None:
    """The pair with the place of its answer; None where the passage does not have it."""
    span = find_span(passage.text, answer, question)
    if span is None:
        return None
    start, end = (passage.start + place for place in span)
    return AtomicPair(question, answer, entity, passage, start, end)
