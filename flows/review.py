"""The flow of one stage: items → Label Studio tasks."""

from prefect import flow

from flows.deployed import continue_own, take_from_run
from flows.hooks import tell_failure
from hopwright.runs import StageManifest
from hopwright.settings import ReviewRun
from tasks.engine import make_task_runner, open_run
from tasks.review import make_review

DEFAULT = ReviewRun()


@flow(
    name="review",
    description="Items → Label Studio tasks.",
    task_runner=make_task_runner(),
    flow_run_name="review-{parameters.run}",
    on_failure=[tell_failure],
    on_crashed=[tell_failure],
)
def run_review(parameters: ReviewRun = DEFAULT) -> StageManifest:
    """Items → Label Studio tasks."""
    parameters = continue_own(take_from_run(parameters), "review")
    with open_run(parameters) as run:
        return make_review(run, parameters)
