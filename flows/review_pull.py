"""The flow that brings reviews home, to be scheduled while a review runs."""

from typing import Any

from prefect import flow

from hopwright.runs import RunFolder
from hopwright.settings import ReviewPullRun, home
from tasks.review_pull import make_pull

DEFAULT = ReviewPullRun()


@flow(
    name="review-pull",
    description="Annotations from Label Studio → reviews; corrections that do not hold go back to their authors.",
    flow_run_name="review-pull-{parameters.run}",
)
def run_review_pull(parameters: ReviewPullRun = DEFAULT) -> dict[str, Any]:
    """Annotations from Label Studio → reviews."""
    return make_pull(RunFolder(home(), parameters.run), parameters)
