"""One episode: an agent's turns go in, the results of its calls come out, until it answers or may not go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hopwright.environments.task import FoundPassage, Task
from hopwright.environments.tools import PassageFinder, carry_out
from hopwright.environments.transcript import Action, AgentTurn, Ending, Transcript
from hopwright.llm.tool_calls import ToolCall
from hopwright.llm.types import Message

MALFORMED_IN_A_ROW = 3
"""Malformed calls after which an episode ends, unless a good one is among them."""
NO_STEPS_LEFT = "No call is left. Give the final answer now."

ReadAnswer = Callable[[str], str | None]
"""Reads the final answer out of an agent's last turn; None where it is not in the form that was asked for."""
CountTokens = Callable[[str], int]
_BYTES_PER_TOKEN = 4


def guess_tokens(text: str) -> int:
    """Tokens of a text, about, where nobody counts them by the policy's own tokenizer."""
    return -(-len(text.encode()) // _BYTES_PER_TOKEN)


class Episode:
    """The state of one episode. Nothing in it asks a model: whoever does so hands in what the model said.

    `messages` are what was said and shown since the question; the turns of the assistant alone are the policy's.
    """

    def __init__(
        self,
        task: Task,
        finder: PassageFinder,
        read_answer: ReadAnswer,
        given: Sequence[FoundPassage] = (),
        count_tokens: CountTokens = guess_tokens,
    ) -> None:
        self.task = task
        self._finder = finder
        self._read_answer = read_answer
        self._given = tuple(given)
        self._count_tokens = count_tokens
        self._turns: list[AgentTurn] = []
        self.messages: list[Message] = []
        self.tokens = 0
        """What was written and shown, by the count of tokens."""
        self._steps = 0
        self._malformed = 0
        self._told = False
        self.transcript: Transcript | None = None
        """What the episode was, once it has ended."""

    def take(self, text: str, calls: Sequence[ToolCall], said: str = "") -> list[str]:
        """Take a turn in. Returns the results of its calls, in order; an empty list when the episode has ended.

        Malformed calls take no step. `said` is the turn to the letter where its calls stood in it as text.
        Raises ValueError when the episode had ended before.
        """
        if self.transcript is not None:
            raise ValueError("the episode has ended")
        self.messages.append(Message("assistant", said) if said else Message("assistant", text, calls=tuple(calls)))
        called = 0 if said else sum(self._count_tokens(call.arguments) for call in calls)
        self.tokens += self._count_tokens(said or text) + called
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
        self.tokens += sum(map(self._count_tokens, results))
        if self._is_spent():
            self._told = True
            if results[-1] != NO_STEPS_LEFT:
                results[-1] += f"\n\n{NO_STEPS_LEFT}"
        self.messages += [Message("tool", text, answers=call.id) for call, text in zip(calls, results, strict=True)]
        return results

    def break_off(self, ended: Ending, reason: str) -> None:
        """End the episode because no turn came."""
        self._end(ended, reason=reason)

    def _is_spent(self) -> bool:
        """Whether nothing may be called any more: the steps, the turns or the tokens are used up."""
        task = self.task
        turns = len(self._turns)
        return (
            self._steps >= task.max_steps
            or (0 < task.max_turns <= turns)
            or (0 < task.max_tokens <= self.tokens)
        )

    def _end(self, ended: Ending, answer: str = "", reason: str = "") -> None:
        self.transcript = Transcript(tuple(self._turns), answer, ended, self._given, reason)
