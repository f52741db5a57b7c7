"""From the stages' declarations follow the line of work, its steps, and what starts over with a stage."""

from __future__ import annotations

import importlib

import pytest

from hopwright.stages.registry import STAGES, list_line, list_steps, stages_after


def test_the_line_of_work_is_in_the_order_of_what_stages_need() -> None:
    names = [spec.name for spec in list_line()]
    assert names == ["retrieve", "synthesize", "filter", "rewrite", "review", "release"]
    for number, spec in enumerate(list_line()):
        assert set(spec.needs) <= set(names[:number])


def test_steps_name_what_is_counted() -> None:
    steps = list_steps("rewrite")
    assert [step.name for step in steps] == ["retrieve", "synthesize/drafts", "synthesize", "filter", "rewrite"]
    assert all(step.unit and step.outcome and callable(step.shard) for step in steps)


@pytest.mark.parametrize(
    ("name", "after"),
    [
        ("retrieve", ("synthesize", "filter", "rewrite", "review", "release")),
        ("filter/plan", ("filter", "rewrite", "review", "release")),
        ("rewrite", ("review", "release")),
        ("release", ()),
        ("evaluate/report", ()),
        ("unknown", ()),
    ],
)
def test_what_rests_on_a_stage_starts_over_with_it(name: str, after: tuple[str, ...]) -> None:
    assert stages_after(name) == after


@pytest.mark.parametrize("name", list(STAGES))
def test_every_stage_is_declared_under_its_name_and_has_a_flow(name: str) -> None:
    assert STAGES[name].name == name
    assert hasattr(importlib.import_module(f"flows.{name}"), f"run_{name}")
