"""What the groups of parameters have in common."""

from pydantic import BaseModel, ConfigDict

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
MODEL_PATTERN = r"^([^/\s]+/\S+)?$"
STAGES = ("retrieve", "synthesize", "filter", "rewrite", "review", "release")
"""In the order of the line of work; each rests on those before it."""


class Parameters(BaseModel):
    """Base of all parameter models: nothing unknown gets in."""

    model_config = ConfigDict(extra="forbid", validate_default=True)
