"""Items → items that the voters do not find too easy, their votes kept on them; and what the votes say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hopwright.difficulty.report import DifficultyReport
from hopwright.difficulty.specs import SOLVERS, parse_voters
from hopwright.runs import Counts, RunFolder, Stage, StageManifest
from hopwright.runs.folder import refuse_differences
from hopwright.settings import FilterRun
from hopwright.stages.filter import (
    FilterPart,
    FilterReportSources,
    name_voters,
    read_report,
    vote_on_part,
    write_report,
)
from hopwright.stages.resources import find_store
from tasks.artifacts import publish_difficulty
from tasks.engine import execute_stage, execute_unsharded_stage, pick_parameters
from tasks.ensemble import (
    PLAN,
    Ensemble,
    begin_votes,
    collect_votes,
    count_asked,
    list_closed_parts,
    make_ensemble,
    plan_votes,
)
from tasks.pool import current_pool
from tasks.stage_plan import StagePlan, run_step

REPORT = "filter/report"


def make_filter(run: RunFolder, parameters: FilterRun) -> StageManifest:
    """Run the whole stage and report on it; returns the manifest of the decision."""
    _refuse_other_parameters(run, parameters)
    if asks_solvers_only(parameters):
        manifest = execute_stage(run, plan_filter(run, parameters), fresh=parameters.fresh)
        _report(run, parameters, None, ())
        return manifest
    finished = _find_finished(run, parameters)
    if finished is not None:
        return finished
    # Before anything is removed: a voter that is missing must not cost what an earlier start made.
    ensemble = make_ensemble(run, parameters)
    begin_votes(ensemble)
    manifest, order = collect_votes(ensemble)
    _report(run, parameters, ensemble, tuple(ensemble.voters[index].name for index in order.sequence))
    return manifest


def asks_solvers_only(parameters: FilterRun) -> bool:
    """Whether the ensemble is that of the offline profile: all solvers, asked about everything in one pass."""
    wanted = parameters.filter
    names = tuple(spec.name for spec in parse_voters(wanted.voters))
    return names == SOLVERS and not wanted.replacements and wanted.rotations == "one"


def plan_filter(run: RunFolder, parameters: FilterRun) -> StagePlan:
    """The offline ensemble: one shard per part of the synthesize stage."""
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


def plan_asked_votes(run: RunFolder, parameters: FilterRun) -> list[StagePlan]:
    """What the filter would ask of endpoints, for an estimate: every voter that is one, about every item."""
    wanted = parameters.filter
    asked = [spec.model for spec in parse_voters(wanted.voters) if spec.kind == "endpoint"]
    if not asked:
        return []
    update = {"voters": asked, "replacements": [], "max_right": 0, "votes_required": 0, "pilot": 0, "accuracies": []}
    ensemble = make_ensemble(run, parameters.model_copy(update={"filter": wanted.model_copy(update=update)}))
    return [
        plan_votes(ensemble, voter, voter.access, number, everyone=True)
        for number, voter in enumerate(ensemble.voters, start=1)
    ]


def read_difficulty(run: RunFolder) -> DifficultyReport | None:
    """The report of a finished filter; None where there is none."""
    path = run.path / REPORT / "report.json"
    return read_report(path) if path.is_file() else None


def _refuse_other_parameters(run: RunFolder, parameters: FilterRun) -> None:
    """Before anybody is asked anything: an ensemble's steps have names of their own, so they alone would not notice."""
    if parameters.fresh:
        return
    for name in ("filter", PLAN):
        found = Stage(run, name).find()
        if found is not None:
            now = pick_parameters(parameters, "filter")
            refuse_differences(f"stage filter of run {run.name!r}", found.parameters, now)


def _find_finished(run: RunFolder, parameters: FilterRun) -> StageManifest | None:
    """The manifest of a filter that is done and unchanged: it needs no GPU, no weights and no server any more."""
    stage, report = Stage(run, "filter"), Stage(run, REPORT)
    manifests = [one.find_finished() for one in (stage, report)]
    if parameters.fresh or None in manifests:
        return None
    for one, found in zip((stage, report), manifests, strict=True):
        assert found is not None
        one.begin(found.parameters, inputs=found.inputs, shards=found.shards)
    if not (stage.finished and report.finished):
        return None
    manifest = stage.read()
    return manifest if Stage(run, "synthesize").output_hashes().items() <= manifest.inputs.items() else None


def _report(run: RunFolder, parameters: FilterRun, ensemble: Ensemble | None, order: tuple[str, ...]) -> None:
    decided = Stage(run, "filter")
    sources = FilterReportSources(
        parts=tuple(decided.parts()),
        voters=tuple(decided.read().notes["voters"]),
        order=order,
        max_right=parameters.filter.max_right,
        required=parameters.filter.votes_required,
        asked=None if ensemble is None else count_asked(ensemble),
        ballots=() if ensemble is None else tuple((name, stage.folder) for name, stage in ensemble.votes.items()),
        probes=() if ensemble is None else tuple(list_closed_parts(ensemble)),
    )
    inputs = decided.output_hashes()
    if ensemble is not None:
        for stage in ensemble.closed.values():
            inputs |= stage.output_hashes()
    plan = StagePlan(name=REPORT, unit="items", parameters=pick_parameters(parameters, "filter"), inputs=inputs)
    manifest = execute_unsharded_stage(run, plan, _Writing(sources))
    report = read_difficulty(run)
    assert report is not None
    publish_difficulty(report, manifest.outputs, str(run.path / REPORT))


class _Writing:
    """Writes the report's files and finishes its stage."""

    def __init__(self, sources: FilterReportSources) -> None:
        self._sources = sources

    def __call__(self, stage: Stage) -> StageManifest:
        """Make the files in a worker process."""
        figures: dict[str, Any] = run_step("report", write_report, self._sources, stage.folder)
        files = [Path(stage.folder) / name for name in figures.pop("files")]
        items = int(figures["items"])
        return stage.finish(counts=Counts(taken=items, out=items), outputs=files, notes=figures)
