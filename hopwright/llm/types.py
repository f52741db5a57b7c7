"""What is asked of a model and what comes of it: one request type, one response type, one failure type."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from hopwright.errors import InputError
from hopwright.llm.tool_calls import ToolCall, ToolSpec, describe_calls, read_calls

Role = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "length", "refusal"]
FailureKind = Literal["refusal", "empty", "truncated", "invalid", "rejected", "unavailable"]
"""Why a row has no answer. `rejected`: the provider will not take the request; `unavailable`: it did not
answer within the allowed attempts; the others are about the answer's text."""


@dataclass(frozen=True)
class ImageData:
    """A picture that goes with a turn: its bytes, and their type, such as `image/png`."""

    data: bytes = field(repr=False)
    media_type: str = "image/png"

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 of the bytes: what stands for the picture in keys and transcripts."""
        return hashlib.sha256(self.data).hexdigest()

    def encode(self) -> str:
        """The bytes in base64, as both wire formats take them."""
        return base64.b64encode(self.data).decode("ascii")


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `stable` marks the end of the part that many requests share, for the provider's prompt cache.

    `calls` are the tools that an assistant's turn calls; a turn of a tool has in `answers` the id of the call that it
    answers. `images` are shown before the words of a user's turn, in order.
    """

    role: Role
    content: str
    stable: bool = False
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    images: tuple[ImageData, ...] = ()

    def describe(self) -> list[Any]:
        """What of the turn enters the cache key and the transcript: turns without tools and pictures are a pair."""
        if self.images:
            return [self.role, self.content, {"images": [image.digest for image in self.images]}]
        if not self.calls and not self.answers:
            return [self.role, self.content]
        return [self.role, self.content, self.answers or describe_calls(self.calls)]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How an answer is drawn. None leaves a parameter to the provider.

    `seed` is part of the cache key even where a provider has no such parameter, so that several draws of
    the same prompt are several requests. `top_logprobs` asks for the log-probabilities of so many tokens.
    `extra` goes into the request's body as it is.
    """

    max_tokens: int = 1024
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    reasoning_effort: str | None = None
    top_logprobs: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model at an endpoint; `provider` is the endpoint's name in the configuration."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


def parse_model(text: str) -> ModelRef:
    """`endpoint/model` as a reference; the first slash parts them. Raises InputError where one half is missing."""
    endpoint, _, model = text.strip().partition("/")
    if not endpoint or not model:
        raise InputError(f"model {text!r}: write it as endpoint/model, such as openai/gpt-5-mini (see docs/models.md)")
    return ModelRef(endpoint, model)


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    `schema` asks for an object of that pydantic model; `choices` for exactly one of these texts.
    `fallbacks` are asked in turn when the model is down. `item`, `prompt` and `prompt_version` are labels
    for transcripts and records, never part of the cache key. `repairs` is how often an invalid answer may go back at
    most; None leaves that to the settings. `tools` may be called instead of answering; a call is a usable answer.
    """

    messages: tuple[Message, ...]
    provider: str
    model: str
    schema: type[BaseModel] | None = None
    choices: tuple[str, ...] = ()
    sampling: Sampling = Sampling()
    fallbacks: tuple[ModelRef, ...] = ()
    item: str = ""
    prompt: str = ""
    prompt_version: str = ""
    repairs: int | None = None
    tools: tuple[ToolSpec, ...] = ()

    @property
    def models(self) -> tuple[ModelRef, ...]:
        """The model asked first, then its fall-backs."""
        return (ModelRef(self.provider, self.model), *self.fallbacks)


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens as the provider counted them.

    `input` is all of the prompt, `cached` and `cache_written` the parts of it read from and written to the
    provider's prompt cache; `output` is everything generated, `reasoning` the part of it not shown.
    """

    input: int = 0
    cached: int = 0
    cache_written: int = 0
    output: int = 0
    reasoning: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input + other.input, self.cached + other.cached, self.cache_written + other.cache_written,
            self.output + other.output, self.reasoning + other.reasoning,
        )  # fmt: skip

    def __sub__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input - other.input, self.cached - other.cached, self.cache_written - other.cache_written,
            self.output - other.output, self.reasoning - other.reasoning,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try that gave no usable answer: what went wrong, and the raw answer where there was one."""

    model: str
    kind: str
    detail: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """A usable answer.

    `usage` and `cost_usd` include the invalid answers that had to be paid for before it; a cached response
    keeps what it cost when it was paid for and has `cached` set. `logprobs` holds, per generated token, the
    most likely tokens with their log-probabilities. `fallback_for` names the models that were down.
    Latency, request id and attempts differ from run to run: they belong into transcripts, not into records.
    """

    key: str
    provider: str
    model: str
    model_version: str
    text: str
    finish: Finish
    usage: TokenUsage
    cost_usd: float
    request_id: str = ""
    latency_s: float = 0.0
    attempts: tuple[Attempt, ...] = ()
    logprobs: tuple[tuple[tuple[str, float], ...], ...] = ()
    fallback_for: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    parsed: BaseModel | None = None
    cached: bool = False
    ok: Literal[True] = True

    def to_json(self) -> str:
        """What the cache keeps: everything but the parsed object and where the answer came from this time."""
        record: dict[str, Any] = {
            "key": self.key, "provider": self.provider, "model": self.model, "model_version": self.model_version,
            "text": self.text, "finish": self.finish, "cost_usd": self.cost_usd, "request_id": self.request_id,
            "latency_s": round(self.latency_s, 4),
            "usage": [
                self.usage.input, self.usage.cached, self.usage.cache_written, self.usage.output, self.usage.reasoning,
            ],
        }  # fmt: skip
        if self.attempts:
            record["attempts"] = [asdict(attempt) for attempt in self.attempts]
        if self.logprobs:
            record["logprobs"] = self.logprobs
        if self.fallback_for:
            record["fallback_for"] = self.fallback_for
        if self.calls:
            record["calls"] = describe_calls(self.calls)
        return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def read_response(text: str, parsed: BaseModel | None = None) -> Response:
    """The response that `Response.to_json` wrote; it counts as cached."""
    record = json.loads(text)
    record["usage"] = TokenUsage(*record["usage"])
    record["attempts"] = tuple(Attempt(**attempt) for attempt in record.get("attempts", ()))
    record["logprobs"] = tuple(
        tuple((token, value) for token, value in position) for position in record.get("logprobs", ())
    )
    record["fallback_for"] = tuple(record.get("fallback_for", ()))
    record["calls"] = read_calls(record.get("calls", ()))
    return Response(**record, parsed=parsed, cached=True)


@dataclass(frozen=True, slots=True)
class Failure:
    """A row that got no answer, and why. Never cached, never data.

    `attempts` holds every try without a usable answer, in order, with the answers that were thrown away.
    """

    key: str
    provider: str
    model: str
    kind: FailureKind
    reason: str
    attempts: tuple[Attempt, ...] = ()
    usage: TokenUsage = TokenUsage()
    cost_usd: float = 0.0
    ok: Literal[False] = False


Outcome = Response | Failure
ANSWER_KINDS: frozenset[str] = frozenset({"refusal", "empty", "truncated", "invalid"})
"""Kinds of attempts in which the model did answer, if not usably."""


def count_answers(outcome: Outcome) -> int:
    """How many answers a model gave before a request had its outcome; the same when it is found in the store again."""
    return sum(attempt.kind in ANSWER_KINDS for attempt in outcome.attempts) + outcome.ok


def schema_of(request: Request) -> dict[str, Any] | None:
    """The JSON schema that an answer must fit, or None for free text."""
    return _describe(request.schema)[0] if request.schema is not None else None


def key_of(request: Request, target: ModelRef | None = None) -> str:
    """The cache key: BLAKE2b-128 in hex over provider, model, messages, schema and sampling parameters.

    Nothing else enters it: neither labels nor the run, the row's number, or the rest of the batch.
    """
    target = target or request.models[0]
    sampling = request.sampling
    parameters = {
        "max_tokens": sampling.max_tokens, "temperature": sampling.temperature, "top_p": sampling.top_p,
        "seed": sampling.seed, "stop": sampling.stop, "reasoning_effort": sampling.reasoning_effort,
        "top_logprobs": sampling.top_logprobs, "extra": dict(sampling.extra),
    }  # fmt: skip
    content: dict[str, Any] = {
        "provider": target.provider, "model": target.model,
        "messages": [message.describe() for message in request.messages],
        "schema": _describe(request.schema)[1] if request.schema else None,
        "choices": request.choices, "sampling": parameters,
    }  # fmt: skip
    if request.tools:
        content["tools"] = [tool.to_dict() for tool in request.tools]
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.blake2b(canonical.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


_DESCRIBED: dict[type[BaseModel], tuple[dict[str, Any], str]] = {}


def _describe(model: type[BaseModel]) -> tuple[dict[str, Any], str]:
    """A model's JSON schema and its hash, made once: that takes milliseconds, and every row asks for them."""
    if model not in _DESCRIBED:
        schema = model.model_json_schema()
        _DESCRIBED[model] = (
            schema,
            hashlib.blake2b(json.dumps(schema, sort_keys=True).encode(), digest_size=16).hexdigest(),
        )
    return _DESCRIBED[model]
