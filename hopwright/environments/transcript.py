"""What an agent said, called and was shown, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hopwright.environments.task import FoundPassage

Ending = Literal[
    "answered", "not_extractable", "out_of_steps", "malformed", "refusal", "truncated", "empty", "failed",
]  # fmt: skip
"""How an episode ended.

`out_of_steps`: the agent called again when no call was left; `malformed`: it made as many malformed calls in a row
as are put up with; `failed`: no answer came from the model; `not_extractable`: it answered, but not in the form that
was asked for.
"""


@dataclass(frozen=True, slots=True)
class Action:
    """One call. `query` is what was looked for; `problem` says what is wrong with a malformed call, else empty."""

    name: str
    arguments: str
    query: str = ""
    passages: tuple[FoundPassage, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """What an agent wrote, and what it called then."""

    text: str
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class Transcript:
    """An episode: its turns, the passages that were `given` with the question, its answer and how it ended."""

    turns: tuple[AgentTurn, ...]
    answer: str
    ended: Ending
    given: tuple[FoundPassage, ...] = ()
    reason: str = ""

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every call, in order."""
        return tuple(action for turn in self.turns for action in turn.actions)

    @property
    def steps(self) -> int:
        """How many well-formed calls were carried out."""
        return sum(not action.problem for action in self.actions)

    @property
    def malformed(self) -> int:
        """How many calls could not be carried out."""
        return sum(bool(action.problem) for action in self.actions)
