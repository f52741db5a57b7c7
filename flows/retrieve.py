"""The flow of one stage: raw files → graph store → anchors linked to their entities."""

from prefect import flow

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
)
def run_retrieve(parameters: RetrieveRun = DEFAULT) -> StageManifest:
    """Raw files → graph store → anchors linked to their entities."""
    with open_run(parameters) as run:
        return carry_out(run, plan_retrieve(run, parameters), fresh=parameters.fresh)
