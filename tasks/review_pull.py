"""Reviews come home: pulled from Label Studio, checked, and asked back where a correction does not hold."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from prefect import task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE

from hopwright.runs import RunFolder
from hopwright.settings import ReviewPullRun
from tasks.steps import retry_service
from tasks.work.reviews import Round, ask_back, find_url, pull_reviews, refuse_missing

_SHOWN = 20


def make_pull(run: RunFolder, parameters: ReviewPullRun) -> dict[str, Any]:
    """Pull what changed; where something did, check corrections again and put questions to their authors.

    Raises ServiceError for a project that is gone, when the others are safely home.
    """
    url = find_url(parameters.pull.url)
    done = pull_projects(run, url, parameters.pull.full)
    returned = return_corrections(run, url) if done.news or parameters.pull.full else None
    summary: dict[str, Any] = {
        "run": run.name,
        "projects": [{**asdict(one), "summary": one.summary} for one in done.pulled],
        "new": sum(one.new for one in done.pulled),
        "changed": sum(one.changed for one in done.pulled),
        "removed": sum(one.removed for one in done.pulled),
        "held": sum(one.held for one in done.pulled),
        "left_out": [line for one in done.pulled for line in one.refused],
        "missing": list(done.missing),
        "questions": returned,
    }
    _publish(summary)
    refuse_missing(done)
    return summary


@task(name="pull-reviews", cache_policy=NO_CACHE, persist_result=False, **retry_service(3))
def pull_projects(run: RunFolder, url: str, full: bool) -> Round:
    """Pull every project of a run; repeated, it fetches only what it has not got."""
    return pull_reviews(run, url, full=full)


@task(name="return-corrections", cache_policy=NO_CACHE, persist_result=False, **retry_service(3))
def return_corrections(run: RunFolder, url: str) -> dict[str, Any]:
    """Check every correction again, and put questions about those that do not hold to their authors."""
    return asdict(ask_back(run, url))


def _publish(summary: dict[str, Any]) -> None:
    create_table_artifact(
        key="review-pull",
        table=[
            {name: one[name] for name in ("kind", "project", "new", "changed", "removed", "held")}
            | {"left out": len(one["refused"])}
            for one in summary["projects"]
        ],
        description="Reviews by project",
    )
    questions = summary["questions"]
    lines = [f"# Reviews of run {summary['run']}", "", f"{summary['held']:,} annotations are held."]
    if questions is not None:
        lines.append(
            f"Corrections that do not hold: {questions['open']:,} tasks wait for their authors "
            f"({questions['asked']:,} asked now, {questions['answered']:,} answered)."
        )
    trouble = [*summary["missing"], *summary["left_out"], *(questions["lost"] if questions else ())]
    lines += ["", *(f"- {line}" for line in trouble[:_SHOWN])]
    if len(trouble) > _SHOWN:
        lines.append(f"- and {len(trouble) - _SHOWN:,} more")
    create_markdown_artifact(key="review-pull-story", markdown="\n".join(lines), description="What the pull brought")
