"""The flow of one stage: items and twins → a dataset release."""

from prefect import flow

from flows.deployed import continue_own, take_from_run
from flows.hooks import tell_failure
from hopwright.runs import StageManifest
from hopwright.settings import ReleaseRun
from tasks.engine import make_task_runner, open_run
from tasks.release import make_release

DEFAULT = ReleaseRun()


@flow(
    name="release",
    description="Items and twins → a dataset release.",
    task_runner=make_task_runner(),
    flow_run_name="release-{parameters.run}",
    on_failure=[tell_failure],
    on_crashed=[tell_failure],
)
def run_release(parameters: ReleaseRun = DEFAULT) -> StageManifest:
    """Items and twins → a dataset release."""
    parameters = continue_own(take_from_run(parameters), "release")
    with open_run(parameters) as run:
        return make_release(run, parameters)
