"""What the groups of parameters have in common."""

import functools
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
OPTIONAL_NAME_PATTERN = r"^([A-Za-z0-9][A-Za-z0-9._-]{0,63})?$"
MODEL_PATTERN = r"^([^/\s]+/\S+)?$"
VOTER_PATTERN = r"^(shortcuts|[a-z][a-z0-9-]*:\S+|[^\s:/]+/\S+)$"
PICTURE_VOTER_PATTERN = r"^(vllm:\S+|[^\s:/]+/\S+)$"
ADDRESS_PATTERN = r"^(https?://\S+)?$"
_NAME_RULE = "a name has 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter or digit"
PATTERN_RULES = {
    NAME_PATTERN: _NAME_RULE,
    OPTIONAL_NAME_PATTERN: _NAME_RULE,
    MODEL_PATTERN: "a model is named as endpoint/model, such as openai/gpt-5-mini",
    VOTER_PATTERN: "a voter is shortcuts, vllm:MODEL, transformers:MODEL or ENDPOINT/MODEL",
    PICTURE_VOTER_PATTERN: "a voter that sees pictures is vllm:MODEL or ENDPOINT/MODEL",
    ADDRESS_PATTERN: "an address begins with http:// or https:// and has no spaces",
}
"""What a text has to be like that should match a pattern, in words."""
LATEST_YEAR = 2026
"""The last year that a date or a number of an item may name: the current one, fixed so that bytes do not change."""
ModelName = Annotated[str, Field(min_length=3, max_length=500, pattern=MODEL_PATTERN)]
"""A model, as endpoint/model."""


def number_fields(schema: dict[str, Any]) -> None:
    """Say in which order a form lists parameters: a database may not keep the order of a schema."""
    for number, field in enumerate(schema.get("properties", {}).values()):
        field["position"] = number


@dataclass(frozen=True, slots=True)
class Cli:
    """How the command line spells a parameter where its own name would not do.

    `names` are Typer's (`--on/--off` for a switch), `metavar` stands for the value; `main` parameters are listed by
    `hopwright build --help` though they are another stage's.
    """

    names: tuple[str, ...] = ()
    metavar: str = ""
    main: bool = False


class Parameters(BaseModel):
    """Base of all parameter models: nothing unknown gets in."""

    model_config = ConfigDict(extra="forbid", validate_default=True, json_schema_extra=number_fields)


@functools.cache
def list_model_fields(group: type[BaseModel]) -> frozenset[str]:
    """Return the fields of a group of parameters that name models or voters: those declared with their pattern."""
    patterns = {MODEL_PATTERN, VOTER_PATTERN, PICTURE_VOTER_PATTERN}
    properties = group.model_json_schema().get("properties", {})
    return frozenset(
        name
        for name, schema in properties.items()
        if patterns & {schema.get("pattern"), schema.get("items", {}).get("pattern")}
    )
