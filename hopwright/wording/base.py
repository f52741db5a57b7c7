"""What writes questions: an interface over rules and models, and what comes of a draft."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hopwright.records import Item, Rejected


@dataclass(frozen=True, slots=True)
class WordingResult:
    """What a writer made of one draft, and what that took.

    `result` is the item in its new words, or why there is none. `requests` counts the answers that were given (and
    have to be paid), whatever came of them; `faults` counts those by what was wrong with them; `counts` is whatever
    else the yield report adds up.
    """

    result: Item | Rejected
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)


class QuestionWriter(Protocol):
    """Words proven drafts. A writer is never the source of an answer: what it returns is checked against the plan."""

    def word(self, drafts: Sequence[Item]) -> list[WordingResult]:
        """One outcome per draft, in their order. Raises what ends a run (a budget, a service that does not answer)."""
        ...


class RulesOnlyWriter:
    """The writer `rules`: a draft comes in the rules' words, and keeps them."""

    def word(self, drafts: Sequence[Item]) -> list[WordingResult]:
        """The drafts as they are."""
        return [WordingResult(draft) for draft in drafts]
