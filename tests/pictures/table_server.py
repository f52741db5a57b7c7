"""A server in OpenAI's chat format that looks: it answers exported items by their words and their pictures' pixels.

Every fourth item is answered wrongly, and so is every question whose pictures are not its own. As a program
(`python -m tests.pictures.table_server items.jsonl`) it prints its address as one line of JSON.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
import sys
from pathlib import Path
from typing import Any

from aiohttp import web
from PIL import Image

WRONG = 4


def hash_pixels(data: bytes) -> str:
    """What a picture shows, however it is encoded."""
    image = Image.open(io.BytesIO(data)).convert("RGB")
    return hashlib.sha256(repr(image.size).encode() + image.tobytes()).hexdigest()


def is_right(place: int) -> bool:
    """Whether the item of that place in the file is answered rightly."""
    return place % WRONG != 0


class PictureTableServer:
    """Answers by the question and the pictures that came with it."""

    def __init__(self, items: Path) -> None:
        self._answers: dict[tuple[str, tuple[str, ...]], str] = {}
        for place, line in enumerate(items.read_text("utf-8").splitlines()):
            row = json.loads(line)
            pictures = tuple(hash_pixels((items.parent / path).read_bytes()) for path in row["images"])
            self._answers[row["question"], pictures] = row["answer"] if is_right(place) else "Nothing of the kind"

    async def chat(self, request: web.Request) -> web.Response:
        """A chat completion."""
        body = await request.json()
        contents = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
        parts = [part for content in contents for part in content]
        text = "".join(part.get("text", "") for part in parts)
        urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        pictures = tuple(hash_pixels(base64.b64decode(url.partition("base64,")[2])) for url in urls)
        rows = self._answers.items()
        known = [answer for (question, shown), answer in rows if question in text and shown == pictures]
        said = f"I looked.\nFINAL ANSWER: {known[0] if len(known) == 1 else 'I do not see it'}"
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        held: dict[str, Any] = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"]}
        return web.json_response({**held, "choices": [choice], "usage": usage})


async def _run(server: PictureTableServer) -> None:
    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/v1/chat/completions", server.chat)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{runner.addresses[0][1]}"}) + "\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_run(PictureTableServer(Path(sys.argv[1]))))
