"""The stage filter: items → items that the voters do not find too easy, with their votes; and what the votes say."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hopwright.difficulty.ballots import read_ballots
from hopwright.difficulty.closed_book import read_closed_book_answers
from hopwright.difficulty.filtering import filter_items
from hopwright.difficulty.report import DifficultyReport, ReportBuilder
from hopwright.difficulty.rule import DropRule
from hopwright.difficulty.specs import SOLVERS, parse_voters
from hopwright.errors import RunError
from hopwright.records.arrow import items_to_table, read_items, read_rejected
from hopwright.runs import (
    Counts,
    RunFolder,
    ShardOutput,
    Stage,
    StageManifest,
    part_path,
    rejected_path,
    write_file,
)
from hopwright.runs.folder import refuse_differences
from hopwright.runs.stage import advise_restart
from hopwright.settings import BuildParameters, FilterRun, name_parameter, narrow
from hopwright.stages.ensemble import (
    PLAN,
    Ensemble,
    begin_votes,
    collect_votes,
    count_asked,
    list_closed_parts,
    make_ensemble,
    plan_votes,
)
from hopwright.stages.plan import StageEngine, StagePlan, StageSpec, StageStep, pick_parameters
from hopwright.stages.registry import stages_after
from hopwright.stages.resources import find_store, open_solvers
from hopwright.stages.voters import check_voters
from hopwright.stages.workers import current_pool

REPORT = "filter/report"


@dataclass(frozen=True, slots=True)
class FilterPart:
    """One part of items, to be voted on."""

    part: Path
    store: Path
    seed: int
    max_right: int


@dataclass(frozen=True, slots=True)
class FilterReportSources:
    """What a report is made from: the parts of the decision, folders of ballots by voter, parts of open answers.

    asked: votes that were asked for; None where everybody was asked in one pass.
    """

    parts: tuple[Path, ...]
    voters: tuple[str, ...]
    order: tuple[str, ...]
    max_right: int
    required: int
    asked: int | None
    ballots: tuple[tuple[str, Path], ...]
    probes: tuple[Path, ...]


def vote_on_part(spec: FilterPart) -> ShardOutput:
    """Vote on one part."""
    items = read_items(spec.part)
    kept, rejected = filter_items(items, open_solvers(spec.store, spec.seed), max_right=spec.max_right)
    return ShardOutput(items_to_table(kept), rejected, taken=len(items))


def name_voters(store: Path, seed: int) -> list[str]:
    """The solvers that vote."""
    return [voter.name for voter in open_solvers(store, seed)]


def write_report(sources: FilterReportSources, folder: Path) -> dict[str, Any]:
    """Write report.json, report.md and the calibration plot; returns a few figures and the files' names."""
    from hopwright.difficulty.plots import draw_calibration
    from hopwright.difficulty.render import render_report

    builder = ReportBuilder(sources.voters)
    for index, part in enumerate(sources.parts):
        builder.add_items(read_items(part), read_rejected(rejected_path(part.parent, index)))
        for voter, ballots in sources.ballots:
            path = part_path(ballots, index)
            builder.add_ballots(read_ballots(path), read_rejected(rejected_path(ballots, index)), voter)
    for path in sources.probes:
        builder.add_probes(read_closed_book_answers(path))
    rule = DropRule(len(sources.voters), sources.max_right, sources.required)
    report = builder.make(rule=rule, asked=sources.asked, order=sources.order)
    write_file(folder / "report.json", report.model_dump_json(indent=2).encode() + b"\n")
    write_file(folder / "report.md", f"# How difficult the items are\n\n{render_report(report)}".encode())
    drawn = draw_calibration(report, folder / "calibration.png")
    calls = report.calls
    return {
        "files": ["report.json", "report.md", *(["calibration.png"] if drawn else [])],
        "items": report.items,
        "accuracy": {name: voter.overall.accuracy for name, voter in report.voters.items()},
        "fleiss_kappa": report.fleiss_kappa if report.fleiss_kappa is not None else "",
        "votes_saved": "" if calls is None else f"{calls.saved:.1%}",
    }


def read_report(path: Path) -> DifficultyReport:
    """A report that `write_report` wrote. Raises RunError when it is none."""
    try:
        return DifficultyReport.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise RunError(
            f"{path}: not a report of this version of Hopwright; run the filter again with {name_parameter('fresh')}"
        ) from None


def make_filter(engine: StageEngine, parameters: FilterRun) -> StageManifest:
    """Run the whole stage and report on it; returns the manifest of the decision."""
    run = engine.run
    _refuse_other_parameters(run, parameters)
    if asks_solvers_only(parameters):
        manifest = engine.execute(plan_filter(run, parameters), fresh=parameters.fresh)
        _report(engine, parameters, None, ())
        return manifest
    finished = _find_finished(run, parameters)
    if finished is not None:
        return finished
    # Before anything is removed: a voter that is missing must not cost what an earlier start made.
    ensemble = make_ensemble(run, parameters)
    begin_votes(ensemble, stages_after(PLAN) if parameters.fresh else ())
    manifest, order = collect_votes(engine, ensemble)
    _report(engine, parameters, ensemble, tuple(ensemble.voters[index].name for index in order.sequence))
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
            refuse_differences(f"stage filter of run {run.name!r}", found.parameters, now, advise_restart())


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


def _report(engine: StageEngine, parameters: FilterRun, ensemble: Ensemble | None, order: tuple[str, ...]) -> None:
    decided = Stage(engine.run, "filter")
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
    engine.write(plan, functools.partial(_write_report, engine, sources))


def _write_report(engine: StageEngine, sources: FilterReportSources, stage: Stage) -> StageManifest:
    """Make the report's files in a worker process, and finish its stage."""
    figures: dict[str, Any] = engine.step("report", write_report, sources, stage.folder)
    files = [stage.folder / name for name in figures.pop("files")]
    items = int(figures["items"])
    return stage.finish(counts=Counts(taken=items, out=items), outputs=files, notes=figures)


def _check(run: RunFolder, parameters: BuildParameters) -> None:
    """Look at the voters before the first stage is run."""
    check_voters(run, narrow(parameters, FilterRun))


STAGE = StageSpec(
    name="filter",
    parameters=FilterRun,
    needs=("synthesize",),
    steps=(StageStep("filter", "items", "items hard enough", vote_on_part),),
    check=_check,
)
