"""The flow of one stage: items and twins → a dataset release."""

from prefect import flow

from flows.flow_options import read_stage, with_flow_options
from hopwright.runs import StageManifest
from hopwright.settings import ReleaseRun
from tasks.engine import make_task_runner, open_run
from tasks.release import make_release, release_folder
from tasks.reports import publish_release

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
    with open_run(wanted) as run:
        made = make_release(run, wanted)
        publish_release(run, release_folder(run))
        return made
