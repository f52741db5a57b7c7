"""Two tiny builders: requests that a wire server can check, and settings that point at it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from hopwright.llm.client import Client
from hopwright.llm.config import BreakerSettings, Endpoint, LimitSettings, LlmSettings, RetrySettings
from hopwright.llm.store import Store
from hopwright.llm.types import Message, ModelRef, Outcome, Request, Sampling
from tests.llm.wire_server import WireServer

KEY = "sk-planted-0123456789qrstuvwx"
T = TypeVar("T")


class Answer(BaseModel):
    answer: str
    number: int


def request(
    prompt: str, provider: str = "local", model: str = "tiny", schema: type[BaseModel] | None = Answer,
    item: str = "", choices: tuple[str, ...] = (), sampling: Sampling | None = None,
    fallbacks: tuple[ModelRef, ...] = (),
) -> Request:  # fmt: skip
    """One request with a system turn and a user turn."""
    return Request(
        messages=(Message("system", "You answer in JSON.", stable=True), Message("user", prompt)),
        provider=provider, model=model, schema=None if choices else schema, choices=choices,
        sampling=sampling or Sampling(max_tokens=200), fallbacks=fallbacks, item=item,
    )  # fmt: skip


def rows(count: int, **fields: Any) -> list[Request]:
    """That many requests, each with an item of its own."""
    return [request(f"row {number}", item=f"item-{number}", **fields) for number in range(count)]


def settings(
    *servers: WireServer | str, kind: str = "compatible", limits: LimitSettings | None = None,
    retry: dict[str, Any] | None = None, breaker: dict[str, Any] | None = None, **fields: Any,
) -> LlmSettings:  # fmt: skip
    """Endpoints `local`, `local2`, … at these servers, with short waits between tries.

    The wait for an answer is long: a busy machine must not make a request go twice where tests count them.
    """
    endpoints = []
    for number, server in enumerate(servers, start=1):
        url = server if isinstance(server, str) else server.url
        endpoints.append(
            Endpoint.model_validate({
                "name": "local" if number == 1 else f"local{number}", "kind": kind, "free": True,
                "base_url": url if kind == "anthropic" else f"{url}/v1", "key_env": "HOPWRIGHT_TEST_KEY",
                "limits": limits or LimitSettings(max_concurrency=32), **fields,
            })
        )  # fmt: skip
    waits = {"base_s": 0.01, "cap_s": 0.05, "timeout_s": 50.0, "stall_floor_s": 50.0, **(retry or {})}
    return LlmSettings(
        endpoints=tuple(endpoints), retry=RetrySettings(**waits), breaker=BreakerSettings(**(breaker or {}))
    )


async def ask_all(
    folder: Path, llm: LlmSettings, requests: Sequence[Request], **fields: Any
) -> tuple[list[Outcome], Client]:
    """The outcomes, and the client as it stood after them."""
    with Store(folder / "llm.sqlite") as store:
        async with Client(llm, store, **fields) as client:
            return await client.complete_all(requests), client


async def wait_until(condition: Callable[[], bool], limit_s: float = 30) -> None:
    """Until a condition holds; a test fails where it does not within so many seconds."""
    async with asyncio.timeout(limit_s):
        while not condition():
            await asyncio.sleep(0.01)


def run(coroutine: Coroutine[Any, Any, T], limit_s: float = 60) -> T:
    """Run to the end, within a minute or as long as said."""
    return asyncio.run(asyncio.wait_for(coroutine, limit_s))
