"""What the client makes of a reply: a usable answer, or what is wrong with it and how it is sent back."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from hopwright.foreign import JsonError, load_json
from hopwright.llm.asking import send_back
from hopwright.llm.providers import Call
from hopwright.llm.schemas import describe_error, read_answer
from hopwright.llm.tool_calls import ToolCall
from hopwright.llm.types import Attempt, FailureKind, Message, ModelRef, Request, Response, schema_of

_LONGEST = 1_000_000
"""Characters of an answer that are read: more than any model writes in one."""


@dataclass(frozen=True, slots=True)
class ValidatedAnswer:
    """A usable answer: its text and, where one was asked for, its object."""

    text: str
    parsed: Any = None


def make_call(request: Request, target: ModelRef, messages: tuple[Message, ...], native_choices: bool) -> Call:
    """The call that asks `target` for this request's answer."""
    schema, name = schema_of(request), request.schema.__name__ if request.schema else "answer"
    if request.choices and not native_choices:
        schema, name = _choice_schema(request.choices), "choice"
    choices = request.choices if native_choices else ()
    return Call(target.model, messages, request.sampling, schema, name, choices, request.tools)


def judge(
    request: Request, text: str, finish: str, calls: tuple[ToolCall, ...] = ()
) -> ValidatedAnswer | tuple[FailureKind, str]:
    """The usable answer in a reply, or the kind of failure and what is wrong, for the model and the record."""
    if finish == "refusal":
        return "refusal", f"the model refused: {text[:300]}" if text else "the model refused"
    if finish == "length":
        return "truncated", f"the answer was cut off at {request.sampling.max_tokens} tokens"
    if calls and request.tools:
        return ValidatedAnswer(text)
    if not text.strip():
        return "empty", "the answer is empty"
    if len(text) > _LONGEST:
        return "truncated", f"the answer has {len(text):,} characters; {_LONGEST:,} are the most that are read"
    if request.choices:
        chosen = _read_choice(text)
        if chosen in request.choices:
            return ValidatedAnswer(chosen)
        return "invalid", f"{text[:100]!r} is none of {', '.join(request.choices)}"
    if request.schema is None:
        return ValidatedAnswer(text)
    try:
        return ValidatedAnswer(text, read_answer(text, request.schema))
    except ValidationError as error:
        return "invalid", describe_error(error)


def continue_messages(request: Request, last: Attempt | None) -> tuple[Message, ...]:
    """The request's messages, and its last invalid answer with what is wrong with it."""
    if last is None or last.kind != "invalid":
        return request.messages
    return send_back(request, last.answer, ask_again(request, last.detail)).messages


def ask_again(request: Request, problem: str) -> str:
    """The turn that sends an invalid answer back."""
    if request.choices:
        return f"That cannot be used: {problem}. Answer with exactly one of: {', '.join(request.choices)}."
    return (
        f"That cannot be used: {problem}. Give the whole answer again as one JSON object that fits the schema, "
        f"without anything else."
    )


def measure_schema(request: Request) -> int:
    """Bytes that the schema, the choices or the tools add to the prompt, at most."""
    if request.tools:
        # Providers add words of their own around the tools: some hundred tokens (Anthropic states up to 700).
        return 2 * len(str([tool.to_dict() for tool in request.tools]).encode()) + 3000
    if request.schema is not None:
        size = _SCHEMA_BYTES.get(request.schema)
        if size is None:
            # Closing the schema adds keywords; twice its length covers them.
            size = _SCHEMA_BYTES[request.schema] = 2 * len(str(schema_of(request)).encode())
        return size
    return 2 * len(str(request.choices).encode()) + 200 if request.choices else 0


_SCHEMA_BYTES: dict[type, int] = {}


def revalidate(request: Request, response: Response) -> Response | None:
    """A stored response with its object, or None where the schema's own rules no longer hold for it."""
    if request.schema is None:
        return response
    try:
        parsed = read_answer(response.text, request.schema)
    except ValidationError:
        return None
    object.__setattr__(response, "parsed", parsed)
    return response


@functools.lru_cache(maxsize=1024)
def _choice_schema(choices: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object", "properties": {"choice": {"type": "string", "enum": list(choices)}}, "required": ["choice"],
        "additionalProperties": False,
    }  # fmt: skip


def _read_choice(text: str) -> str:
    stripped = text.strip()
    if stripped.startswith("{"):
        try:
            return str(load_json(stripped).get("choice"))
        except JsonError:
            return stripped
    return stripped
