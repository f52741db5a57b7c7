"""Atomic questions, and the chains that are made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hopwright.knowledge.documents.store import CorpusText
from hopwright.llm.asking import NO_COSTS, RequestCosts

ChainKind = Literal["inference", "comparison"]


@dataclass(frozen=True, slots=True)
class AtomicPair:
    """A question that one passage answers. `start` and `end` are the answer's characters in the passage's document."""

    question: str
    answer: str
    entity: str
    passage: CorpusText
    start: int
    end: int

    @property
    def key(self) -> str:
        """What tells it from every other one."""
        return f"{self.passage.id}|{self.question}"


@dataclass(frozen=True, slots=True)
class ReadChain:
    """Atomic questions in order, and the one question that needs all of them.

    `compared` is the question of a comparison over its first two pairs, with the thing that is its answer; None for an
    inference. `opening` is the atomic question with which the chain began, whose chains share one beam.
    """

    kind: ChainKind
    pairs: tuple[AtomicPair, ...]
    question: str
    compared: AtomicPair | None = None
    spent: RequestCosts = NO_COSTS

    @property
    def hops(self) -> int:
        """How many atomic questions it has; the step that compares is none."""
        return len(self.pairs)

    @property
    def name(self) -> str:
        """Its kind and number of hops."""
        return name_chains(self.kind, self.hops)

    @property
    def opening(self) -> str:
        """What the chains of one beam have in common."""
        return self.pairs[0].key

    @property
    def last(self) -> AtomicPair:
        """The step whose answer is the chain's."""
        return self.compared if self.compared is not None and self.hops == 2 else self.pairs[-1]

    @property
    def answer(self) -> str:
        """The answer of the whole."""
        return self.last.answer

    @property
    def steps(self) -> tuple[AtomicPair, ...]:
        """Every step in order, the one that compares after the two that it compares."""
        if self.compared is None:
            return self.pairs
        return (*self.pairs[:2], self.compared, *self.pairs[2:])

    @property
    def hidden(self) -> tuple[str, ...]:
        """The answers that the question must not hold: all of them, but for the answer of a comparison."""
        return tuple(pair.answer for pair in self.pairs)

    @property
    def passages(self) -> tuple[CorpusText, ...]:
        """The gold passages, each once."""
        return tuple({pair.passage.id: pair.passage for pair in self.pairs}.values())


def name_chains(kind: ChainKind, hops: int) -> str:
    """How the yield calls chains of a kind and a number of hops."""
    return f"{kind}, {hops} hops"
