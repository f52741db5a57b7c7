"""What a run would ask of language models, and what that would cost, before anything is sent or paid.

A single stage is planned as it would be, and its plan lists its requests. Of a whole run nothing is there yet: its
stages are rehearsed in a folder of their own on the first few drafts, each with the rules and solvers that cost
nothing, so that the next one has something to list requests for; the sums are then scaled to the whole run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from hopwright.llm.config import read_settings
from hopwright.llm.estimate import Estimate, Likely, add_estimates, estimate_run
from hopwright.llm.prices import read_prices
from hopwright.llm.store import Store
from hopwright.llm.types import Request
from hopwright.runs import RunFolder, Stage
from hopwright.settings import (
    BuildParameters,
    EvaluateRun,
    FilterRun,
    ModelRun,
    RetrieveRun,
    RewriteRun,
    RunParameters,
    SynthesizeRun,
    home,
    narrow,
)
from tasks.evaluate import plan_evaluation
from tasks.filter import plan_filter
from tasks.models import list_texts, names_model
from tasks.pool import current_pool, open_pool
from tasks.retrieve import plan_retrieve
from tasks.rewrite import plan_rewrite
from tasks.steps import StagePlan
from tasks.synthesize import plan_drafts, plan_selection
from tasks.work.models import STORE
from tasks.work.shards import ShardWork, execute_shard

Planner = Callable[[RunFolder, Any], StagePlan]
_P = TypeVar("_P", bound=BaseModel)

REHEARSED: tuple[tuple[type[RunParameters], Planner], ...] = (
    (RetrieveRun, plan_retrieve),
    (SynthesizeRun, plan_drafts),
    (SynthesizeRun, plan_selection),
    (FilterRun, plan_filter),
    (RewriteRun, plan_rewrite),
)
"""The stages up to the last that may ask models, in the order of the line of work."""

DRAFTS = 250
"""Draft slots that are rehearsed; a run of fewer is rehearsed whole."""
_HEAVY = ("llm", "vllm:", "transformers:", "marian")
"""Values of parameters that name what is too heavy for a rehearsal, or asks a model."""
_SHARDS = 20
"""Shards of a stage whose requests are listed, evenly over all of them."""


def estimate_build(parameters: BuildParameters) -> Estimate:
    """What a whole run would ask and cost; nothing is kept of the rehearsal but the graph store."""
    if not any(names_model(text) for text in list_texts(parameters)):
        return add_estimates([])
    drafts = min(parameters.synthesize.drafts, DRAFTS)
    small = parameters.synthesize.model_copy(update={"drafts": drafts})
    wanted = parameters.model_copy(update={"synthesize": small})
    free = without_models(wanted)
    growth = parameters.synthesize.drafts / drafts
    estimates = []
    home().mkdir(parents=True, exist_ok=True)
    (home() / "stores").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".dry-run-", dir=home()) as folder, open_pool(parameters.workers):
        # Stores are named by what is in them: the run proper will find the one made here.
        (Path(folder) / "stores").symlink_to(home() / "stores")
        run = RunFolder(Path(folder), "dry-run")
        for number, (model, make_plan) in enumerate(REHEARSED, start=1):
            plan = make_plan(run, narrow(wanted, model))
            estimates.append(_estimate_plan(plan, parameters, growth))
            if number < len(REHEARSED):
                _perform(run, plan if plan.requests is None else make_plan(run, narrow(free, model)))
    return add_estimates(estimates)


def estimate_stage(make_plan: Planner, parameters: ModelRun) -> Estimate:
    """What one stage of a run would ask and cost, given what the stages before it have made."""
    with open_pool(parameters.workers):
        return _estimate_plan(make_plan(RunFolder(home(), parameters.run), parameters), parameters, 1.0)


def estimate_evaluation(parameters: EvaluateRun) -> Estimate:
    """What an evaluation would ask and cost."""
    with open_pool(parameters.workers):
        plans = plan_evaluation(RunFolder(home(), parameters.run), parameters)
        return add_estimates([_estimate_plan(plan, parameters, 1.0) for plan in plans])


def without_models(parameters: _P) -> _P:
    """The same parameters with nobody to be asked: what names a model goes back to its default."""
    update: dict[str, Any] = {}
    for name, field in type(parameters).model_fields.items():
        value = getattr(parameters, name)
        if isinstance(value, BaseModel):
            update[name] = without_models(value)
        elif _asks(value):
            update[name] = field.get_default(call_default_factory=True)
    return parameters.model_copy(update=update)


def _asks(value: object) -> bool:
    texts = value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(text, str) and (names_model(text) or text.startswith(_HEAVY)) for text in texts)


def _estimate_plan(plan: StagePlan, parameters: ModelRun, growth: float) -> Estimate:
    if plan.requests is None or not plan.specs:
        return add_estimates([])
    chosen = _draw_evenly(plan.specs, _SHARDS)
    settings = read_settings(parameters.models.endpoints_file())
    growth *= len(plan.specs) / len(chosen)
    with Store(home() / STORE) as store:
        return estimate_run(
            _list_requests(plan, chosen), settings, store, read_prices(settings.prices), parameters.models.batch,
            growth=growth, stage=plan.name,
        )  # fmt: skip


def _list_requests(plan: StagePlan, specs: Sequence[Any]) -> Iterator[Request | Likely]:
    assert plan.requests is not None
    for spec in specs:
        yield from plan.requests(spec)


def _draw_evenly(specs: Sequence[Any], most: int) -> list[Any]:
    if len(specs) <= most:
        return list(specs)
    return [specs[number * len(specs) // most] for number in range(most)]


def _perform(run: RunFolder, plan: StagePlan) -> None:
    """Run a stage without Prefect, its shards side by side."""
    assert plan.process is not None
    stage, pool = Stage(run, plan.name), current_pool()
    missing = stage.begin(plan.parameters, inputs=plan.inputs, shards=len(plan.specs))
    works = [ShardWork(plan.name, index, stage.folder, plan.process, plan.specs[index]) for index in missing]
    with ThreadPoolExecutor(pool.workers) as threads:
        for _ in threads.map(pool.run, [execute_shard] * len(works), works):
            pass
    stage.finish(notes=plan.notes, skipped=plan.skipped)
