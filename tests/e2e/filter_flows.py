"""Runs the filter flow several times under one Prefect server: `python -m tests.e2e.filter_flows PARAMETERS…`.

Every argument is the JSON of one `FilterRun`; the manifests are printed as one JSON list. A run that fails with a
user's line gives that line in place of its manifest.
"""

from __future__ import annotations

import json
import sys

from flows.console.output import prefect_ready
from hopwright.errors import HopwrightError
from hopwright.settings import FilterRun, load_parameters


def main() -> None:
    """Run them in order."""
    results: list[object] = []
    with prefect_ready(_load) as run_filter:
        for text in sys.argv[1:]:
            try:
                manifest = run_filter(load_parameters(json.loads(text), FilterRun))
                results.append(manifest.model_dump(mode="json", by_alias=True))
            except HopwrightError as error:
                results.append(str(error))
    sys.stdout.write(json.dumps(results) + "\n")


def _load():  # type: ignore[no-untyped-def]
    from flows.filter import run_filter

    return run_filter


if __name__ == "__main__":
    main()
