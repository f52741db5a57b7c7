"""Turns as they come over a wire, taken into episodes; rollouts that others played, played again and scored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from hopwright.environments.episode import NO_STEPS_LEFT, Episode, guess_tokens
from hopwright.environments.picture_finder import PictureLibrary
from hopwright.environments.rewards import REWARDS
from hopwright.environments.tags import read_tagged_answer, take_tagged
from hopwright.environments.task import Task
from hopwright.environments.tools import PICTURE_TOOLS, TOOLS, PassageFinder, carry_out
from hopwright.environments.verifier import verify
from hopwright.evaluation.tool_loop import read_final_answer
from hopwright.llm.tool_calls import ToolCall, ToolSpec, make_tool_call
from hopwright.training.task_files import Form, TaskLine

LONGEST_TEXT = 200_000
"""Characters of one turn; a policy that writes more has lost its way."""
_MOST_CALLS = 32
_LONGEST_NAME = 200


class WireCall(BaseModel):
    """A call of a tool; `arguments` is JSON text, which need not be JSON at all."""

    model_config = ConfigDict(extra="ignore")

    id: str = Field("", max_length=_LONGEST_NAME)
    name: str = Field("", max_length=_LONGEST_NAME)
    arguments: str = Field("", max_length=LONGEST_TEXT)


class WireTurn(BaseModel):
    """What a policy said in a turn: its words and its calls, or its words with a tag in them."""

    model_config = ConfigDict(extra="ignore")

    text: str = Field("", max_length=LONGEST_TEXT)
    calls: tuple[WireCall, ...] = Field((), max_length=_MOST_CALLS)


def find_for(line: TaskLine, finder: PassageFinder) -> PassageFinder:
    """What finds for one task: where it has pictures, what looks these up, too."""
    return finder.of(line.pictures) if line.pictures and isinstance(finder, PictureLibrary) else finder


def list_tools(line: TaskLine) -> tuple[ToolSpec, ...]:
    """The tools of one task."""
    return PICTURE_TOOLS if line.pictures else TOOLS


def begin_episode(task: Task, form: Form, finder: PassageFinder) -> Episode:
    """An episode in which actions are calls or tags."""
    return Episode(task, finder, read_tagged_answer if form == "tags" else read_final_answer)


def take_turn(episode: Episode, form: Form, turn: WireTurn) -> list[dict[str, str]]:
    """Take a turn in; the results of its calls, each with the id of the call that it answers."""
    if form == "tags":
        return [{"call": "", "text": text} for text in take_tagged(episode, turn.text)]
    calls = [make_tool_call(call.id, call.name, call.arguments, place) for place, call in enumerate(turn.calls)]
    results = episode.take(turn.text, calls)
    return [{"call": call.id, "text": text} for call, text in zip(calls, results, strict=False)]


def score_episode(episode: Episode) -> dict[str, Any]:
    """What an ended episode came to: every reward by its name, and what the transcript shows."""
    transcript = episode.transcript
    assert transcript is not None
    verdict = verify(episode.task, transcript)
    return {
        "ended": transcript.ended,
        "answer": transcript.answer,
        "right": verdict.right,
        "rewards": {name: round(reward(episode.task, transcript), 6) for name, reward in REWARDS.items()},
        "turns": len(transcript.turns),
        "steps": transcript.steps,
        "malformed": transcript.malformed,
        "useless": verdict.serving.count(False),
        "hops_found": sum(hop.found for hop in verdict.hops),
        "max_depth": verdict.max_depth,
        "tokens": episode.tokens,
    }


def score_rollout(
    task: Task, form: Form, messages: Sequence[Mapping[str, Any]], finder: PassageFinder
) -> dict[str, Any]:
    """Score a rollout that another loop played, from its chat messages: its turns are played again.

    Only the messages of the assistant count, for the others are what the tools gave. A rollout that ends without an
    answer was cut short.
    """
    episode = begin_episode(task, form, finder)
    for message in messages:
        if episode.transcript is None and message.get("role") == "assistant":
            take_turn(episode, form, read_message(message))
    if episode.transcript is None:
        episode.break_off("truncated", "the rollout ends without an answer")
    return score_episode(episode)


def read_message(message: Mapping[str, Any]) -> WireTurn:
    """A message of an assistant in OpenAI's form. Raises pydantic's ValidationError where it is none."""
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    said = message.get("tool_calls") or []
    calls: list[Any] = []
    for call in said if isinstance(said, list) else [said]:
        function = call.get("function") or {} if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            calls.append(None)  # refused below
            continue
        arguments = function.get("arguments") or ""
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        calls.append({"id": call.get("id") or "", "name": function.get("name") or "", "arguments": text})
    return WireTurn.model_validate({"text": content, "calls": calls})


def call_alone(
    task: Task | None,
    taken: int,
    call: WireCall,
    finder: PassageFinder,
    messages: Sequence[Mapping[str, Any]] = (),
) -> dict[str, str]:
    """One call of a loop that keeps its own turns, after so many that were carried out before.

    `messages` are the loop's chat so far, the turn of this call last: the budgets of turns and of tokens hold by them.
    Without them only the budget of calls holds. Raises pydantic's ValidationError where one of them is no message.
    """
    if task is None:
        result = carry_out(ToolCall(call.id, call.name, call.arguments), finder)
        return {"text": result.text, "problem": result.problem}
    turns, before, tokens = _count_spent(messages)
    if taken >= task.max_steps or 0 < task.max_turns < turns or 0 < task.max_tokens <= before:
        return {"text": NO_STEPS_LEFT, "problem": NO_STEPS_LEFT}
    result = carry_out(ToolCall(call.id, call.name, call.arguments), finder)
    tokens += guess_tokens(result.text)
    last = (
        (not result.problem and taken + 1 >= task.max_steps)
        or 0 < task.max_turns <= turns
        or 0 < task.max_tokens <= tokens
    )
    return {"text": f"{result.text}\n\n{NO_STEPS_LEFT}" if last else result.text, "problem": result.problem}


def _count_spent(messages: Sequence[Mapping[str, Any]]) -> tuple[int, int, int]:
    """The turns of a chat that call something, the tokens before the last of them, and all of its tokens."""
    turns = before = tokens = 0
    for message in messages:
        if message.get("role") not in ("assistant", "tool"):
            continue
        turn = read_message(message)
        if turn.calls:
            turns, before = turns + 1, tokens
        tokens += guess_tokens(turn.text) + sum(guess_tokens(call.arguments) for call in turn.calls)
    return turns, before, tokens
