"""A server in OpenAI's chat format that answers exported items from their own table, one hop of each in four wrongly.

As a program (`python -m tests.evaluation.table_server items.jsonl`) it prints its address as one line of JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from aiohttp import web


class TableServer:
    """Answers by the question; hop `wrong` of every item is answered wrongly, the rest and the answer rightly."""

    def __init__(self, rows: list[dict[str, Any]], wrong: int) -> None:
        self._rows = {row["question"]: row for row in rows}
        self._wrong = wrong
        self.last_call = time.monotonic()

    async def chat(self, request: web.Request) -> web.Response:
        """A chat completion."""
        self.last_call = time.monotonic()
        body = await request.json()
        content = body["messages"][-1]["content"]
        text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
        answer = self.answer(text)
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": answer}}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return web.json_response(
            {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice],
             "usage": usage}
        )  # fmt: skip

    def answer(self, text: str) -> str:
        """One line a hop, then the answer; a letter where options are given."""
        row = next(row for question, row in self._rows.items() if question in text)
        if "FINAL ANSWER" not in text:
            return f"ANSWER: {'ABCD'[row['label']]}"
        hops = [hop["answers"][0] for hop in row["hops"]]
        hops[self._wrong - 1] = "Nothing"
        lines = [f"{number}: {answer}" for number, answer in enumerate(hops, start=1)]
        return "\n".join([*lines, f"FINAL ANSWER: {row['answers'][0]}"])


async def _run(server: TableServer) -> None:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.chat)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{runner.addresses[0][1]}"}) + "\n")
    sys.stdout.flush()
    parent = os.getppid()
    while os.getppid() == parent and time.monotonic() - server.last_call < 180:
        await asyncio.sleep(0.25)


def main() -> None:
    """Serve until the parent ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("items", type=Path)
    parser.add_argument("--wrong", type=int, default=2)
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.items.read_text(encoding="utf-8").splitlines()]
    asyncio.run(_run(TableServer(rows, options.wrong)))


if __name__ == "__main__":
    main()
