"""What a stage declares, what it hands over to be carried out, and who carries it out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hopwright.errors import InputError
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.types import Request
from hopwright.runs import RunFolder, ShardOutput, Stage, StageManifest
from hopwright.settings import BuildParameters, RunParameters, identify
from hopwright.stages.models import ModelAccess

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class StageStep:
    """A folder of parts that a stage writes, in which rows are counted.

    `unit` names the rows that come in, `outcome` what became of those that come out; `shard` is the function that makes
    one part, None where the step is not cut into shards.
    """

    name: str
    unit: str
    outcome: str
    shard: Callable[[Any], ShardOutput] | None = None


@dataclass(frozen=True, slots=True)
class StageSpec:
    """A stage as it is declared.

    `needs` names the stages whose files it reads, where they are there: it is removed when one of them starts over.
    `models` lists the models that a whole run would have it ask at endpoints, as `endpoint/model`. `check` looks
    for what the stage will need and lack, before a whole run begins; it raises InputError or ServiceError.
    """

    name: str
    parameters: type[RunParameters]
    needs: tuple[str, ...]
    steps: tuple[StageStep, ...]
    models: Callable[[BuildParameters], Sequence[str]] | None = None
    check: Callable[[RunFolder, BuildParameters], None] | None = None


@dataclass(frozen=True, slots=True)
class StagePlan:
    """A stage made ready: nothing has been written yet.

    `unit` names what a row is; `notes` and `skipped` go into the manifest as they are. A stage that writes other
    things than parts has no `process` and no `specs`. One that asks language models has their `access`, and `requests`,
    which lists what a spec's shard would ask (`tasks.models` says how).
    """

    name: str
    unit: str
    parameters: Mapping[str, Any]
    inputs: Mapping[str, str]
    process: Callable[[Any], ShardOutput] | None = None
    specs: Sequence[Any] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    access: ModelAccess | None = None
    requests: Callable[[Any], Iterable[Request | ApproximateRequest]] | None = None


class StageEngine(Protocol):
    """Whoever carries out the plans of one run; `tasks.engine.Engine` does."""

    @property
    def run(self) -> RunFolder:
        """The run, whose lock is held."""
        ...

    def execute(self, plan: StagePlan, *, fresh: bool = False) -> StageManifest:
        """Make the shards that are missing, and close the stage."""
        ...

    def write(self, plan: StagePlan, make: Callable[[Stage], StageManifest], *, fresh: bool = False) -> StageManifest:
        """Carry out a stage that has no shards: `make` writes its files, each whole or not at all, and closes it."""
        ...

    def step(self, name: str, function: Callable[..., _T], *args: Any) -> _T:
        """Run a module-level function that is no shard in a worker process."""
        ...

    def steps(self, function: Callable[..., _T], works: Mapping[str, tuple[Any, ...]]) -> list[_T]:
        """Run such a function several times side by side: name → arguments; the results are in their order."""
        ...


def pick_parameters(parameters: RunParameters, *groups: str) -> dict[str, object]:
    """Return the seed and the named groups of parameters: what one stage's output depends on."""
    values = identify(parameters)
    return {name: values[name] for name in ("seed", *groups)}


def gather_hashes(stages: Iterable[Stage]) -> dict[str, str]:
    """Return the hashes of the parts of several finished stages: what a later one names as its inputs."""
    return {name: digest for stage in stages for name, digest in stage.output_hashes().items()}


def is_finished(run: RunFolder, stage: str) -> bool:
    """Whether a stage of this run has ended: what it needed is not asked for again."""
    return Stage(run, stage).find_finished() is not None


def require_paths(named: Iterable[tuple[str, str]]) -> None:
    """Raises InputError for the first path of (parameter, path) pairs that is not there."""
    for name, path in named:
        if not Path(path).expanduser().exists():
            raise InputError(f"{name}: {path} does not exist")
