"""A server on 127.0.0.1 whose models vote with known strength, in vLLM's format with log-probabilities.

A model's name says how good it is: `v-0.35-0.6` is right on 35 % of the items; 0.6 of its luck is the item's, shared
with every other voter, the rest its own. The right option is the one whose text has the least hash, so the server needs
no key. `-f0.1` at the end of a name: one item in ten is refused. As a program it prints its address and stops when its
parent ends.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import re
import sys
from collections import Counter
from threading import Thread
from typing import Any

from aiohttp import web

from hopwright.records import LABELS, Item
from tests.builders import chain_item

_OPTION = re.compile(r"^([ABCD])\. (.*)$", re.MULTILINE)
_NAME = re.compile(r"^v-([\d.]+)-([\d.]+)(?:-f([\d.]+))?")
_TAG = re.compile(r"\[item \d+\]")


def draw(*parts: str) -> float:
    """A number in [0, 1) that depends on nothing but the texts."""
    digest = hashlib.blake2b("\x00".join(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def make_items(count: int, start: int = 0) -> list[Item]:
    """Items that the server knows the right option of."""
    plain = chain_item()
    items = []
    for number in range(start, start + count):
        texts = [f"{number}-{word}" for word in ("north", "east", "south", "west")]
        options = dict(zip(LABELS, texts, strict=True))
        label = LABELS[texts.index(find_right(texts))]
        update = {"id": f"hw-{number:06d}", "question": f"Where does it lie? [item {number}]", "options": options}
        items.append(plain.model_copy(update={**update, "label": label, "answer": options[label]}))
    return items


def find_right(texts: list[str]) -> str:
    """The right one of four options."""
    return min(texts, key=lambda text: draw("right", text))


def is_right(model: str, tag: str) -> bool | None:
    """Whether a model is right on an item, None where it refuses to answer."""
    found = _NAME.match(model)
    assert found is not None, model
    accuracy, shared, refused = float(found[1]), float(found[2]), float(found[3] or 0)
    if draw("refuse", model, tag) < refused:
        return None
    luck = draw("luck", tag) if draw("whose", model, tag) < shared else draw("luck", model, tag)
    return luck < accuracy


class VotingServer:
    """The server and what it counted. `with VotingServer() as server: server.url`."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> VotingServer:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.start(), self._loop).result()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    async def start(self, port: int = 0) -> None:
        """Listen."""
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", self._answer)
        app.router.add_get("/health", self._health)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port, backlog=2048)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def _health(self, _: web.Request) -> web.Response:
        return web.Response()

    async def _answer(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked[body["model"]] += 1
        reply = reply_to(body)
        if reply is None:
            error = {"error": {"message": "the prompt is refused", "type": "BadRequestError", "code": 400}}
            return web.json_response(error, status=400)
        return web.json_response(reply)


def reply_to(body: dict[str, Any]) -> dict[str, Any] | None:
    """The vote of the model that the body names; None where it refuses."""
    prompt = "\n".join(message["content"] for message in body["messages"])
    shown = dict(_OPTION.findall(prompt))
    tag = _TAG.search(prompt)
    assert tag is not None
    right = is_right(body["model"], tag[0])
    if right is None:
        return None
    letters = [letter for letter, text in shown.items() if text == find_right(list(shown.values()))]
    if not right:
        wrong = sorted((letter for letter in shown if letter not in letters), key=lambda one: shown[one])
        letters = [wrong[int(draw("which", body["model"], tag[0]) * 3)]]
    sure = 0.3 + 0.6 * draw("sure", body["model"], tag[0])
    spread = {letter: sure if letter == letters[0] else (1 - sure) / 3 for letter in LABELS}
    tops = [{"token": letter, "logprob": math.log(share), "bytes": None} for letter, share in spread.items()]
    choice: dict[str, Any] = {
        "index": 0, "message": {"role": "assistant", "content": letters[0]}, "finish_reason": "stop",
        "logprobs": {"content": [{"token": letters[0], "logprob": math.log(sure), "top_logprobs": tops}]},
    }  # fmt: skip
    if "structured_outputs" not in body:
        # A text: reasoning, which some voters end without an answer.
        ends = draw("ends", body["model"], tag[0], str(body.get("seed"))) < 0.9
        choice["message"]["content"] = f"It lies there.\nAnswer: {letters[0]}" if ends else "It is hard to say."
        choice["logprobs"] = None
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice],
        "usage": {"prompt_tokens": len(prompt) // 4, "completion_tokens": 2, "total_tokens": len(prompt) // 4 + 2},
    }  # fmt: skip


async def _run(port: int) -> None:
    server = VotingServer()
    await server.start(port)
    sys.stdout.write(json.dumps({"url": server.url}) + "\n")
    sys.stdout.flush()
    parent = os.getppid()
    while os.getppid() == parent:
        await asyncio.sleep(0.2)


if __name__ == "__main__":
    asyncio.run(_run(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
