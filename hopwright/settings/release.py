"""How a dataset goes out, and how models are evaluated on it."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from hopwright.settings.base import MODEL_PATTERN, OPTIONAL_NAME_PATTERN, Cli, ModelName, Parameters


class ReleaseParameters(Parameters):
    """How the dataset is named and divided into sets."""

    name: Annotated[str, Cli(main=True)] = Field(
        default="",
        pattern=OPTIONAL_NAME_PATTERN,
        title="Name",
        description="Name of the dataset and of its folder. Empty names it after the run: hopwright-RUN.",
    )
    version: Annotated[str, Cli(main=True)] = Field(
        default="",
        pattern=r"^(\d{1,6}\.\d{1,6}\.\d{1,6}(-[0-9A-Za-z.-]{1,32})?)?$",
        title="Version",
        description="Semantic version of the dataset, such as 1.0.0. Empty takes 1.0.0 for the first release, and "
        "otherwise the version that the changes since the previous release ask for.",
    )
    previous: Annotated[str, Cli(metavar="FOLDER")] = Field(
        default="",
        max_length=4096,
        title="Previous release",
        description="Folder of the previous release. The new release then lists what was added, changed and withdrawn.",
    )
    reviewed: Annotated[bool, Cli(("--reviewed/--all",))] = Field(
        default=False,
        title="With the expert review",
        description="Release the items that the review accepted as the set bench, and the rest as the set synth, as "
        "far as it gives nothing of bench away. Without this, everything that the filter kept is synth.",
    )
    separation: Literal["facts", "paths"] = Field(
        default="facts",
        title="Separation of the sets",
        description="facts: no item of synth shares a single fact with a tested set. paths: it shares no two facts of "
        "which one rests on the other; for small graphs, in which everybody meets at the same few facts.",
    )
    test: float = Field(
        default=0.0,
        ge=0,
        le=0.5,
        title="Test share",
        description="This share of the machine-checked items is drawn for a set test, stratified by reasoning graph, "
        "domain and kinds of computation.",
    )
    validation: float = Field(
        default=0.0,
        ge=0,
        le=0.4,
        title="Validation share",
        description="This share of the machine-checked items is drawn for a set validation, in the same way.",
    )
    against: Annotated[list[Annotated[str, Field(min_length=1, max_length=4096)]], Cli(metavar="FILE")] = Field(
        default=[],
        max_length=20,
        title="Published questions",
        description="Files of MuSiQue, HotpotQA, 2WikiMultihopQA or others (JSON, JSON lines, text): no question "
        "of theirs, or nearly one, is released. The anchor questions are always compared with.",
    )


class EvaluateParameters(Parameters):
    """Which models are asked about a dataset, and how."""

    data: str = Field(
        default="",
        max_length=4096,
        title="Dataset",
        description="A release's folder or a JSONL file in the release format; empty takes this run's release.",
    )
    models: Annotated[list[ModelName], Cli(metavar="ENDPOINT/MODEL")] = Field(
        default=[],
        max_length=100,
        title="Models",
        description="The models to evaluate, each as endpoint/model.",
    )
    forms: list[Literal["mcq", "open"]] = Field(
        default=["mcq", "open"],
        min_length=1,
        title="Forms",
        description="mcq asks with the options A to D; open asks for the answer in words.",
    )
    promptings: list[Literal["direct", "cot"]] = Field(
        default=["direct", "cot"],
        min_length=1,
        title="Prompting",
        description="direct asks for the answer at once; cot asks for the reasoning first (chain of thought).",
    )
    protocols: list[Literal["question", "alone", "independent", "chain"]] = Field(
        default=["question", "alone", "independent", "chain"],
        min_length=1,
        title="Protocols",
        description="question: the whole question; alone: every single hop; independent: hops after the gold answers "
        "that they rest on; chain: hops after the model's own answers.",
    )
    passages: Annotated[list[Literal["none", "own", "irrelevant"]], Cli(("--passages",))] = Field(
        default=["none"],
        min_length=1,
        title="Passages",
        description="none asks closed-book; own gives the item's own passages; irrelevant gives passages of other "
        "items.",
    )
    sub_questions: bool = Field(
        default=False,
        title="With sub-questions",
        description="Also ask the whole question together with its sub-questions.",
    )
    judge: Annotated[str, Cli(metavar="ENDPOINT/MODEL")] = Field(
        default="",
        max_length=500,
        pattern=MODEL_PATTERN,
        title="Judge",
        description="A model, as endpoint/model, that says whether a free answer means the gold one; with tools it "
        "grades final answers from 0 to 2. Empty asks none.",
    )
    tools: Annotated[list[Literal["search"]], Cli(("--tools",))] = Field(
        default=[],
        title="Tools",
        description="search lets the models search a corpus and read in it; forms, prompting, protocols and passages "
        "then do not apply.",
    )
    corpus: Annotated[str, Cli(metavar="NAME|FOLDER")] = Field(
        default="",
        max_length=4096,
        title="Corpus",
        description="What is searched with tools: the name of a corpus, or its folder.",
    )
    modes: list[Literal["search", "none", "gold", "gold_minus_one", "distractors"]] = Field(
        default=["search"],
        min_length=1,
        title="Modes",
        description="With tools: search uses them; for comparison, none gives the question alone, gold the gold "
        "passages, gold_minus_one those of all hops but one, distractors the gold passages among others.",
    )
    max_steps: int = Field(
        default=10, ge=1, le=50, title="Steps", description="With tools: number of calls in one episode."
    )
    limit: int = Field(
        default=0, ge=0, le=10_000_000, title="Items", description="Number of items to ask about; 0 asks about all."
    )
    max_tokens: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        title="Longest answer",
        description="Largest number of tokens of an answer; 0 takes the figures of the prompts.",
    )

    @field_validator("models", "forms", "promptings", "protocols", "passages", "tools", "modes")
    @classmethod
    def refuse_doubles(cls, names: list[str]) -> list[str]:
        """What is named twice would be paid for once and counted twice."""
        if len(set(names)) != len(names):
            raise ValueError("each may be named once")
        return names
