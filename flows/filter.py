"""The flow of one stage: items → items that the shortcut solvers do not see through."""

from prefect import flow

from hopwright.runs import StageManifest
from hopwright.settings import FilterRun
from tasks.engine import carry_out, make_task_runner, open_run
from tasks.filter import plan_filter

DEFAULT = FilterRun()


@flow(
    name="filter",
    description="Items → items that the shortcut solvers do not see through.",
    task_runner=make_task_runner(),
    flow_run_name="filter-{parameters.run}",
)
def run_filter(parameters: FilterRun = DEFAULT) -> StageManifest:
    """Items → items that the shortcut solvers do not see through."""
    with open_run(parameters) as run:
        return carry_out(run, plan_filter(run, parameters), fresh=parameters.fresh)
