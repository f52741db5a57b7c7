"""The wire server with eyes: it takes the pictures out of either format's messages and has an agent look at them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tests.llm.wire_server import WireServer

Agent = Callable[[str, tuple[str, ...]], str]
"""Takes the words of the last turn and the SHA-256s of its pictures, and answers."""


class VisionServer(WireServer):
    """Answers by `agent`; what neither provider would take as a picture gets 400. `looked` lists what came."""

    def __init__(self, agent: Agent) -> None:
        super().__init__()
        self._agent = agent
        self.looked: list[tuple[str, ...]] = []

    async def _answer(self, request: web.Request, body: dict[str, Any], prompt: str, reply: Any) -> web.StreamResponse:
        content = body["messages"][-1]["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        try:
            read = read_anthropic if request.path.endswith("/messages") else read_openai
            pictures = tuple(digest for part in parts if part["type"] != "text" for digest in [read(part)])
        except (AssertionError, KeyError, ValueError) as error:
            return web.json_response({"error": {"message": f"not a picture: {error!r}"}}, status=400)
        self.looked.append(pictures)
        said = self._agent("".join(part.get("text", "") for part in parts), pictures)
        answer = reply({**body, "tools": None}, prompt, "")
        if request.path.endswith("/messages"):
            answer["content"] = [{"type": "text", "text": said}]
        else:
            answer["choices"][0]["message"] = {"role": "assistant", "content": said}
        return web.json_response(answer)


def read_openai(part: dict[str, Any]) -> str:
    """The SHA-256 of a picture in OpenAI's format."""
    assert part["type"] == "image_url"
    head, _, data = part["image_url"]["url"].partition(";base64,")
    assert head == "data:image/png"
    return _hash(data)


def read_anthropic(part: dict[str, Any]) -> str:
    """The same in Anthropic's."""
    assert part["type"] == "image"
    assert part["source"]["type"] == "base64"
    assert part["source"]["media_type"] == "image/png"
    return _hash(part["source"]["data"])


def _hash(data: str) -> str:
    png = base64.b64decode(data, validate=True)
    assert png.startswith(b"\x89PNG")
    return hashlib.sha256(png).hexdigest()
