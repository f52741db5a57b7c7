"""Which runs there are: those that hold something; and what is refused before anything of a run is removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopwright.errors import RunError
from hopwright.runs import RunFolder, Stage, list_runs


def begin(home: Path, name: str, *stages: str) -> RunFolder:
    run = RunFolder(home, name)
    with run.hold():
        run.begin({"seed": 1})
        for stage in stages:
            Stage(run, stage).begin({})
    return run


def test_a_run_without_a_stage_is_not_listed(tmp_path: Path) -> None:
    full, empty = begin(tmp_path, "full", "retrieve"), begin(tmp_path, "zz-empty")
    (empty.path / ".leftover").mkdir()
    assert (full.has_stages, empty.has_stages) == (True, False)
    assert list_runs(tmp_path) == ["full"]


def test_other_parameters_are_refused_only_where_there_is_something_to_contradict(tmp_path: Path) -> None:
    begin(tmp_path, "empty").refuse_other_parameters({"seed": 2})
    full = begin(tmp_path, "full", "retrieve")
    full.refuse_other_parameters({"seed": 1})
    with pytest.raises(RunError, match="seed 1 → 2"):
        full.refuse_other_parameters({"seed": 2})


def test_a_run_is_imagined_empty_without_being_touched(tmp_path: Path) -> None:
    run = begin(tmp_path, "full", "retrieve")
    empty = run.imagine_empty()
    assert empty.name == run.name
    assert empty.read_manifest() is None
    assert not empty.has_stages
    assert Stage(empty, "retrieve").find() is None
    assert run.has_stages
