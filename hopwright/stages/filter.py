"""Votes of the shortcut solvers, and the report on any filter's votes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hopwright.difficulty.ballots import read_ballots
from hopwright.difficulty.closed_book import read_closed_book_answers
from hopwright.difficulty.filtering import filter_items
from hopwright.difficulty.report import DifficultyReport, ReportBuilder
from hopwright.difficulty.rule import DropRule
from hopwright.errors import RunError
from hopwright.records.arrow import items_to_table, read_items, read_rejected
from hopwright.runs import ShardOutput, part_path, rejected_path, write_file
from hopwright.stages.resources import open_solvers


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
            f"{path}: not a report of this version of Hopwright; run the filter again with --fresh"
        ) from None
