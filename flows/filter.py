"""The flow of one stage: items → items that the voters do not find too easy."""

from prefect import flow

from flows.budget import work_within_budget
from flows.flow_options import read_stage, with_flow_options
from hopwright.runs import StageManifest
from hopwright.settings import FilterRun
from hopwright.stages.ensemble import PLAN
from hopwright.stages.filter import make_filter
from tasks.artifacts import publish_difficulty
from tasks.engine import make_task_runner, open_run

DEFAULT = FilterRun()


@flow(
    name="filter",
    description="Items → items that the voters do not find too easy.",
    task_runner=make_task_runner(),
    **with_flow_options("filter"),
)
def run_filter(parameters: FilterRun = DEFAULT) -> StageManifest:
    """Items → items that the voters do not find too easy."""
    return work_within_budget(read_stage(parameters, FilterRun, "filter", PLAN), _filter)


def _filter(parameters: FilterRun) -> StageManifest:
    with open_run(parameters) as engine:
        made = make_filter(engine, parameters)
        publish_difficulty(engine.run)
        return made
