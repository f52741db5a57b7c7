"""Items → Label Studio's task files, and the tasks on a server when one is named."""

from __future__ import annotations

import functools
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from prefect import task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE

from annotation.stages.review import TASKS, export_tasks, plan_review
from hopwright.runs import StageManifest, write_file
from hopwright.settings import ReviewRun
from tasks.engine import Engine
from tasks.flow_context import retry_service

PUSHED = "pushed.json"


def make_review(engine: Engine, parameters: ReviewRun) -> StageManifest:
    """Write the task files of a run; push them when a server is named."""
    run = engine.run
    export = functools.partial(export_tasks, engine, parameters)
    manifest = engine.write(plan_review(run, parameters), export, fresh=parameters.fresh)
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
