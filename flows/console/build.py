"""`hopwright build`."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rich.text import Text

from flows.console.options import read_build_parameters
from flows.console.output import out, prefect_ready, print_json, show_stages
from hopwright.foreign import escape_controls
from hopwright.settings import BuildParameters


def build_run(file: Path | None, options: Mapping[str, Any], *, fresh: bool, as_json: bool) -> None:
    """Run the parent flow and print its summary."""
    began = time.monotonic()
    parameters = read_build_parameters(file, options, fresh=fresh)
    with prefect_ready(_import_flow) as (build_dataset, summary_lines), show_stages():
        summary = build_dataset(parameters)
    seconds = round(time.monotonic() - began, 1)
    if as_json:
        print_json({**summary, "seconds": seconds})
        return
    for name, text in summary_lines(summary):
        out.print(Text.assemble((f"{name:24}", "bold"), f" {escape_controls(text)}") if name else text)
    out.print(Text.assemble((f"{'seconds':24}", "bold"), f" {seconds}"))


def _import_flow() -> tuple[Callable[[BuildParameters], dict[str, Any]], Callable[..., list[tuple[str, str]]]]:
    from flows.build_dataset import build_dataset
    from tasks.summary import summary_lines

    return build_dataset, summary_lines
