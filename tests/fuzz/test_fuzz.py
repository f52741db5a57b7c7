"""Every target, some seconds each; at night for minutes, with other examples each time."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from annotation.validate import read_annotation
from tests.fuzz.targets import ANNOTATION, FORM, TARGETS, TASK, Target

MINUTES = "HOPWRIGHT_FUZZ_MINUTES"
_NIGHT = 30.0
"""Minutes of the long run, over all targets, where the environment does not say."""
_ROUND = 200


def run_target(target: Target, folder: Path, examples: int, *, shrink: bool) -> None:
    """Feed a target with so many examples."""
    phases = set(Phase) - {Phase.explain} - (set() if shrink else {Phase.shrink})

    @settings(
        max_examples=examples, deadline=None, database=None, derandomize=shrink, phases=tuple(phases),
        suppress_health_check=list(HealthCheck), print_blob=True,
    )  # fmt: skip
    @given(example=target.examples)
    def feed(example: Any) -> None:
        target.check(example, folder)

    feed()


def test_what_is_spoilt_is_taken_as_it_is() -> None:
    """From something that is refused at once, spoiling leads nowhere."""
    review = read_annotation(ANNOTATION, TASK, FORM, project=1, task=2, who="r1")
    assert (review.own_answer, len(review.scores)) == ("B", 5)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_reader_takes_anything(target: Target, tmp_path: Path) -> None:
    run_target(target, tmp_path, target.brief, shrink=True)


@pytest.mark.nightly
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_reader_takes_anything_for_long(target: Target, tmp_path: Path) -> None:
    end = time.monotonic() + 60 * float(os.environ.get(MINUTES) or _NIGHT) / len(TARGETS)
    while time.monotonic() < end:
        run_target(target, tmp_path, _ROUND, shrink=False)
