"""Who judges how difficult an item is, and on what machine."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from hopwright.settings.base import VOTER_PATTERN, Cli, Parameters
from hopwright.settings.paths import checkout

VoterName = Annotated[str, Field(pattern=VOTER_PATTERN, min_length=3, max_length=1024)]
"""A voter of the difficulty filter; `hopwright.difficulty.specs` reads it."""


class FilterParameters(Parameters):
    """Who judges how difficult an item is, how they are asked, and when an item is too easy to keep."""

    voters: Annotated[list[VoterName], Cli(metavar="VOTER", main=True)] = Field(
        default=[],
        max_length=12,
        title="Voters",
        description="The voters: shortcuts (four solvers without weights), vllm:MODEL (served by the stage; a Hugging "
        "Face id or a folder), transformers:MODEL (in this process), or ENDPOINT/MODEL (a server that already runs). "
        "Empty takes shortcuts.",
    )
    max_right: Annotated[int, Cli(main=True)] = Field(
        default=1,
        ge=0,
        le=11,
        title="Right votes allowed",
        description="An item is dropped when more than this many of the voters pick the right option.",
    )
    votes_required: int = Field(
        default=0,
        ge=0,
        le=12,
        title="Votes required",
        description="Number of votes that an item needs to be kept, unless the missing votes could not change the "
        "decision; an item with fewer votes is held back. 0 requires the votes of all voters.",
    )
    replacements: Annotated[list[VoterName], Cli(metavar="VOTER")] = Field(
        default=[],
        max_length=4,
        title="Replacements",
        description="Voters that are asked, in this order, about items to which another voter gave no answer.",
    )
    retries: int = Field(
        default=1,
        ge=0,
        le=5,
        title="Retries",
        description="How often a model is asked again about an item after an unusable answer; for a letter, after no "
        "answer at all.",
    )
    all_votes: Annotated[bool, Cli(("--all-votes/--stop-early",))] = Field(
        default=False,
        title="Ask everyone",
        description="Let every voter vote on every item. Otherwise asking stops for an item once its fate is sealed; "
        "the verdicts are the same. The four solvers, without models beside them, are always all asked.",
    )
    rotations: Literal["one", "all"] = Field(
        default="one",
        title="Orders of the options",
        description="one: each voter sees the options in an order drawn for it and the item. all: in all four orders, "
        "averaged, which measures how much a vote depends on the order and costs four times as much.",
    )
    answering: Literal["letter", "reasoning"] = Field(
        default="letter",
        title="Way of answering",
        description="letter: the vote is read from the probabilities of the four letters. reasoning: the model writes "
        "first, and the last line is read; such a vote has no probabilities.",
    )
    pilot: int = Field(
        default=0,
        ge=0,
        le=5000,
        title="Pilot items",
        description="Ask everyone about this many items first, and order the voters by what that shows; each vLLM "
        "voter is started twice then. 0 asks in the listed order.",
    )
    accuracies: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Cli(("--accuracy",), "0..1")] = Field(
        default=[],
        max_length=12,
        title="Known accuracies",
        description="Expected accuracy of every voter, in the listed order. They order the voters without a pilot.",
    )
    closed_book: int = Field(
        default=0,
        ge=0,
        le=100_000,
        title="Closed-book items",
        description="Number of items, drawn at random, that models also answer without options, and every single hop "
        "alone. This separates missing knowledge from missing reasoning. 0 leaves it out.",
    )
    context: int = Field(
        default=4096,
        ge=512,
        le=131_072,
        title="Context length",
        description="Largest number of tokens of prompt and answer together, for models that the stage runs itself.",
    )
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        default="auto",
        title="Number format",
        description="Number format of models that the stage runs itself. auto takes the model's own with vLLM on a "
        "GPU, bfloat16 with transformers on a GPU, and float32 on a CPU.",
    )
    quantization: str = Field(
        default="",
        max_length=32,
        pattern=r"^[a-z0-9_-]*$",
        title="Quantization",
        description="Method by which vLLM quantizes weights, such as fp8; empty leaves them as they are published.",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto",
        title="Device",
        description="Where transformers voters run; auto takes the first GPU where there is one.",
    )

    @field_validator("voters")
    @classmethod
    def seat_the_solvers(cls, names: list[str]) -> list[str]:
        """Where nobody is named, the solvers without weights vote."""
        return names or ["shortcuts"]

    @field_validator("max_right")
    @classmethod
    def refuse_a_rule_that_drops_nothing(cls, value: int, info: ValidationInfo) -> int:
        """As many right votes allowed as there are voters would keep everything."""
        voters = info.data.get("voters")
        if voters is not None and value >= (count := _count_voters(voters)):
            raise ValueError(f"should be less than the number of voters, {count}")
        return value

    @field_validator("votes_required")
    @classmethod
    def refuse_more_votes_than_voters(cls, value: int, info: ValidationInfo) -> int:
        """Nothing could be kept."""
        voters = info.data.get("voters")
        if voters is not None and value > (count := _count_voters(voters)):
            raise ValueError(f"should be at most the number of voters, {count}")
        return value

    @field_validator("accuracies")
    @classmethod
    def refuse_accuracies_of_others(cls, values: list[float], info: ValidationInfo) -> list[float]:
        """One for each voter, or none."""
        voters = info.data.get("voters")
        if values and voters is not None and len(values) != (count := _count_voters(voters)):
            raise ValueError(f"should have one accuracy for each of the {count} voters")
        return values


class VllmParameters(Parameters):
    """The vLLM that the filter stage starts for its voters. Nothing here is part of a run's identity."""

    python: Annotated[str, Cli(("--vllm-python",))] = Field(
        default="",
        max_length=4096,
        title="vLLM's Python",
        description="The interpreter of the environment with vLLM; empty takes .venvs/vllm in the checkout.",
    )
    gpus: int = Field(
        default=0,
        ge=0,
        le=64,
        title="GPUs",
        description="Number of GPUs to use; 0 takes all that the machine shows. Each model is copied to all of them.",
    )
    tensor_parallel: int = Field(
        default=1,
        ge=1,
        le=64,
        title="GPUs per copy",
        description="Number of GPUs over which one copy of a model is spread, for models that do not fit on one.",
    )
    memory_share: float = Field(
        default=0.9,
        gt=0,
        lt=1,
        title="Memory share",
        description="The share of each GPU's memory that vLLM may take.",
    )
    port: Annotated[int, Cli(("--vllm-port",))] = Field(
        default=0,
        ge=0,
        le=65_535,
        title="Port",
        description="Port of 127.0.0.1 on which vLLM listens; 0 takes a free port.",
    )
    start_seconds: int = Field(
        default=1800,
        ge=10,
        le=86_400,
        title="Start-up time",
        description="Number of seconds after which the stage gives up on a model that is still loading.",
    )

    deployment: Annotated[str, Cli(("--vllm-deployment",))] = Field(
        default="",
        max_length=200,
        pattern=r"^([^/\s]+/[^/\s]+)?$",
        title="Deployment",
        description="Prefect deployment that runs the filter of a whole build on a work pool of its own, such as "
        "filter/filter. Its workers see the same home. Empty runs the filter in place.",
    )

    def interpreter(self) -> Path:
        """The interpreter as an absolute path."""
        return Path(self.python).expanduser().absolute() if self.python else checkout() / ".venvs/vllm/bin/python"


def _count_voters(names: list[str]) -> int:
    """`shortcuts` stands for four."""
    return sum(4 if name == "shortcuts" else 1 for name in names)
