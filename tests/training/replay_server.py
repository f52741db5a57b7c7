"""A model in OpenAI's chat format that says what exported trajectories say, turn after turn.

As a program (`python -m tests.training.replay_server sft.jsonl`) it prints its address as one line of JSON. With
`--pads` it searches for nothing of use so many times first; with `--remembers` it answers without searching; when it is
told that no call is left, it answers. Questions of the same words are told apart by their pictures.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from aiohttp import web

from hopwright.environments.episode import NO_STEPS_LEFT
from hopwright.training.trajectories import PLACEHOLDER

Key = tuple[str, ...]


class ReplayServer:
    """Finds the trajectory by its question, and the turn by how many there were."""

    def __init__(self, rows: list[dict[str, Any]], pads: int, *, remembers: bool) -> None:
        self._turns: dict[Key, list[dict[str, Any]]] = {}
        for row in rows:
            question = next(turn["content"] for turn in row["messages"] if turn["role"] == "user")
            key = (question.replace(PLACEHOLDER, "").strip(), *(Path(one).stem for one in row.get("images", ())))
            turns = [turn for turn in row["messages"] if turn["role"] == "assistant"]
            padding = [_search(f"pad_{number}") for number in range(pads)]
            self._turns[key] = turns[-1:] if remembers else [*padding, *turns]

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """A chat completion."""
        body = await request.json()
        users = [turn["content"] for turn in body["messages"] if turn["role"] == "user"]
        told = any(NO_STEPS_LEFT in _text(turn["content"]) for turn in body["messages"] if turn["role"] == "tool")
        done = sum(turn["role"] == "assistant" for turn in body["messages"])
        turns = self._turns.get((_text(users[0]).strip(), *_hash_pictures(users[0])), [])
        turn = turns[-1 if told else done] if done < len(turns) else {"content": "I do not know."}
        message = {"role": "assistant", "content": turn["content"], "tool_calls": turn.get("tool_calls")}
        reason = "tool_calls" if turn.get("tool_calls") else "stop"
        choice = {"index": 0, "finish_reason": reason, "message": {k: v for k, v in message.items() if v is not None}}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        head = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"]}
        if not body.get("stream"):
            return web.json_response({**head, "choices": [choice], "usage": usage})
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        calls = [{"index": place, **call} for place, call in enumerate(turn.get("tool_calls") or [])]
        delta = {"role": "assistant", "content": turn["content"], **({"tool_calls": calls} if calls else {})}
        chunk = {**head, "object": "chat.completion.chunk"}
        for event in (
            {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
            {**chunk, "choices": [], "usage": usage},
        ):
            await response.write(f"data: {json.dumps(event)}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response


def _search(id: str) -> dict[str, Any]:
    function = {"name": "search", "arguments": json.dumps({"query": "zzz nothing of note"})}
    return {"content": "Hm.", "tool_calls": [{"id": id, "type": "function", "function": function}]}


def _hash_pictures(content: Any) -> list[str]:
    """The SHA-256s of the pictures of a turn, which are data URLs."""
    parts = content if isinstance(content, list) else []
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [hashlib.sha256(base64.b64decode(url.partition("base64,")[2])).hexdigest() for url in urls]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


async def _run(server: ReplayServer) -> None:
    app = web.Application(client_max_size=1 << 26)
    app.router.add_post("/v1/chat/completions", server.chat)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{runner.addresses[0][1]}"}) + "\n")
    sys.stdout.flush()
    parent = os.getppid()
    while os.getppid() == parent:
        await asyncio.sleep(1)


def main() -> None:
    """Serve the trajectories of a file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--pads", type=int, default=0)
    parser.add_argument("--remembers", action="store_true")
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.file.read_text(encoding="utf-8").splitlines()]
    asyncio.run(_run(ReplayServer(rows, given.pads, remembers=given.remembers)))


if __name__ == "__main__":
    main()
