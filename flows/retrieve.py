"""The flow of one stage: raw files → graph store → anchors linked to their entities."""

from prefect import flow

from flows.deployed import continue_own, take_from_run
from flows.hooks import tell_failure
from hopwright.runs import StageManifest
from hopwright.settings import RetrieveRun
from tasks.engine import carry_out, make_task_runner, open_run
from tasks.retrieve import plan_retrieve

DEFAULT = RetrieveRun()


@flow(
    name="retrieve",
    description="Raw files → graph store → anchors linked to their entities.",
    task_runner=make_task_runner(),
    flow_run_name="retrieve-{parameters.run}",
    on_failure=[tell_failure],
    on_crashed=[tell_failure],
)
def run_retrieve(parameters: RetrieveRun = DEFAULT) -> StageManifest:
    """Raw files → graph store → anchors linked to their entities."""
    parameters = continue_own(take_from_run(parameters), "retrieve")
    with open_run(parameters) as run:
        return carry_out(run, plan_retrieve(run, parameters), fresh=parameters.fresh)
