"""The flow of one stage: items → counterfactual twins."""

from prefect import flow

from flows.budget import work_within_budget
from flows.flow_options import read_stage, with_flow_options
from hopwright.runs import StageManifest
from hopwright.settings import RewriteRun
from tasks.engine import execute_stage, make_task_runner, open_run
from tasks.rewrite import PASSAGES, plan_passages, plan_rewrite, plan_twins, report_rewrite

DEFAULT = RewriteRun()


@flow(
    name="rewrite",
    description="Items → counterfactual twins.",
    task_runner=make_task_runner(),
    **with_flow_options("rewrite"),
)
def run_rewrite(parameters: RewriteRun = DEFAULT) -> StageManifest:
    """Passages, then twins in two stages, then the report that proves them; returns the manifest of the twins."""
    return work_within_budget(read_stage(parameters, RewriteRun, PASSAGES), _rewrite)


def _rewrite(parameters: RewriteRun) -> StageManifest:
    with open_run(parameters) as run:
        execute_stage(run, plan_passages(run, parameters), fresh=parameters.fresh)
        execute_stage(run, plan_twins(run, parameters))
        made = execute_stage(run, plan_rewrite(run, parameters))
        report_rewrite(run, parameters)
        return made
