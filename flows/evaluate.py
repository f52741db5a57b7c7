"""The flow that evaluates models on a dataset."""

from prefect import flow

from flows.budget import work_within_budget
from flows.flow_options import read_given, resume_own_run, with_flow_options
from hopwright.runs import StageManifest
from hopwright.settings import EvaluateRun
from hopwright.stages.evaluate import evaluate_models
from tasks.engine import make_task_runner, open_run

DEFAULT = EvaluateRun()


@flow(
    name="evaluate",
    description="A dataset → what models make of it, step by step; started again, it continues where it stopped.",
    task_runner=make_task_runner(),
    **with_flow_options("evaluate"),
)
def run_evaluate(parameters: EvaluateRun = DEFAULT) -> StageManifest:
    """Ask the models about the dataset, and write the report."""
    return work_within_budget(resume_own_run(read_given(parameters, EvaluateRun), "evaluate"), _evaluate)


def _evaluate(parameters: EvaluateRun) -> StageManifest:
    with open_run(parameters) as engine:
        return evaluate_models(engine, parameters)
