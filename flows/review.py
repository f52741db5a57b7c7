"""The flow of one stage: items → Label Studio tasks."""

from prefect import flow

from flows.flow_options import read_stage, with_flow_options
from hopwright.runs import StageManifest
from hopwright.settings import ReviewRun
from tasks.engine import make_task_runner, open_run
from tasks.review import make_review
from tasks.summary import renew_summary

DEFAULT = ReviewRun()


@flow(
    name="review",
    description="Items → Label Studio tasks.",
    task_runner=make_task_runner(),
    **with_flow_options("review"),
)
def run_review(parameters: ReviewRun = DEFAULT) -> StageManifest:
    """Items → Label Studio tasks."""
    wanted = read_stage(parameters, ReviewRun, "review")
    with open_run(wanted) as engine:
        made = make_review(engine, wanted)
        renew_summary(engine.run)
        return made
