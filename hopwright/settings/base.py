"""What the groups of parameters have in common."""

import functools
from typing import Any

from pydantic import BaseModel, ConfigDict

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
MODEL_PATTERN = r"^([^/\s]+/\S+)?$"
VOTER_PATTERN = r"^(shortcuts|[a-z][a-z0-9-]*:\S+|[^\s:/]+/\S+)$"


def number_fields(schema: dict[str, Any]) -> None:
    """Say in which order a form lists parameters: a database may not keep the order of a schema."""
    for number, field in enumerate(schema.get("properties", {}).values()):
        field["position"] = number


class Parameters(BaseModel):
    """Base of all parameter models: nothing unknown gets in."""

    model_config = ConfigDict(extra="forbid", validate_default=True, json_schema_extra=number_fields)


@functools.cache
def list_model_fields(group: type[BaseModel]) -> frozenset[str]:
    """Return the fields of a group of parameters that name models or voters: those declared with their pattern."""
    patterns = {MODEL_PATTERN, VOTER_PATTERN}
    properties = group.model_json_schema().get("properties", {})
    return frozenset(
        name
        for name, schema in properties.items()
        if patterns & {schema.get("pattern"), schema.get("items", {}).get("pattern")}
    )
