"""Every target for a minute, by `make test-fuzz`; at night for half an hour each, with other examples each time.

What a run finds is mended, and joins `found.py`.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from annotation.validate import read_annotation
from tests.fuzz.conftest import INPUTS
from tests.fuzz.found import FOUND
from tests.fuzz.set_targets import SET_TARGETS
from tests.fuzz.targets import ANNOTATION, FORM, TARGETS, TASK, Target

MINUTES, SECONDS = "HOPWRIGHT_FUZZ_MINUTES", "HOPWRIGHT_FUZZ_SECONDS"
"""How long the long run and the short one take over one target, where the environment says so."""
_NIGHT, _SHORT = 30.0, 60.0
_ROUND = 40
ALL = (*TARGETS, *SET_TARGETS)
Record = Callable[[str, object], None]


def run_target(target: Target, folder: Path, examples: int, number: int | None = None) -> int:
    """Feed a target with so many examples: those of a number, or with none other ones each time. Returns how many."""
    fed = 0
    phases = set(Phase) - {Phase.explain} - (set() if number is not None else {Phase.shrink})

    @settings(
        max_examples=examples, deadline=None, database=None, phases=tuple(phases),
        suppress_health_check=list(HealthCheck), print_blob=True,
    )  # fmt: skip
    @given(example=target.examples)
    def feed(example: Any) -> None:
        nonlocal fed
        fed += 1
        target.check(example, folder)

    (feed if number is None else seed(number)(feed))()
    return fed


def read_time(variable: str, usual: float) -> float:
    """How long a target is fed."""
    return float(os.environ.get(variable) or usual)


def test_what_is_spoilt_is_taken_as_it_is() -> None:
    """From something that is refused at once, spoiling leads nowhere."""
    review = read_annotation(ANNOTATION, TASK, FORM, project=1, task=2, who="r1")
    assert (review.own_answer, len(review.scores)) == ("B", 5)


@pytest.mark.parametrize(("name", "example"), FOUND)
def test_what_broke_a_reader_once_breaks_it_no_more(name: str, example: Any, tmp_path: Path) -> None:
    (target,) = (one for one in ALL if one.name == name)
    target.check(example, tmp_path)


@pytest.mark.fuzz
@pytest.mark.parametrize("target", ALL, ids=lambda target: target.name)
def test_a_reader_takes_anything(target: Target, tmp_path: Path, record_property: Record) -> None:
    """The same examples in the same order every time; how many depends on the machine."""
    end = time.monotonic() + read_time(SECONDS, _SHORT)
    inputs = 0
    for number in itertools.count():
        inputs += run_target(target, tmp_path, _ROUND, number)
        if time.monotonic() > end:
            break
    record_property(INPUTS, inputs)


@pytest.mark.nightly
@pytest.mark.fuzz
@pytest.mark.parametrize("target", ALL, ids=lambda target: target.name)
def test_a_reader_takes_anything_for_long(target: Target, tmp_path: Path, record_property: Record) -> None:
    end = time.monotonic() + 60 * read_time(MINUTES, _NIGHT)
    inputs = 0
    while time.monotonic() < end:
        inputs += run_target(target, tmp_path, 5 * _ROUND)
    record_property(INPUTS, inputs)
