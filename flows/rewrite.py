"""The flow of one stage: items → counterfactual twins."""

from prefect import flow

from flows.budget import work_within_budget
from flows.deployed import read_stage, with_manners
from hopwright.runs import StageManifest
from hopwright.settings import RewriteRun
from tasks.engine import carry_out, make_task_runner, open_run
from tasks.rewrite import PASSAGES, plan_passages, plan_rewrite, plan_twins, report_rewrite

DEFAULT = RewriteRun()


@flow(
    name="rewrite",
    description="Items → counterfactual twins.",
    task_runner=make_task_runner(),
    **with_manners("rewrite"),
)
def run_rewrite(parameters: RewriteRun = DEFAULT) -> StageManifest:
    """Passages, then twins in two stages, then the report that proves them; returns the manifest of the twins."""
    return work_within_budget(read_stage(parameters, RewriteRun, PASSAGES), _rewrite)


def _rewrite(parameters: RewriteRun) -> StageManifest:
    with open_run(parameters) as run:
        carry_out(run, plan_passages(run, parameters), fresh=parameters.fresh)
        carry_out(run, plan_twins(run, parameters))
        made = carry_out(run, plan_rewrite(run, parameters))
        report_rewrite(run, parameters)
        return made
