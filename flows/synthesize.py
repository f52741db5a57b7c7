"""The flow of one stage: anchors → planned, worded and checked items."""

from prefect import flow

from flows.budget import work_within_budget
from flows.flow_options import read_stage, with_flow_options
from hopwright.runs import StageManifest
from hopwright.settings import SynthesizeRun
from hopwright.stages.synthesize import run_synthesis_rounds
from tasks.artifacts import publish_yield
from tasks.engine import make_task_runner, open_run

DEFAULT = SynthesizeRun()
_ABOUT = "Anchors → planned, worded and checked items."


@flow(
    name="synthesize",
    description=_ABOUT,
    task_runner=make_task_runner(),
    **with_flow_options("synthesize"),
)
def run_synthesize(parameters: SynthesizeRun = DEFAULT) -> StageManifest:
    """Drafts in parallel, the selection over all of them, and a model's words where one is asked."""
    return work_within_budget(read_stage(parameters, SynthesizeRun, "synthesize/drafts"), _synthesize)


def _synthesize(parameters: SynthesizeRun) -> StageManifest:
    with open_run(parameters) as engine:
        made = run_synthesis_rounds(engine, parameters)
        publish_yield(engine.run)
        return made
