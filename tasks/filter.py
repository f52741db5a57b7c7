"""Items → items that the shortcut solvers do not see through, their votes kept on them."""

from __future__ import annotations

from hopwright.runs import RunFolder, Stage
from hopwright.settings import FilterRun
from tasks.engine import pick_parameters
from tasks.pool import current_pool
from tasks.steps import StagePlan
from tasks.work.filter import FilterPart, name_voters, vote_on_part
from tasks.work.resources import find_store


def plan_filter(run: RunFolder, parameters: FilterRun) -> StagePlan:
    """One shard per part of the synthesize stage."""
    items = Stage(run, "synthesize")
    store = find_store(run)
    return StagePlan(
        name="filter",
        unit="items",
        parameters=pick_parameters(parameters, "filter"),
        inputs=items.output_hashes(),
        process=vote_on_part,
        specs=[FilterPart(part, store, parameters.seed, parameters.filter.max_right) for part in items.parts()],
        notes={"voters": current_pool().run(name_voters, store, parameters.seed)},
    )
