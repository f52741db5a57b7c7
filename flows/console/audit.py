"""`hopwright audit`."""

import sys
from collections.abc import Sequence
from pathlib import Path

from flows.console.output import err, out, print_json
from hopwright.errors import InputError
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.release.audit import audit
from hopwright.reporting.scorecard import Scorecard, render_scorecard


def audit_file(
    file: Path, graph: Path | None, against: Sequence[Path], scorecard: Path | None, *, as_json: bool
) -> None:
    """Audit a file; exits with 1 when something is wrong with it. `scorecard`: a folder to write the scorecard to."""
    with err.status(f"checking {file}"):
        store = GraphStore.open(graph) if graph is not None else None
        report = audit(file, store, default_table(), against=against, scorecard=scorecard is not None)
    if scorecard is not None and report.scorecard is not None:
        _write_scorecard(report.scorecard, scorecard)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        out.out(report.text())
        if scorecard is not None:
            out.out(f"\nthe scorecard is in {scorecard}")
    if not report.clean:
        sys.exit(1)


def _write_scorecard(card: Scorecard, folder: Path) -> None:
    from hopwright.release.plots import draw_scorecard

    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "scorecard.json").write_text(card.model_dump_json(indent=2) + "\n", encoding="utf-8")
        (folder / "scorecard.md").write_text(render_scorecard(card), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write the scorecard to {folder}: {error.strerror or error}") from None
    draw_scorecard(card, folder / "scorecard.png")
