"""The flow of one stage: raw files → graph store → anchors linked to their entities."""

from prefect import flow

from flows.flow_options import read_stage, with_flow_options
from hopwright.runs import StageManifest
from hopwright.settings import RetrieveRun
from tasks.engine import execute_stage, make_task_runner, open_run
from tasks.retrieve import plan_retrieve

DEFAULT = RetrieveRun()


@flow(
    name="retrieve",
    description="Raw files → graph store → anchors linked to their entities.",
    task_runner=make_task_runner(),
    **with_flow_options("retrieve"),
)
def run_retrieve(parameters: RetrieveRun = DEFAULT) -> StageManifest:
    """Raw files → graph store → anchors linked to their entities."""
    wanted = read_stage(parameters, RetrieveRun, "retrieve")
    with open_run(wanted) as run:
        return execute_stage(run, plan_retrieve(run, wanted), fresh=wanted.fresh)
