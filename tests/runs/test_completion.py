"""A run that has ended is found complete while nothing that it rests on has changed, and only then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hopwright.runs import RunFolder, completion
from hopwright.runs.completion import RECORD, find_completed, record_completion


@pytest.fixture
def ended(tmp_path: Path) -> tuple[RunFolder, dict[str, Any], list[Path]]:
    """A run with two files, made from a corpus, with anchors that a parameter names; nothing has changed since."""
    run = RunFolder(tmp_path / "home", "r")
    corpus = tmp_path / "corpus"
    for path in (corpus / "triplets.txt", tmp_path / "anchors.jsonl", run.path / "filter" / "part-00000.parquet"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"what {path.name} holds\n")
    parameters: dict[str, Any] = {"anchors": str(tmp_path / "anchors.jsonl"), "seed": 3, "synthesize": {"drafts": 9}}
    run.begin(parameters)
    run.record_summary({"accepted": 7})
    record_completion(run, parameters, [corpus])
    return run, parameters, [corpus]


def test_a_run_that_is_as_it_was_gives_its_summary(ended: tuple[RunFolder, dict[str, Any], list[Path]]) -> None:
    run, parameters, inputs = ended
    found = find_completed(run, parameters, inputs)
    assert found is not None and found.summary == {"accepted": 7}
    (run.path / "notes.txt").write_text("what a user keeps beside a run changes nothing of it")
    assert find_completed(run, parameters, inputs) is not None


CHANGES: dict[str, Callable[[RunFolder, list[Path]], object]] = {
    "a part is gone": lambda run, _: (run.path / "filter" / "part-00000.parquet").unlink(),
    "a part is damaged": lambda run, _: (run.path / "filter" / "part-00000.parquet").write_text("what part-00000"),
    "the manifest is gone": lambda run, _: run.manifest_path.unlink(),
    "a stage was noted since": lambda run, _: run.record_summary({"accepted": 8}),
    "the corpus has changed": lambda _, inputs: (inputs[0] / "triplets.txt").write_text("others"),
    "the corpus has one file more": lambda _, inputs: (inputs[0] / "literals.tsv").write_text("more"),
    "the corpus is gone": lambda _, inputs: (inputs[0] / "triplets.txt").unlink(),
    "the anchors have changed": lambda run, _: (run.home.parent / "anchors.jsonl").write_text("others"),
    "the record is gone": lambda run, _: (run.path / RECORD).unlink(),
    "the record is cut off": lambda run, _: (run.path / RECORD).write_text('{"parameters": {"seed"'),
    "the record is of another kind": lambda run, _: (run.path / RECORD).write_text('{"run": "r"}'),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_has_changed_the_stages_are_gone_through(
    ended: tuple[RunFolder, dict[str, Any], list[Path]], change: str
) -> None:
    run, parameters, inputs = ended
    CHANGES[change](run, inputs)
    assert find_completed(run, parameters, inputs) is None


def test_other_parameters_other_code_or_a_copy_elsewhere_are_not_taken_for_complete(
    ended: tuple[RunFolder, dict[str, Any], list[Path]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run, parameters, inputs = ended
    assert find_completed(run, {**parameters, "seed": 4}, inputs) is None
    assert find_completed(RunFolder(run.home, "r", f"file://{tmp_path}/copies"), parameters, inputs) is None
    monkeypatch.setattr(completion, "_digest_code", lambda: "another version")
    assert find_completed(run, parameters, inputs) is None


def test_a_run_that_cannot_be_noted_is_only_gone_through_again(
    ended: tuple[RunFolder, dict[str, Any], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, parameters, inputs = ended
    (run.path / RECORD).unlink()
    monkeypatch.setattr(completion, "_MOST_FILES", 0)
    record_completion(run, parameters, inputs)
    assert not (run.path / RECORD).exists() and find_completed(run, parameters, inputs) is None
