"""The flow of one stage: raw files → graph store → anchors linked to their entities."""

from prefect import flow

from flows.deployed import read_stage, with_manners
from hopwright.runs import StageManifest
from hopwright.settings import RetrieveRun
from tasks.engine import carry_out, make_task_runner, open_run
from tasks.retrieve import plan_retrieve

DEFAULT = RetrieveRun()


@flow(
    name="retrieve",
    description="Raw files → graph store → anchors linked to their entities.",
    task_runner=make_task_runner(),
    **with_manners("retrieve"),
)
def run_retrieve(parameters: RetrieveRun = DEFAULT) -> StageManifest:
    """Raw files → graph store → anchors linked to their entities."""
    wanted = read_stage(parameters, RetrieveRun, "retrieve")
    with open_run(wanted) as run:
        return carry_out(run, plan_retrieve(run, wanted), fresh=wanted.fresh)
