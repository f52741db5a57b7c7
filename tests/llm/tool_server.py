"""The wire server with an agent behind it: it speaks both formats' tools, and checks what they demand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.llm.wire_server import Faults, WireServer


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation, whatever the format; `results` are what tools answered."""

    role: str
    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    results: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """What an agent says: words, and calls as name and arguments (a text is sent as it is, JSON or not)."""

    text: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)


Agent = Callable[[str, list[Turn]], Said]
"""Takes the model's name and the turns without the system's."""


class ToolServer(WireServer):
    """Every request is answered by `agent`; what a provider would refuse gets 400, and a PermissionError of it 401."""

    def __init__(self, agent: Agent, faults: Faults | None = None) -> None:
        super().__init__(faults)
        self._agent = agent

    async def _answer(self, request: web.Request, body: dict[str, Any], prompt: str, reply: Any) -> web.StreamResponse:
        if self.faults.latency_s:
            await asyncio.sleep(self.faults.latency_s)
        anthropic = request.path.endswith("/messages")
        try:
            turns = read_anthropic(body["messages"]) if anthropic else read_openai(body["messages"])
        except (AssertionError, KeyError, ValueError) as error:
            self.counts["400"] += 1
            return web.json_response({"error": {"message": f"not allowed: {error!r}"}}, status=400)
        try:
            said = self._agent(body["model"], turns)
        except PermissionError:
            return web.json_response({"error": {"message": "no more"}}, status=401)
        self.answered[prompt] += 1
        self.counts["answered"] += 1
        number = sum(len(turn.calls) for turn in turns)
        answer = reply({**body, "tools": None}, prompt, "")
        if anthropic:
            answer["content"] = [{"type": "text", "text": said.text}] if said.text else []
            for place, (name, arguments) in enumerate(said.calls):
                given = {} if isinstance(arguments, str) else arguments
                answer["content"].append(
                    {"type": "tool_use", "id": f"toolu_{number + place}", "name": name, "input": given}
                )
            answer["stop_reason"] = "tool_use" if said.calls else "end_turn"
        else:
            choice = answer["choices"][0]
            choice["message"] = {"role": "assistant", "content": said.text or None}
            if said.calls:
                choice["finish_reason"] = "tool_calls"
                choice["message"]["tool_calls"] = [
                    {
                        "id": f"call_{number + place}",
                        "type": "function",
                        "function": {
                            "name": name,
                            "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
                        },
                    }
                    for place, (name, arguments) in enumerate(said.calls)
                ]
        return web.json_response(answer)


def read_openai(messages: Sequence[dict[str, Any]]) -> list[Turn]:
    """The turns of OpenAI's format. Raises AssertionError where a call has no answer, or an answer no call."""
    turns: list[Turn] = []
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "system":
            continue
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting, "an answer to no call"
            waiting.remove(message["tool_call_id"])
            turns = _add_result(turns, message["content"])
            continue
        assert not waiting, "a call without an answer"
        calls = message.get("tool_calls") or []
        waiting = [call["id"] for call in calls]
        made = tuple((call["function"]["name"], call["function"]["arguments"]) for call in calls)
        turns.append(Turn(message["role"], message["content"] or "", made))
    assert not waiting, "a call without an answer"
    return turns


def read_anthropic(messages: Sequence[dict[str, Any]]) -> list[Turn]:
    """The turns of Anthropic's format. Raises AssertionError where roles do not alternate or a call has no answer."""
    turns: list[Turn] = []
    waiting: list[str] = []
    for place, message in enumerate(messages):
        assert message["role"] == ("assistant" if place % 2 else "user"), "the roles do not alternate"
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert answered == waiting, "a call without an answer"
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        assert all(text.strip() for text in texts), "an empty text block"
        calls = [block for block in blocks if block["type"] == "tool_use"]
        waiting = [block["id"] for block in calls]
        results = tuple(block["content"] for block in blocks if block["type"] == "tool_result")
        made = tuple((block["name"], json.dumps(block["input"])) for block in calls)
        turns.append(Turn("tool" if results else message["role"], "".join(texts), made, results))
    assert not waiting, "a call without an answer"
    return turns


def _add_result(turns: list[Turn], content: str) -> list[Turn]:
    *before, last = turns
    if last.role == "tool":
        return [*before, Turn("tool", results=(*last.results, content))]
    return [*turns, Turn("tool", results=(content,))]
