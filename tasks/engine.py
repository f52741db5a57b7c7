"""Carries out stages' plans: missing shards as Prefect tasks, progress, manifest, artifacts."""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.futures import PrefectFuture, as_completed
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from hopwright.errors import BudgetError
from hopwright.runs import RunFolder, ShardReport, Stage, StageManifest, hash_file, part_path, rejected_path
from hopwright.runs.manifest import gather_versions
from hopwright.runs.storage import open_storage
from hopwright.settings import RunParameters, home, storage
from hopwright.stages.plan import StagePlan
from hopwright.stages.registry import stages_after
from hopwright.stages.remote_execution import STORES, ShardOrigin, describe_state, execute_remotely, list_paths
from hopwright.stages.workers import ShardWork, current_pool, execute_shard, open_pool
from tasks.artifacts import publish_stage
from tasks.cluster import explain_lost_workers, open_cluster, yield_done
from tasks.flow_context import in_flow
from tasks.interrupts import raise_missed
from tasks.live import StageProgress, report_model_progress
from tasks.models import ModelProgress, end_models, note_models, prepare_models, require_models, submit_batch_requests

_T = TypeVar("_T")


def make_task_runner() -> TaskRunner[PrefectFuture[Any]]:
    """Threads that wait for the workers: one more than there are processors, so that a shard is always at hand."""
    runner: Any = ThreadPoolTaskRunner(max_workers=len(os.sched_getaffinity(0)) + 1)
    return cast("TaskRunner[PrefectFuture[Any]]", runner)


@dataclass(frozen=True, slots=True)
class Engine:
    """Carries out the stages of one run, whose folder is locked: as Prefect tasks where a flow is running."""

    run: RunFolder

    def execute(self, plan: StagePlan, *, fresh: bool = False) -> StageManifest:
        """Run a stage to its end, as many shards side by side as the task runner allows, or as there are workers.

        A failed shard does not stop the others; the first error is raised when all have ended, and what was finished
        stays. Raises RunError when the stage belongs to other parameters or cannot be written.
        """
        raise_missed()
        stage = Stage(self.run, plan.name)
        missing = stage.begin(
            plan.parameters,
            inputs=plan.inputs,
            shards=len(plan.specs),
            fresh=fresh,
            downstream=stages_after(plan.name) if fresh else (),
        )
        notes = dict(plan.notes)
        if missing and plan.process is not None:
            with _follow_models(plan, missing) as models:
                try:
                    _make_shards(stage, plan, missing, models)
                finally:
                    if models is not None:
                        notes["models"] = note_models(models.take())
                        stage.note(notes)
        manifest = stage.finish(notes=notes, skipped=plan.skipped)
        publish_stage(manifest, plan.unit, str(stage.folder))
        return manifest

    def write(self, plan: StagePlan, make: Callable[[Stage], StageManifest], *, fresh: bool = False) -> StageManifest:
        """Run a stage that has no shards: `make` writes its files, each whole or not at all, and finishes the stage."""
        raise_missed()
        stage = Stage(self.run, plan.name)
        downstream = stages_after(plan.name) if fresh else ()
        stage.begin(plan.parameters, inputs=plan.inputs, fresh=fresh, downstream=downstream)
        if stage.finished:
            manifest = stage.read()
        else:
            progress = StageProgress(plan.name, 1, 0)
            manifest = make(stage)
            progress.advance()
        publish_stage(manifest, plan.unit, str(stage.folder))
        return manifest

    def step(self, name: str, function: Callable[..., _T], *args: Any) -> _T:
        """Run something else than a shard in a worker process, as a task of its own where a flow is running."""
        if in_flow():
            return _run_step(name, function, *args)
        return current_pool().run(function, *args)

    def steps(self, function: Callable[..., _T], works: Mapping[str, tuple[Any, ...]]) -> list[_T]:
        """Run something else than shards side by side, as `step` does one: name → arguments; results in their order."""
        if in_flow():
            submitted = [_run_step.submit(name, function, *args) for name, args in works.items()]
            return [future.result() for future in submitted]
        with ThreadPoolExecutor(current_pool().workers) as threads:
            return list(threads.map(lambda args: current_pool().run(function, *args), works.values()))


@contextlib.contextmanager
def open_run(parameters: RunParameters) -> Iterator[Engine]:
    """Open the run, its folder locked, with workers at hand; a subflow shares both with its parent."""
    run = RunFolder(home(), parameters.run, storage())
    prepare_models(parameters)
    cluster = functools.partial(open_cluster, parameters.cluster)
    with run.hold(), open_pool(parameters.workers, cluster):
        is_new = run.read_manifest() is None
        if is_new:
            # What models cost is counted from here, under the moment at which the run began.
            run.begin({})
        try:
            yield Engine(run)
        finally:
            end_models(run)
            if is_new and not run.has_stages:
                # What was refused before its first stage leaves no empty run behind.
                run.remove()


@task(name="shard", task_run_name="{work.stage}-{work.index}", cache_policy=NO_CACHE, persist_result=False)
def run_shard(work: ShardWork) -> ShardReport:
    """Run one shard in a worker process, which writes its files."""
    return current_pool().run(execute_shard, work)


@task(name="shard", task_run_name="{work.stage}-{work.index}", cache_policy=NO_CACHE, persist_result=False)
def run_shard_remotely(work: ShardWork, origin: ShardOrigin) -> ShardReport:
    """Run one shard; this task itself runs in a worker of the cluster."""
    return execute_remotely(work, origin)


@task(name="step", task_run_name="{name}", cache_policy=NO_CACHE, persist_result=False)
def _run_step(name: str, function: Callable[..., _T], *args: Any) -> _T:
    return current_pool().run(function, *args)


@contextlib.contextmanager
def _follow_models(plan: StagePlan, missing: list[int]) -> Iterator[ModelProgress | None]:
    if plan.access is None:
        yield None
        return
    require_models(plan.access)
    with ModelProgress(plan.name, plan.access, missing=len(missing), parallel=current_pool().workers) as models:
        if plan.access.batch and plan.requests is not None:
            listed = (request for index in missing for request in plan.requests(plan.specs[index]))
            submit_batch_requests(plan.access, listed, functools.partial(report_model_progress, plan.name))
        yield models


def _make_shards(stage: Stage, plan: StagePlan, missing: list[int], models: ModelProgress | None) -> None:
    assert plan.process is not None
    progress = StageProgress(plan.name, len(plan.specs), len(plan.specs) - len(missing), plan.unit)
    mirror = stage.run.mirror
    copy = f"{mirror.url}/{plan.name}" if mirror is not None else ""
    works = [ShardWork(plan.name, index, stage.folder, plan.process, plan.specs[index], copy) for index in missing]
    errors: list[Exception] = []
    for future in _start_shards(stage.run, plan, works):
        try:
            report: ShardReport = future.result()
            if mirror is not None:
                # A worker on another machine has put them into the storage.
                mirror.fetch_files([rejected_path(stage.folder, report.index), part_path(stage.folder, report.index)])
        except Exception as error:
            errors.append(explain_lost_workers(error))
        else:
            progress.advance(report)
            if models is not None:
                models.advance()
    if errors:
        # What ended the spending explains what followed from it.
        raise next((error for error in errors if isinstance(error, BudgetError)), errors[0])


def _start_shards(run: RunFolder, plan: StagePlan, works: list[ShardWork]) -> Iterator[Any]:
    """The shards' futures, as they are done: tasks of the flow, or threads where none is running.

    A cluster takes those that ask no models. Models are asked from here: limits and the budget are kept in this
    machine's request store, and who asks waits for answers rather than for processors.
    """
    cluster = current_pool().cluster
    if in_flow() and cluster is not None and plan.access is None:
        origin = _describe_origin(run, plan)
        submitted = [cluster.submit(run_shard_remotely, {"work": work, "origin": origin}) for work in works]
        yield from yield_done(submitted)
        return
    if in_flow():
        yield from as_completed([run_shard.submit(work) for work in works])
        return
    with ThreadPoolExecutor(current_pool().workers) as threads:
        yield from concurrent.futures.as_completed([threads.submit(run_shard.fn, work) for work in works])


def _describe_origin(run: RunFolder, plan: StagePlan) -> ShardOrigin:
    """What the cluster's workers need to know of us; the graph stores that they will read are put into the storage."""
    if run.storage:
        for path in sorted(list_paths(plan.specs)):
            if path.is_relative_to(run.home / STORES):
                open_storage(run.storage).put_below(path, str(path.relative_to(run.home)))
    begun = hash_file(Stage(run, plan.name).manifest_path)
    return ShardOrigin(run.home, run.name, run.storage, describe_state(run), begun, gather_versions())
