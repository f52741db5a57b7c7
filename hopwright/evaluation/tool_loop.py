"""A model that calls tools, turn after turn, until it answers: one conversation an episode, all of them at once.

Every turn is a request of its own, stored with its answer before anything follows. An evaluation that was stopped finds
all turns that were paid for and goes on behind them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hopwright.environments.episode import Episode
from hopwright.environments.transcript import Ending, Transcript
from hopwright.evaluation.extraction import extract
from hopwright.llm.asking import NO_COSTS, RequestCosts, RequestSender, ask_until_accepted
from hopwright.llm.types import Failure, FailureKind, Message, Outcome, Request

_ENDINGS: dict[FailureKind, Ending] = {"refusal": "refusal", "truncated": "truncated", "empty": "empty"}


@dataclass(frozen=True, slots=True)
class PlayedEpisode:
    """An episode that has ended, and what it cost."""

    transcript: Transcript
    costs: RequestCosts


def play_episodes(sender: RequestSender, starts: Sequence[tuple[Episode, Request]]) -> list[PlayedEpisode]:
    """Play episodes from their first requests to their ends, all at once; raises what ends a whole run."""
    players = [_Player(episode, request) for episode, request in starts]
    ask_until_accepted(sender, [(player.request, player.take) for player in players])
    return [player.end() for player in players]


def read_final_answer(text: str) -> str | None:
    """The answer on the line that the prompts ask for; None where there is none."""
    read = extract(text, "open", "cot", {})
    return read.value if read.outcome == "answered" else None


class _Player:
    """One model in one episode: outcomes of its requests come in, the next request goes out."""

    def __init__(self, episode: Episode, request: Request) -> None:
        self.request = request
        self._episode = episode
        self._costs = NO_COSTS

    def take(self, outcome: Outcome) -> Request | None:
        """Take an outcome in; the request with the results of its calls, or None when the episode has ended."""
        usage = outcome.usage
        version = "" if isinstance(outcome, Failure) else outcome.model_version
        self._costs += RequestCosts((outcome.key,), version, usage.input, usage.output, outcome.cost_usd)
        if isinstance(outcome, Failure):
            self._episode.break_off(_ENDINGS.get(outcome.kind, "failed"), f"{outcome.kind}: {outcome.reason}")
            return None
        results = self._episode.take(outcome.text, outcome.calls)
        if self._episode.transcript is not None:
            return None
        turn = Message("assistant", outcome.text, calls=outcome.calls)
        answers = (
            Message("tool", result, answers=call.id) for call, result in zip(outcome.calls, results, strict=True)
        )
        self.request = replace(self.request, messages=(*self.request.messages, turn, *answers))
        return self.request

    def end(self) -> PlayedEpisode:
        """The episode, which has ended."""
        transcript = self._episode.transcript
        assert transcript is not None
        return PlayedEpisode(transcript, self._costs)
