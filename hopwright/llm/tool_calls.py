"""Tools that a model may call, and its calls as text: the same for every wire format, the cache and the transcripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hopwright.foreign import JsonError, load_json

_LONGEST_NAME = 64
_LONGEST_ARGUMENTS = 100_000
_FOREIGN_TO_IDS = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True, eq=False)
class ToolSpec:
    """A tool as models are told of it; `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The specification as the cache key and the estimates of tokens take it."""
        return {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's call of a tool. `arguments` is the JSON text as it came, which need not be JSON at all."""

    id: str
    name: str
    arguments: str

    def read_arguments(self) -> dict[str, Any]:
        """The arguments as an object. Raises ValueError with a line for the model where they are none."""
        try:
            value = load_json(self.arguments) if self.arguments.strip() else {}
        except JsonError as error:
            raise ValueError(f"the arguments are not JSON: {error}") from None
        if not isinstance(value, dict):
            raise ValueError("the arguments are no JSON object")
        return value


def make_tool_call(id: object, name: object, arguments: str, place: int) -> ToolCall:
    """A call with a short name and an id that every provider takes; `place` names one that came without an id."""
    kept = _FOREIGN_TO_IDS.sub("", id if isinstance(id, str) else "")[:_LONGEST_NAME]
    shown = name if isinstance(name, str) else ""
    return ToolCall(
        kept or f"call_{place}",
        # Names go back to the provider, which refuses a request with other characters in them.
        _FOREIGN_TO_IDS.sub("_", shown)[:_LONGEST_NAME] or "unnamed",
        arguments[:_LONGEST_ARGUMENTS],
    )


def describe_calls(calls: Iterable[ToolCall]) -> list[list[str]]:
    """The calls as JSON keeps them."""
    return [[call.id, call.name, call.arguments] for call in calls]


def read_calls(stored: Iterable[Iterable[str]]) -> tuple[ToolCall, ...]:
    """The calls that `describe_calls` wrote."""
    return tuple(ToolCall(*one) for one in stored)


def render_calls(stored: Iterable[Iterable[str]]) -> str:
    """The calls as a transcript shows them, one a line."""
    return "\n".join(f"{name}({arguments})" for _, name, arguments in stored)
