"""Reviews come home: pulled from Label Studio, checked, and asked back where a correction does not hold."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from prefect import task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger

from annotation.access import find_server
from annotation.stages.reviews import (
    PullRound,
    decide_reviews,
    pull_reviews,
    refuse_missing,
    return_failed_corrections,
)
from hopwright.errors import HopwrightError, RunError
from hopwright.runs import RunFolder, write_file
from hopwright.settings import ReviewPullRun
from tasks.flow_context import REVIEW_COMPLETE, announce, retry_service

_SHOWN = 20


def make_pull(run: RunFolder, parameters: ReviewPullRun) -> dict[str, Any]:
    """Pull what changed; where something did, check corrections again and put questions to their authors.

    A pull that was cut short after it fetched something leaves a mark, and the next one follows it up.

    Raises ServiceError for a project that is gone, when the others are safely home.
    """
    url = find_server(parameters.pull.url)
    mark = run.home / "locks" / f"{run.name}.pull"
    cut_short = mark.exists()
    write_file(mark, b"")
    done = pull_projects(run, url, parameters.pull.full)
    news = done.news > 0 or cut_short
    returned = return_corrections(run, url) if news or parameters.pull.full else None
    waiting = count_waiting(run, parameters.seed) if news else None
    summary: dict[str, Any] = {
        "run": run.name,
        "waiting": waiting,
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
    if waiting == 0:
        announce(REVIEW_COMPLETE, run.name, {"url": url, "held": summary["held"]})
    mark.unlink(missing_ok=True)
    return summary


def make_pulls(home: Path, parameters: ReviewPullRun) -> dict[str, Any]:
    """Pull every run that was pushed to the server; one that cannot be pulled does not stop the others.

    Returns the summaries by run. Raises the first error when all others are home.
    """
    runs = list_pushed(home, parameters.pull.url)
    if not runs:
        get_run_logger().info("no run is under review: nothing was pushed to Label Studio yet")
    summaries: dict[str, Any] = {}
    errors: list[HopwrightError] = []
    for name in runs:
        try:
            summaries[name] = make_pull(RunFolder(home, name), parameters.model_copy(update={"run": name}))
        except HopwrightError as error:
            get_run_logger().error("run %s: %s", name, error)
            errors.append(error)
    if errors:
        raise errors[0]
    return {"runs": summaries}


def list_pushed(home: Path, url: str) -> list[str]:
    """The runs of which tasks were pushed to this server."""
    from annotation.access import check_address
    from annotation.ledger import FOLDER, ledger_path

    pushed = sorted(path.parent.name for path in (home / "runs").glob(f"*/{FOLDER}"))
    if not pushed:
        return []
    server = check_address(find_server(url))
    return [name for name in pushed if ledger_path(home / "runs" / name, server).is_file()]


def count_waiting(run: RunFolder, seed: int) -> int | None:
    """Items that wait for reviews, or for an answer to a question; None before the first review came."""
    from annotation.decisions import RETURNED, WAITING, Thresholds

    try:
        report, _ = decide_reviews(run, Thresholds(), seed=seed)
    except RunError:
        return None
    return sum(one.decision.check in (WAITING, RETURNED) for one in report.decided)


@task(name="pull-reviews", cache_policy=NO_CACHE, persist_result=False, **retry_service(3))
def pull_projects(run: RunFolder, url: str, full: bool) -> PullRound:
    """Pull every project of a run; repeated, it fetches only what it has not got."""
    return pull_reviews(run, url, full=full)


@task(name="return-corrections", cache_policy=NO_CACHE, persist_result=False, **retry_service(3))
def return_corrections(run: RunFolder, url: str) -> dict[str, Any]:
    """Check every correction again, and put questions about those that do not hold to their authors."""
    return asdict(return_failed_corrections(run, url))


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
    if summary["waiting"] is not None:
        lines.append(f"{summary['waiting']:,} items wait for reviews, or for an answer to a question.")
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
