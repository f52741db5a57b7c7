"""A server in OpenAI's chat format that answers exported questions by their windows, every fourth one wrongly.

As a program (`python -m tests.novels.window_server items.jsonl`) it prints its address as one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from aiohttp import web

WRONG = 4


def is_right(place: int) -> bool:
    """Whether the item of that place in the file is answered rightly."""
    return place % WRONG != 0


class WindowServer:
    """Answers a question where the whole text of its window stands before it."""

    def __init__(self, items: Path) -> None:
        self._rows: list[tuple[str, str, str]] = []
        for place, line in enumerate(items.read_text("utf-8").splitlines()):
            row = json.loads(line)
            window = (items.parent / row["context"]).read_bytes().decode()
            answer = row["answers"][0] if is_right(place) else "Nothing of the kind"
            self._rows.append((window, row["question"], answer))

    async def chat(self, request: web.Request) -> web.Response:
        """A chat completion."""
        body = await request.json()
        contents = [message["content"] for message in body["messages"]]
        text = "".join(one if isinstance(one, str) else "".join(part["text"] for part in one) for one in contents)
        known = [answer for window, question, answer in self._rows if window in text and f": {question}" in text]
        said = f"I read it.\nFINAL ANSWER: {known[0] if len(known) == 1 else 'I do not see it'}"
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        held: dict[str, Any] = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"]}
        return web.json_response({**held, "choices": [choice], "usage": usage})


async def _run(server: WindowServer) -> None:
    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/v1/chat/completions", server.chat)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{runner.addresses[0][1]}"}) + "\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_run(WindowServer(Path(sys.argv[1]))))
