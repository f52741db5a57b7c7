"""Writes a release: a folder that `datasets.load_dataset` reads, put in place whole or not at all.

data.jsonl  counterfactual.jsonl      the published format, sorted by id
data/<config>/train-….parquet         the same rows, nested, for the Hugging Face loaders
README.md  plots/*.png                the dataset card
SCORECARD.md  scorecard.json          how varied the items are, and whether their options can be guessed
manifest.json  checksums.sha256       every figure, every file's hash
"""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Literal

from pydantic import BaseModel, ConfigDict

from hopwright.difficulty.plots import draw_calibration
from hopwright.errors import InputError, RunError
from hopwright.records import Item
from hopwright.records.model import Variant
from hopwright.release.card import RunFacts, render_card
from hopwright.release.format import from_release, to_release
from hopwright.release.parquet import write_parquet
from hopwright.release.plots import draw_plots, draw_scorecard
from hopwright.release.statistics import DatasetStatistics, describe
from hopwright.release.swap import hold_aside, put_in_place
from hopwright.synthesis.checks import Case
from hopwright.synthesis.checks.overlap import OverlapFinder, OverlapReport, OverlapScreen
from hopwright.synthesis.scorecard import Scorecard, ScorecardMaker, render_scorecard

MANIFEST = "manifest.json"
CHECKSUMS = "checksums.sha256"
SCORECARD = "scorecard.json"
_SCORECARD_PLOT = "scorecard.png"
_JSONL: dict[Variant, str] = {"factual": "data.jsonl", "counterfactual": "counterfactual.jsonl"}
_PARQUET = "data/{variant}/train-00000-of-00001.parquet"
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$")
_VERSION = re.compile(r"^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReleaseFile(_Model):
    """One file: its path in the folder, its hash, its size in bytes, its rows where it has rows."""

    path: str
    sha256: str
    bytes: int
    rows: int | None = None


class ReleaseManifest(_Model):
    """What a release holds and how it came about; equal for equal items and facts."""

    format: Literal[1] = 1
    name: str
    version: str
    items: int
    twins: int
    factual: DatasetStatistics
    counterfactual: DatasetStatistics
    facts: RunFacts
    rejections: dict[str, dict[str, int]]
    scorecard: Scorecard
    """Of the factual items."""
    overlap: OverlapReport
    """What the factual items were compared with, and repeat of it; a match's key is the item's id, or `id:hop`."""
    files: tuple[ReleaseFile, ...]
    """Every file but the manifest itself and the checksums, by path."""


def write_release(
    factual: Iterable[Item],
    twins: Iterable[Item],
    *,
    folder: Path,
    name: str,
    version: str,
    facts: RunFacts,
    rejections: Mapping[str, Mapping[str, int]],
    against: Sequence[Path] = (),
) -> ReleaseManifest:
    """Write `folder` and return its manifest; a release of the same content is left untouched.

    Both iterables are read once, in any order; ids stay in memory, and questions that may repeat published ones. A
    factual item that a twin names gets the twin's id in its `twin` field. `rejections`: stage → check → rows.
    `against`: files of published questions, to state which items repeat one; a release says what it was compared with,
    and with what it was not.

    Raises InputError for a bad name or version, an id that occurs twice, an item of the wrong variant, twin
    links that lead nowhere, or a folder that holds something other than a release; RunError when the place
    cannot be written. In both cases what was there before is untouched.
    """
    if not _NAME.match(name):
        raise InputError(f"release name {name!r}: use letters, digits, '.', '_' and '-' (at most 96)")
    if not _VERSION.match(version):
        raise InputError(f"release version {version!r}: use a semantic version such as 1.0.0")
    folder = folder.absolute()
    _refuse_foreign(folder)
    try:
        with hold_aside(folder) as aside:
            manifest = _fill(aside, factual, twins, name, version, facts, rejections, against)
            if not _is_same(aside, folder):
                put_in_place(aside, folder)
    except OSError as error:
        raise RunError(
            f"cannot write the release to {folder}: {error.strerror or error}; nothing was left half-written"
        ) from None
    return manifest


def read_manifest(folder: Path) -> ReleaseManifest:
    """The manifest of a release. Raises InputError when the folder is no release."""
    try:
        return ReleaseManifest.model_validate_json((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        raise InputError(f"{folder} is not a release: no readable {MANIFEST}") from None


def _fill(
    aside: Path,
    factual: Iterable[Item],
    twins: Iterable[Item],
    name: str,
    version: str,
    facts: RunFacts,
    rejections: Mapping[str, Mapping[str, int]],
    against: Sequence[Path],
) -> ReleaseManifest:
    measures = _Measures(against)
    links: dict[str, str] = {}
    with (
        _Spool(aside / ".counterfactual", "counterfactual") as counterfactual_spool,
        _Spool(aside / ".factual", "factual") as factual_spool,
    ):
        twin_figures = describe(counterfactual_spool.take(_gather_links(twins, links)))
        figures = describe(measures.take(factual_spool.take(_apply_links(factual, links))))
        if links:
            twin, original = next(iter(links.items()))[::-1]
            raise InputError(f"twin {twin} names {original}, which is not among the factual items")
        rows: dict[str, int] = {}
        for spool in (factual_spool, counterfactual_spool):
            if spool.ids or spool.variant == "factual":
                rows |= _write_rows(aside, spool)
        example = factual_spool.read_first()
    scorecard, overlap = measures.finish()
    plots = (*draw_plots(figures, rejections, aside / "plots"), _SCORECARD_PLOT)
    draw_scorecard(scorecard, aside / "plots" / _SCORECARD_PLOT)
    (aside / SCORECARD).write_text(scorecard.model_dump_json(indent=2) + "\n", encoding="utf-8", newline="\n")
    (aside / "SCORECARD.md").write_text(render_scorecard(scorecard), encoding="utf-8", newline="\n")
    if facts.difficulty is not None and draw_calibration(facts.difficulty, aside / "plots" / "calibration.png"):
        plots = (*plots, "calibration.png")
    card = render_card(
        name=name,
        version=version,
        figures=figures,
        twin_figures=twin_figures,
        facts=facts,
        rejections=rejections,
        plots=plots,
        example=example,
        scorecard=scorecard,
        overlap=overlap,
    )
    (aside / "README.md").write_text(card, encoding="utf-8", newline="\n")
    manifest = ReleaseManifest(
        name=name,
        version=version,
        items=figures.items,
        twins=twin_figures.items,
        factual=figures,
        counterfactual=twin_figures,
        facts=facts,
        rejections={stage: dict(sorted(checks.items())) for stage, checks in rejections.items()},
        scorecard=scorecard,
        overlap=overlap,
        files=tuple(
            ReleaseFile(path=path, sha256=_hash(file), bytes=file.stat().st_size, rows=rows.get(path))
            for path, file in _list_files(aside)
        ),
    )
    (aside / MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8", newline="\n")
    lines = [f"{_hash(file)}  {path}\n" for path, file in _list_files(aside)]
    (aside / CHECKSUMS).write_text("".join(lines), encoding="utf-8", newline="\n")
    return manifest


def _gather_links(twins: Iterable[Item], links: dict[str, str]) -> Iterator[Item]:
    """Pass twins on, noting original → twin."""
    for twin in twins:
        if twin.twin is None:
            raise InputError(f"twin {twin.id} does not name the item that it belongs to")
        if twin.twin in links:
            raise InputError(f"{twin.twin} has two twins: {links[twin.twin]} and {twin.id}")
        links[twin.twin] = twin.id
        yield twin


def _apply_links(items: Iterable[Item], links: dict[str, str]) -> Iterator[Item]:
    """Pass items on, linked to their twins; every link that was used is taken out of `links`."""
    for item in items:
        twin = links.pop(item.id, None)
        if item.twin is not None and item.twin != twin:
            raise InputError(f"{item.id} names the twin {item.twin}, which is not among the twins or names another")
        yield item if item.twin == twin else item.model_copy(update={"twin": twin})


def _write_rows(aside: Path, spool: _Spool) -> dict[str, int]:
    """Write one variant's JSONL and Parquet; returns path → rows."""
    jsonl, parquet = _JSONL[spool.variant], _PARQUET.format(variant=spool.variant)
    with (aside / jsonl).open("wb") as file:
        file.writelines(spool.read_sorted())
    (aside / parquet).parent.mkdir(parents=True)
    rows = write_parquet((json.loads(line) for line in spool.read_sorted()), aside / parquet)
    return {jsonl: rows, parquet: rows}


class _Measures:
    """What is measured over all factual items on their way to the file, whatever their order."""

    def __init__(self, against: Sequence[Path]) -> None:
        self._scorecard = ScorecardMaker()
        self._screen = OverlapScreen(against) if against else None
        self._suspects: list[tuple[str, int, str]] = []

    def take(self, items: Iterable[Item]) -> Iterator[Item]:
        """Measure every item, and pass it on."""
        for item in items:
            self._scorecard.add(Case(item))
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
            finder.compare(path)
        return self._scorecard.finish(), finder.report()


class _Spool:
    """Rows of one variant on disk in the order in which they came, to be read in the order of their ids."""

    def __init__(self, path: Path, variant: Variant) -> None:
        self.variant = variant
        self.ids: list[str] = []
        self._starts = array("q")
        self._path = path
        self._file: BinaryIO = path.open("w+b")

    def __enter__(self) -> _Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)

    def take(self, items: Iterable[Item]) -> Iterator[Item]:
        """Write every item, and pass it on. Raises InputError for the wrong variant or an id seen before."""
        for item in items:
            if item.variant != self.variant:
                raise InputError(f"{item.id} is {item.variant}, but stands among the {self.variant} items")
            self.ids.append(item.id)
            self._starts.append(self._file.tell())
            self._file.write(json.dumps(to_release(item), ensure_ascii=False).encode() + b"\n")
            yield item
        if len(set(self.ids)) != len(self.ids):
            seen: set[str] = set()
            twice = next(id for id in self.ids if id in seen or seen.add(id))  # type: ignore[func-returns-value]
            raise InputError(f"{twice} occurs twice among the {self.variant} items")

    def read_sorted(self) -> Iterator[bytes]:
        """Every row as a line of JSON, by id."""
        for position in sorted(range(len(self.ids)), key=self.ids.__getitem__):
            self._file.seek(self._starts[position])
            yield self._file.readline()

    def read_first(self) -> Item | None:
        """The item that comes first by id."""
        line = next(self.read_sorted(), None)
        return None if line is None else from_release(json.loads(line))


def _refuse_foreign(folder: Path) -> None:
    """A folder that is no release is never replaced."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder} is not a folder; choose another for the release")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / CHECKSUMS).is_file():
        raise InputError(f"{folder} holds something other than a release; choose an empty or a new folder")


def _is_same(one: Path, other: Path) -> bool:
    """Whether both folders hold the same files with the same bytes."""
    if not other.is_dir():
        return False
    mine, theirs = _list_files(one), _list_files(other)
    return [path for path, _ in mine] == [path for path, _ in theirs] and all(
        left.stat().st_size == right.stat().st_size and _hash(left) == _hash(right)
        for (_, left), (_, right) in zip(mine, theirs, strict=True)
    )


def _list_files(folder: Path) -> list[tuple[str, Path]]:
    files = (path for path in folder.rglob("*") if not path.is_dir())
    return sorted((path.relative_to(folder).as_posix(), path) for path in files)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
