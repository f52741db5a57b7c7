"""Endpoints and their limits, read from a TOML file; keys only ever from the environment."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hopwright.errors import InputError
from hopwright.foreign import explain_invalid, read_toml, show
from hopwright.llm.types import ModelRef, Request, parse_model
from hopwright.registry import Registry

PROVIDERS = Registry[Callable[..., Any]](
    "hopwright.providers",
    "kind of endpoint",
    paths={
        "openai": "hopwright.llm.providers.sdk:OpenAISdkProvider",
        "anthropic": "hopwright.llm.providers.sdk:AnthropicSdkProvider",
        "compatible": "hopwright.llm.providers.plain_http:PlainHttpProvider",
    },
)
"""Kind of endpoint → what makes its `Provider`, from the endpoint and its key. Another package adds a kind as an entry
point of this group."""

_SHOWN = 300
"""Characters of what is wrong in a file that an error repeats."""


class LimitSettings(BaseModel):
    """What one model of an endpoint may be asked for. None leaves a limit to what the server says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests_per_minute: float | None = Field(None, gt=0)
    tokens_per_minute: float | None = Field(None, gt=0)
    input_tokens_per_minute: float | None = Field(None, gt=0)
    output_tokens_per_minute: float | None = Field(None, gt=0)
    max_concurrency: int = Field(256, ge=1, le=4096)
    start_concurrency: int | None = Field(None, ge=1)
    """Requests in flight at the start; None: half of `max_concurrency`."""


class RetrySettings(BaseModel):
    """When to try again, how long to wait, when to give up."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_attempts: int = Field(6, ge=1)
    """Tries of one request that may fail for a reason other than the rate limit."""
    max_refusals: int = Field(30, ge=1)
    """429s that one request may meet."""
    base_s: float = Field(0.5, gt=0)
    cap_s: float = Field(30.0, gt=0)
    timeout_s: float = Field(600.0, gt=0)
    """Longest wait for one answer."""
    stall_floor_s: float = Field(30.0, gt=0)
    """A first try is given up after ten times the slowest hundredth of the answers so far, never before this."""
    max_pause_s: float = Field(900.0, gt=0)
    """A `Retry-After` longer than this counts as the model being down."""
    batch_poll_s: float = Field(60.0, gt=0)
    """Pause between two looks at the open batches."""
    repairs: int = Field(2, ge=0, le=2)
    """How often an invalid answer goes back with what is wrong with it."""


class BreakerSettings(BaseModel):
    """When a run is hopeless."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    window: int = Field(50, ge=5)
    minimum: int = Field(20, ge=5)
    calls_failing: float = Field(0.8, gt=0, le=1)
    """Share of the last calls to one model that failed on the way: the model counts as down."""
    failing_for_s: float = Field(20.0, ge=0)
    """How long calls must have failed for that, unless one request has used up its tries."""
    rows_failing: float = Field(0.6, gt=0, le=1)
    """Share of the last rows that ended without an answer: the run stops."""
    down_s: float = Field(60.0, gt=0)
    """How long a model that is down is not asked, where another can answer in its place."""


class Endpoint(BaseModel):
    """One place that answers requests. Its name is part of every cache key: rename it when what it serves changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    kind: str = "compatible"
    """`openai` and `anthropic` go through the official SDKs, `compatible` is OpenAI's format on the lean path;
    another kind is one of `PROVIDERS`."""
    base_url: str = ""
    """Empty: the SDK's own. For `compatible` it ends in `/v1` as a rule."""
    key_env: str = ""
    """The environment variable with the key; empty: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, none for `compatible`."""
    dialect: Literal["openai", "vllm", "compatible"] = "compatible"
    mechanism: Literal["json_schema", "tool"] = "json_schema"
    """How Anthropic's format asks for structure: its newest models refuse a forced tool, others know only that."""
    omit: tuple[Literal["temperature", "top_p", "seed", "stop", "reasoning_effort"], ...] = ()
    """Sampling parameters that the models here refuse; requests that set them are sent without."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Sent with every request; never put a key here."""
    free: bool = False
    """Nothing is paid there: a model that the price table does not know costs 0."""
    limits: LimitSettings = LimitSettings()
    models: dict[str, LimitSettings] = Field(default_factory=dict)
    """Limits of single models, instead of `limits`."""

    @model_validator(mode="before")
    @classmethod
    def _fill_dialect(cls, values: object) -> object:
        if isinstance(values, dict) and values.get("kind") == "openai" and not values.get("base_url"):
            return {"dialect": "openai", **values}
        return values

    @model_validator(mode="after")
    def _check_url(self) -> Self:
        if self.kind not in PROVIDERS:
            raise ValueError(f"endpoint {self.name}: the kinds are {', '.join(PROVIDERS)}, not {self.kind}")
        if self.kind == "compatible" and not self.base_url:
            raise ValueError(f"endpoint {self.name}: a compatible endpoint needs a base_url")
        return self

    def limits_of(self, model: str) -> LimitSettings:
        """The limits of one model here."""
        return self.models.get(model, self.limits)


class LlmSettings(BaseModel):
    """Every endpoint, and how requests are retried and given up."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoints: tuple[Endpoint, ...] = (
        # The newest models of both refuse a temperature.
        Endpoint(name="openai", kind="openai", dialect="openai", omit=("temperature", "top_p")),
        Endpoint(name="anthropic", kind="anthropic", omit=("temperature", "top_p")),
    )
    retry: RetrySettings = RetrySettings()
    breaker: BreakerSettings = BreakerSettings()
    fallbacks: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Per model, as `endpoint/model`: who is asked in its place, in turn, while it is down."""
    prices: Path | None = None
    """A price table in the shipped one's format, read after it: its rows win."""

    @model_validator(mode="after")
    def _check_fallbacks(self) -> Self:
        known = {endpoint.name for endpoint in self.endpoints}
        for model in (model for row in self.fallbacks.items() for model in (row[0], *row[1])):
            endpoint, _, name = model.partition("/")
            if endpoint not in known or not name:
                raise ValueError(f"fallbacks: {model!r} is no endpoint/model of {', '.join(sorted(known))}")
        return self

    def chain(self, request: Request) -> tuple[ModelRef, ...]:
        """The models that a request is put to, in turn: its own, then its fall-backs, or else those named here."""
        if request.fallbacks or not self.fallbacks:
            return request.models
        asked = request.models[0]
        return (asked, *(parse_model(model) for model in self.fallbacks.get(str(asked), ())))

    def endpoint(self, name: str) -> Endpoint:
        """The endpoint of that name. Raises InputError for an unknown one."""
        for endpoint in self.endpoints:
            if endpoint.name == name:
                return endpoint
        known = ", ".join(endpoint.name for endpoint in self.endpoints)
        raise InputError(f"no model endpoint is called {name!r}; known: {known} (see docs/models.md)")


def read_settings(path: Path | None) -> LlmSettings:
    """The settings in a TOML file (docs/models.md), on top of the endpoints `openai` and `anthropic`.

    Raises InputError with the file and the field.
    """
    if path is None:
        return LlmSettings()
    content = read_toml(path)
    tables = content.pop("endpoints", {})
    if not isinstance(tables, dict) or not all(isinstance(fields, dict) for fields in tables.values()):
        raise InputError(f"{path}: endpoints: each is a table of its own, such as [endpoints.local]")
    endpoints = [{"name": name, **fields} for name, fields in tables.items()]
    named = {entry["name"] for entry in endpoints}
    defaults = [endpoint.model_dump() for endpoint in LlmSettings().endpoints if endpoint.name not in named]
    try:
        return LlmSettings.model_validate({**content, "endpoints": [*defaults, *endpoints]})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        parts = list(first["loc"])
        message = explain_invalid(first)
        if parts[:1] == ["endpoints"] and len(parts) > 1 and isinstance(parts[1], int):
            parts[1] = [*defaults, *endpoints][parts[1]]["name"]
            near = difflib.get_close_matches(str(parts[-1]), Endpoint.model_fields, 1)
            if first["type"] == "extra_forbidden" and near:
                message += f"; is {near[0]} meant?"
        place = show(".".join(map(str, parts)), _SHOWN)
        message = show(message, _SHOWN)
        raise InputError(f"{path}: {place}: {message}" if place else f"{path}: {message}") from None


def key_variable(endpoint: Endpoint) -> str:
    """The environment variable that holds the endpoint's key; empty where it needs none."""
    defaults = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "compatible": ""}
    return endpoint.key_env or defaults.get(endpoint.kind, "")


def block_name(endpoint: Endpoint) -> str:
    """The Prefect Secret block that may hold the endpoint's key: letters, digits and dashes, as blocks are named."""
    return "hopwright-" + re.sub(r"[^a-z0-9]+", "-", endpoint.name.lower()).strip("-")


def read_key(endpoint: Endpoint, environment: Mapping[str, str] | None = None) -> str:
    """The endpoint's key. Raises InputError where one is needed and missing."""
    environment = os.environ if environment is None else environment
    variable = key_variable(endpoint)
    key = environment.get(variable, "") if variable else ""
    if not key and variable:
        raise InputError(
            f"the endpoint {endpoint.name!r} needs a key: set the environment variable {variable}, "
            f"or make the Prefect Secret block {block_name(endpoint)}"
        )
    # Both SDKs refuse to start without a key; a local server takes any.
    return key or ("" if endpoint.kind == "compatible" else "none")
