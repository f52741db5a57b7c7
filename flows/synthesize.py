"""The flow of one stage: anchors → planned, worded and checked items."""

from prefect import flow

from hopwright.runs import StageManifest
from hopwright.settings import SynthesizeRun
from tasks.engine import carry_out, make_task_runner, open_run
from tasks.synthesize import plan_drafts, plan_selection

DEFAULT = SynthesizeRun()
_ABOUT = "Anchors → planned, worded and checked items."


@flow(
    name="synthesize", description=_ABOUT, task_runner=make_task_runner(), flow_run_name="synthesize-{parameters.run}"
)
def run_synthesize(parameters: SynthesizeRun = DEFAULT) -> StageManifest:
    """Drafts in parallel, then the selection over all of them."""
    with open_run(parameters) as run:
        carry_out(run, plan_drafts(run, parameters), fresh=parameters.fresh)
        return carry_out(run, plan_selection(run, parameters))
