"""What a run would ask of language models, and what that would cost, before anything is sent or paid.

A single stage is planned as it would be, and its plan lists its requests. Of a whole run nothing is there yet: its
stages are rehearsed in a folder of their own on the first few drafts, each with the rules and solvers that cost
nothing, so that the next one has something to list requests for; the sums are then scaled to the whole run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from hopwright.llm.config import read_settings
from hopwright.llm.estimate import ApproximateRequest, CostEstimate, add_estimates, estimate_run
from hopwright.llm.prices import read_prices
from hopwright.llm.store import consult_store
from hopwright.llm.types import Request
from hopwright.runs import RunFolder
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
    list_model_fields,
    narrow,
)
from hopwright.stages.evaluate import plan_evaluation
from hopwright.stages.filter import plan_asked_votes, plan_filter
from hopwright.stages.models import STORE
from hopwright.stages.plan import StagePlan
from hopwright.stages.retrieve import plan_retrieve
from hopwright.stages.rewrite import plan_estimate, plan_passages, plan_rewrite, plan_twins
from hopwright.stages.synthesize import count_kept, plan_drafts, plan_wording_estimate
from hopwright.stages.workers import open_pool
from tasks.engine import Engine
from tasks.models import list_named_models, names_model

Planner = Callable[[RunFolder, Any], StagePlan]
_P = TypeVar("_P", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class EstimatedStage:
    """One stage of a rehearsal: how it is carried out for nothing, and what it would ask, where it may ask models."""

    name: str
    model: type[RunParameters]
    perform: Planner
    list_asking: Callable[[RunFolder, Any], list[StagePlan]] | None = None


def plan_ingest(run: RunFolder, parameters: RetrieveRun) -> StagePlan:
    """Make the graph store, and plan the linking of anchors to it."""
    return plan_retrieve(Engine(run), parameters)


def list_wordings(run: RunFolder, parameters: SynthesizeRun) -> list[StagePlan]:
    """What wording would ask."""
    return [plan_wording_estimate(run, parameters)]


def list_passages(run: RunFolder, parameters: RewriteRun) -> list[StagePlan]:
    """What passages in a model's words would ask."""
    return [plan_passages(run, parameters)]


def list_rewrite(run: RunFolder, parameters: RewriteRun) -> list[StagePlan]:
    """What back-translation would ask."""
    return [plan_estimate(run, parameters)]


ESTIMATED_STAGES = (
    EstimatedStage("retrieve", RetrieveRun, plan_ingest),
    EstimatedStage("drafts", SynthesizeRun, plan_drafts),
    EstimatedStage("wording", SynthesizeRun, plan_wording_estimate, list_wordings),
    EstimatedStage("votes", FilterRun, plan_filter, plan_asked_votes),
    EstimatedStage("passages", RewriteRun, plan_passages, list_passages),
    EstimatedStage("twins", RewriteRun, plan_twins),
    EstimatedStage("back-translation", RewriteRun, plan_rewrite, list_rewrite),
)
"""The stages up to the last that may ask models, in the order of the line of work."""

DRAFTS = 250
"""Draft slots that are rehearsed; a run of fewer is rehearsed whole."""
_ASKING = ("llm", "marian", "anthropic", "openai")
"""Choices of how something is done that ask a model, or are too heavy for a rehearsal."""
_HEAVY = ("vllm:", "transformers:")
"""How voters are named that are too heavy for a rehearsal."""
_SHARDS = 20
"""Shards of a stage whose requests are listed, evenly over all of them."""


def estimate_build(parameters: BuildParameters, tell: Callable[[str], object] = lambda line: None) -> CostEstimate:
    """What a whole run would ask and cost; nothing is kept of the rehearsal but the graph store.

    `tell` is told of every step of the rehearsal before it begins.
    """
    if not any(list_named_models(parameters)):
        return add_estimates([])
    read_prices(read_settings(parameters.models.endpoints_file()).prices)  # refused here, they cost no rehearsal
    drafts = min(parameters.synthesize.drafts, DRAFTS)
    small = parameters.synthesize.model_copy(update={"drafts": drafts, "items": 0})
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
        for number, step in enumerate(ESTIMATED_STAGES, start=1):
            tell(f"rehearsing step {number} of {len(ESTIMATED_STAGES)}: {step.name}")
            ours, without = narrow(wanted, step.model), narrow(free, step.model)
            asking = step.list_asking(run, ours) if step.list_asking is not None and ours != without else []
            if parameters.synthesize.items and step.perform is plan_wording_estimate:
                # From here on the rows are the items that are asked for, however many drafts they take.
                kept = count_kept(plan_wording_estimate(run, narrow(free, SynthesizeRun)))
                growth = parameters.synthesize.items / max(1, kept)
            estimates += [_estimate_plan(plan, parameters, growth) for plan in asking]
            if number < len(ESTIMATED_STAGES):
                Engine(run).execute(step.perform(run, without))
    return add_estimates(estimates)


def estimate_stage(list_asking: Callable[[RunFolder, Any], list[StagePlan]], parameters: ModelRun) -> CostEstimate:
    """What one stage of a run would ask and cost, given what the stages before it have made."""
    with open_pool(parameters.workers):
        plans = list_asking(RunFolder(home(), parameters.run), parameters)
        return add_estimates([_estimate_plan(plan, parameters, 1.0) for plan in plans])


def estimate_filter(parameters: FilterRun) -> CostEstimate:
    """What the filter of a run would ask and cost."""
    return estimate_stage(plan_asked_votes, parameters)


def estimate_rewrite(parameters: RewriteRun) -> CostEstimate:
    """What passages and back-translation of a run would ask and cost."""
    return estimate_stage(_list_twins, parameters)


def estimate_evaluation(parameters: EvaluateRun) -> CostEstimate:
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
        elif _asks(value, names_models=name in list_model_fields(type(parameters))):
            update[name] = field.get_default(call_default_factory=True)
    return parameters.model_copy(update=update)


def _list_twins(run: RunFolder, parameters: RewriteRun) -> list[StagePlan]:
    return [*list_passages(run, parameters), *list_rewrite(run, parameters)]


def _asks(value: object, *, names_models: bool) -> bool:
    if not names_models:
        return value in _ASKING
    texts = [value] if isinstance(value, str) else value
    return isinstance(texts, (list, tuple)) and any(names_model(text) or text.startswith(_HEAVY) for text in texts)


def _estimate_plan(plan: StagePlan, parameters: ModelRun, growth: float) -> CostEstimate:
    if plan.requests is None or not plan.specs:
        return add_estimates([])
    chosen = _draw_evenly(plan.specs, _SHARDS)
    settings = read_settings(parameters.models.endpoints_file())
    growth *= len(plan.specs) / len(chosen)
    with consult_store(home() / STORE) as store:
        return estimate_run(
            _list_requests(plan, chosen), settings, store, read_prices(settings.prices), parameters.models.batch,
            growth=growth, stage=plan.name,
        )  # fmt: skip


def _list_requests(plan: StagePlan, specs: Sequence[Any]) -> Iterator[Request | ApproximateRequest]:
    assert plan.requests is not None
    for spec in specs:
        yield from plan.requests(spec)


def _draw_evenly(specs: Sequence[Any], most: int) -> list[Any]:
    if len(specs) <= most:
        return list(specs)
    return [specs[number * len(specs) // most] for number in range(most)]
