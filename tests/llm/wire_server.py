"""A server on 127.0.0.1 that speaks OpenAI's and Anthropic's wire formats, with faults on request.

Every fault is drawn from the prompt and from how often that prompt came, so a run meets the same faults
whatever its order. As a program (`python -m tests.llm.wire_server --latency 0.2`) it prints its address
as one line of JSON and stops when its parent process ends or nothing has called for `--idle` seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import hashlib
import json
import os
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.llm.wire_answers import answer_text, draw
from tests.llm.wire_batches import BatchFaults, BatchRoutes

_ROW = re.compile(r"\brow \d+(?:, edited)?")
_UNASKED = {"type": "object", "properties": {"answer": {"type": "string"}, "number": {"type": "integer"}}}


@dataclass(frozen=True, slots=True)
class Faults:
    """Shares (0 to 1) of requests that go wrong, and how; `repeat` of them go wrong again when retried."""

    latency_s: float = 0.0
    cap: int = 0
    """Requests answered at once; more get 429. 0: no cap."""
    retry_after: str = "1"
    """The `Retry-After` of a 429; empty: none is sent."""
    per_minute: int = 0
    """Requests accepted in any 60 s; more get 429. 0: no limit."""
    announce: bool = False
    """Send the rate-limit headers of both providers."""
    malformed: float = 0.0
    wrong_shape: float = 0.0
    status_500: float = 0.0
    stall: float = 0.0
    stall_s: float = 60.0
    cut: float = 0.0
    refusal: float = 0.0
    empty: float = 0.0
    truncated: float = 0.0
    repeat: bool = False
    """The same prompt meets its fault every time, not only the first."""
    status: int = 0
    """Answer everything with this status and `body`. 0: off."""
    body: str = ""
    key: str = ""
    """The only key accepted; empty: any."""
    pack: bool = False
    """Compress answers for those who take them so."""
    fence: bool = False
    """Give JSON in a Markdown fence where no schema is asked for, as a model would whose prompt holds the schema."""


class WireServer:
    """The server and what it counted. `async with WireServer(...) as server: server.url`."""

    def __init__(self, faults: Faults | None = None, batch: BatchFaults | None = None) -> None:
        self.faults = faults or Faults()
        self.counts: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.heard: Counter[str] = Counter()
        """How often each conversation was taken up, by `name_messages`."""
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.keep_bodies = True
        self.in_flight = 0
        self.max_in_flight = 0
        self.last_call = time.monotonic()
        self.times: list[float] = []
        self.refused_at: list[float] = []
        self.batches = BatchRoutes(self, batch or BatchFaults())
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def __aenter__(self) -> WireServer:
        await self.start(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def start(self, port: int) -> None:
        """Listen on 127.0.0.1; port 0 takes a free one."""
        app = web.Application(client_max_size=256 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/messages", self._messages)
        app.router.add_get("/stats", self._stats)
        app.router.add_get("/seen", self._seen)
        app.router.add_get("/heard", self._heard)
        self.batches.add_to(app)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port, backlog=2048)
        await site.start()
        bound = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{bound}"

    async def serve(self, idle_s: float, port: int = 0) -> None:
        """Print the address as one line of JSON; serve until the parent ends or nothing has called for so long."""
        self.keep_bodies = False
        await self.start(port)
        sys.stdout.write(json.dumps({"url": self.url, "pid": os.getpid()}) + "\n")
        sys.stdout.flush()
        parent = os.getppid()
        while os.getppid() == parent and time.monotonic() - self.last_call < idle_s:
            await asyncio.sleep(0.25)

    def stats(self) -> dict[str, Any]:
        """What came in so far; `resent` counts answers given more than once to the same prompt."""
        return {
            "counts": dict(self.counts), "max_in_flight": self.max_in_flight, "in_flight": self.in_flight,
            "prompts": len(self.seen), "received": sum(self.seen.values()),
            "answered": sum(self.answered.values()), "answered_prompts": len(self.answered),
        }  # fmt: skip

    async def _stats(self, _: web.Request) -> web.Response:
        return web.json_response(self.stats())

    async def _seen(self, _: web.Request) -> web.Response:
        return web.json_response({"seen": self.seen, "answered": self.answered})

    async def _heard(self, _: web.Request) -> web.Response:
        return web.json_response(self.heard)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, openai_reply)

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, anthropic_reply)

    async def _serve(self, request: web.Request, reply: Any) -> web.StreamResponse:
        faults, self.last_call = self.faults, time.monotonic()
        key = request.headers.get("authorization", "").removeprefix("Bearer ") or request.headers.get("x-api-key", "")
        if faults.key and key != faults.key:
            self.counts["401"] += 1
            return _error(401, "authentication_error", f"Incorrect API key provided: {key}")
        body = await request.json()
        if self.keep_bodies:
            self.bodies.append(body)
            self.headers.append({name.lower(): value for name, value in request.headers.items()})
        prompt = prompt_of(body)
        self.seen[prompt] += 1
        self.times.append(self.last_call)
        if faults.status:
            self.counts[str(faults.status)] += 1
            return web.Response(status=faults.status, text=faults.body, content_type="application/json")
        if (faults.cap and self.in_flight >= faults.cap) or self._over_rate():
            self.counts["429"] += 1
            self.refused_at.append(time.monotonic())
            headers = {"retry-after": faults.retry_after} if faults.retry_after else {}
            return _error(429, "rate_limit_error", "Too many requests", headers)
        self.heard[name_messages([[one["role"], one.get("content")] for one in body["messages"]])] += 1
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            return await self._answer(request, body, prompt, reply)
        finally:
            self.in_flight -= 1

    def _over_rate(self) -> bool:
        if not self.faults.per_minute:
            return False
        recent = [moment for moment in self.times if moment > self.last_call - 60]
        return len(recent) > self.faults.per_minute

    async def _answer(self, request: web.Request, body: dict[str, Any], prompt: str, reply: Any) -> web.StreamResponse:
        faults, fault = self.faults, self.draw_fault(prompt)
        if fault:
            self.counts[fault] += 1
        if fault == "stall":
            await asyncio.sleep(faults.stall_s)
        elif faults.latency_s:
            await asyncio.sleep(faults.latency_s)
        if fault == "status_500":
            return _error(500, "api_error", "The server had an error")
        if fault == "cut":
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        self.answered[prompt] += 1
        self.counts["answered"] += 1
        headers = self._announce() if faults.announce else {}
        answer = reply(body, prompt, fault)
        if faults.fence and "response_format" not in body and "choices" in answer:
            text = spoil(answer_text(_UNASKED, prompt), fault)
            answer["choices"][0]["message"]["content"] = f"```json\n{text}\n```"
        response = web.json_response(answer, headers=headers)
        if faults.pack and "gzip" in request.headers.get("Accept-Encoding", ""):
            self.counts["packed"] += 1
            response.enable_compression(web.ContentCoding.gzip)
        return response

    def draw_fault(self, prompt: str) -> str:
        """The fault that this prompt meets now, or nothing."""
        if self.seen[prompt] > 1 and not self.faults.repeat:
            return ""
        point = draw(prompt, "fault")
        for name in ("malformed", "wrong_shape", "status_500", "stall", "cut", "refusal", "empty", "truncated"):
            share = getattr(self.faults, name)
            if point < share:
                return name
            point -= share
        return ""

    def _announce(self) -> dict[str, str]:
        limit = self.faults.per_minute or 1000
        used = sum(1 for moment in self.times if moment > self.last_call - 60)
        left = str(max(0, limit - used))
        soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 60))
        return {
            "x-ratelimit-limit-requests": str(limit), "x-ratelimit-remaining-requests": left,
            "x-ratelimit-reset-requests": "60s",
            "anthropic-ratelimit-requests-limit": str(limit), "anthropic-ratelimit-requests-remaining": left,
            "anthropic-ratelimit-requests-reset": soon,
        }  # fmt: skip


def name_messages(messages: list[Any]) -> str:
    """A name of a conversation, as pairs of role and content."""
    return hashlib.blake2b(json.dumps(messages).encode(), digest_size=12).hexdigest()


def prompt_of(body: dict[str, Any]) -> str:
    """The first user message: it stays the same when an invalid answer is sent back."""
    content = next((message["content"] for message in body["messages"] if message["role"] == "user"), "")
    text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    # Some clients put a schema or a preamble around the row; it is the row that counts.
    found = _ROW.search(text)
    return found.group() if found else text


def spoil(text: str, fault: str) -> str:
    """The answer as a fault leaves it."""
    if fault == "malformed":
        return text[: max(1, len(text) // 2)] + " …"
    if fault == "wrong_shape":
        return json.dumps({"unexpected": text})
    if fault == "truncated":
        return text[: max(1, len(text) // 2)]
    return "" if fault in ("empty", "refusal") else text


def openai_reply(body: dict[str, Any], prompt: str, fault: str) -> dict[str, Any]:
    """A chat completion in OpenAI's format."""
    guided, form = body.get("structured_outputs") or {}, body.get("response_format") or {}
    choice = guided.get("choice")
    schema = guided.get("json") or (form.get("json_schema") or {}).get("schema")
    if form.get("type") == "json_object":
        schema = _UNASKED
    if choice:
        schema = None
        text = choice[int(draw(prompt, "choice") * len(choice))]
    else:
        text = answer_text(schema, prompt)
    message: dict[str, Any] = {"role": "assistant", "content": spoil(text, fault)}
    if fault == "refusal":
        message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    entry: dict[str, Any] = {
        "index": 0, "message": message, "logprobs": None, "finish_reason": "length" if fault == "truncated" else "stop",
    }  # fmt: skip
    if body.get("logprobs"):
        tops = [
            {"token": letter, "logprob": -1.0 - index, "bytes": None} for index, letter in enumerate(choice or "ABCD")
        ]
        entry["logprobs"] = {"content": [{**tops[0], "top_logprobs": tops}], "refusal": None}
    return {
        "id": f"chatcmpl-{draw(prompt, 'id'):.12f}", "object": "chat.completion", "created": 1,
        "model": f"{body['model']}-v1",
        "choices": [entry],
        "usage": {
            "prompt_tokens": count_tokens(body), "completion_tokens": max(1, len(text) // 4),
            "total_tokens": count_tokens(body) + max(1, len(text) // 4),
            "prompt_tokens_details": {"cached_tokens": 3}, "completion_tokens_details": {"reasoning_tokens": 1},
        },
    }  # fmt: skip


def anthropic_reply(body: dict[str, Any], prompt: str, fault: str) -> dict[str, Any]:
    """A message in Anthropic's format."""
    tools = body.get("tools") or []
    schema = (
        tools[0]["input_schema"] if tools else ((body.get("output_config") or {}).get("format") or {}).get("schema")
    )
    text = spoil(answer_text(schema, prompt), fault)
    stop = {"refusal": "refusal", "truncated": "max_tokens"}.get(fault, "tool_use" if tools else "end_turn")
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    if tools and text:
        try:
            value = json.loads(text)
        except ValueError:
            value = {"unexpected": text}
        content = [{"type": "tool_use", "id": "toolu_1", "name": tools[0]["name"], "input": value}]
    return {
        "id": f"msg_{draw(prompt, 'id'):.12f}", "type": "message", "role": "assistant", "model": f"{body['model']}-v1",
        "content": content, "stop_reason": stop, "stop_sequence": None,
        "usage": {
            "input_tokens": count_tokens(body), "cache_read_input_tokens": 5, "cache_creation_input_tokens": 7,
            "output_tokens": max(1, len(text) // 4), "output_tokens_details": {"thinking_tokens": 1},
        },
    }  # fmt: skip


def count_tokens(body: dict[str, Any]) -> int:
    """A rough token count of the prompt."""
    return 4 + len(json.dumps(body["messages"])) // 4


def _error(status: int, kind: str, message: str, headers: dict[str, str] | None = None) -> web.Response:
    body = {"type": "error", "error": {"type": kind, "message": message, "code": None}}
    return web.json_response(body, status=status, headers=headers)


def main() -> None:
    """Serve until the parent ends; every field of `Faults` is an option."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--idle", type=float, default=300)
    parser.add_argument("--polls", type=int, default=1, help="looks at a batch before it ends")
    for field in dataclasses.fields(Faults):
        kind = type(field.default)
        name = (
            "--" + field.name.removesuffix("_s").replace("_", "-") if field.name == "latency_s" else f"--{field.name}"
        )
        if kind is bool:
            parser.add_argument(name, dest=field.name, action="store_true")
        else:
            parser.add_argument(name, dest=field.name, type=kind, default=field.default)
    options = vars(parser.parse_args())
    port, idle_s, polls = options.pop("port"), options.pop("idle"), options.pop("polls")
    asyncio.run(WireServer(Faults(**options), BatchFaults(polls=polls)).serve(idle_s, port))


if __name__ == "__main__":
    main()
