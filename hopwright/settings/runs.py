"""The parameters of the flows: one stage's, and those of a whole run."""

import functools
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hopwright.settings.base import NAME_PATTERN, Cli, Parameters
from hopwright.settings.difficulty import FilterParameters, VllmParameters
from hopwright.settings.form import arrange_form, read_form
from hopwright.settings.models import ModelParameters
from hopwright.settings.paths import sample_folder
from hopwright.settings.presets import PresetName, apply_preset, list_changes, read_presets
from hopwright.settings.release import EvaluateParameters, ReleaseParameters
from hopwright.settings.review import AdjudicateParameters, PullParameters, ReviewParameters
from hopwright.settings.synthesis import SynthesizeParameters
from hopwright.settings.twins import RewriteParameters

_log = logging.getLogger(__name__)
_B = TypeVar("_B", bound=BaseModel)


class RunParameters(Parameters):
    """What every stage needs to know of its run."""

    run: str = Field(
        default="sample",
        pattern=NAME_PATTERN,
        title="Run",
        description="Name of the run and of its folder. The same name with the same parameters continues where the "
        "run stopped.",
    )
    seed: int = Field(
        default=0, ge=0, le=2**31 - 1, title="Seed", description="The same seed gives the same bytes in every file."
    )
    workers: int = Field(
        default=0,
        ge=0,
        le=64,
        title="Worker processes",
        description="Number of processes that work on shards side by side; 0 takes one per processor. The output is "
        "the same.",
    )
    cluster: Annotated[str, Cli(metavar="ADDRESS")] = Field(
        default="",
        max_length=200,
        pattern=r"^(local|[a-z]+://\S+)?$",
        title="Dask cluster",
        description="Where shards that ask no models are made. Empty: in worker processes of this machine. local: on a "
        "Dask cluster with as many workers on this machine. tcp://HOST:8786: on the cluster of that Dask scheduler.",
    )
    fresh: bool = Field(
        default=False,
        title="Start over",
        description="Remove everything that an earlier run of this name made, and begin again.",
    )
    notify: str = Field(
        default="",
        max_length=200,
        pattern=r"^([a-z0-9-]+/[a-z0-9-]+)?$",
        title="Notify",
        description="Prefect notification block that is told when the run fails, crashes or reaches its budget, "
        "such as slack-webhook/ops; empty takes HOPWRIGHT_NOTIFY of the environment.",
    )


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

    corpus: Annotated[str, Cli(metavar="FOLDER")] = Field(
        default="",
        max_length=4096,
        title="Corpus folder",
        description="Folder with Wikidata5M's files; empty takes the sample that ships with Hopwright.",
    )
    anchors: Annotated[str, Cli(metavar="FILE")] = Field(
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

    def list_sources(self) -> list[Path]:
        """The files and folders that a run starts from."""
        return [self.corpus_folder(), self.anchors_file()]


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
        description="Which voters answer the items, and when an item is too easy to keep.",
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

    pull: PullParameters = Field(
        default_factory=PullParameters, title="Pull", description="How reviews are fetched from Label Studio."
    )


class AdjudicateRun(RunParameters):
    """Reviews → disputes and the accepted set."""

    adjudicate: AdjudicateParameters = Field(
        default_factory=AdjudicateParameters,
        title="Decisions",
        description="When an item is good enough for the set bench.",
    )


class ReleaseRun(RunParameters):
    """Items and twins → a dataset release."""

    release: ReleaseParameters = Field(
        default_factory=ReleaseParameters,
        title="Release",
        description="How the dataset is named and divided into sets.",
    )


class EvaluateRun(ShardedRun, ModelRun):
    """A dataset → what models make of it, step by step."""

    evaluate: EvaluateParameters = Field(
        default_factory=EvaluateParameters,
        title="Evaluation",
        description="Which models are asked about a dataset, and how.",
    )


def order_fields(names: Iterable[str]) -> list[str]:
    """Parameters as forms and --help list them: which run and of what kind, the stages, then how it is executed."""
    first = ("run", "dated", "preset")
    last = ("models", "vllm", "shard_size", "seed", "workers", "cluster", "notify", "fresh")
    places = {name: place for place, name in enumerate(first, -len(first))} | {n: p for p, n in enumerate(last, 1)}
    return sorted(names, key=lambda name: places.get(name, 0))


def _arrange_properties(schema: dict[str, Any], model: type[BaseModel]) -> None:
    arrange_form(schema, model)


@functools.cache
def _make_defaults(model: type[_B]) -> _B:
    return model()


class BuildParameters(ReleaseRun, ReviewRun, RewriteRun, FilterRun, SynthesizeRun, RetrieveRun):
    """A whole run, from raw files to a release."""

    model_config = ConfigDict(json_schema_extra=_arrange_properties)

    dated: bool = Field(
        default=False,
        title="Dated",
        description="Append the day for which the run was planned to its name. A schedule then makes one run a day.",
    )
    preset: PresetName = Field(
        default="none",
        title="Preset",
        description="Fills in what is left at its default. offline needs no key and no GPU. api has a model word and "
        "translate within a budget. gpu has Omanic's four models vote in vLLM. paper takes Omanic's own figures and "
        "needs the whole corpus.",
    )

    @model_validator(mode="before")
    @classmethod
    def fill_in_the_preset(cls, values: Any) -> Any:
        """What differs from its default was chosen, and goes before the preset. The last of these comes first."""
        name = values.get("preset") if isinstance(values, Mapping) else None
        if not isinstance(name, str) or name not in read_presets():
            return values
        defaults = _make_defaults(cls)
        chosen = list_changes({key: value for key, value in values.items() if key != "preset"}, defaults)
        return {**apply_preset(name, chosen, defaults), "preset": name}

    @model_validator(mode="before")
    @classmethod
    def read_the_form(cls, values: Any) -> Any:
        """What the form shows at the top or folds is read by its own name."""
        return read_form(values, _make_defaults(cls)) if isinstance(values, Mapping) and values else values

    @model_validator(mode="before")
    @classmethod
    def read_a_profile(cls, values: Any) -> Any:
        """Former parameters may name a profile: `gpu` is the preset of that name, the others said nothing more."""
        if not isinstance(values, Mapping) or "profile" not in values:
            return values
        rest = {key: value for key, value in values.items() if key != "profile"}
        name = values["profile"]
        if name == "gpu" and rest.get("preset", "none") == "none":
            rest["preset"] = name
        _log.warning("profile is no parameter any more: %s", f"read as preset {name}" if name == "gpu" else "left out")
        return rest
