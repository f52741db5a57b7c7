"""Items → items with passages → counterfactual twins → a report that proves them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hopwright.runs import Counts, RunFolder, Stage, StageManifest, rejected_path
from hopwright.settings import RewriteRun
from hopwright.stages.resources import find_store
from hopwright.stages.rewrite import (
    DraftsPart,
    PassagesPart,
    RewriteContext,
    RewritePart,
    add_passages_to_part,
    find_translators,
    finish_twins_of_part,
    list_translations,
    list_wordings,
    make_twins_of_part,
    resolve_name_collisions,
)
from hopwright.stages.rewrite_report import RewriteReportSources, write_report
from tasks.artifacts import publish_text
from tasks.engine import execute_unsharded_stage, pick_parameters
from tasks.models import grant_access
from tasks.pool import current_pool
from tasks.stage_plan import StagePlan, run_step

PASSAGES = "rewrite/passages"
DRAFTS = "rewrite/drafts"
REPORT = "rewrite/report"


def plan_passages(run: RunFolder, parameters: RewriteRun) -> StagePlan:
    """One shard per part of the filter stage: every item comes out, with its evidence passages."""
    items = Stage(run, "filter")
    context = make_rewrite_context(run, parameters)
    return StagePlan(
        name=PASSAGES,
        unit="items",
        parameters=pick_parameters(parameters, "rewrite"),
        inputs=items.output_hashes(),
        process=add_passages_to_part,
        specs=[PassagesPart(part, context) for part in items.parts()],
        access=context.access if parameters.rewrite.passages == "llm" else None,
        requests=list_wordings if parameters.rewrite.passages == "llm" else None,
        skipped={} if parameters.rewrite.passages != "off" else {"passages are turned off": items.read().counts.out},
    )


def plan_twins(run: RunFolder, parameters: RewriteRun) -> StagePlan:
    """Stage one: a twin per item; none when twins are turned off."""
    items = Stage(run, PASSAGES)
    context = make_rewrite_context(run, parameters)
    return StagePlan(
        name=DRAFTS,
        unit="items",
        parameters=pick_parameters(parameters, "rewrite"),
        inputs=items.output_hashes(),
        process=make_twins_of_part,
        specs=[DraftsPart(part, context) for part in items.parts()] if parameters.rewrite.enabled else [],
    )


def plan_rewrite(run: RunFolder, parameters: RewriteRun) -> StagePlan:
    """Stage two: twins with names of their own, reworded and checked; what stage one rejected is counted here, too."""
    items, drafts = Stage(run, PASSAGES), Stage(run, DRAFTS)
    wanted = parameters.rewrite
    context = make_rewrite_context(run, parameters)
    translators, obstacle = current_pool().run(find_translators, context)
    parts = drafts.parts()
    salts = current_pool().run(resolve_name_collisions, parts, items.parts(), context) if parts else {}
    return StagePlan(
        name="rewrite",
        unit="items",
        parameters=pick_parameters(parameters, "rewrite"),
        inputs={**items.output_hashes(), **drafts.output_hashes()},
        process=finish_twins_of_part,
        specs=[
            RewritePart(part, rejected_path(drafts.folder, index), whole, context, bool(translators), salts)
            for index, (part, whole) in enumerate(zip(parts, items.parts(), strict=False))
        ],
        notes={
            "back_translation": translators,
            "back_translation_skipped": obstacle,
            "renamed_because_names_met": len(salts),
        },
        skipped={} if wanted.enabled else {"twins are turned off": items.read().counts.out},
        access=context.access if wanted.back_translation == "llm" or wanted.judge_model else None,
        requests=list_translations if wanted.back_translation == "llm" else None,
    )


def plan_estimate(run: RunFolder, parameters: RewriteRun) -> StagePlan:
    """What stage two would ask of models, for an estimate: from the items themselves where no twin was made yet."""
    if Stage(run, DRAFTS).manifest_path.exists():
        return plan_rewrite(run, parameters)
    items = Stage(run, "filter")
    context = make_rewrite_context(run, parameters)
    return StagePlan(
        name="rewrite",
        unit="items",
        parameters=pick_parameters(parameters, "rewrite"),
        inputs=items.output_hashes(),
        specs=[RewritePart(part, part, part, context, translate=True) for part in items.parts()],
        requests=list_translations,
    )


def report_rewrite(run: RunFolder, parameters: RewriteRun) -> StageManifest:
    """Prove the finished twins, ask the voters, and write it all down; also as an artifact."""
    items, drafts, twins = (Stage(run, name) for name in (PASSAGES, DRAFTS, "rewrite"))
    made = twins.read()
    sources = RewriteReportSources(
        items=tuple(items.parts()),
        drafts=tuple(drafts.parts()),
        twins=tuple(twins.parts()),
        taken=made.counts.taken,
        rejected=dict(made.counts.rejected),
        figures={name: value for name, value in made.notes.items() if isinstance(value, int)},
        passages={name: value for name, value in items.read().notes.items() if isinstance(value, int)},
        translator=str(made.notes.get("back_translation", "")),
        translator_skipped=str(made.notes.get("back_translation_skipped", "")),
    )
    plan = StagePlan(
        name=REPORT,
        unit="twins",
        parameters=pick_parameters(parameters, "rewrite"),
        inputs={**items.output_hashes(), **twins.output_hashes()},
    )
    return execute_unsharded_stage(run, plan, _Reporting(sources, make_rewrite_context(run, parameters)))


class _Reporting:
    """Writes the report's files in a worker and finishes its stage."""

    def __init__(self, sources: RewriteReportSources, context: RewriteContext) -> None:
        self._sources = sources
        self._making = context

    def __call__(self, stage: Stage) -> StageManifest:
        """Make the files."""
        figures: dict[str, Any] = run_step("report", write_report, self._sources, self._making, stage.folder)
        files = [Path(stage.folder) / name for name in figures.pop("files")]
        publish_text("rewrite-report", figures.pop("text"), "Counterfactual twins: proof, wording, memory")
        twins = int(figures["twins"])
        return stage.finish(counts=Counts(taken=twins, out=twins), outputs=files, notes=figures)


def make_rewrite_context(run: RunFolder, parameters: RewriteRun) -> RewriteContext:
    """What every shard of the stage needs. Raises InputError for a model that cannot be asked."""
    wanted = parameters.rewrite
    asked = {
        wanted.passage_model if wanted.passages == "llm" else "",
        wanted.translation_model if wanted.back_translation == "llm" and wanted.enabled else "",
        wanted.judge_model,
        *wanted.memory_voters,
    } - {""}
    access = grant_access(run, parameters, sorted(asked)) if asked else None
    return RewriteContext(find_store(run), parameters.seed, wanted, access)
