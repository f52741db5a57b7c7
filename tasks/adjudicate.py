"""Reviews → decisions: the accepted set, the report, and disputes on their way to an adjudicator."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from prefect import task
from prefect.artifacts import create_link_artifact, create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger

from annotation.stages.accepted import DecidedShard, keep_accepted
from annotation.stages.reviews import decide_reviews, hash_items, push_adjudication
from hopwright.records.arrow import encode_parquet, reviews_to_table
from hopwright.runs import RunFolder, Stage, StageManifest, write_file, write_shard
from hopwright.settings import AdjudicateRun
from hopwright.stages.plan import pick_parameters
from hopwright.stages.release import holds_accepted
from tasks.artifacts import publish_stage
from tasks.flow_context import ACCEPTED_COMPLETE, announce, retry_service

if TYPE_CHECKING:
    from annotation.report import ReviewReport

ACCEPTED = "review/accepted"
"""The stage of the accepted set."""
REVIEWS = "reviews.parquet"
_SHARD = 250


def make_accepted(run: RunFolder, parameters: AdjudicateRun) -> StageManifest:
    """Decide every item under review, write the accepted set, and push disputes when a server is named.

    The stage is made anew when reviews, items or thresholds changed since, and left as it is when they did not.
    """
    from annotation.report import render_markdown  # matplotlib and the SDK take seconds to import

    report, disputes = _decide(run, parameters)
    manifest = write_accepted(run, parameters, report)
    pushed = push_disputes(run, parameters.adjudicate.url, disputes) if parameters.adjudicate.url and disputes else []
    for one in pushed:
        create_link_artifact(key="review-adjudication", link=one["url"], description=one["summary"])
    publish_stage(manifest, "items", str(run.path / ACCEPTED))
    create_markdown_artifact(key="review-report", markdown=render_markdown(report), description="The review's report")
    undecided = sum(one.decision.state == "open" for one in report.decided)
    told = {"pushed": [one["summary"] for one in pushed], "undecided": undecided}
    return manifest.model_copy(update={"notes": {**manifest.notes, **told}})


def announce_complete(run: RunFolder, manifest: StageManifest) -> None:
    """Tell that the accepted set is complete, where it is and no release holds it yet.

    To be called when the run is let go of: who hears it takes the run.
    """
    if manifest.notes["undecided"]:
        get_run_logger().info("%s items are not decided yet", f"{manifest.notes['undecided']:,}")
    elif not manifest.counts.out:
        get_run_logger().info("no item was accepted: there is nothing to release")
    elif holds_accepted(run):
        get_run_logger().info("nothing changed: the release holds this accepted set")
    else:
        announce(ACCEPTED_COMPLETE, run.name, {"accepted": manifest.counts.out})


def _decide(run: RunFolder, parameters: AdjudicateRun) -> tuple[ReviewReport, list[Any]]:
    from annotation.decisions import Thresholds

    wanted = parameters.adjudicate
    thresholds = Thresholds(
        min_mean=wanted.min_mean,
        floor=wanted.floor,
        score_gap=wanted.score_gap,
        settle_returned=wanted.settle_returned,
    )
    return decide_reviews(run, thresholds, seed=parameters.seed)


@task(name="push-adjudication", cache_policy=NO_CACHE, persist_result=False, **retry_service(3))
def push_disputes(run: RunFolder, url: str, disputes: list[Any]) -> list[dict[str, Any]]:
    """Bring what is disputed to the adjudication projects; repeated, it makes no doubles."""
    return [{**asdict(one), "summary": one.summary} for one in push_adjudication(run, url, disputes)]


def write_accepted(run: RunFolder, parameters: AdjudicateRun, report: ReviewReport) -> StageManifest:
    """Write the accepted set; one made from the same reviews, items and thresholds is left as it is."""
    from annotation.accepted import list_used
    from annotation.report import count_decisions

    stage = Stage(run, ACCEPTED)
    used = encode_parquet(reviews_to_table(list_used(report.decided)))
    shards = [DecidedShard(report.decided[start : start + _SHARD]) for start in range(0, len(report.decided), _SHARD)]
    values = pick_parameters(parameters, "adjudicate")
    inputs = {**hash_items(run), "reviews": hashlib.sha256(used).hexdigest()}
    missing = stage.begin(values, inputs=inputs, shards=len(shards), fresh=_is_outdated(stage, values, inputs, shards))
    for index in missing:
        write_shard(stage.folder, index, keep_accepted(shards[index]))
    write_file(stage.folder / REVIEWS, used)
    table = {f"{row.kind} {row.criterion}": f"{row.mean:.2f} ± {row.deviation:.2f}" for row in report.scores}
    return stage.finish(
        outputs=[stage.folder / REVIEWS],
        notes={"review": "expert-reviewed", "outcomes": count_decisions(report.decided), "scores": table},
    )


def _is_outdated(stage: Stage, values: dict[str, object], inputs: dict[str, str], shards: list[DecidedShard]) -> bool:
    """Whether what is there was made from other reviews, items or thresholds."""
    found = stage.find()
    if found is None:
        return False
    return (found.parameters, found.inputs, found.shards) != (values, inputs, len(shards))
