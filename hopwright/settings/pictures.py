"""How pictures are fetched, and which questions are asked about them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from hopwright.settings.base import (
    MODEL_PATTERN,
    NAME_PATTERN,
    OPTIONAL_NAME_PATTERN,
    PICTURE_VOTER_PATTERN,
    Cli,
    Parameters,
)
from hopwright.settings.corpus import AgentParameters
from hopwright.settings.difficulty import VllmParameters
from hopwright.settings.models import ModelParameters
from hopwright.settings.presets import read_picture_presets

PictureSourceName = Literal["flags", "outlines", "marks", "none"]


class PicturesName(Parameters):
    """Which store of pictures is meant."""

    pictures: str = Field(
        default="pictures",
        pattern=NAME_PATTERN,
        title="Pictures",
        description="Name of the folder of pictures in Hopwright's home.",
    )


class PicturesFetchParameters(PicturesName):
    """Which pictures are fetched, and how they are drawn."""

    sources: Annotated[list[PictureSourceName], Cli(("--source", "--sources"))] = Field(
        default=["flags", "outlines"],
        title="Sources",
        description="flags (flag-icons), outlines of countries (world-atlas) and marks of brands (simple-icons), which "
        "npm fetches; none where only pictures of your own are wanted.",
    )
    size: int = Field(
        default=448, ge=64, le=2048, title="Size", description="Pixels of a picture's longer side as it is stored."
    )


class PictureQuestionsParameters(PicturesName):
    """Which questions are asked about pictures."""

    preset: Literal["none", "offline", "paper"] = Field(
        default="none",
        title="Preset",
        description="Fills in what is not chosen. offline: 500 questions, half of them comparisons, with twins. "
        "paper: the shares of MMhops, 85 % bridging, comparisons of two pictures, no twins.",
    )
    items: int = Field(default=500, ge=1, le=100_000, title="Items", description="How many questions are made.")
    bridging: float = Field(
        default=0.5,
        ge=0,
        le=1,
        title="Bridging",
        description="Share of the questions that go on from one picture; the others compare several.",
    )
    depths: Annotated[list[Literal["3", "4", "5"]], Cli(("--depth", "--depths"))] = Field(
        default=["3", "4"],
        min_length=1,
        title="Hops",
        description="Numbers of hops of a question, those of its pictures included.",
    )
    three: float = Field(
        default=0.2,
        ge=0,
        le=1,
        title="Three pictures",
        description="Share of the comparisons that show three pictures, as far as the numbers of hops allow.",
    )
    twins: bool = Field(
        default=True,
        title="Twins",
        description="Make the twin of every question that has one: the same words, another picture, another answer.",
    )
    seed: int = Field(default=0, ge=0, title="Seed", description="Draws the questions.")

    @model_validator(mode="before")
    @classmethod
    def fill_in_the_preset(cls, values: Any) -> Any:
        """What was chosen goes before the preset."""
        name = values.get("preset") if isinstance(values, Mapping) else None
        return {**read_picture_presets().get(name, {}), **values} if isinstance(name, str) else values


class PicturesExportParameters(PicturesName, AgentParameters):
    """How a set of questions about pictures is exported; all but the form is for environments of agents."""

    forms: Annotated[
        list[
            Literal[
                "lm-eval", "inspect", "llama-factory", "environment", "verifiers", "inspect-agent", "verl-agent",
                "trajectories",
            ]
        ],
        Cli(("--form",)),
    ] = Field(
        default=["lm-eval", "inspect", "llama-factory"],
        min_length=1,
        title="Forms",
        description="For other programs: lm-eval, inspect, llama-factory. For agents that look pictures up: "
        "environment, verifiers, inspect-agent, verl-agent, trajectories.",
    )  # fmt: skip
    corpus: str = Field(
        default="",
        pattern=OPTIONAL_NAME_PATTERN,
        title="Corpus",
        description="For agents: name of the corpus that they search. Without it they search the facts of the set.",
    )
    seed: int = Field(
        default=0, ge=0, le=2**32 - 1, title="Seed", description="For trajectories: draws which searches fail."
    )


class PicturesEvaluateParameters(PicturesName):
    """Which models are asked about pictures, and what they are shown."""

    models: Annotated[
        list[Annotated[str, Field(min_length=3, max_length=500, pattern=MODEL_PATTERN)]],
        Cli(("--model", "--models"), metavar="ENDPOINT/MODEL"),
    ] = Field(default=[], title="Models", description="Models that see pictures, each as endpoint/model.")
    shown: Annotated[list[Literal["right", "none", "wrong"]], Cli(("--shown",))] = Field(
        default=["right", "none", "wrong"],
        min_length=1,
        title="Shown",
        description="right: the question's own pictures; none: only the text; wrong: pictures of other things.",
    )
    options: bool = Field(
        default=False, title="Options", description="Show the four options of questions that have them."
    )
    steps: bool = Field(default=False, title="Steps", description="Ask each hop by its own question, too.")
    tools: bool = Field(
        default=False,
        title="Tools",
        description="Ask agents: models look the pictures up with image_search and the facts with search, then answer.",
    )
    vectors: Path | None = Field(
        default=None,
        title="Vectors",
        description="With tools: a folder of another model's vectors of the pictures (vectors.npy and media.txt).",
    )
    protocol: Literal["infoseek", "absolute"] = Field(
        default="infoseek",
        title="Protocol",
        description="When a number is right. infoseek: within a tenth of it, as MMhops counts. absolute: within 0.1.",
    )
    limit: int = Field(
        default=0, ge=0, title="Limit", description="Only the first so many questions of the split; 0 takes all."
    )
    split: Literal["all", "train", "validation", "test"] = Field(
        default="test", title="Split", description="Which part of the data set is asked."
    )
    max_tokens: int = Field(
        default=512, ge=16, le=32_768, title="Tokens", description="The most that a model may write for an answer."
    )
    access: ModelParameters = Field(
        default_factory=ModelParameters,
        title="Access",
        description="Where the models are asked and what they may cost.",
    )


class PicturesFilterParameters(PicturesName):
    """Which models vote on questions about pictures, and what is too easy."""

    voters: Annotated[
        list[Annotated[str, Field(min_length=3, max_length=1024, pattern=PICTURE_VOTER_PATTERN)]],
        Cli(("--voter", "--voters"), metavar="ENDPOINT/MODEL"),
    ] = Field(
        default=[],
        title="Voters",
        description="Models that see pictures: endpoint/model, or vllm:MODEL for a folder or a Hugging Face id that "
        "vLLM serves here.",
    )
    max_right: int = Field(
        default=1, ge=0, title="Right votes", description="More right votes than these drop a question as too easy."
    )
    max_tokens: int = Field(
        default=512, ge=16, le=32_768, title="Tokens", description="The most that a voter may write for an answer."
    )
    context: int = Field(
        default=8192,
        ge=512,
        le=131_072,
        title="Context length",
        description="Largest number of tokens of pictures, prompt and answer together, for models served here.",
    )
    vllm: VllmParameters = Field(
        default_factory=VllmParameters, title="vLLM", description="The vLLM that serves voters here."
    )
    access: ModelParameters = Field(
        default_factory=ModelParameters,
        title="Access",
        description="Where the models are asked and what they may cost.",
    )


class PicturesRewordParameters(PicturesName):
    """Which model words questions about pictures."""

    model: Annotated[str, Cli(("--model",), metavar="ENDPOINT/MODEL")] = Field(
        default="", max_length=500, title="Model", description="A model that sees pictures, as endpoint/model."
    )
    access: ModelParameters = Field(
        default_factory=ModelParameters,
        title="Access",
        description="Where the model is asked and what it may cost.",
    )
