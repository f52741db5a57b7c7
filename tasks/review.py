"""Items → Label Studio's task file, and the tasks on a server when one is named."""

from __future__ import annotations

import hashlib
import heapq
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from prefect import task
from prefect.artifacts import create_link_artifact
from prefect.cache_policies import NO_CACHE

from annotation.export import write_tasks
from annotation.push import push
from hopwright.errors import InputError
from hopwright.records import Item
from hopwright.records.arrow import read_items
from hopwright.runs import Counts, RunFolder, Stage, StageManifest, write_file
from hopwright.settings import ReviewRun
from tasks.engine import carry_out_once, pick_parameters
from tasks.pool import current_pool
from tasks.work import StagePlan, retry_service

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
    current_pool().run(write_sample, Stage(run, "filter").parts(), wanted, parameters.seed, stage.folder / TASKS)
    return stage.finish(
        counts=Counts(taken=taken, out=wanted, rejected={"not_sampled": taken - wanted} if taken > wanted else {}),
        outputs=[stage.folder / TASKS],
        notes={"tasks": str((stage.folder / TASKS / "tasks.json").relative_to(run.home))},
    )


def write_sample(parts: list[Path], count: int, seed: int, folder: Path) -> None:
    """Draw items evenly over the topologies, the same ones for the same seed, and write them as tasks."""
    names = _count_topologies(parts)
    chosen: list[Item] = []
    left = count
    # The rarest first, so that what it cannot fill goes to the others.
    for done, (name, available) in enumerate(sorted(names.items(), key=lambda pair: (pair[1], pair[0]))):
        share = min(available, -(-left // (len(names) - done)))
        items = (item for item in _read_all(parts) if item.topology == name)
        chosen += heapq.nsmallest(share, items, key=lambda item: _shuffle(item, seed))
        left -= share
    write_tasks(sorted(chosen, key=lambda item: _shuffle(item, seed)), folder)


@task(name="push-review", cache_policy=NO_CACHE, persist_result=False, **retry_service(3))
def push_tasks(folder: Path, url: str, title: str) -> dict[str, Any]:
    """Bring the tasks to the server; repeated, it makes no doubles. The token never leaves the environment."""
    token = os.environ.get("LABEL_STUDIO_API_KEY", "")
    if not token:
        raise InputError(f"no access token for {url}: set LABEL_STUDIO_API_KEY")
    report = push(folder, url=url, token=token, project_title=title)
    return {**asdict(report), "summary": report.summary}


def _count_topologies(parts: Iterable[Path]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in _read_all(parts):
        counts[item.topology] = counts.get(item.topology, 0) + 1
    return counts


def _read_all(parts: Iterable[Path]) -> Iterator[Item]:
    for part in parts:
        yield from read_items(part)


def _shuffle(item: Item, seed: int) -> bytes:
    return hashlib.blake2b(f"review:{seed}:{item.id}".encode()).digest()
