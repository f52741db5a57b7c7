"""The flow of one stage: anchors → planned, worded and checked items."""

from prefect import flow

from flows.budget import work_within_budget
from flows.deployed import continue_own, take_from_run
from flows.hooks import tell_failure
from hopwright.runs import StageManifest
from hopwright.settings import SynthesizeRun
from tasks.engine import make_task_runner, open_run
from tasks.synthesize import carry_out_synthesis

DEFAULT = SynthesizeRun()
_ABOUT = "Anchors → planned, worded and checked items."


@flow(
    name="synthesize",
    description=_ABOUT,
    task_runner=make_task_runner(),
    flow_run_name="synthesize-{parameters.run}",
    on_failure=[tell_failure],
    on_crashed=[tell_failure],
)
def run_synthesize(parameters: SynthesizeRun = DEFAULT) -> StageManifest:
    """Drafts in parallel, the selection over all of them, and a model's words where one is asked."""
    return work_within_budget(continue_own(take_from_run(parameters), "synthesize/drafts"), _synthesize)


def _synthesize(parameters: SynthesizeRun) -> StageManifest:
    with open_run(parameters) as run:
        return carry_out_synthesis(run, parameters)
