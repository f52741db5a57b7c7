"""OpenAI's chat-completions format: a call to a request body, a response body to a reply."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from hopwright.foreign import show_misfit
from hopwright.llm.providers.base import LONGEST_NAME, Call, CallError, Reply, clean_text, read_count
from hopwright.llm.schemas import strict_schema
from hopwright.llm.tool_calls import ToolCall, make_tool_call
from hopwright.llm.types import Finish, ImageData, Message, TokenUsage

Dialect = Literal["openai", "vllm", "compatible"]
"""`openai`: its own API; `vllm`: vLLM's server; `compatible`: any other server of the format."""

# What OpenAI's strict mode does not take; other servers enforce these and a small model needs them.
_CLUTTER = frozenset({"default", "title"})
_NOT_STRICT = frozenset({"minLength", "maxLength", "default", "title", "uniqueItems", "examples"})


def build_body(call: Call, dialect: Dialect, omit: Iterable[str] = ()) -> dict[str, Any]:
    """The JSON body of a chat completion; parameters in `omit` are left out."""
    sampling = call.sampling
    body: dict[str, Any] = {
        "model": call.model,
        "messages": [_write_turn(message) for message in call.messages],
        "max_completion_tokens" if dialect == "openai" else "max_tokens": sampling.max_tokens,
    }
    optional = {
        "temperature": sampling.temperature, "top_p": sampling.top_p, "seed": sampling.seed,
        "reasoning_effort": sampling.reasoning_effort,
    }  # fmt: skip
    body.update({name: value for name, value in optional.items() if value is not None})
    if sampling.stop:
        body["stop"] = list(sampling.stop)
    if sampling.top_logprobs is not None:
        body["logprobs"], body["top_logprobs"] = True, sampling.top_logprobs
    if call.choices and dialect == "vllm":
        body["structured_outputs"] = {"choice": list(call.choices)}
    elif call.schema is not None and dialect == "vllm":
        # Free whitespace, which a schema allows, is where a weak model loses itself.
        schema = strict_schema(call.schema, _CLUTTER)
        body["structured_outputs"] = {"json": schema, "disable_any_whitespace": True}
    elif call.schema is not None:
        schema = strict_schema(call.schema, _NOT_STRICT if dialect == "openai" else _CLUTTER)
        body["response_format"] = {
            "type": "json_schema", "json_schema": {"name": call.schema_name, "strict": True, "schema": schema},
        }  # fmt: skip
    if call.tools:
        body["tools"] = [{"type": "function", "function": tool.to_dict()} for tool in call.tools]
    for name in omit:
        body.pop(name, None)
    body.update(sampling.extra)
    return body


def read_reply(body: Mapping[str, Any], headers: Mapping[str, str], *, calling: bool = False) -> Reply:
    """The answer in a response body; `calling`: the request named tools. Raises CallError for any other format."""
    try:
        choice = body["choices"][0]
        message = choice["message"]
        reason = choice.get("finish_reason")
        refusal = message.get("refusal")
        finish: Finish = (
            "refusal" if refusal or reason == "content_filter" else "length" if reason == "length" else "stop"
        )
        return Reply(
            text=clean_text(refusal or message.get("content") or ""),
            finish=finish,
            usage=_read_usage(body.get("usage") or {}),
            model_version=clean_text(str(body.get("model") or "")[:LONGEST_NAME]),
            request_id=clean_text((headers.get("x-request-id") or str(body.get("id") or ""))[:LONGEST_NAME]),
            headers=headers,
            logprobs=_read_logprobs(choice.get("logprobs")),
            calls=_read_calls(message.get("tool_calls")) if calling else (),
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise CallError("garbled", f"the answer is not a chat completion: {show_misfit(error)}") from error


def _write_turn(message: Message) -> dict[str, Any]:
    turn: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.images:
        shown = [{"type": "image_url", "image_url": {"url": _write_url(image)}} for image in message.images]
        turn["content"] = [*shown, {"type": "text", "text": message.content}]
    if message.answers:
        turn["tool_call_id"] = message.answers
    if message.calls:
        turn["tool_calls"] = [
            {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
            for one in message.calls
        ]
        turn["content"] = message.content or None
    return turn


def _write_url(image: ImageData) -> str:
    return f"data:{image.media_type};base64,{image.encode()}"


def _read_calls(calls: Any) -> tuple[ToolCall, ...]:
    read = []
    for place, one in enumerate(calls or ()):
        function = one["function"]
        arguments = function.get("arguments")
        # The format has a text here, but some servers send the object itself.
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
        read.append(make_tool_call(one.get("id"), function.get("name"), clean_text(text), place))
    return tuple(read)


def _read_usage(usage: Mapping[str, Any]) -> TokenUsage:
    prompt = usage.get("prompt_tokens_details") or {}
    completion = usage.get("completion_tokens_details") or {}
    return TokenUsage(
        input=read_count(usage.get("prompt_tokens")), cached=read_count(prompt.get("cached_tokens")),
        cache_written=read_count(prompt.get("cache_write_tokens")),
        output=read_count(usage.get("completion_tokens")), reasoning=read_count(completion.get("reasoning_tokens")),
    )  # fmt: skip


def _read_logprobs(logprobs: Mapping[str, Any] | None) -> tuple[tuple[tuple[str, float], ...], ...]:
    if not logprobs:
        return ()
    return tuple(
        tuple((str(top["token"]), float(top["logprob"])) for top in position.get("top_logprobs") or ())
        for position in logprobs.get("content") or ()
    )
