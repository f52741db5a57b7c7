"""What a model has said to a request so far that was of no use: paid for, so it is on the disk before anything follows.

A conversation that a stop or a kill cut short goes on where it was: the last answer goes back, no earlier request is
sent again. One that came to its end without an answer is not begun again in the same run; another run may try its luck.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Self

from hopwright.llm.store import Statement, Store
from hopwright.llm.types import Attempt, ModelRef, TokenUsage

UNUSABLE = frozenset({"refusal", "empty", "truncated", "invalid"})
"""Kinds of attempts in which the model did answer."""
_LAST_WORD = frozenset({"refusal", "truncated"})
"""Answers that are not sent back: the same would come again."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Tries of one request at one model without a usable answer, their tokens and dollars.

    `run` is the run that had the last of them.
    """

    run: str = ""
    attempts: tuple[Attempt, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost_usd: float = 0.0

    @property
    def last(self) -> Attempt | None:
        """The last answer."""
        return next((one for one in reversed(self.attempts) if one.kind in UNUSABLE), None)

    @property
    def answers(self) -> int:
        """How often the model has answered."""
        return sum(one.kind in UNUSABLE for one in self.attempts)

    def is_over(self, most: int) -> bool:
        """Whether no further answer may be asked for, out of `most`."""
        return self.answers >= most or (self.last is not None and self.last.kind in _LAST_WORD)

    def add(self, run: str, attempts: Sequence[Attempt], usage: TokenUsage, cost_usd: float) -> Self:
        """The conversation after another answer, `attempts` being all its tries."""
        return type(self)(run, tuple(attempts), self.usage + usage, self.cost_usd + cost_usd)


def read_conversation(store: Store, key: str) -> Conversation | None:
    """What the store has of the request with this key (`key_of` it and the model)."""
    rows = store.read("SELECT run, said FROM conversations WHERE key = ?", (bytes.fromhex(key),))
    if not rows:
        return None
    return read_said(*rows[0])


def conversation_statement(key: str, target: ModelRef, conversation: Conversation) -> Statement:
    """What is written when a model gave an answer of no use."""
    return (
        "INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, ?, ?, ?)",
        (
            bytes.fromhex(key), target.provider, target.model, time.time(), conversation.run,
            write_said(conversation),
        ),
    )  # fmt: skip


def forget_statement(key: str) -> Statement:
    """What is written when an answer of use has come: that one holds all that went before."""
    return "DELETE FROM conversations WHERE key = ?", (bytes.fromhex(key),)


def write_said(conversation: Conversation) -> str:
    """The conversation as JSON, without its run."""
    record = {
        "attempts": [asdict(one) for one in conversation.attempts], "usage": asdict(conversation.usage),
        "cost": conversation.cost_usd,
    }  # fmt: skip
    return json.dumps(record, ensure_ascii=False)


def read_said(run: str, said: str) -> Conversation:
    """What `write_said` wrote."""
    record = json.loads(said)
    attempts = tuple(Attempt(**one) for one in record["attempts"])
    return Conversation(run, attempts, TokenUsage(**record["usage"]), record["cost"])
