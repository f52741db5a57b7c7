"""Items → counterfactual twins."""

from __future__ import annotations

from hopwright.runs import RunFolder, Stage
from hopwright.settings import RewriteRun
from tasks.engine import pick_parameters
from tasks.steps import StagePlan
from tasks.work.resources import find_store
from tasks.work.rewrite import RewritePart, twin_part


def plan_rewrite(run: RunFolder, parameters: RewriteRun) -> StagePlan:
    """One shard per part of the filter stage; none when twins are turned off."""
    items = Stage(run, "filter")
    store = find_store(run)
    off = not parameters.rewrite.enabled
    return StagePlan(
        name="rewrite",
        unit="items",
        parameters=pick_parameters(parameters, "rewrite"),
        inputs=items.output_hashes(),
        process=twin_part,
        specs=[] if off else [RewritePart(part, store, parameters.seed) for part in items.parts()],
        skipped={"twins are turned off": items.read().counts.out} if off else {},
    )
