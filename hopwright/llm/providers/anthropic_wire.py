"""Anthropic's messages format: a call to a request body, a response body to a reply."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from hopwright.foreign import show_misfit
from hopwright.llm.providers.base import LONGEST_NAME, Call, CallError, Reply, clean_text, read_count
from hopwright.llm.schemas import strict_schema
from hopwright.llm.tool_calls import ToolCall, make_tool_call
from hopwright.llm.types import Finish, ImageData, Message, TokenUsage

Mechanism = Literal["tool", "json_schema"]
"""How a structured answer is asked for: a tool that must be used, or an output format."""

_CLUTTER = frozenset({"default", "title"})
# What the output format does not take.
_NOT_STRICT = frozenset({
    "minLength", "maxLength", "default", "title", "minimum", "maximum", "multipleOf", "maxItems", "uniqueItems",
    "examples", "exclusiveMinimum", "exclusiveMaximum",
})  # fmt: skip


def build_body(call: Call, mechanism: Mechanism, omit: Iterable[str] = (), bounds: bool = False) -> dict[str, Any]:
    """The JSON body of a message; parameters in `omit` are left out, `bounds` keeps lengths and ranges in the schema.

    `seed` and log-probabilities have no counterpart there and are left out too.
    """
    sampling = call.sampling
    body: dict[str, Any] = {
        "model": call.model,
        "max_tokens": sampling.max_tokens,
        "messages": _write_turns(message for message in call.messages if message.role != "system"),
    }
    system = [_write_block(message) for message in call.messages if message.role == "system"]
    if system:
        body["system"] = system
    if sampling.temperature is not None:
        body["temperature"] = sampling.temperature
    if sampling.top_p is not None:
        body["top_p"] = sampling.top_p
    if sampling.stop:
        body["stop_sequences"] = list(sampling.stop)
    if sampling.reasoning_effort is not None:
        body["output_config"] = {"effort": sampling.reasoning_effort}
    if call.schema is not None and mechanism == "tool":
        schema = strict_schema(call.schema, _CLUTTER)
        body["tools"] = [{"name": call.schema_name, "description": "Give the answer.", "input_schema": schema}]
        body["tool_choice"] = {"type": "tool", "name": call.schema_name}
    elif call.schema is not None:
        schema = strict_schema(call.schema, _CLUTTER if bounds else _NOT_STRICT)
        body.setdefault("output_config", {})["format"] = {"type": "json_schema", "schema": schema}
    if call.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
            for tool in call.tools
        ]
    for name in omit:
        body.pop("stop_sequences" if name == "stop" else name, None)
    body.update(sampling.extra)
    return body


def read_reply(body: Mapping[str, Any], headers: Mapping[str, str], *, calling: bool = False) -> Reply:
    """The answer in a response body; `calling`: the request named tools. Raises CallError for any other format."""
    try:
        blocks = [block for block in body["content"] if block["type"] == "tool_use"]
        used = [] if calling else [block["input"] for block in blocks]
        texts = [block["text"] for block in body["content"] if block["type"] == "text"]
        stop = body.get("stop_reason")
        finish: Finish = "stop"
        if stop == "refusal":
            finish = "refusal"
        elif stop in ("max_tokens", "model_context_window_exceeded"):
            finish = "length"
        return Reply(
            text=clean_text(json.dumps(used[0], ensure_ascii=False) if used else "".join(texts)),
            finish=finish,
            usage=_read_usage(body.get("usage") or {}),
            model_version=clean_text(str(body.get("model") or "")[:LONGEST_NAME]),
            request_id=clean_text((headers.get("request-id") or str(body.get("id") or ""))[:LONGEST_NAME]),
            headers=headers,
            calls=_read_calls(blocks) if calling else (),
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise CallError("garbled", f"the answer is not a message: {show_misfit(error)}") from error


def _write_call(call: ToolCall) -> dict[str, Any]:
    try:
        arguments = call.read_arguments()
    except ValueError:
        # The format has no place for what is no object; what was wrong with it stands in the result.
        arguments = {}
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _read_calls(blocks: Sequence[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    return tuple(
        make_tool_call(
            block.get("id"), block["name"], clean_text(json.dumps(block["input"], ensure_ascii=False)), place
        )
        for place, block in enumerate(blocks)
    )


def _read_usage(usage: Mapping[str, Any]) -> TokenUsage:
    cached = read_count(usage.get("cache_read_input_tokens"))
    written = read_count(usage.get("cache_creation_input_tokens"))
    details = usage.get("output_tokens_details") or {}
    return TokenUsage(
        # Anthropic counts the cached parts apart from `input_tokens`; here input is all of the prompt.
        input=read_count(usage.get("input_tokens")) + cached + written, cached=cached, cache_written=written,
        output=read_count(usage.get("output_tokens")), reasoning=read_count(details.get("thinking_tokens")),
    )  # fmt: skip


def _write_turns(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """The turns; what tools answer is the user's, and all results of one turn stand in one."""
    turns: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for message in messages:
        if not message.answers:
            results = []
            turns.append(_write_turn(message))
            continue
        if not results:
            turns.append({"role": "user", "content": results})
        results.append({"type": "tool_result", "tool_use_id": message.answers, "content": message.content})
    return turns


def _write_turn(message: Message) -> dict[str, Any]:
    if message.calls:
        blocks = [_write_block(message)] if message.content.strip() else []
        return {"role": message.role, "content": [*blocks, *map(_write_call, message.calls)]}
    if message.stable or message.images:
        return {"role": message.role, "content": [*map(_write_image, message.images), _write_block(message)]}
    return {"role": message.role, "content": message.content}


def _write_image(image: ImageData) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": image.encode()}}


def _write_block(message: Message) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": message.content}
    if message.stable:
        block["cache_control"] = {"type": "ephemeral"}
    return block
