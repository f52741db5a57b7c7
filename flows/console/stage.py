"""The verbs that run one stage of a run: filter, rewrite, review, release."""

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any, cast

from flows.console.options import parameters_of
from flows.console.output import describe_value, err, out, prefect_ready, print_json, show_stages
from hopwright.runs import StageManifest
from hopwright.settings import home
from hopwright.stages.registry import STAGES, stages_after


def run_one_stage(stage: str, run: str | None, options: Mapping[str, Any], *, fresh: bool, as_json: bool) -> None:
    """Run the flow of one stage and print its counts."""
    spec = STAGES.find(stage)
    parameters = parameters_of(spec.parameters, run, options, fresh=fresh, holding=spec.needs[0])
    if fresh and (resting := _list_resting(stage, parameters.run)):
        err.print(f"--fresh also removes what rests on {stage}: {', '.join(resting)}")
    with prefect_ready(functools.partial(_import_flow, stage)) as flow, show_stages():
        manifest = flow(parameters)
    if as_json:
        print_json(manifest.model_dump(mode="json", by_alias=True))
        return
    counts = manifest.counts
    out.print(f"{stage} of run {parameters.run}: {counts.taken:,} in, {counts.out:,} out")
    for check, rows in sorted(counts.rejected.items(), key=lambda pair: -pair[1]):
        out.print(f"  rejected by {check}: {rows:,}")
    for reason, rows in manifest.skipped.items():
        out.print(f"  skipped: {reason} ({rows:,})")
    for name, value in manifest.notes.items():
        out.print(f"  {name.replace('_', ' ')}: {describe_value(value)}")
    out.print(f"in {home() / 'runs' / parameters.run / stage}")


def _list_resting(stage: str, run: str) -> list[str]:
    """The stages of a run that rest on a stage, and are there."""
    return [name for name in stages_after(stage) if (home() / "runs" / run / name).is_dir()]


def _import_flow(stage: str) -> Callable[[Any], StageManifest]:
    """Return the flow `run_<stage>` of the module `flows.<stage>`."""
    return cast("Callable[[Any], StageManifest]", getattr(importlib.import_module(f"flows.{stage}"), f"run_{stage}"))
