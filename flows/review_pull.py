"""The flow that brings reviews home, to be scheduled while a review runs."""

from typing import Any

from prefect import flow

from flows.hooks import tell_failure
from hopwright.runs import RunFolder
from hopwright.settings import ReviewPullRun, home
from tasks.review_pull import make_pull, make_pulls

DEFAULT = ReviewPullRun()


@flow(
    name="review-pull",
    description="Annotations from Label Studio → reviews; corrections that do not hold go back to their authors.",
    flow_run_name="review-pull-{parameters.run}",
    on_failure=[tell_failure],
    on_crashed=[tell_failure],
)
def run_review_pull(parameters: ReviewPullRun = DEFAULT) -> dict[str, Any]:
    """Annotations from Label Studio → reviews."""
    if parameters.pull.all_runs:
        return make_pulls(home(), parameters)
    return make_pull(RunFolder(home(), parameters.run), parameters)
