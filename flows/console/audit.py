"""`hopwright audit`."""

import sys
from pathlib import Path

from flows.console.output import err, out, print_json
from hopwright.graph.store import GraphStore
from hopwright.release.audit import audit
from hopwright.synthesis.properties import default_table


def audit_file(file: Path, graph: Path | None, *, as_json: bool) -> None:
    """Audit a file; exits with 1 when something is wrong with it."""
    with err.status(f"checking {file}"):
        report = audit(file, GraphStore.open(graph) if graph is not None else None, default_table())
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        out.out(report.text())
    if not report.clean:
        sys.exit(1)
