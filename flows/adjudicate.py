"""The flow that decides: reviews → disputes for an adjudicator, and the accepted set."""

from prefect import flow

from flows.deployed import take_from_run
from flows.hooks import tell_failure
from hopwright.runs import RunFolder, StageManifest
from hopwright.settings import AdjudicateRun, home
from tasks.adjudicate import make_accepted

DEFAULT = AdjudicateRun()


@flow(
    name="adjudicate",
    description="Reviews → disputes for an adjudicator, the accepted set and the report.",
    flow_run_name="adjudicate-{parameters.run}",
    on_failure=[tell_failure],
    on_crashed=[tell_failure],
)
def run_adjudicate(parameters: AdjudicateRun = DEFAULT) -> StageManifest:
    """Reviews → disputes for an adjudicator, the accepted set and the report."""
    parameters = take_from_run(parameters)
    run = RunFolder(home(), parameters.run)
    with run.hold():
        return make_accepted(run, parameters)
