"""The flow of one stage: items → counterfactual twins."""

from prefect import flow

from flows.budget import work_within_budget
from flows.deployed import continue_own, take_from_run
from flows.hooks import tell_failure
from hopwright.runs import StageManifest
from hopwright.settings import RewriteRun
from tasks.engine import carry_out, make_task_runner, open_run
from tasks.rewrite import PASSAGES, plan_passages, plan_rewrite, plan_twins, report_rewrite

DEFAULT = RewriteRun()


@flow(
    name="rewrite",
    description="Items → counterfactual twins.",
    task_runner=make_task_runner(),
    flow_run_name="rewrite-{parameters.run}",
    on_failure=[tell_failure],
    on_crashed=[tell_failure],
)
def run_rewrite(parameters: RewriteRun = DEFAULT) -> StageManifest:
    """Passages, then twins in two stages, then the report that proves them; returns the manifest of the twins."""
    return work_within_budget(continue_own(take_from_run(parameters), PASSAGES), _rewrite)


def _rewrite(parameters: RewriteRun) -> StageManifest:
    with open_run(parameters) as run:
        carry_out(run, plan_passages(run, parameters), fresh=parameters.fresh)
        carry_out(run, plan_twins(run, parameters))
        made = carry_out(run, plan_rewrite(run, parameters))
        report_rewrite(run, parameters)
        return made
