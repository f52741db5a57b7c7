"""The flow of one stage: raw files → graph store → anchors linked to their entities."""

from prefect import flow

from flows.flow_options import read_stage, with_flow_options
from hopwright.runs import StageManifest
from hopwright.settings import RetrieveRun
from hopwright.stages.retrieve import plan_retrieve
from tasks.engine import make_task_runner, open_run

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
    with open_run(wanted) as engine:
        return engine.execute(plan_retrieve(engine, wanted), fresh=wanted.fresh)
