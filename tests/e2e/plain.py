"""A whole build in one process and without Prefect: what the flows do, to be begun in no time and killed anywhere."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from flows.filter import run_filter
from flows.release import run_release
from flows.retrieve import run_retrieve
from flows.review import run_review
from flows.rewrite import run_rewrite
from flows.synthesize import run_synthesize
from hopwright.errors import HopwrightError
from hopwright.settings import (
    BuildParameters,
    FilterRun,
    ReleaseRun,
    RetrieveRun,
    ReviewRun,
    RewriteRun,
    SynthesizeRun,
    identify,
    narrow,
)
from tasks.engine import open_run
from tests.pilots import draw_few


def build(home: Path, parameters: BuildParameters, told: Path | None = None) -> None:
    """Run every stage in order, as `flows.build_dataset` does; an error's line is left in the file `told`."""
    os.environ["HOPWRIGHT_HOME"] = str(home)
    try:
        _build(parameters)
    except HopwrightError as error:
        if told is None:
            raise
        told.write_text(str(error), "utf-8")
        sys.exit(1)


def build_quickly(home: Path, parameters: BuildParameters, told: Path | None = None) -> None:
    """Build with few pilot plans; for a process of its own."""
    draw_few()
    build(home, parameters, told)


def _build(parameters: BuildParameters) -> None:
    with open_run(parameters) as engine:
        engine.run.begin(identify(parameters), fresh=parameters.fresh)
        stages = parameters.model_copy(update={"fresh": False})
        run_retrieve.fn(narrow(stages, RetrieveRun))
        run_synthesize.fn(narrow(stages, SynthesizeRun))
        run_filter.fn(narrow(stages, FilterRun))
        run_rewrite.fn(narrow(stages, RewriteRun))
        run_review.fn(narrow(stages, ReviewRun))
        run_release.fn(narrow(stages, ReleaseRun))
