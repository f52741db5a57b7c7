"""The flow that decides: reviews → disputes for an adjudicator, and the accepted set."""

from prefect import flow

from flows.flow_options import read_stage, with_flow_options
from hopwright.runs import RunFolder, StageManifest
from hopwright.settings import AdjudicateRun, home, storage
from tasks.adjudicate import announce_complete, make_accepted
from tasks.reports import Funnel

DEFAULT = AdjudicateRun()


@flow(
    name="adjudicate",
    description="Reviews → disputes for an adjudicator, the accepted set and the report.",
    **with_flow_options("adjudicate"),
)
def run_adjudicate(parameters: AdjudicateRun = DEFAULT) -> StageManifest:
    """Reviews → disputes for an adjudicator, the accepted set and the report."""
    wanted = read_stage(parameters, AdjudicateRun)
    run = RunFolder(home(), wanted.run, storage())
    with run.hold():
        made = make_accepted(run, wanted)
        Funnel(run).show()
    announce_complete(run, made)
    return made
