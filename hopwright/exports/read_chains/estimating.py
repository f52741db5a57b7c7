"""What asking in this way would come to. Only the first requests are known before the first answer.

Of the others it is known what they look like, and assumed how many there will be: `Expected` says what share of
everything goes on. A passage stands for what would be shown, so that the lengths are those of the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from hopwright.exports.read_chains.asking import ReadingAsker
from hopwright.exports.read_chains.chains import AtomicPair, ReadChain
from hopwright.exports.read_chains.growing import ReadChains
from hopwright.knowledge.documents.store import CorpusText
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.types import Request
from hopwright.settings import CorpusReadParameters


@dataclass(frozen=True, slots=True)
class Expected:
    """What is assumed of a run that was not made yet, as shares of what comes into a stage."""

    keep_rules: float = 0.6
    """Of atomic questions, those that the rules let pass."""
    keep_pairs: float = 0.4
    """Of these, those that are verified."""
    named: float = 0.4
    """Of retrieved passages, those that name the answer."""
    answers: float = 1.0
    """Questions that stand, for each passage that is asked to go on."""
    keep_merged: float = 0.5
    """Of merged questions, those that the rules let pass."""
    unknown: float = 0.7
    """Of these, those that are not known without their passages."""
    sufficient: float = 0.7
    """Of these, those that all gold passages answer."""
    necessary: float = 0.6
    """Of these, those that need every gold passage."""
    judged: float = 0.7
    """Of answers, those that a judge has to look at."""


def list_expected(
    maker: ReadChains, parameters: CorpusReadParameters, expected: Expected | None = None
) -> list[Request | ApproximateRequest]:
    """The first requests, and as many likely ones as are assumed to follow from them."""
    known = maker.list_requests()
    passages = maker.draw()
    listed: list[Request | ApproximateRequest] = [*known]
    shapes = _Shapes(maker.asker)
    for make, number in _count_following(shapes, len(known), parameters, expected or Expected()):
        listed += [ApproximateRequest(make(passages, place)) for place in range(round(number))]
    return listed


Shape = Callable[[Sequence[CorpusText], int], Request]


def _count_following(
    shapes: _Shapes, passages: int, parameters: CorpusReadParameters, expected: Expected
) -> Iterator[tuple[Shape, float]]:
    pairs = passages * parameters.atomic * expected.keep_rules
    grounded = pairs * expected.unknown
    yield shapes.answer(0), pairs
    yield shapes.answer(1), grounded
    yield shapes.grade, (pairs + grounded) * expected.judged
    openings = pairs * expected.keep_pairs
    for kind in sorted(set(parameters.kinds)):
        chains = openings
        for hops in range(2, 1 + max(map(int, parameters.hops))):
            opens = kind == "comparison" and hops == 2
            asked = chains * parameters.top * (1.0 if opens else expected.named)
            yield (shapes.alike if opens else shapes.atomic), asked
            merged = min(asked * expected.answers, openings * parameters.beam)
            yield shapes.merge, merged
            trials = merged * expected.keep_merged
            sufficient = trials * expected.unknown
            necessary = sufficient * expected.sufficient
            yield shapes.answer(0), trials
            yield shapes.answer(hops), sufficient
            yield shapes.answer(hops - 1), necessary * hops
            yield shapes.grade, (trials + sufficient + necessary * hops) * expected.judged
            chains = necessary * expected.necessary


class _Shapes:
    """Requests that look like those to come."""

    def __init__(self, asker: ReadingAsker) -> None:
        self._asker = asker

    def atomic(self, passages: Sequence[CorpusText], place: int) -> Request:
        passage = passages[place % len(passages)]
        return self._asker.ask_atomic(passage, passage.title)

    def alike(self, passages: Sequence[CorpusText], place: int) -> Request:
        passage = passages[place % len(passages)]
        return self._asker.ask_alike(_make_pair(passage), passage)

    def merge(self, passages: Sequence[CorpusText], place: int) -> Request:
        pair = _make_pair(passages[place % len(passages)])
        return self._asker.merge(ReadChain("inference", (pair,), pair.question), pair)

    def grade(self, passages: Sequence[CorpusText], place: int) -> Request:
        pair = _make_pair(passages[place % len(passages)])
        return self._asker.grade(pair.question, pair.answer, pair.answer)

    def answer(self, shown: int) -> Shape:
        """The shape of an answer from so many passages."""
        return _AnswerShape(self._asker, shown)


@dataclass(frozen=True, slots=True)
class _AnswerShape:
    asker: ReadingAsker
    shown: int

    def __call__(self, passages: Sequence[CorpusText], place: int) -> Request:
        chosen = [passages[(place + further) % len(passages)] for further in range(max(1, self.shown))]
        return self.asker.answer(_make_pair(chosen[0]).question, chosen[: self.shown])


def _make_pair(passage: CorpusText) -> AtomicPair:
    question = f"Which one was it that was first told of what is known by the name of {passage.title}?"
    return AtomicPair(question, passage.title, passage.title, passage, passage.start, passage.end)
