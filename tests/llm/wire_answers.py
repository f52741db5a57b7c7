"""What the wire server answers: a value that fits a JSON schema, the same for the same prompt."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def draw(prompt: str, salt: str) -> float:
    """A number in [0, 1) that depends on nothing but the two texts."""
    digest = hashlib.blake2b(f"{salt}\x00{prompt}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def right_answer(prompt: str) -> str:
    """The text that the server gives for a prompt, and that a test expects."""
    return "answer " + hashlib.blake2b(prompt.encode(), digest_size=6).hexdigest()


def fill_schema(schema: dict[str, Any], prompt: str, root: dict[str, Any] | None = None, path: str = "") -> Any:
    """A value that fits `schema`; every string in it carries the prompt's right answer."""
    root = root or schema
    if "$ref" in schema:
        return fill_schema(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], prompt, root, path)
    if "enum" in schema:
        return schema["enum"][int(draw(prompt, path) * len(schema["enum"]))]
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema:
        return fill_schema(schema["anyOf"][0], prompt, root, path)
    kind = schema.get("type", "object")
    if kind == "object":
        return {
            name: fill_schema(part, prompt, root, f"{path}/{name}")
            for name, part in schema.get("properties", {}).items()
        }
    if kind == "array":
        count = max(1, schema.get("minItems", 1))
        return [fill_schema(schema["items"], prompt, root, f"{path}/{index}") for index in range(count)]
    if kind == "string":
        return right_answer(prompt)[: schema.get("maxLength", 200)]
    if kind == "boolean":
        return draw(prompt, path) < 0.5
    low, high = schema.get("minimum", 0), schema.get("maximum", 100)
    value = low + draw(prompt, path) * (high - low)
    return int(value) if kind == "integer" else value


def answer_text(schema: dict[str, Any] | None, prompt: str) -> str:
    """The whole answer: JSON where a schema was asked for, a line of text where not."""
    return json.dumps(fill_schema(schema, prompt)) if schema else right_answer(prompt)
