"""The full transcript of any item: every request made for it, what was thrown away, and what was kept."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from hopwright.llm.store import Store, unpack_request
from hopwright.llm.tool_calls import render_calls


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request of an item. `answer` is empty where there was none; then `failure` says why."""

    key: str
    prompt: str
    prompt_version: str
    at: float
    provider: str
    model: str
    model_version: str
    messages: tuple[tuple[str, str], ...]
    sampling: dict[str, Any]
    schema: str
    attempts: tuple[dict[str, str], ...]
    answer: str
    failure: str
    usage: tuple[int, ...]
    cost_usd: float
    latency_s: float
    request_id: str
    fallback_for: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


def find_exchanges(store: Store, item: str) -> list[Exchange]:
    """The exchanges of an item, oldest first; none where no model was asked for it."""
    rows = store.read(
        "SELECT exchanges.key, prompt, version, at, exchanges.request, failure, responses.request, response "
        "FROM exchanges LEFT JOIN responses ON responses.key = exchanges.key WHERE item = ? ORDER BY at, exchanges.key",
        (item,),
    )
    return [_read_exchange(row) for row in rows if row[5] is not None or row[7] is not None]


def read_by_keys(store: Store, keys: Iterable[str]) -> list[Exchange]:
    """The exchanges behind these request keys, as an item's provenance lists them; unknown keys are left out."""
    found = []
    for key in keys:
        for request, response, created in store.read(
            "SELECT request, response, created FROM responses WHERE key = ?", (bytes.fromhex(key),)
        ):
            found.append(_read_exchange((bytes.fromhex(key), "", "", created, None, None, request, response)))
    return found


def render_transcript(exchanges: Iterable[Exchange]) -> str:
    """Markdown: each request with its turns, its lost and thrown-away tries, its answer and its cost."""
    return "\n\n".join(_render_exchange(number, exchange) for number, exchange in enumerate(exchanges, start=1)) + "\n"


def _read_exchange(row: tuple[Any, ...]) -> Exchange:
    key, prompt, version, at, failed_request, failure, request, response = row
    asked = unpack_request(failed_request if failure is not None else request)
    record = json.loads(failure if failure is not None else response)
    usage = record["usage"]
    return Exchange(
        key=key.hex(), prompt=prompt, prompt_version=version, at=at, provider=record["provider"],
        model=record["model"], model_version=record.get("model_version", ""),
        messages=tuple(map(_read_turn, asked["messages"])),
        sampling=asked["sampling"], schema=asked["schema"] or "", attempts=tuple(record.get("attempts", ())),
        answer="" if failure is not None else _join(record["text"], render_calls(record.get("calls", ()))),
        failure=f"{record['kind']}: {record['reason']}" if failure is not None else "",
        usage=tuple(usage.values() if isinstance(usage, dict) else usage), cost_usd=record["cost_usd"],
        latency_s=record.get("latency_s", 0.0), request_id=record.get("request_id", ""),
        fallback_for=tuple(record.get("fallback_for", ())),
    )  # fmt: skip


def _read_turn(turn: list[Any]) -> tuple[str, str]:
    """A turn as role and content; what it calls stands below its words, and so do the pictures that it shows."""
    role, content, *tools = turn
    if tools and isinstance(tools[0], dict):
        return role, _join(content, "\n".join(f"[image {digest}]" for digest in tools[0]["images"]))
    return role, _join(content, render_calls(tools[0])) if tools and isinstance(tools[0], list) else content


def _join(text: str, calls: str) -> str:
    return "\n".join(one for one in (text, calls) if one)


def _render_exchange(number: int, exchange: Exchange) -> str:
    prompt = f" (prompt {exchange.prompt} {exchange.prompt_version})" if exchange.prompt else ""
    lines = [f"## Request {number}: {exchange.provider}/{exchange.model}{prompt}", "", f"Key `{exchange.key}`"]
    if exchange.fallback_for:
        lines.append(f"Asked in place of {', '.join(exchange.fallback_for)}")
    for role, content in exchange.messages:
        lines += ["", f"### {role}", "", content]
    for attempt in exchange.attempts:
        lines += ["", f"### no use: {attempt['kind']} ({attempt['model']})", "", attempt["detail"]]
        if attempt["answer"]:
            lines += ["", attempt["answer"]]
    if exchange.failure:
        lines += ["", "### no answer", "", exchange.failure]
    else:
        lines += ["", f"### answer ({exchange.model_version or exchange.model})", "", exchange.answer]
    tokens_in, cached, _, tokens_out, reasoning = exchange.usage
    lines += [
        "", f"{tokens_in} tokens in ({cached} cached), {tokens_out} out ({reasoning} reasoning), "
        f"{exchange.cost_usd:.6f} dollars, {exchange.latency_s:.2f} s, request id {exchange.request_id or 'unknown'}",
    ]  # fmt: skip
    return "\n".join(lines)
