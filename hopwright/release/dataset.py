"""Writes a release: a folder that `datasets.load_dataset` reads, put in place whole or not at all.

data.jsonl  counterfactual.jsonl        the set synth in the published format, sorted by id
bench.jsonl  bench_counterfactual.jsonl the set bench, where experts accepted items
data/<config>/<split>-….parquet         the same rows, nested, for the Hugging Face loaders
README.md  plots/*.png  croissant.json  the dataset card, and Croissant metadata
SCORECARD.md  scorecard.json            how varied the items are, and whether their options can be guessed
held_back.jsonl                         what was kept out of a set so that it gives nothing of another away
CHANGELOG.md  changes.json              what this release changes against the one before
anchors.tsv                             the anchor questions, and which of their single hops were used
manifest.json  checksums.sha256         every figure, every file's hash
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from hopwright.checks import CheckedItem
from hopwright.checks.overlap import OverlapFinder, OverlapReport, OverlapScreen
from hopwright.difficulty.plots import draw_calibration
from hopwright.errors import InputError, RunError
from hopwright.foreign import read_file, show
from hopwright.records import RECORDS_VERSION, Item
from hopwright.records.migration import refuse_later
from hopwright.release.card import render_card
from hopwright.release.changes import ReleaseChanges, Withdrawal, choose_version, compare_releases, render_changelog
from hopwright.release.croissant import render_croissant
from hopwright.release.facts import RunFacts, SetFigures
from hopwright.release.folder_swap import open_staging_folder, replace_folder
from hopwright.release.layout import PRIORITY, SETS, SetName, SplitFiles
from hopwright.release.own_folder import CHECKSUMS, find_unlisted
from hopwright.release.parquet import write_parquet
from hopwright.release.plots import draw_plots, draw_scorecard
from hopwright.release.separation import ItemSet, Separation, SeparationRule, separate
from hopwright.release.spool import RowSpool, apply_links, gather_links
from hopwright.release.statistics import describe
from hopwright.reporting.scorecard import Scorecard, ScorecardMaker, render_scorecard
from hopwright.runs.files import hash_file

MANIFEST = "manifest.json"
CHANGES, CHANGELOG = "changes.json", "CHANGELOG.md"
CROISSANT = "croissant.json"
HELD_BACK = "held_back.jsonl"
ANCHORS = "anchors.tsv"
SCORECARD = "scorecard.json"
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReleaseFile(_Model):
    """One file: its path in the folder, its hash, its size in bytes, its rows where it has rows."""

    path: str
    sha256: str
    bytes: int
    rows: int | None = None


class ReleaseManifest(_Model):
    """What a release holds and how it came about; equal for equal items, facts and release before."""

    format: Literal[2] = 2
    records_version: int = 1
    """The version of the records that the rows hold; releases before version 2 do not state theirs."""
    name: str
    version: str
    items: int
    twins: int
    """Of all sets."""
    sets: dict[SetName, SetFigures]
    facts: RunFacts
    rejections: dict[str, dict[str, int]]
    changes: ReleaseChanges | None = None
    """Against the release before; None for the first one."""
    files: tuple[ReleaseFile, ...]
    """Every file but the manifest itself and the checksums, by path."""

    @property
    def main(self) -> SetFigures:
        """The figures of the first set that holds anything: of synth, mostly."""
        return next((one for one in self.sets.values() if one.items), next(iter(self.sets.values())))


@dataclass(frozen=True, slots=True)
class PreviousRelease:
    """The release before, and why items of it may be gone: id → reason."""

    folder: Path
    reasons: Mapping[str, Withdrawal] = field(default_factory=dict)


def write_release(
    factual: Iterable[Item],
    twins: Iterable[Item],
    *,
    folder: Path,
    name: str,
    version: str = "",
    facts: RunFacts,
    rejections: Mapping[str, Mapping[str, int]],
    against: Sequence[Path] = (),
    names: Mapping[Path, str] | None = None,
    others: Mapping[SetName, ItemSet] | None = None,
    rule: SeparationRule = "facts",
    history: PreviousRelease | None = None,
) -> ReleaseManifest:
    """Write `folder` and return its manifest; a release of the same content is left untouched.

    `factual` and `twins` are the set synth, `others` further sets. Without others, both are read once, in any order,
    ids stay in memory, and questions that may repeat published ones. With them, every set must be such as can be
    iterated again, and what would give away something of another by `rule` is held back: of test for bench, of
    validation for both, of synth for all. A factual item that a twin names gets the twin's id in its `twin` field.
    `rejections`: stage → check → rows. `against`: files of published questions, to state which items repeat one;
    `names`: what those of them are that do not show it.
    `version`: empty for what the changes against `history` ask for.

    Raises InputError for a bad name or version, an id that occurs twice, an item of the wrong variant, twin
    links that lead nowhere, a release before that is none, or a folder that holds something other than a release;
    RunError when the place cannot be written. In all cases what was there before is untouched.
    """
    if not _NAME.match(name):
        raise InputError(f"release name {name!r}: use letters, digits, '.', '_' and '-' (at most 96)")
    choose_version(version, None)
    folder = folder.absolute()
    _refuse_foreign(folder)
    if history is not None and history.folder.absolute() == folder:
        raise InputError(f"{folder} is the release before and the place of the new one: copy it elsewhere first")
    sets = {"synth": ItemSet(factual, twins), **(others or {})}
    work = _ReleaseWriter(name, version, facts, rejections, against, names or {}, history)
    try:
        separation = separate({one: sets[one] for one in PRIORITY if one in sets}, rule) if others else Separation()
        with open_staging_folder(folder) as aside:
            manifest = work.fill(aside, {one: sets[one] for one in SETS if one in sets}, separation)
            if not _is_same(aside, folder):
                replace_folder(aside, folder)
    except OSError as error:
        raise RunError(
            f"cannot write the release to {folder}: {error.strerror or error}; nothing was left half-written"
        ) from None
    return manifest


def read_manifest(folder: Path) -> ReleaseManifest:
    """The manifest of a release. Raises InputError when the folder is no release."""
    try:
        manifest = ReleaseManifest.model_validate_json(read_file(folder / MANIFEST))
    except (OSError, ValueError):
        raise InputError(f"{folder} is not a release: no readable {MANIFEST}") from None
    refuse_later(manifest.records_version, str(folder))
    return manifest


@dataclass(frozen=True, slots=True)
class _Written:
    """One set as it lies in the folder."""

    figures: SetFigures
    rows: dict[str, int]
    example: Item | None


@dataclass(frozen=True, slots=True)
class _ReleaseWriter:
    """What a release is made from, but for the items."""

    name: str
    version: str
    facts: RunFacts
    rejections: Mapping[str, Mapping[str, int]]
    against: Sequence[Path]
    names: Mapping[Path, str]
    history: PreviousRelease | None
    anchors: Counter[tuple[str, str]] = field(default_factory=Counter)

    def fill(self, aside: Path, sets: Mapping[SetName, ItemSet], separation: Separation) -> ReleaseManifest:
        """Write every file below `aside`."""
        written = {
            name: self._write_set(aside, name, items, separation, alone=len(sets) == 1) for name, items in sets.items()
        }
        rows = {path: count for one in written.values() for path, count in one.rows.items()}
        figures = {name: one.figures for name, one in written.items()}
        self._write_lists(aside, separation)
        version, changes = self._write_changes(aside, figures, separation)
        plots = self._draw(aside, figures)
        card = render_card(
            name=self.name, version=version, sets=figures, facts=self.facts, rejections=self.rejections, plots=plots,
            example=next((one.example for one in written.values() if one.example), None), changes=changes,
            anchors=bool(self.anchors),
        )  # fmt: skip
        _write_text(aside / "README.md", card)
        places = [place for place in _list_places(figures) if (aside / place.jsonl).is_file()]
        _write_text(
            aside / CROISSANT, render_croissant(aside, places, name=self.name, version=version, facts=self.facts)
        )
        manifest = ReleaseManifest(
            records_version=RECORDS_VERSION,
            name=self.name,
            version=version,
            items=sum(one.items for one in figures.values()),
            twins=sum(one.twins for one in figures.values()),
            sets=figures,
            facts=self.facts,
            rejections={stage: dict(sorted(checks.items())) for stage, checks in self.rejections.items()},
            changes=changes,
            files=tuple(
                ReleaseFile(path=path, sha256=hash_file(file), bytes=file.stat().st_size, rows=rows.get(path))
                for path, file in _list_files(aside)
            ),
        )
        _write_text(aside / MANIFEST, manifest.model_dump_json(indent=2) + "\n")
        lines = [f"{hash_file(file)}  {path}\n" for path, file in _list_files(aside)]
        _write_text(aside / CHECKSUMS, "".join(lines))
        return manifest

    def _write_set(
        self, aside: Path, name: SetName, items: ItemSet, separation: Separation, *, alone: bool
    ) -> _Written:
        measures = _Measures(self.against, self.names)
        links: dict[str, str] = {}
        places = (SplitFiles(name, "factual"), SplitFiles(name, "counterfactual"))
        with RowSpool(aside / ".factual", "factual") as factual, RowSpool(aside / ".twins", "counterfactual") as twins:
            twin_figures = describe(twins.take(gather_links(separation.keep(items.twins), links)))
            linked = apply_links(separation.keep(items.factual), links)
            figures = describe(measures.take(factual.take(self._note_anchors(linked))))
            if links:
                twin, original = next(iter(links.items()))[::-1]
                raise InputError(f"twin {twin} names {original}, which is not among the factual items")
            rows: dict[str, int] = {}
            if factual.ids or alone:
                rows |= _write_rows(aside, places[0], factual)
            if twins.ids:
                rows |= _write_rows(aside, places[1], twins)
            example = factual.read_first()
        scorecard, overlap = measures.finish()
        report = separation.reports.get(name)
        return _Written(
            SetFigures(
                items=figures.items, twins=twin_figures.items, factual=figures, counterfactual=twin_figures,
                scorecard=scorecard, overlap=overlap, separation=report,
            ),
            rows,
            example,
        )  # fmt: skip

    def _note_anchors(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            if item.anchor is not None:
                used = [hop.single_hop_id for hop in item.anchor.hops] or [""]
                self.anchors.update((item.anchor.question_id, one) for one in used)
            yield item

    def _write_lists(self, aside: Path, separation: Separation) -> None:
        if self.anchors:
            lines = [f"{question}\t{hop}\t{items}" for (question, hop), items in sorted(self.anchors.items())]
            _write_text(aside / ANCHORS, "\n".join(["question_id\tsingle_hop_id\titems", *lines]) + "\n")
        if separation.held:
            held = sorted(separation.held.values(), key=lambda one: one.id)
            _write_text(aside / HELD_BACK, "".join(one.model_dump_json() + "\n" for one in held))

    def _write_changes(
        self, aside: Path, figures: Mapping[SetName, SetFigures], separation: Separation
    ) -> tuple[str, ReleaseChanges | None]:
        changes, before = None, ""
        if self.history is not None:
            old = self.history.folder
            known = read_manifest(old)
            held = {
                one.id: Withdrawal(f"held back ({one.reason})", f"{one.what}; {one.shares_with}")
                for one in separation.held.values()
            }
            changes = compare_releases(old, aside, known.name, known.version, {**self.history.reasons, **held})
            _write_text(aside / CHANGES, changes.model_dump_json(indent=1) + "\n")
            before = (old / CHANGELOG).read_text("utf-8", errors="replace") if (old / CHANGELOG).is_file() else ""
        version = choose_version(self.version, changes)
        counts: dict[str, int] = {name: one.items for name, one in figures.items() if one.items}
        _write_text(aside / CHANGELOG, render_changelog(self.name, version, counts, changes, before))
        return version, changes

    def _draw(self, aside: Path, figures: Mapping[SetName, SetFigures]) -> tuple[str, ...]:
        """Plots and scorecards of every set; those of the first have plain names."""
        plots: tuple[str, ...] = ()
        filled = {name: one for name, one in figures.items() if one.items} or figures
        for number, (name, one) in enumerate(filled.items()):
            prefix = f"{name}_" if number else ""
            drawn = draw_plots(one.factual, None if number else self.rejections, aside / "plots", prefix)
            plots += (*drawn, f"{prefix}scorecard.png")
            draw_scorecard(one.scorecard, aside / "plots" / f"{prefix}scorecard.png")
            _write_text(aside / f"{prefix}{SCORECARD}", one.scorecard.model_dump_json(indent=2) + "\n")
            _write_text(aside / f"{prefix.upper()}SCORECARD.md", render_scorecard(one.scorecard))
        difficulty = self.facts.difficulty
        if difficulty is not None and draw_calibration(difficulty, aside / "plots" / "calibration.png"):
            plots = (*plots, "calibration.png")
        return plots


def _write_rows(aside: Path, place: SplitFiles, spool: RowSpool) -> dict[str, int]:
    """Write the JSONL and the Parquet of one variant of a set; returns path → rows."""
    with (aside / place.jsonl).open("wb") as file:
        file.writelines(spool.read_sorted())
    (aside / place.parquet).parent.mkdir(parents=True, exist_ok=True)
    rows = write_parquet((json.loads(line) for line in spool.read_sorted()), aside / place.parquet)
    return {place.jsonl: rows, place.parquet: rows}


class _Measures:
    """What is measured over all factual items on their way to the file, whatever their order."""

    def __init__(self, against: Sequence[Path], names: Mapping[Path, str]) -> None:
        self._names = names
        self._scorecard = ScorecardMaker()
        self._screen = OverlapScreen(against) if against else None
        self._suspects: list[tuple[str, int, str]] = []

    def take(self, items: Iterable[Item]) -> Iterator[Item]:
        """Measure every item, and pass it on."""
        for item in items:
            self._scorecard.add(CheckedItem(item))
            if self._screen is not None:
                for place, text in enumerate((item.question, *(hop.question for hop in item.hops))):
                    if self._screen.lets_through(text):
                        self._suspects.append((item.id, place, text))
            yield item

    def finish(self) -> tuple[Scorecard, OverlapReport]:
        """The scorecard, and what the questions repeat of the files."""
        if self._screen is None:
            return self._scorecard.finish(), OverlapReport()
        finder = OverlapFinder()
        for id, place, text in sorted(self._suspects):
            finder.add(f"{id}:{place}" if place else id, text)
        for path in self._screen.paths:
            finder.compare(path, self._names.get(path, ""))
        return self._scorecard.finish(), finder.report()


def _list_places(sets: Iterable[SetName]) -> Iterator[SplitFiles]:
    for name in sets:
        yield from (SplitFiles(name, "factual"), SplitFiles(name, "counterfactual"))


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _refuse_foreign(folder: Path) -> None:
    """A folder that is no release, or a release to which something was added, is never replaced."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder} is not a folder; choose another for the release")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / CHECKSUMS).is_file():
        raise InputError(f"{folder} holds something other than a release; choose an empty or a new folder")
    if folder.is_dir() and (added := find_unlisted(folder)):
        raise InputError(
            f"{folder} holds a file that is not part of the release ({show(added[0])}): move it elsewhere, and run the "
            "same command again"
        )


def _is_same(one: Path, other: Path) -> bool:
    """Whether both folders hold the same files with the same bytes."""
    if not other.is_dir():
        return False
    mine, theirs = _list_files(one), _list_files(other)
    return [path for path, _ in mine] == [path for path, _ in theirs] and all(
        left.stat().st_size == right.stat().st_size and hash_file(left) == hash_file(right)
        for (_, left), (_, right) in zip(mine, theirs, strict=True)
    )


def _list_files(folder: Path) -> list[tuple[str, Path]]:
    files = (path for path in folder.rglob("*") if not path.is_dir())
    return sorted((path.relative_to(folder).as_posix(), path) for path in files)
