"""What a provider does, and what can go wrong on the way to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from hopwright.foreign import JsonError, load_json, show
from hopwright.llm.headers import read_retry_after
from hopwright.llm.tool_calls import ToolCall, ToolSpec
from hopwright.llm.types import Finish, Message, Sampling, TokenUsage

ErrorKind = Literal[
    "rate_limit", "overloaded", "server", "timeout", "connection", "garbled",
    "auth", "quota", "not_found", "bad_request",
]  # fmt: skip
RETRYABLE: frozenset[ErrorKind] = frozenset({"rate_limit", "overloaded", "server", "timeout", "connection", "garbled"})
"""Kinds that another try may cure."""
FATAL: frozenset[ErrorKind] = frozenset({"auth", "quota", "not_found"})
"""Kinds that every further request would meet too."""
MAYBE_BILLED: frozenset[ErrorKind] = frozenset({"timeout", "connection", "garbled"})
"""Kinds after which the provider may have generated, and billed, an answer that never arrived."""
_MOST_TOKENS = 10**9
LONGEST_NAME = 200
"""Characters that are kept of what a provider calls a model or a request."""
_LONGEST_MESSAGE = 8192
"""Characters that are kept of what an error says, until keys are taken out: of a key that a cut divides, a part would
stay."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request as a provider needs it: the conversation so far, including answers sent back for repair."""

    model: str
    messages: tuple[Message, ...]
    sampling: Sampling
    schema: Mapping[str, Any] | None = None
    schema_name: str = "answer"
    choices: tuple[str, ...] = ()
    tools: tuple[ToolSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer as it came, before validation; `calls` are the tools that it calls, of those it was told of."""

    text: str
    finish: Finish
    usage: TokenUsage
    model_version: str
    request_id: str
    headers: Mapping[str, str] = field(default_factory=dict)
    logprobs: tuple[tuple[tuple[str, float], ...], ...] = ()
    calls: tuple[ToolCall, ...] = ()


class CallError(Exception):
    """A call that gave no answer. `retry_after_s` is what the server demanded, if anything."""

    def __init__(
        self, kind: ErrorKind, message: str, *, status: int = 0, retry_after_s: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.status = status
        self.retry_after_s = retry_after_s
        self.headers = headers or {}


class Provider(Protocol):
    """An endpoint that answers calls. Nothing in it retries.

    `native_choices`: it can hold an answer to one of `Call.choices` without a JSON schema.
    """

    native_choices: bool

    async def send(self, call: Call, timeout_s: float) -> Reply:
        """The answer. Raises CallError."""
        ...

    async def close(self) -> None:
        """Give the connections back."""
        ...


def classify_status(status: int, body: Mapping[str, Any] | None) -> ErrorKind:
    """The kind of an HTTP error, by status and by the provider's own error code."""
    error = (body or {}).get("error")
    error = error if isinstance(error, dict) else {}
    code = f"{error.get('code') or ''} {error.get('type') or ''}"
    if status == 429:
        return "quota" if "insufficient_quota" in code else "rate_limit"
    if status in (401, 403):
        return "auth"
    if status == 402:
        return "quota"
    if status == 404 or 300 <= status < 400:
        # A redirect is not followed: it would hand the prompt, and perhaps the key, to whoever it names.
        return "not_found"
    if status in (503, 529) or "overloaded" in code:
        return "overloaded"
    if status in (408, 409, 425) or status >= 500:
        return "server"
    return "bad_request"


def wrap_status(status: int, content: bytes, headers: Mapping[str, str]) -> CallError:
    """The error that an HTTP status and its body stand for."""
    try:
        body = load_json(content, halves=True)
    except JsonError:
        body = None
    body = body if isinstance(body, dict) else None
    error = (body or {}).get("error")
    message = error.get("message") if isinstance(error, dict) else error
    text = str(message or content[:_LONGEST_MESSAGE].decode("utf-8", "replace") or "no reason given")[:_LONGEST_MESSAGE]
    text = clean_text(text)
    if 300 <= status < 400:
        text = f"it redirects to {headers.get('location') or 'another address'}, which is not followed"
    return CallError(
        classify_status(status, body), f"HTTP {status}: {text}", status=status, headers=headers,
        retry_after_s=read_retry_after(headers),
    )  # fmt: skip


def clean_text(text: str) -> str:
    """The text without lone surrogates, which JSON can carry and neither a file nor a database can."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def read_count(value: object) -> int:
    """A number of tokens as a provider states it; None is 0. Raises TypeError for what is no count."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST_TOKENS:
        raise TypeError("count of tokens")
    return int(value)


def describe_cause(error: BaseException) -> str:
    """The innermost cause of an error, in one line."""
    error = find_cause(error)
    return f"{type(error).__name__}: {show(error, _LONGEST_MESSAGE)}" if str(error) else type(error).__name__


def find_cause(error: BaseException) -> BaseException:
    """The innermost cause of an error."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def read_json(content: bytes) -> dict[str, Any]:
    """A response's body. Raises CallError where it is not a JSON object."""
    try:
        body = load_json(content, halves=True)
    except JsonError as error:
        raise CallError(
            "garbled", f"the answer is not JSON ({error}): {content[:_LONGEST_MESSAGE].decode('utf-8', 'replace')!r}"
        ) from None
    if not isinstance(body, dict):
        raise CallError("garbled", "the answer is not a JSON object")
    return body
