"""The flow of one stage: items and twins → a dataset release."""

from prefect import flow

from annotation.stages.reviews import describe_review
from flows.flow_options import read_stage, with_flow_options
from hopwright.runs import StageManifest
from hopwright.settings import ReleaseRun
from hopwright.stages.release import make_release, release_folder
from tasks.engine import make_task_runner, open_run
from tasks.reports import publish_release
from tasks.summary import renew_summary

DEFAULT = ReleaseRun()


@flow(
    name="release",
    description="Items and twins → a dataset release.",
    task_runner=make_task_runner(),
    **with_flow_options("release"),
)
def run_release(parameters: ReleaseRun = DEFAULT) -> StageManifest:
    """Items and twins → a dataset release."""
    wanted = read_stage(parameters, ReleaseRun, "release")
    with open_run(wanted) as engine:
        made = make_release(engine, wanted, describe_review)
        publish_release(engine.run, release_folder(engine.run))
        renew_summary(engine.run)
        return made
