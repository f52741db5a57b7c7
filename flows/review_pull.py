"""The flow that brings reviews home, to be scheduled while a review runs."""

from typing import Any

from prefect import flow

from flows.flow_options import read_given, with_flow_options
from hopwright.runs import RunFolder
from hopwright.settings import ReviewPullRun, home
from tasks.review_pull import make_pull, make_pulls

DEFAULT = ReviewPullRun()


@flow(
    name="review-pull",
    description="Annotations from Label Studio → reviews; corrections that do not hold go back to their authors.",
    **with_flow_options("review-pull"),
)
def run_review_pull(parameters: ReviewPullRun = DEFAULT) -> dict[str, Any]:
    """Annotations from Label Studio → reviews."""
    wanted = read_given(parameters, ReviewPullRun)
    if wanted.pull.all_runs:
        return make_pulls(home(), wanted)
    return make_pull(RunFolder(home(), wanted.run), wanted)
