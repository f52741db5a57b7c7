"""The flow of one stage: anchors → planned, worded and checked items."""

from prefect import flow

from hopwright.runs import StageManifest
from hopwright.settings import SynthesizeRun
from tasks.engine import make_task_runner, open_run
from tasks.synthesize import carry_out_synthesis

DEFAULT = SynthesizeRun()
_ABOUT = "Anchors → planned, worded and checked items."


@flow(
    name="synthesize", description=_ABOUT, task_runner=make_task_runner(), flow_run_name="synthesize-{parameters.run}"
)
def run_synthesize(parameters: SynthesizeRun = DEFAULT) -> StageManifest:
    """Drafts in parallel, the selection over all of them, and a model's words where one is asked."""
    with open_run(parameters) as run:
        return carry_out_synthesis(run, parameters)
