"""Which questions a model asks of a corpus."""

from typing import Annotated, Literal

from pydantic import Field

from hopwright.settings.base import MODEL_PATTERN, Cli
from hopwright.settings.corpus import CorpusChainsParameters, CorpusName
from hopwright.settings.models import ModelParameters


class CorpusQuestionsParameters(CorpusChainsParameters):
    """Which proven questions are made over a corpus, and who reads what it states."""

    model: Annotated[str, Cli(metavar="ENDPOINT/MODEL")] = Field(
        default="",
        max_length=500,
        pattern=MODEL_PATTERN,
        title="Model",
        description="A model, as endpoint/model, that reads where the documents state facts, beside the words of each "
        "relation; every reading is held against the text. Empty asks none.",
    )
    access: ModelParameters = Field(
        default_factory=ModelParameters,
        title="Access",
        description="Where the model is asked and what it may cost.",
    )


class CorpusReadParameters(CorpusName):
    """Which questions a model asks of a corpus in the paper's way: atomic ones, merged and verified."""

    model: Annotated[str, Cli(metavar="ENDPOINT/MODEL")] = Field(
        default="",
        max_length=500,
        pattern=MODEL_PATTERN,
        title="Model",
        description="The model that asks atomic questions and merges them, as endpoint/model.",
    )
    answer_model: Annotated[str, Cli(metavar="ENDPOINT/MODEL")] = Field(
        default="",
        max_length=500,
        pattern=MODEL_PATTERN,
        title="Answering model",
        description="The model that answers with and without the passages when questions are verified. Empty takes "
        "the one that asks.",
    )
    judge_model: Annotated[str, Cli(metavar="ENDPOINT/MODEL")] = Field(
        default="",
        max_length=500,
        pattern=MODEL_PATTERN,
        title="Judge",
        description="The model that grades answers from 0 to 2. Empty takes the one that asks.",
    )
    kinds: Annotated[list[Literal["inference", "comparison"]], Cli(("--kind", "--kinds"))] = Field(
        default=["inference", "comparison"], min_length=1, title="Kinds", description="Kinds of questions."
    )
    hops: list[Literal["2", "3", "4", "5", "6", "7"]] = Field(
        default=["2", "3", "4"],
        min_length=1,
        title="Hops",
        description="Numbers of hops of the questions: of atomic questions that each of them needs.",
    )
    passages: int = Field(
        default=100,
        ge=1,
        le=1_000_000,
        title="Passages",
        description="Passages, drawn by the seed, from which chains begin, at most.",
    )
    most: int = Field(
        default=500,
        ge=1,
        le=100_000,
        title="Questions",
        description="The most for each kind and number of hops. When all have as many, no more is asked.",
    )
    atomic: int = Field(
        default=5,
        ge=1,
        le=20,
        title="Atomic questions",
        description="The most that are asked about a passage; the paper's number is 5.",
    )
    top: int = Field(
        default=10,
        ge=1,
        le=100,
        title="Retrieved passages",
        description="Passages that an answer retrieves for the next hop; the paper's number is 10.",
    )
    beam: int = Field(
        default=15,
        ge=1,
        le=1000,
        title="Beam",
        description="Chains that go on from one opening question at every hop; the paper's number is 15.",
    )
    exclude: Annotated[str, Cli(metavar="FILE")] = Field(
        default="",
        max_length=4096,
        title="Excluded titles",
        description="A file with titles, one a line, as those of other benchmarks: nothing is asked of passages that "
        "bear one.",
    )
    seed: int = Field(default=0, ge=0, title="Seed", description="Draws the passages and which chains go on.")
    access: ModelParameters = Field(
        default_factory=ModelParameters,
        title="Access",
        description="Where the models are asked and what they may cost.",
    )
