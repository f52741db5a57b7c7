"""Items → counterfactual twins."""

from __future__ import annotations

from hopwright.runs import RunFolder, Stage
from hopwright.settings import RewriteRun
from tasks.engine import pick_parameters
from tasks.pool import current_pool
from tasks.steps import StagePlan
from tasks.work.resources import find_store
from tasks.work.rewrite import RewritePart, find_translator, twin_part


def plan_rewrite(run: RunFolder, parameters: RewriteRun) -> StagePlan:
    """One shard per part of the filter stage; none when twins are turned off."""
    items = Stage(run, "filter")
    wanted = parameters.rewrite
    translator, obstacle = current_pool().run(find_translator, wanted.back_translation if wanted.enabled else "off")
    store = find_store(run)
    return StagePlan(
        name="rewrite",
        unit="items",
        parameters=pick_parameters(parameters, "rewrite"),
        inputs=items.output_hashes(),
        process=twin_part,
        specs=[RewritePart(part, store, parameters.seed, bool(translator)) for part in items.parts()]
        if wanted.enabled
        else [],
        notes={"back_translation": translator, "back_translation_skipped": obstacle},
        skipped={} if wanted.enabled else {"twins are turned off": items.read().counts.out},
    )
