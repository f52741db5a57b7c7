"""`hopwright audit`."""

import sys
from collections.abc import Sequence
from pathlib import Path

from flows.console.options import refuse_missing
from flows.console.output import err, out, print_json
from flows.console.read_back import ReadingOptions, add_reading
from hopwright.errors import InputError
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Rejected
from hopwright.release.audit import audit
from hopwright.release.format import read_jsonl
from hopwright.release.layout import find_split_files
from hopwright.reporting.scorecard import Scorecard, render_scorecard

_FIELDS = frozenset({"id", "single_hop", "multi_hop_question"})
"""A row that has one of them is meant as an item, whatever else is wrong with it."""


def audit_file(
    path: Path,
    graph: Path | None,
    against: Sequence[Path],
    scorecard: Path | None,
    *,
    reading: ReadingOptions | None = None,
    as_json: bool,
) -> None:
    """Audit a file, or each dataset file of a release's folder; exits with 1 when something is wrong with one.

    `scorecard`: a folder to write the scorecard to, of a release's folder into one folder a file. `reading`: have a
    model read the questions back.
    """
    refuse_missing(path)
    files = [path / place.jsonl for place in find_split_files(path)] if path.is_dir() else [path]
    for file in files:
        refuse_strangers(file)
    reports = []
    for file in files:
        with err.status(f"checking {file}"):
            store = GraphStore.open(graph) if graph is not None else None
            report = audit(file, store, default_table(), against=against, scorecard=scorecard is not None)
        if reading is not None:
            report = add_reading(file, report, reading)
        reports.append(report)
        folder = scorecard if scorecard is None or len(files) == 1 else scorecard / file.stem
        if folder is not None and report.scorecard is not None:
            _write_scorecard(report.scorecard, folder)
        if not as_json:
            out.out(report.text() + ("" if folder is None else f"\n\nthe scorecard is in {folder}"))
    if as_json:
        shown = [report.model_dump(mode="json") for report in reports]
        print_json(shown if path.is_dir() else shown[0])
    if not all(report.clean for report in reports):
        sys.exit(1)


def refuse_strangers(file: Path) -> None:
    """Raises InputError for a file in which no line is a JSON object with a field of the release format."""
    empty = True
    for _, row in read_jsonl(file):
        if not isinstance(row, Rejected) and row.keys() & _FIELDS:
            return
        empty = False
    if not empty:
        raise InputError(f"{file}: no dataset in the release format: it has no line with {', '.join(sorted(_FIELDS))}")


def _write_scorecard(card: Scorecard, folder: Path) -> None:
    from hopwright.release.plots import draw_scorecard

    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "scorecard.json").write_text(card.model_dump_json(indent=2) + "\n", encoding="utf-8")
        (folder / "scorecard.md").write_text(render_scorecard(card), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write the scorecard to {folder}: {error.strerror or error}") from None
    draw_scorecard(card, folder / "scorecard.png")
