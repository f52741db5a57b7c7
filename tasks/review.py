"""Items → Label Studio's task files, and the tasks on a server when one is named."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from prefect import task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE

from annotation.stages.review import SampleRequest, write_sample
from hopwright.runs import Counts, RunFolder, Stage, StageManifest, write_file
from hopwright.settings import ReviewRun
from tasks.engine import execute_unsharded_stage, pick_parameters
from tasks.stage_plan import StagePlan, retry_service, run_step

PUSHED = "pushed.json"
TASKS = "tasks"


def plan_review(run: RunFolder, parameters: ReviewRun) -> StagePlan:
    """The items that the filter kept, and their twins when they are made; the server changes nothing in the files."""
    items, twins = Stage(run, "filter"), Stage(run, "rewrite")
    made = twins.find_finished() is not None
    return StagePlan(
        name="review",
        unit="items",
        parameters=pick_parameters(parameters, "review"),
        inputs={**items.output_hashes(), **(twins.output_hashes() if made else {})},
    )


def make_review(run: RunFolder, parameters: ReviewRun) -> StageManifest:
    """Write the task files of a run; push them when a server is named."""
    plan = plan_review(run, parameters)
    manifest = execute_unsharded_stage(
        run, plan, lambda stage: export_tasks(run, stage, parameters), fresh=parameters.fresh
    )
    if parameters.review.url:
        folder = run.path / "review"
        reports = push_tasks(folder / TASKS, parameters.review.url, run.path)
        write_file(folder / PUSHED, json.dumps(reports, indent=2).encode() + b"\n")
        rows = [f"| [{report['title']}]({report['url']}) | {report['summary']} |" for report in reports]
        create_markdown_artifact(
            key="review-projects",
            markdown="\n".join(["| project | this push |", "|---|---|", *rows]),
            description="The Label Studio projects",
        )
    return manifest


def export_tasks(run: RunFolder, stage: Stage, parameters: ReviewRun) -> StageManifest:
    """Write the tasks of a sample, and close the stage."""
    items, twins = Stage(run, "filter"), Stage(run, "rewrite")
    taken = items.read().counts.out
    wanted = parameters.review
    count = min(wanted.items, taken)
    request = SampleRequest(
        parts=tuple(items.parts()),
        twins=tuple(twins.parts()) if twins.find_finished() is not None else (),
        count=count,
        seed=parameters.seed,
        folder=stage.folder / TASKS,
        kinds=tuple(wanted.kinds),
        overlap=wanted.overlap,
        agreement_overlap=wanted.agreement_overlap,
        agreement_items=wanted.agreement_items,
        gold_share=wanted.gold_share,
    )
    written = run_step("export", write_sample, request)
    return stage.finish(
        counts=Counts(taken=taken, out=count, rejected={"not_sampled": taken - count} if taken > count else {}),
        outputs=[stage.folder / TASKS],
        notes={
            "tasks": {kind: number for kind, number in written.items() if kind != "gold"},
            "gold": written["gold"],
            "folder": str((stage.folder / TASKS).relative_to(run.home)),
        },
    )


@task(name="push-review", cache_policy=NO_CACHE, persist_result=False, **retry_service(3))
def push_tasks(folder: Path, url: str, run: Path) -> list[dict[str, Any]]:
    """Bring the tasks to the server; repeated, it makes no doubles. The token is neither a parameter nor logged."""
    from annotation.access import find_token
    from annotation.push import (
        name_project,
        push_folder,
    )  # its SDK takes a second to import, and most runs push nothing
    from annotation.server import open_server

    with open_server(url, find_token(url)) as server:
        reports = push_folder(folder, server, run)
    return [
        {"title": name_project(run.name, report.kind), **asdict(report), "summary": report.summary}
        for report in reports
    ]
