"""Where Hopwright keeps its things, and the parameters of a run, every one of them explained and bounded."""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from hopwright.errors import InputError

_CHECKOUT = Path(__file__).resolve().parents[1]
_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
_MODEL = r"^([^/\s]+/\S+)?$"
STAGES = ("retrieve", "synthesize", "filter", "rewrite", "review", "release")
"""In the order of the line of work; each rests on those before it."""


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


class SynthesizeParameters(Parameters):
    """How questions are planned and worded."""

    drafts: int = Field(
        default=6000,
        ge=1,
        le=10_000_000,
        title="Drafts",
        description="How many plans are drawn. Fewer items come out: what fails a check or is too easy is dropped.",
    )
    topologies: list[Literal["chain", "converging", "bridge"]] = Field(
        default=["chain", "converging", "bridge"],
        min_length=1,
        max_length=3,
        title="Topologies",
        description="Reasoning graphs of the four hops; the drafts take them in turn.",
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


class FilterParameters(Parameters):
    """When an item is too easy to keep."""

    max_right: int = Field(
        default=1,
        ge=0,
        le=3,
        title="Right votes allowed",
        description="An item is dropped when more than this many of the four shortcut solvers pick the right option.",
    )


class RewriteParameters(Parameters):
    """Counterfactual twins: the same reasoning in a world of invented names and shifted numbers."""

    enabled: bool = Field(default=True, title="Make twins", description="Whether counterfactual twins are made at all.")
    back_translation: Literal["auto", "apertium", "off"] = Field(
        default="auto",
        title="Back-translation",
        description="Reword twins by English → Spanish → English: auto uses Apertium when it is installed, "
        "apertium insists on it, off leaves the wording.",
    )


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


class ReleaseParameters(Parameters):
    """The name under which the dataset goes out."""

    name: str = Field(
        default="hopwright-sample",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
        title="Name",
        description="Letters, digits, dots, dashes and underscores.",
    )
    version: str = Field(
        default="0.1.0",
        pattern=r"^\d{1,6}\.\d{1,6}\.\d{1,6}(-[0-9A-Za-z.-]{1,32})?$",
        title="Version",
        description="Semantic version of the dataset, such as 1.0.0.",
    )


class EvaluateParameters(Parameters):
    """Which models are asked about a dataset, and how."""

    data: str = Field(
        default="",
        max_length=4096,
        title="Dataset",
        description="A release's folder or a JSONL file in the release format; empty takes this run's release.",
    )
    models: list[str] = Field(
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
    """Items → items that shortcuts do not solve."""

    filter: FilterParameters = Field(
        default_factory=FilterParameters, title="Difficulty", description="When an item is too easy to keep."
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

    profile: Literal["offline", "api"] = Field(
        default="offline",
        title="Profile",
        description="Who words the questions and judges their difficulty. offline: rules and shortcut solvers, "
        "no key, no GPU, no network. api: language models behind endpoints; naming a model anywhere chooses it.",
    )

    @model_validator(mode="after")
    def settle_profile(self) -> Self:
        """A run that asks a model is no offline run, and one of profile api asks one."""
        asks = self.synthesize.writer != "rules"
        if asks:
            self.profile = "api"
        elif self.profile == "api":
            raise ValueError("the profile api needs a model: --writer anthropic or openai, and --model endpoint/model")
        return self


_P = TypeVar("_P", bound=RunParameters)


def narrow(parameters: RunParameters, model: type[_P]) -> _P:
    """The part of a run's parameters that one stage takes."""
    return model.model_validate({name: getattr(parameters, name) for name in model.model_fields})


def identify(parameters: RunParameters) -> dict[str, Any]:
    """The parameters that shape the output: all but the run's name, how it is executed, where tasks are pushed, and
    where models answer at what cost."""
    hidden: Any = {"run": True, "workers": True, "fresh": True, "models": True, "review": {"url"}}
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
