"""The floor: bare aiohttp, JSON parsed, nothing validated, cached, limited or retried."""

from __future__ import annotations

import argparse
import asyncio
import json
from typing import Any

import aiohttp
from common import MODEL, SCHEMA, SYSTEM, list_prompts, read_row, run_contestant


async def ask_all(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Every row, with a fixed number of workers."""
    rows: list[dict[str, Any]] = []
    prompts = iter(enumerate(list_prompts(options)))
    url = options.url + "/v1/chat/completions"
    schema = {"type": "json_schema", "json_schema": {"name": "Answer", "strict": True, "schema": SCHEMA}}

    async def work(session: aiohttp.ClientSession) -> None:
        for number, prompt in prompts:
            body = {
                "model": MODEL, "max_tokens": 200, "response_format": schema,
                "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt}],
            }  # fmt: skip
            async with session.post(url, data=json.dumps(body), headers={"Content-Type": "application/json"}) as reply:
                content = await reply.json()
            rows.append(read_row(number, json.loads(content["choices"][0]["message"]["content"])))

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(work(session) for _ in range(options.concurrency)))
    return rows


if __name__ == "__main__":
    run_contestant(lambda options: asyncio.run(ask_all(options)))
