"""The flow of one stage: items → items that the voters do not find too easy."""

from prefect import flow

from hopwright.runs import StageManifest
from hopwright.settings import FilterRun
from tasks.engine import make_task_runner, open_run
from tasks.filter import make_filter

DEFAULT = FilterRun()


@flow(
    name="filter",
    description="Items → items that the voters do not find too easy.",
    task_runner=make_task_runner(),
    flow_run_name="filter-{parameters.run}",
)
def run_filter(parameters: FilterRun = DEFAULT) -> StageManifest:
    """Items → items that the voters do not find too easy."""
    with open_run(parameters) as run:
        return make_filter(run, parameters)
