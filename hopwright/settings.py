"""Where Hopwright keeps its things, and the parameters of a run, every one of them explained and bounded."""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from hopwright.errors import InputError

_CHECKOUT = Path(__file__).resolve().parents[1]
_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
_MODEL = r"^([^/\s]+/\S+)?$"
STAGES = ("retrieve", "synthesize", "filter", "rewrite", "review", "release")
"""In the order of the line of work; each rests on those before it."""
GPU_VOTERS = (
    "vllm:meta-llama/Llama-3.1-8B-Instruct",
    "vllm:Qwen/Qwen3-8B",
    "vllm:mistralai/Mistral-7B-Instruct-v0.3",
    "vllm:google/gemma-3-4b-it",
)
"""The four small models of Omanic's filter (section 3): the voters of the profile `gpu`."""


def home() -> Path:
    """The folder of runs and stores: `HOPWRIGHT_HOME`, else `.hopwright` in the checkout (or where one stands)."""
    named = os.environ.get("HOPWRIGHT_HOME", "").strip()
    if named:
        return Path(named).expanduser().absolute()
    root = _CHECKOUT if (_CHECKOUT / "pyproject.toml").is_file() else Path.cwd()
    return root / ".hopwright"


def prompts_folder() -> Path:
    """The prompt files that ship with the project."""
    return _CHECKOUT / "prompts"


def sample_folder() -> Path:
    """The sample of Wikidata's facts that ships with the project."""
    return _CHECKOUT / "data" / "sample"


class Parameters(BaseModel):
    """Base of all parameter models: nothing unknown gets in."""

    model_config = ConfigDict(extra="forbid", validate_default=True)


Share = Annotated[float, Field(ge=0, le=1000)]
TopologyName = Literal["chain", "converging", "bridge", "chain-2", "chain-3", "converging-3", "chain-5", "tree-7"]
DomainName = Literal["history", "art", "geography", "politics", "science", "film", "sports", "business"]


class TargetParameters(Parameters):
    """What the set of items shall be like: shares in any scale (2 and 1 are two thirds and one third).

    A share that the graph cannot give is missed; the run says which, how far, and at which step planning fails.
    """

    topologies: dict[TopologyName, Share] = Field(
        default={}, title="Topologies", description="Shares of the topologies; those not named here have a share of 1."
    )
    kinds: dict[Literal["temporal", "counting", "comparison", "arithmetic", "combinatorics"], Share] = Field(
        default={"temporal": 26, "counting": 24, "comparison": 18, "arithmetic": 18, "combinatorics": 14},
        min_length=1,
        title="Computations",
        description="Shares of what the computing hops do.",
    )
    answers: dict[Literal["entity", "number", "year", "date"], Share] = Field(
        default={"entity": 46, "number": 46, "year": 6, "date": 2},
        min_length=1,
        title="Final answers",
        description="Shares of the types of the final answer.",
    )
    popularity: dict[Literal["head", "middle", "tail"], Share] = Field(
        default={"head": 40, "middle": 32, "tail": 28},
        min_length=1,
        title="Popularity",
        description="Shares of the well-known, the middling and the obscure: thirds, by their number of facts, of the "
        "entities that can be asked about; an item's is that of what its look-ups name.",
    )
    anchoring: dict[Literal["2", "1", "0", "none"], Share] = Field(
        default={"2": 15, "1": 15, "0": 10, "none": 60},
        min_length=1,
        title="Anchoring",
        description="Shares of the items that keep both single hops of their anchor question, the second, only its "
        "answer, or that are chains of the graph without an anchor.",
    )
    domains: dict[DomainName, Share] = Field(
        default={}, title="Domains", description="How welcome each knowledge domain is; 1 where it is not named."
    )
    property_share: float = Field(
        default=0.3,
        gt=0,
        le=1,
        title="Largest share of a property",
        description="A property in more than this share of the items is held back as far as there are others.",
    )
    theme_share: float = Field(
        default=0.04,
        gt=0,
        le=1,
        title="Largest share of a theme",
        description="The same for one entity, league, race, or the clubs of one country.",
    )

    @field_validator("topologies", "kinds", "answers", "popularity", "anchoring", "domains")
    @classmethod
    def refuse_nothing(cls, shares: dict[str, float]) -> dict[str, float]:
        """Shares that are all nought ask for no item at all."""
        if shares and not any(shares.values()):
            raise ValueError("at least one share must be above 0")
        return shares


class SynthesizeParameters(Parameters):
    """How questions are planned and worded."""

    drafts: int = Field(
        default=3000,
        ge=1,
        le=10_000_000,
        title="Drafts",
        description="How many plans are drawn. Fewer items come out: what fails a check or is too easy is dropped.",
    )
    topologies: list[TopologyName] = Field(
        default=["chain", "converging", "bridge"],
        min_length=1,
        max_length=8,
        title="Topologies",
        description="Reasoning graphs of the hops: the three of four hops, and shorter and longer ones.",
    )
    targets: TargetParameters = Field(
        default_factory=TargetParameters, title="Targets", description="What the set of items shall be like."
    )
    min_domains: int = Field(
        default=2,
        ge=1,
        le=4,
        title="Domains per item",
        description="The least number of knowledge domains that the hops of one item must span.",
    )
    max_answer_share: float = Field(
        default=0.02,
        gt=0,
        le=1,
        title="Largest share of an answer",
        description="No final answer may be that of more than this share of the items.",
    )
    embeddings: Literal["off", "on", "auto"] = Field(
        default="off",
        title="Sentence embeddings",
        description="How alike two wrong options are. off: by spelling and the graph, the same bytes everywhere. "
        "on: also by sentence embeddings (the extra local must be installed). auto: on where it is installed.",
    )

    items: int = Field(
        default=0,
        ge=0,
        le=10_000_000,
        title="Items",
        description="How many items synthesis ends with; more drafts are drawn as long as some are missing. "
        "0 keeps all that the drafts give.",
    )
    writer: Literal["rules", "anthropic", "openai"] = Field(
        default="rules",
        title="Writer",
        description="Who words the proven plans: rules (free, exact), or a model in Anthropic's or OpenAI's format.",
    )
    model: str = Field(
        default="",
        max_length=200,
        pattern=_MODEL,
        title="Model",
        description="The model that words, as endpoint/model, such as anthropic/claude-sonnet-5-5; none for rules.",
    )
    fallback_models: list[Annotated[str, Field(min_length=3, max_length=200, pattern=_MODEL)]] = Field(
        default=[],
        max_length=4,
        title="Fall-back models",
        description="Models that are asked in turn while the first one is down, as endpoint/model.",
    )
    temperature: float = Field(
        default=0.7,
        ge=0,
        le=2,
        title="Temperature",
        description="How freely the model words; endpoints whose models refuse it are asked without.",
    )
    rounds: int = Field(
        default=3,
        ge=1,
        le=3,
        title="Rounds",
        description="Answers that a model may give for one item: the first, and those in which it puts right what was "
        "wrong with the one before.",
    )
    keep_rules: bool = Field(
        default=False,
        title="Keep the rules' wording",
        description="When no answer of the model is fit, keep the item in the rules' words, labelled as such, "
        "instead of rejecting it.",
    )

    @model_validator(mode="after")
    def demand_model(self) -> Self:
        """A model is named exactly when one words."""
        if self.writer != "rules" and not self.model:
            raise ValueError(f"the writer {self.writer} needs a model: endpoint/model (--model)")
        if self.writer == "rules" and (self.model or self.fallback_models):
            raise ValueError("the writer rules asks no model: choose anthropic or openai (--writer), or name no model")
        return self

    @field_validator("topologies")
    @classmethod
    def refuse_repeats(cls, names: list[str]) -> list[str]:
        """A topology named twice would get a double share by accident."""
        if len(set(names)) != len(names):
            raise ValueError("each topology may be named once")
        return names


VoterName = Annotated[
    str, Field(pattern=r"^(shortcuts|(shortcut|vllm|transformers):\S+|[^\s:/]+/\S+)$", min_length=3, max_length=1024)
]
"""A voter of the difficulty filter; `hopwright.difficulty.specs` reads it."""


class FilterParameters(Parameters):
    """Who judges how difficult an item is, how they are asked, and when an item is too easy to keep."""

    voters: list[VoterName] = Field(
        default=["shortcuts"],
        min_length=1,
        max_length=12,
        title="Voters",
        description="Who votes: shortcuts (four solvers without weights), vllm:MODEL (served by the stage; a Hugging "
        "Face id or a folder), transformers:MODEL (in this process), or ENDPOINT/MODEL (a server that already runs).",
    )
    max_right: int = Field(
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
        description="Votes that an item needs to be kept, unless the missing ones could not change its fate; an item "
        "with fewer is held back. 0 requires all voters'.",
    )
    replacements: list[VoterName] = Field(
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
        description="How often a model is asked again about an item to which it gave no usable answer.",
    )
    all_votes: bool = Field(
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
    accuracies: list[Annotated[float, Field(ge=0, le=1)]] = Field(
        default=[],
        max_length=12,
        title="Known accuracies",
        description="Expected accuracy of every voter, in the listed order, to order them by without a pilot.",
    )
    closed_book: int = Field(
        default=0,
        ge=0,
        le=100_000,
        title="Closed-book items",
        description="On so many items, drawn at random, models also answer without options, and every single hop "
        "alone: that parts missing knowledge from missing reasoning. 0 leaves it out.",
    )
    context: int = Field(
        default=4096,
        ge=512,
        le=131_072,
        title="Context length",
        description="Longest prompt and answer, in tokens, of the models that the stage runs itself.",
    )
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        default="auto",
        title="Number format",
        description="Of the models that the stage runs itself; auto is the model's own with vLLM on a GPU, bfloat16 "
        "with transformers on a GPU, and float32 on a CPU.",
    )
    quantization: str = Field(
        default="",
        max_length=32,
        pattern=r"^[a-z0-9_-]*$",
        title="Quantization",
        description="What vLLM is to quantize weights with, such as fp8; empty leaves them as they are published.",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto",
        title="Device",
        description="Where transformers voters run; auto takes the first GPU where there is one.",
    )

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


def _count_voters(names: list[str]) -> int:
    """`shortcuts` stands for four."""
    return sum(4 if name == "shortcuts" else 1 for name in names)


class VllmParameters(Parameters):
    """The vLLM that the filter stage starts for its voters. Nothing here is part of a run's identity."""

    python: str = Field(
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
        description="How many GPUs to use; 0 takes all that the machine shows. Each model is copied to all of them.",
    )
    tensor_parallel: int = Field(
        default=1,
        ge=1,
        le=64,
        title="GPUs per copy",
        description="Over how many GPUs one copy of a model is spread, for models that do not fit on one.",
    )
    memory_share: float = Field(
        default=0.9,
        gt=0,
        lt=1,
        title="Memory share",
        description="The share of each GPU's memory that vLLM may take.",
    )
    port: int = Field(
        default=0, ge=0, le=65_535, title="Port", description="Where vLLM listens on 127.0.0.1; 0 takes a free port."
    )
    start_seconds: int = Field(
        default=1800,
        ge=10,
        le=86_400,
        title="Start-up time",
        description="How many seconds a model may take to load before the stage gives up.",
    )

    deployment: str = Field(
        default="",
        max_length=200,
        pattern=r"^([^/\s]+/[^/\s]+)?$",
        title="Deployment",
        description="Where a whole build has the filter run: a Prefect deployment on a work pool of its own, such as "
        "filter/gpu, whose workers see the same home. Empty runs it in place.",
    )

    def interpreter(self) -> Path:
        """The interpreter as an absolute path."""
        return Path(self.python).expanduser().absolute() if self.python else _CHECKOUT / ".venvs/vllm/bin/python"


class RewriteParameters(Parameters):
    """Counterfactual twins: the same reasoning in a world of invented names and shifted numbers."""

    enabled: bool = Field(default=True, title="Make twins", description="Whether counterfactual twins are made at all.")
    passages: Literal["rules", "llm", "corpus", "off"] = Field(
        default="rules",
        title="Evidence passages",
        description="What items and twins are given to read: worded from their facts by rules, by a language model, "
        "taken from a corpus where it has the answer, or nothing.",
    )
    passage_model: str = Field(
        default="",
        max_length=200,
        pattern=_MODEL,
        title="Model of the passages",
        description="Who words them when a language model does, as endpoint/model.",
    )
    corpus: str = Field(
        default="",
        max_length=4096,
        title="Corpus of passages",
        description="JSON or JSON lines of {title, text}, when passages come from a corpus.",
    )
    distractor_passages: int = Field(
        default=1,
        ge=0,
        le=3,
        title="Distractor passages per hop",
        description="Passages that look as if they held the answer and do not.",
    )
    back_translation: Literal["auto", "apertium", "llm", "marian", "off"] = Field(
        default="auto",
        title="Back-translation",
        description="Reword twins by a round trip through another language: auto uses Apertium (Spanish) when it is "
        "installed, apertium insists on it, llm asks a language model, marian runs local weights, off does nothing.",
    )
    translation_model: str = Field(
        default="",
        max_length=200,
        pattern=_MODEL,
        title="Model of the back-translation",
        description="Who translates when a language model does, as endpoint/model.",
    )
    pivots: list[Annotated[str, Field(min_length=2, max_length=100)]] = Field(
        default=["Chinese"],
        min_length=1,
        max_length=5,
        title="Pivot languages",
        description="Languages to go through when a language model translates, tried in turn; 'Chinese, German' goes "
        "through both.",
    )
    weights: list[Annotated[str, Field(min_length=1, max_length=4096)]] = Field(
        default=[],
        max_length=8,
        title="MarianMT weights",
        description="Folders of MarianMT models in the order of the round trip, as opus-mt-en-zh and opus-mt-zh-en.",
    )
    tries: int = Field(
        default=2,
        ge=1,
        le=4,
        title="Tries per pivot",
        description="How many different round trips a text that fails a gate is sent on before the next pivot.",
    )
    max_overlap: float = Field(
        default=1.0,
        gt=0,
        le=1,
        title="Largest overlap",
        description="A reworded text may share at most this part of the old one's pairs of neighbouring words.",
    )
    min_similarity: float = Field(
        default=0.0,
        ge=0,
        le=1,
        title="Least similarity",
        description="A reworded text must be at least this similar by sentence embeddings (needs the local extra); "
        "0 does not measure it.",
    )
    judge_model: str = Field(
        default="",
        max_length=200,
        pattern=_MODEL,
        title="Judge of the meaning",
        description="A model, as endpoint/model, that must say that a reworded text means the same; empty asks none.",
    )
    memory_voters: list[Annotated[str, Field(min_length=3, max_length=500, pattern=_MODEL)]] = Field(
        default=[],
        max_length=8,
        title="Voters from memory",
        description="Models, as endpoint/model, that answer originals and twins without passages, to show that memory "
        "does not help; empty asks the shortcut solvers, which remember nothing.",
    )
    memory_items: int = Field(
        default=100,
        ge=0,
        le=100_000,
        title="Pairs for the voters",
        description="How many originals, each with its twin, the voters answer; 0 asks none.",
    )

    @model_validator(mode="after")
    def check_what_is_asked(self) -> Self:
        """Say at once what a chosen way lacks."""
        lacking = {
            "passage_model": self.passages == "llm" and not self.passage_model,
            "corpus": self.passages == "corpus" and not self.corpus,
            "translation_model": self.back_translation == "llm" and not self.translation_model,
            "weights": self.back_translation == "marian" and len(self.weights) < 2,
        }
        for name, is_lacking in lacking.items():
            if is_lacking:
                chosen = "passages" if name in ("passage_model", "corpus") else "back_translation"
                raise ValueError(f"{chosen} {getattr(self, chosen)!r} needs {name}")
        return self


class ReviewParameters(Parameters):
    """What goes to the experts in Label Studio. The access token comes from LABEL_STUDIO_API_KEY only."""

    url: str = Field(
        default="",
        max_length=500,
        pattern=r"^(https?://\S+)?$",
        title="Label Studio address",
        description="Push the tasks to this server; empty writes the task file only.",
    )
    items: int = Field(
        default=300,
        ge=0,
        le=250_000,
        title="Items to review",
        description="How many items are exported, drawn evenly over the topologies; 0 exports none.",
    )
    kinds: list[Literal["single_hop", "multi_hop", "twin"]] = Field(
        default=["single_hop", "multi_hop", "twin"],
        min_length=1,
        max_length=3,
        title="Kinds of tasks",
        description="What is reviewed of an item: each hop by itself, the whole question, its counterfactual twin.",
    )
    overlap: int = Field(
        default=2, ge=1, le=10, title="Reviewers per task", description="How many people review each task."
    )
    agreement_overlap: int = Field(
        default=3,
        ge=1,
        le=10,
        title="Reviewers of the agreement sample",
        description="How many people review each task of the items on which agreement is measured.",
    )
    agreement_items: int = Field(
        default=30,
        ge=0,
        le=10_000,
        title="Agreement sample",
        description="How many of the items go to the larger number of reviewers.",
    )
    gold_share: float = Field(
        default=0.05,
        ge=0,
        le=0.5,
        title="Gold items",
        description="Items with a planted fault, as a share of the items and for each kind of task: attention checks.",
    )


class PullParameters(Parameters):
    """How reviews come home from Label Studio. The access token comes from LABEL_STUDIO_API_KEY only."""

    url: str = Field(
        default="",
        max_length=500,
        pattern=r"^(https?://\S+)?$",
        title="Label Studio address",
        description="The server that the review tasks were pushed to; empty takes LABEL_STUDIO_URL.",
    )
    full: bool = Field(
        default=False, title="Everything", description="Fetch every annotation again, not only those that changed."
    )


class AdjudicateParameters(Parameters):
    """When reviewers differ too much, and when an item is good enough for the bench."""

    url: str = Field(
        default="",
        max_length=500,
        pattern=r"^(https?://\S+)?$",
        title="Label Studio address",
        description="Push what reviewers differ on to this server; empty only decides.",
    )
    min_mean: float = Field(
        default=4.0,
        ge=1,
        le=5,
        title="Least mean",
        description="An item is rejected whose mean over all criteria is below this.",
    )
    floor: float = Field(
        default=3.0,
        ge=1,
        le=5,
        title="Floor",
        description="An item is rejected when its reviewers' mean on any one criterion, of any hop, is below this.",
    )
    score_gap: int = Field(
        default=2,
        ge=0,
        le=4,
        title="Largest gap",
        description="Scores of one criterion that are further apart than this are settled by an adjudicator.",
    )
    settle_returned: bool = Field(
        default=False,
        title="Settle what was not answered",
        description="Hand corrections that do not hold to the adjudicator instead of waiting for their authors.",
    )


class ReleaseParameters(Parameters):
    """The name under which the dataset goes out."""

    name: str = Field(
        default="hopwright-sample",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
        title="Name",
        description="Letters, digits, dots, dashes and underscores.",
    )
    version: str = Field(
        default="",
        pattern=r"^(\d{1,6}\.\d{1,6}\.\d{1,6}(-[0-9A-Za-z.-]{1,32})?)?$",
        title="Version",
        description="Semantic version of the dataset, such as 1.0.0. Empty: 1.0.0 for the first release, and what the "
        "changes ask for against a previous one.",
    )
    previous: str = Field(
        default="",
        max_length=4096,
        title="Previous release",
        description="Folder of the release before this one: the new one says what was added, changed and withdrawn.",
    )
    reviewed: bool = Field(
        default=False,
        title="With the expert review",
        description="Release what the review accepted as the set bench, and of the rest as the set synth what gives "
        "nothing of bench away. Otherwise everything that the filter kept is synth.",
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
        default=0.0, ge=0, le=0.4, title="Validation share", description="The same for a set validation."
    )
    against: list[Annotated[str, Field(min_length=1, max_length=4096)]] = Field(
        default=[],
        max_length=20,
        title="Published questions",
        description="Files of MuSiQue, HotpotQA, 2WikiMultihopQA or others (JSON, JSON lines, text): the release says "
        "which of its questions overlap with them. It is always compared with the anchor questions.",
    )


class EvaluateParameters(Parameters):
    """Which models are asked about a dataset, and how."""

    data: str = Field(
        default="",
        max_length=4096,
        title="Dataset",
        description="A release's folder or a JSONL file in the release format; empty takes this run's release.",
    )
    models: list[Annotated[str, Field(min_length=3, max_length=500, pattern=_MODEL)]] = Field(
        default=[],
        max_length=100,
        title="Models",
        description="The models to ask, each as endpoint/model.",
    )
    forms: list[Literal["mcq", "open"]] = Field(
        default=["mcq", "open"],
        min_length=1,
        title="Forms",
        description="mcq: with the options A to D; open: the answer in words.",
    )
    promptings: list[Literal["direct", "cot"]] = Field(
        default=["direct", "cot"],
        min_length=1,
        title="Prompting",
        description="direct: the answer at once; cot: reasoning first (chain of thought).",
    )
    protocols: list[Literal["question", "alone", "independent", "chain"]] = Field(
        default=["question", "alone", "independent", "chain"],
        min_length=1,
        title="Protocols",
        description="question: the whole question; alone: every single hop; independent: hops after the gold answers "
        "that they rest on; chain: hops after the model's own answers.",
    )
    passages: list[Literal["none", "own", "irrelevant"]] = Field(
        default=["none"],
        min_length=1,
        title="Passages",
        description="Closed book, with the item's own passages, or with passages of other items.",
    )
    sub_questions: bool = Field(
        default=False,
        title="With sub-questions",
        description="Also ask the whole question together with the sub-questions that it comes apart into.",
    )
    judge: str = Field(
        default="",
        max_length=500,
        pattern=_MODEL,
        title="Judge",
        description="A model, as endpoint/model, that says whether a free answer means the gold one; empty asks none.",
    )
    limit: int = Field(
        default=0, ge=0, le=10_000_000, title="Items", description="How many items are asked about; 0 asks about all."
    )
    max_tokens: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        title="Longest answer",
        description="Tokens that an answer may have; 0 takes the prompts' own figures.",
    )

    @field_validator("models", "forms", "promptings", "protocols", "passages")
    @classmethod
    def refuse_doubles(cls, names: list[str]) -> list[str]:
        """What is named twice would be paid for once and counted twice."""
        if len(set(names)) != len(names):
            raise ValueError("each may be named once")
        return names


class RunParameters(Parameters):
    """What every stage needs to know of its run."""

    run: str = Field(
        default="sample",
        pattern=_NAME,
        title="Run",
        description="Name of the run's folder. The same name with the same parameters continues where it stopped.",
    )
    seed: int = Field(
        default=0, ge=0, le=2**31 - 1, title="Seed", description="The same seed gives the same bytes in every file."
    )
    workers: int = Field(
        default=0,
        ge=0,
        le=64,
        title="Worker processes",
        description="Processes that work on shards side by side; 0 takes one per processor. The output is the same.",
    )
    fresh: bool = Field(
        default=False, title="Start over", description="Remove what an earlier run of this name made, and begin again."
    )


class ModelParameters(Parameters):
    """Where language models are asked and what they may cost; which model is asked, each stage says for itself."""

    endpoints: str = Field(
        default="",
        max_length=4096,
        title="Endpoints",
        description="TOML file that describes the places where models answer; empty takes endpoints.toml of "
        "Hopwright's home where there is one. OpenAI and Anthropic are known without.",
    )
    budget_usd: float = Field(
        default=0,
        ge=0,
        le=1_000_000,
        title="Budget",
        description="US dollars that the run may spend in all: it stops before they are exceeded and can be continued "
        "with more; 0 sets no limit.",
    )

    batch: bool = Field(
        default=False,
        title="Batch mode",
        description="Hand requests in by the providers' batch interfaces, at half the price; that may take a day.",
    )

    def endpoints_file(self) -> Path | None:
        """The TOML file as an absolute path; None where there is none."""
        if self.endpoints:
            return Path(self.endpoints).expanduser().absolute()
        usual = home() / "endpoints.toml"
        return usual if usual.is_file() else None

    def limit(self) -> float | None:
        """The budget in US dollars; None where there is no limit."""
        return self.budget_usd or None


class ModelRun(RunParameters):
    """What the stages need to know that may ask language models; none of it shapes the output."""

    models: ModelParameters = Field(
        default_factory=ModelParameters,
        title="Language models",
        description="Where language models are asked and what they may cost.",
    )


class ShardedRun(RunParameters):
    """What the stages need to know that cut their input into shards."""

    shard_size: int = Field(
        default=250,
        ge=50,
        le=500,
        title="Shard size",
        description="Items per shard: one Prefect task, one Parquet part.",
    )


class RetrieveRun(ShardedRun):
    """Raw files → graph store → anchors with their facts."""

    corpus: str = Field(
        default="",
        max_length=4096,
        title="Corpus folder",
        description="Folder with Wikidata5M's files; empty takes the sample that ships with Hopwright.",
    )
    anchors: str = Field(
        default="",
        max_length=4096,
        title="Anchor questions",
        description="MuSiQue's JSONL of 2-hop questions; empty takes anchors.jsonl of the corpus folder.",
    )

    def corpus_folder(self) -> Path:
        """The corpus folder as an absolute path."""
        return Path(self.corpus).expanduser().absolute() if self.corpus else sample_folder()

    def anchors_file(self) -> Path:
        """The anchor questions as an absolute path."""
        return Path(self.anchors).expanduser().absolute() if self.anchors else self.corpus_folder() / "anchors.jsonl"


class SynthesizeRun(ShardedRun, ModelRun):
    """Anchors → planned, worded and checked items."""

    synthesize: SynthesizeParameters = Field(
        default_factory=SynthesizeParameters, title="Synthesis", description="How questions are planned and worded."
    )


class FilterRun(ModelRun):
    """Items → items that the voters do not find too easy."""

    filter: FilterParameters = Field(
        default_factory=FilterParameters,
        title="Difficulty",
        description="Who votes, and when an item is too easy to keep.",
    )
    vllm: VllmParameters = Field(
        default_factory=VllmParameters,
        title="vLLM",
        description="How the stage serves the models that it runs in vLLM.",
    )


class RewriteRun(ModelRun):
    """Items → counterfactual twins."""

    rewrite: RewriteParameters = Field(
        default_factory=RewriteParameters, title="Twins", description="Whether and how counterfactual twins are made."
    )


class ReviewRun(RunParameters):
    """Items → Label Studio tasks."""

    review: ReviewParameters = Field(
        default_factory=ReviewParameters, title="Review", description="What goes to the experts in Label Studio."
    )


class ReviewPullRun(RunParameters):
    """Annotations in Label Studio → reviews."""

    pull: PullParameters = Field(default_factory=PullParameters, title="Pull", description="How reviews come home.")


class AdjudicateRun(RunParameters):
    """Reviews → disputes and the accepted set."""

    adjudicate: AdjudicateParameters = Field(
        default_factory=AdjudicateParameters, title="Decisions", description="When an item is good enough."
    )


class ReleaseRun(RunParameters):
    """Items and twins → a dataset release."""

    release: ReleaseParameters = Field(
        default_factory=ReleaseParameters, title="Release", description="The name under which the dataset goes out."
    )


class EvaluateRun(ShardedRun, ModelRun):
    """A dataset → what models make of it, step by step."""

    evaluate: EvaluateParameters = Field(
        default_factory=EvaluateParameters,
        title="Evaluation",
        description="Which models are asked about a dataset, and how.",
    )


class BuildParameters(RetrieveRun, SynthesizeRun, FilterRun, RewriteRun, ReviewRun, ReleaseRun):
    """A whole run, from raw files to a release."""

    profile: Literal["offline", "api", "gpu"] = Field(
        default="offline",
        title="Profile",
        description="Who words the questions and judges their difficulty. offline: rules and shortcut solvers, "
        "no key, no GPU, no network. api: language models behind endpoints; naming a model to write chooses it. "
        "gpu: Omanic's four small models judge, in vLLM on a GPU, unless voters are named.",
    )

    @model_validator(mode="before")
    @classmethod
    def seat_the_profiles_voters(cls, values: Any) -> Any:
        """The profile names the voters where nobody else does."""
        if not isinstance(values, Mapping) or values.get("profile") != "gpu":
            return values
        group = values.get("filter", {})
        if isinstance(group, FilterParameters):
            group = group.model_dump(exclude_unset=True)
        if not isinstance(group, Mapping) or "voters" in group:
            return values
        return {**values, "filter": {**group, "voters": list(GPU_VOTERS)}}

    @model_validator(mode="after")
    def settle_profile(self) -> Self:
        """A run that asks a model to write is no offline run, and one of profile api asks one."""
        asks = self.synthesize.writer != "rules"
        if asks and self.profile == "offline":
            self.profile = "api"
        elif self.profile == "api" and not asks:
            raise ValueError("the profile api needs a model: --writer anthropic or openai, and --model endpoint/model")
        return self


_P = TypeVar("_P", bound=RunParameters)


def narrow(parameters: RunParameters, model: type[_P]) -> _P:
    """The part of a run's parameters that one stage takes."""
    return model.model_validate({name: getattr(parameters, name) for name in model.model_fields})


def identify(parameters: RunParameters) -> dict[str, Any]:
    """The parameters that shape the output: all but the run's name, how it is executed, where tasks are pushed, and
    where models answer at what cost."""
    hidden: Any = {"run": True, "workers": True, "fresh": True, "models": True, "vllm": True, "pull": True}
    hidden |= {"review": {"url"}, "adjudicate": {"url"}}
    return parameters.model_dump(mode="json", exclude=hidden)


def load_parameters(values: Mapping[str, Any], model: type[_P]) -> _P:
    """Validate parameters. Raises InputError: one line naming the first field that is wrong, and how many more are."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        errors = error.errors()
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise InputError(_explain(errors[0], model) + more) from None


def _explain(error: ErrorDetails, model: type[BaseModel]) -> str:
    """What is wrong with one parameter, by its dotted name, and what it should be."""
    where = ".".join(str(part) for part in error["loc"]) or "parameters"
    known = _list_fields(model)
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(where, known, 1)
        return f"{where}: there is no such parameter" + (f"; is {near[0]} meant?" if near else "")
    if error["type"] == "string_pattern_mismatch" and where in known:
        return f"{where}: {error['input']!r} does not fit ({known[where].description})"
    whole = isinstance(error["input"], dict) and error["type"] == "value_error"
    given = "" if whole or error["type"] == "missing" else f", not {error['input']!r}"
    return f"{where}: {error['msg'].removeprefix('Value error, ')}{given}"


def _list_fields(model: type[BaseModel], prefix: str = "") -> dict[str, FieldInfo]:
    """All parameters of a model and of its groups by their dotted names."""
    fields: dict[str, FieldInfo] = {}
    for name, field in model.model_fields.items():
        fields[prefix + name] = field
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            fields |= _list_fields(field.annotation, f"{prefix}{name}.")
    return fields
