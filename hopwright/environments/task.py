"""What an agent is given: a question, and what is known of the hops behind it and of where each is stated."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

_LEAST_SHARE = Fraction(1, 2)
"""Part of a gold place that a passage holds at least: a place may lie across the border of two passages."""
MAX_STEPS = 10
"""Calls of tools in one episode (AgenticRAGTracer and Search-R1 allow about as many)."""


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A text that an agent was shown: the characters `start` up to `end` of a document."""

    id: str
    title: str
    text: str
    document: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class GoldPlace:
    """Where a fact is stated: the characters `start` up to `end` of a document."""

    document: str
    start: int
    end: int

    def is_in(self, passage: FoundPassage) -> bool:
        """Whether a passage holds at least half of the place."""
        shared = min(self.end, passage.end) - max(self.start, passage.start)
        return passage.document == self.document and shared >= _LEAST_SHARE * (self.end - self.start)


GoldFact = tuple[GoldPlace, ...]
"""The places that state one fact; any of them will do."""


@dataclass(frozen=True, slots=True)
class TaskHop:
    """One hop: its sub-question, its answer with the aliases, and the facts that it rests on.

    A hop without `gold` is worked out from others, or nobody knows where it is stated.
    """

    index: int
    question: str
    answers: tuple[str, ...]
    depends_on: tuple[int, ...]
    gold: tuple[GoldFact, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """A question with its proven hops, numbered from 1. `kind` of the answer: `date`, `number` or `text`.

    Its budget: `max_steps` calls, `max_turns` turns that call something, and `max_tokens` of what is written and shown
    in the episode. 0 turns or tokens: no bound of their own.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    kind: str
    hops: tuple[TaskHop, ...]
    max_steps: int = MAX_STEPS
    max_turns: int = 0
    max_tokens: int = 0

    def hop(self, index: int) -> TaskHop:
        """The hop of that number."""
        return self.hops[index - 1]

    def list_ancestors(self, index: int) -> frozenset[int]:
        """The hops that a hop rests on, directly or not."""
        found: set[int] = set()
        waiting = list(self.hop(index).depends_on)
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += self.hop(one).depends_on
        return frozenset(found)
