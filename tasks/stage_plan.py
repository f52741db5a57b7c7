"""What a stage hands to the engine, and the Prefect tasks that the engine is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypedDict, TypeVar

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext

from hopwright.errors import ServiceError
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.types import Request
from hopwright.runs import ShardOutput, ShardReport
from hopwright.stages.models import ModelAccess
from hopwright.stages.remote_execution import ShardOrigin, execute_remotely
from hopwright.stages.shards import ShardWork, execute_shard
from tasks.pool import current_pool

_T = TypeVar("_T")


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


class ServiceRetries(TypedDict):
    """The retry settings of a task that speaks to an outside service."""

    retries: int
    retry_delay_seconds: list[float]
    retry_condition_fn: Callable[..., bool]


def retry_service(times: int) -> ServiceRetries:
    """Retry what an outside service failed at, after 2, 4, 8, … seconds; never a mistake in what was asked."""
    return ServiceRetries(
        retries=times,
        retry_delay_seconds=[float(2**attempt) for attempt in range(1, times + 1)],
        retry_condition_fn=is_service_failure,
    )


def is_service_failure(_task: object, _run: object, state: State[Any]) -> bool:
    """Whether a task failed because of a service."""
    try:
        state.result()
    except ServiceError:
        return True
    except Exception:
        return False
    return False


def in_flow() -> bool:
    """Whether a flow is running here. Outside one, stages are carried out alike, without tasks and artifacts."""
    return FlowRunContext.get() is not None


@task(name="shard", task_run_name="{work.stage}-{work.index}", cache_policy=NO_CACHE, persist_result=False)
def run_shard(work: ShardWork) -> ShardReport:
    """Run one shard in a worker process, which writes its files."""
    return current_pool().run(execute_shard, work)


@task(name="shard", task_run_name="{work.stage}-{work.index}", cache_policy=NO_CACHE, persist_result=False)
def run_shard_remotely(work: ShardWork, origin: ShardOrigin) -> ShardReport:
    """Run one shard; this task itself runs in a worker of the cluster."""
    return execute_remotely(work, origin)


def run_step(name: str, function: Callable[..., _T], *args: Any) -> _T:
    """Run something else than a shard in a worker process, as a task of its own where a flow is running."""
    if in_flow():
        return _run_step(name, function, *args)
    return current_pool().run(function, *args)


def run_steps(function: Callable[..., _T], works: Mapping[str, tuple[Any, ...]]) -> list[_T]:
    """Run something else than shards side by side, as `run_step` does one: name → arguments; results in their order."""
    if in_flow():
        return [future.result() for future in [_run_step.submit(name, function, *args) for name, args in works.items()]]
    with ThreadPoolExecutor(current_pool().workers) as threads:
        return list(threads.map(lambda args: current_pool().run(function, *args), works.values()))


@task(name="step", task_run_name="{name}", cache_policy=NO_CACHE, persist_result=False)
def _run_step(name: str, function: Callable[..., _T], *args: Any) -> _T:
    return current_pool().run(function, *args)
