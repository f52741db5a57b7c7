"""For notebooks: a workbench for a few items, and a whole run with its summary (docs/notebook.md)."""

from typing import Any

from flows.console.output import prefect_ready
from hopwright.errors import HopwrightError
from hopwright.settings import BuildParameters, load_parameters
from hopwright.stages.workbench import Workbench

__all__ = ["Workbench", "build"]


def build(**parameters: Any) -> dict[str, Any]:
    """Run every stage; returns the figures of the run. `parameters` are those of a parameter file.

    Raises InputError for a parameter that is wrong, and what the stages raise.
    """
    wanted = load_parameters(parameters, BuildParameters)
    try:
        with prefect_ready(_import_flow) as flow:
            summary: dict[str, Any] = flow(wanted)
    except HopwrightError as error:
        # Prefect's hundred lines on the way say nothing to who called this.
        raise error.with_traceback(None) from None
    return summary


def _import_flow() -> Any:
    from flows.build_dataset import build_dataset

    return build_dataset
