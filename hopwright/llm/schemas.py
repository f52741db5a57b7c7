"""JSON schemas as providers take them, and answers checked against the pydantic model that asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from hopwright.foreign import JsonError, load_json

_MAX_ERRORS = 5
_STRICT: dict[tuple[int, frozenset[str]], tuple[Mapping[str, Any], dict[str, Any]]] = {}


def strict_schema(schema: Mapping[str, Any], drop: frozenset[str]) -> dict[str, Any]:
    """The schema with every object closed, every property required and the keywords in `drop` left out.

    That is what the providers' strict modes demand; the pydantic model still checks what was dropped.
    """
    known = _STRICT.get((id(schema), drop))
    if known is None:
        closed = _close(dict(schema), drop)
        assert isinstance(closed, dict)
        # The schema is kept beside its result, so that no other can come to have its id.
        known = _STRICT[id(schema), drop] = (schema, closed)
    return known[1]


def read_answer(text: str, model: type[BaseModel]) -> BaseModel:
    """The validated object. Raises pydantic's ValidationError.

    A Markdown fence around the JSON is taken off: servers without structured output put one there. Raw control
    characters inside strings, which JSON forbids and grammars of some servers let through, are accepted.
    """
    content = _take_off_fence(text)
    try:
        return model.model_validate_json(content)
    except ValidationError:
        try:
            mended = json.dumps(load_json(content, strict=False))
        except JsonError:
            mended = None
        if mended is None:
            raise
        return model.model_validate_json(mended)


def describe_error(error: ValidationError) -> str:
    """What is wrong with an answer, in words for the model that gave it and for the record of the rejection."""
    lines = []
    for problem in error.errors(include_url=False, include_context=False)[:_MAX_ERRORS]:
        place = ".".join(str(part) for part in problem["loc"])
        lines.append(f"{place}: {problem['msg']}" if place else problem["msg"])
    more = error.error_count() - len(lines)
    return "; ".join(lines) + (f"; and {more} more" if more > 0 else "")


def _take_off_fence(text: str) -> str:
    stripped = text.strip()
    head, line, rest = stripped.partition("\n")
    if line and head.rstrip() in ("```", "```json") and rest.endswith("```"):
        return rest.removesuffix("```")
    return text


def _close(part: Any, drop: frozenset[str]) -> Any:
    if isinstance(part, list):
        return [_close(entry, drop) for entry in part]
    if not isinstance(part, dict):
        return part
    closed: dict[str, Any] = {}
    for name, value in part.items():
        if name in ("properties", "$defs"):
            # Names of properties are data, not keywords: a property may be called `title`.
            closed[name] = {key: _close(entry, drop) for key, entry in value.items()}
        elif name not in drop:
            closed[name] = _close(value, drop) if name != "enum" else value
    if "properties" in closed:
        closed["required"] = list(closed["properties"])
        closed["additionalProperties"] = False
    return closed
