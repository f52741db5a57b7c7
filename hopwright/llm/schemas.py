"""JSON schemas as providers take them, and answers checked against the pydantic model that asked."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_MAX_ERRORS = 5


def strict_schema(schema: Mapping[str, Any], drop: frozenset[str]) -> dict[str, Any]:
    """The schema with every object closed, every property required and the keywords in `drop` left out.

    That is what the providers' strict modes demand; the pydantic model still checks what was dropped.
    """
    return _strict_schema(json.dumps(schema), drop)


def read_answer(text: str, model: type[BaseModel]) -> BaseModel:
    """The validated object. Raises pydantic's ValidationError.

    A Markdown fence around the JSON is taken off: servers without structured output put one there. Raw control
    characters inside strings, which JSON forbids and grammars of some servers let through, are accepted.
    """
    fenced = _FENCE.match(text)
    content = fenced.group(1) if fenced else text
    try:
        return model.model_validate_json(content)
    except ValidationError:
        try:
            mended = json.dumps(json.loads(content, strict=False))
        except ValueError:
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


@functools.lru_cache(maxsize=256)
def _strict_schema(schema: str, drop: frozenset[str]) -> dict[str, Any]:
    closed = _close(json.loads(schema), drop)
    assert isinstance(closed, dict)
    return closed


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
