"""`hopwright build`."""

import functools
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rich.text import Text

from flows.console.options import read_build_parameters
from flows.console.output import err, out, prefect_ready, print_json, show_stages
from hopwright.foreign import escape_controls
from hopwright.reporting.run_summary import summary_lines
from hopwright.runs import RunFolder
from hopwright.runs.completion import find_completed
from hopwright.settings import BuildParameters, home, identify, storage
from hopwright.stages.workers import preload_workers

PRELOADING = "flows.preloading"
"""The module that imports what workers need."""


def build_run(file: Path | None, options: Mapping[str, Any], *, fresh: bool, as_json: bool) -> None:
    """Run the parent flow and print its summary; a run that is complete is found so before Prefect starts."""
    began = time.monotonic()
    parameters = read_build_parameters(file, options, fresh=fresh)
    summary = _read_completed(parameters)
    if summary is None:
        with prefect_ready(functools.partial(_import_flow, parameters.workers)) as build_dataset, show_stages():
            summary = build_dataset(parameters)
    else:
        err.print(f"run {parameters.run!r} is complete, and all that it rests on is unchanged: nothing to do")
    seconds = round(time.monotonic() - began, 1)
    if as_json:
        print_json({**summary, "seconds": seconds})
        return
    for name, text in summary_lines(summary):
        out.print(Text.assemble((f"{name:24}", "bold"), f" {escape_controls(text)}") if name else text)
    out.print(Text.assemble((f"{'seconds':24}", "bold"), f" {seconds}"))


def _read_completed(parameters: BuildParameters) -> dict[str, Any] | None:
    """The summary of the run where nothing is to do; None where something is, or may be.

    Raises RunError for a run that was made with other parameters.
    """
    if parameters.fresh or parameters.dated or storage():
        return None
    run = RunFolder(home(), parameters.run, storage())
    if not run.path.is_dir():
        return None
    with run.hold():
        run.refuse_other_parameters(identify(parameters))
        completed = find_completed(run, identify(parameters), parameters.list_sources())
    return completed.summary if completed is not None else None


def _import_flow(workers: int) -> Callable[[BuildParameters], dict[str, Any]]:
    preload_workers(workers, PRELOADING)
    from flows.build_dataset import build_dataset

    return build_dataset
