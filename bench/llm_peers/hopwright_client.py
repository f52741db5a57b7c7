"""Hopwright's own client: `--kind openai` and `anthropic` through the official SDKs, else the lean path."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import itertools
import json
import os
import sys
from pathlib import Path
from typing import Any

from common import MODEL, SYSTEM, list_prompts, read_row, run_contestant
from pydantic import BaseModel

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from hopwright.llm.client import Client
from hopwright.llm.config import Endpoint, LimitSettings, LlmSettings, RetrySettings
from hopwright.llm.store import Store
from hopwright.llm.types import Message, Request, Sampling


class Answer(BaseModel):
    """The answer to a row."""

    answer: str
    number: int


async def ask_all(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Every row; a failure becomes a rejected row with its reason."""
    kind = options.kind or "compatible"
    endpoint = Endpoint.model_validate({
        "name": "bench", "kind": kind, "base_url": options.url + ("" if kind == "anthropic" else "/v1"), "free": True,
        "key_env": "HOPWRIGHT_BENCH_KEY", "limits": LimitSettings(max_concurrency=options.concurrency),
    })  # fmt: skip
    settings = LlmSettings(
        endpoints=(endpoint,), retry=RetrySettings(timeout_s=options.timeout, stall_floor_s=min(2.0, options.timeout))
    )
    system, sampling = Message("system", SYSTEM, stable=True), Sampling(max_tokens=200)
    requests = (
        Request((system, Message("user", prompt)), "bench", MODEL, Answer, sampling=sampling, item=f"row-{number}")
        for number, prompt in enumerate(list_prompts(options))
    )
    rows = []
    with Store(options.state / "llm.sqlite") as store:
        async with Client(settings, store) as client:
            async for number, outcome in client.stream(requests):
                if outcome.ok:
                    assert outcome.parsed is not None
                    rows.append(read_row(number, outcome.parsed.model_dump()))
                else:
                    rows.append({"row": number, "rejected": f"{outcome.kind}: {outcome.reason}"})
            snapshot = client.snapshot()
    sys.stderr.write(
        json.dumps({"sent": snapshot.sent, "refusals": snapshot.refusals, "cached": snapshot.cached}) + "\n"
    )
    return rows


def import_sdk() -> None:
    """Import what the first request would, as the other contestants import theirs: before the clock starts."""
    kind = next((value for name, value in itertools.pairwise(sys.argv) if name == "--kind"), "")
    importlib.import_module("hopwright.llm.providers.sdk" if kind else "hopwright.llm.providers.plain_http")
    if kind:
        importlib.import_module("anthropic" if kind == "anthropic" else "openai")


if __name__ == "__main__":
    import_sdk()
    os.environ.setdefault("HOPWRIGHT_BENCH_KEY", "bench")
    run_contestant(lambda options: asyncio.run(ask_all(options)))
