"""Items → Label Studio's task file, and the tasks on a server when one is named."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from prefect import task
from prefect.artifacts import create_link_artifact
from prefect.cache_policies import NO_CACHE

from hopwright.errors import InputError
from hopwright.runs import Counts, RunFolder, Stage, StageManifest, write_file
from hopwright.settings import ReviewRun
from tasks.engine import carry_out_once, pick_parameters
from tasks.steps import StagePlan, retry_service, run_step
from tasks.work.review import write_sample

PUSHED = "pushed.json"
TASKS = "tasks"


def plan_review(run: RunFolder, parameters: ReviewRun) -> StagePlan:
    """The items that the filter kept; the server's address changes nothing in the files."""
    items = Stage(run, "filter")
    return StagePlan(
        name="review",
        unit="items",
        parameters=pick_parameters(parameters, "review"),
        inputs=items.output_hashes(),
    )


def make_review(run: RunFolder, parameters: ReviewRun) -> StageManifest:
    """Write the task file of a run; push it when a server is named."""
    plan = plan_review(run, parameters)
    manifest = carry_out_once(run, plan, lambda stage: export_tasks(run, stage, parameters), fresh=parameters.fresh)
    if parameters.review.url:
        folder = run.path / "review"
        report = push_tasks(folder / TASKS, parameters.review.url, f"Hopwright: {run.name}")
        write_file(folder / PUSHED, json.dumps(report, indent=2).encode() + b"\n")
        create_link_artifact(key="review-project", link=report["url"], description="The Label Studio project")
    return manifest


def export_tasks(run: RunFolder, stage: Stage, parameters: ReviewRun) -> StageManifest:
    """Write the tasks of a sample, and close the stage."""
    taken = Stage(run, "filter").read().counts.out
    wanted = min(parameters.review.items, taken)
    run_step("export", write_sample, Stage(run, "filter").parts(), wanted, parameters.seed, stage.folder / TASKS)
    return stage.finish(
        counts=Counts(taken=taken, out=wanted, rejected={"not_sampled": taken - wanted} if taken > wanted else {}),
        outputs=[stage.folder / TASKS],
        notes={"tasks": str((stage.folder / TASKS / "tasks.json").relative_to(run.home))},
    )


@task(name="push-review", cache_policy=NO_CACHE, persist_result=False, **retry_service(3))
def push_tasks(folder: Path, url: str, title: str) -> dict[str, Any]:
    """Bring the tasks to the server; repeated, it makes no doubles. The token never leaves the environment."""
    from annotation.push import push  # its SDK takes a second to import, and most runs push nothing

    token = os.environ.get("LABEL_STUDIO_API_KEY", "")
    if not token:
        raise InputError(f"no access token for {url}: set LABEL_STUDIO_API_KEY")
    report = push(folder, url=url, token=token, project_title=title)
    return {**asdict(report), "summary": report.summary}
