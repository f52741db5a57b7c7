"""The flow that decides: reviews → disputes for an adjudicator, and the accepted set."""

from prefect import flow

from hopwright.runs import RunFolder, StageManifest
from hopwright.settings import AdjudicateRun, home
from tasks.adjudicate import make_accepted

DEFAULT = AdjudicateRun()


@flow(
    name="adjudicate",
    description="Reviews → disputes for an adjudicator, the accepted set and the report.",
    flow_run_name="adjudicate-{parameters.run}",
)
def run_adjudicate(parameters: AdjudicateRun = DEFAULT) -> StageManifest:
    """Reviews → disputes for an adjudicator, the accepted set and the report."""
    run = RunFolder(home(), parameters.run)
    with run.hold():
        return make_accepted(run, parameters)
