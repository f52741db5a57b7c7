"""The flow of one stage: items → counterfactual twins."""

from prefect import flow

from flows.budget import work_within_budget
from flows.flow_options import read_stage, with_flow_options
from hopwright.runs import StageManifest
from hopwright.settings import RewriteRun
from hopwright.stages.rewrite import PASSAGES, plan_passages, plan_rewrite, plan_twins
from hopwright.stages.rewrite_report import report_rewrite
from tasks.artifacts import publish_rewrite
from tasks.engine import make_task_runner, open_run

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
    with open_run(parameters) as engine:
        engine.execute(plan_passages(engine.run, parameters), fresh=parameters.fresh)
        engine.execute(plan_twins(engine.run, parameters))
        made = engine.execute(plan_rewrite(engine.run, parameters))
        report_rewrite(engine, parameters)
        publish_rewrite(engine.run)
        return made
