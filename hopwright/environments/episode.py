"""One episode: an agent's turns go in, the results of its calls come out, until it answers or may not go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hopwright.environments.task import FoundPassage, Task
from hopwright.environments.tools import PassageFinder, carry_out
from hopwright.environments.transcript import Action, AgentTurn, Ending, Transcript
from hopwright.llm.tool_calls import ToolCall

MALFORMED_IN_A_ROW = 3
"""Malformed calls after which an episode ends, unless a good one is among them."""
NO_STEPS_LEFT = "No call is left. Give the final answer now."

ReadAnswer = Callable[[str], str | None]
"""Reads the final answer out of an agent's last turn; None where it is not in the form that was asked for."""


class Episode:
    """The state of one episode. Nothing in it asks a model: whoever does so hands in what the model said."""

    def __init__(
        self, task: Task, finder: PassageFinder, read_answer: ReadAnswer, given: Sequence[FoundPassage] = ()
    ) -> None:
        self.task = task
        self._finder = finder
        self._read_answer = read_answer
        self._given = tuple(given)
        self._turns: list[AgentTurn] = []
        self._steps = 0
        self._malformed = 0
        self._told = False
        self.transcript: Transcript | None = None
        """What the episode was, once it has ended."""

    def take(self, text: str, calls: Sequence[ToolCall]) -> list[str]:
        """Take a turn in. Returns the results of its calls, in order; an empty list when the episode has ended.

        Malformed calls take no step. Raises ValueError when the episode had ended before.
        """
        if self.transcript is not None:
            raise ValueError("the episode has ended")
        if not calls:
            answer = self._read_answer(text)
            self._turns.append(AgentTurn(text))
            self._end("answered" if answer is not None else "not_extractable", answer or "")
            return []
        if self._told:
            self._turns.append(AgentTurn(text))
            self._end("out_of_steps")
            return []
        actions: list[Action] = []
        results: list[str] = []
        for call in calls:
            if self._steps >= self.task.max_steps:
                results.append(NO_STEPS_LEFT)
                continue
            result = carry_out(call, self._finder)
            actions.append(Action(call.name, call.arguments, result.query, result.passages, result.problem))
            self._steps += not result.problem
            self._malformed = self._malformed + 1 if result.problem else 0
            results.append(result.text)
            if self._malformed >= MALFORMED_IN_A_ROW:
                break
        self._turns.append(AgentTurn(text, tuple(actions)))
        if self._malformed >= MALFORMED_IN_A_ROW:
            self._end("malformed", reason=actions[-1].problem)
            return []
        if self._steps >= self.task.max_steps:
            self._told = True
            if results[-1] != NO_STEPS_LEFT:
                results[-1] += f"\n\n{NO_STEPS_LEFT}"
        return results

    def break_off(self, ended: Ending, reason: str) -> None:
        """End the episode because no turn came."""
        self._end(ended, reason=reason)

    def _end(self, ended: Ending, answer: str = "", reason: str = "") -> None:
        self.transcript = Transcript(tuple(self._turns), answer, ended, self._given, reason)
