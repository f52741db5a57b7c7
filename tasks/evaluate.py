"""A dataset → every model's answers, step by step → one report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hopwright.errors import HopwrightError, InputError
from hopwright.runs import Counts, RunFolder, Stage, StageManifest
from hopwright.settings import EvaluateRun
from hopwright.stages.evaluate import EvaluationShard, ask_shard, describe_data, list_requests, make_report
from tasks.engine import execute_stage, execute_unsharded_stage, pick_parameters
from tasks.models import grant_access
from tasks.pool import current_pool
from tasks.release import release_folder
from tasks.stage_plan import StagePlan, run_step

_HEAD = "evaluate"
REPORT = f"{_HEAD}/report"


def plan_evaluation(run: RunFolder, parameters: EvaluateRun) -> list[StagePlan]:
    """One plan a model. Raises InputError for no model, no data, or passages that the data does not have."""
    wanted = parameters.evaluate
    if not wanted.models:
        raise InputError("no model to evaluate: name at least one, as endpoint/model (--model anthropic/…)")
    data = Path(wanted.data).expanduser().absolute() if wanted.data else release_folder(run)
    found = current_pool().run(describe_data, data, wanted.limit)
    if "own" in wanted.passages and found["with_passages"] < found["items"]:
        lacking = found["items"] - found["with_passages"]
        raise InputError(f"{data}: {lacking} of {found['items']} items have no passages: leave out the passages 'own'")
    judges = [wanted.judge] if wanted.judge else []
    access = grant_access(run, parameters, [*wanted.models, *judges])
    picked = pick_parameters(parameters, "shard_size", "evaluate")
    shared = {name: value for name, value in dict(picked["evaluate"]).items() if name != "models"}  # type: ignore[call-overload]
    hashes, prompts = found.pop("hashes"), found.pop("prompts")
    return [
        StagePlan(
            name=f"{_HEAD}/{make_slug(model)}",
            unit="questions",
            parameters={**picked, "evaluate": {**shared, "model": model}, "prompts": prompts},
            inputs=hashes,
            process=ask_shard,
            specs=[
                EvaluationShard(
                    access=access,
                    data=data,
                    limit=wanted.limit,
                    model=model,
                    forms=tuple(wanted.forms),
                    promptings=tuple(wanted.promptings),
                    protocols=tuple(wanted.protocols),
                    passages=tuple(wanted.passages),
                    sub_questions=wanted.sub_questions,
                    judge=wanted.judge,
                    max_tokens=wanted.max_tokens,
                    seed=parameters.seed,
                    start=start,
                    count=parameters.shard_size,
                )
                for start in range(0, found["items"], parameters.shard_size)
            ],
            notes={"model": model, "data": data.name, **found},
            access=access,
            requests=list_requests,
        )
        for model in wanted.models
    ]


def evaluate_models(run: RunFolder, parameters: EvaluateRun) -> StageManifest:
    """Ask every model in turn, then write the report over all of them."""
    plans = plan_evaluation(run, parameters)
    for plan in plans:
        execute_stage(run, plan, fresh=parameters.fresh)
    stages = [Stage(run, plan.name) for plan in plans]
    inputs = {name: digest for stage in stages for name, digest in stage.output_hashes().items()}
    report = StagePlan(name=REPORT, unit="questions", parameters={"models": parameters.evaluate.models}, inputs=inputs)
    # The report is cheap and rests on nothing but the answers: with another model beside them it is written anew.
    outdated = Stage(run, REPORT).manifest_path.exists() and not _is_current(run, inputs)
    return execute_unsharded_stage(
        run, report, lambda stage: _fill(stage, stages, parameters), fresh=parameters.fresh or outdated
    )


def make_slug(model: str) -> str:
    """A model's name as a folder's."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.") or "model"


def _is_current(run: RunFolder, inputs: dict[str, str]) -> bool:
    try:
        return Stage(run, REPORT).read().inputs == inputs
    except HopwrightError:
        return False


def _fill(stage: Stage, stages: list[Stage], parameters: EvaluateRun) -> StageManifest:
    manifests = [one.read() for one in stages]
    first = manifests[0].notes
    facts: dict[str, Any] = {
        "data": f"{first['data']}: {first['factual']:,} items, {first['counterfactual']:,} counterfactual twins",
        "models": ", ".join(parameters.evaluate.models),
        "asked": f"{sum(one.counts.out for one in manifests):,} questions, "
        f"{sum(int(one.notes['requests']) for one in manifests):,} different requests",
        "cost": f"{sum(one.usage.cost_usd for one in manifests):,.4f} US dollars",
        "judge of free answers": parameters.evaluate.judge or "none",
    }
    if first["bad_rows"]:
        facts["left out"] = f"{first['bad_rows']} rows that are not in the release format ({first['first_bad_row']})"
    folder = stage.folder / "files"
    figures = run_step(
        "report",
        make_report,
        [part for one in stages for part in one.parts()],
        f"{stage.run.name}",
        tuple(facts.items()),
        folder,
    )
    taken = sum(one.counts.out for one in manifests)
    return stage.finish(
        counts=Counts(taken=taken, out=taken),
        outputs=[folder],
        notes={"folder": str(folder.relative_to(stage.run.home)), **figures},
    )
