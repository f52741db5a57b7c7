"""A refused command leaves nothing behind: no run, and no other latest run than before."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

import pytest

from flows.console.options import pick_run
from hopwright.errors import InputError, RunError
from hopwright.runs import Counts, RunFolder, Stage, list_runs
from hopwright.settings import BuildParameters, ReleaseRun, load_parameters, narrow
from hopwright.stages.release import make_release
from tasks.engine import open_run
from tasks.preflight import check_build
from tests.builders import all_items, write_jsonl


@pytest.fixture
def held(home: Path) -> Path:
    """A home with one run that holds drafts."""
    run = RunFolder(home, "held")
    with run.hold():
        run.begin({})
        Stage(run, "synthesize").begin({})
    return home


def list_folders(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "runs").iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "data.jsonl"], "no model to evaluate"),
        (["evaluate", "absent.jsonl", "--model", "local/tiny"], "absent.jsonl: there is no such file or folder"),
        (["evaluate", "notes.md", "--model", "local/tiny"], "notes.md"),
        (["evaluate", "--run", "held", "--model", "local/tiny"], "no finished stage release"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_refused_evaluation_starts_nothing_and_leaves_nothing(
    arguments: list[str],
    message: str,
    held: Path,
    call,  # type: ignore[no-untyped-def]
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.md").write_text("# No dataset\n\nOnly words.\n", "utf-8")
    Path("data.jsonl").write_text("".join(f"{item.model_dump_json()}\n" for item in all_items()), "utf-8")
    result = call(*arguments)
    assert (result.code, result.out) == (1, "")
    assert message in result.err
    assert len(result.err.strip().splitlines()) == 1
    assert list_folders(held) == ["held"]
    assert not (held / "prefect").exists(), "no server was started for it"


def test_a_dry_run_says_what_it_would_ask_about_and_leaves_nothing(
    home: Path,
    call,  # type: ignore[no-untyped-def]
    tmp_path: Path,
) -> None:
    home.mkdir()
    (home / "endpoints.toml").write_text('[endpoints.local]\nbase_url = "http://127.0.0.1:9/v1"\nfree = true\n')
    twins = [item.model_copy(update={"id": f"{item.id}c", "variant": "counterfactual"}) for item in all_items()[:1]]
    write_jsonl([*all_items(), *twins], tmp_path / "data.jsonl")
    asked = ("evaluate", tmp_path / "data.jsonl", "--model", "local/tiny", "--workers", "1", "--dry-run")
    told = call(*asked)
    assert told.code == 0
    assert told.out.startswith(f"3 items and 1 counterfactual twins of {tmp_path / 'data.jsonl'}, 1 model\n")
    values = json.loads(call(*asked, "--json").out)
    assert (values["items"], values["factual"], values["counterfactual"]) == (4, 3, 1)
    assert values["requests"] > 0
    assert sorted(path.name for path in home.iterdir()) == ["endpoints.toml"]


def test_a_run_that_is_refused_before_its_first_stage_is_gone(held: Path) -> None:
    parameters = load_parameters({"run": "refused", "workers": 1}, BuildParameters)
    with pytest.raises(InputError, match="nothing to ask"), open_run(parameters) as engine:
        engine.run.begin({"seed": 1})
        raise InputError("nothing to ask")
    assert list_folders(held) == ["held"]
    assert not list((held / "locks").glob("refused*"))


def test_a_run_that_fails_in_a_stage_stays(held: Path) -> None:
    parameters = load_parameters({"run": "broken", "workers": 1}, BuildParameters)
    with pytest.raises(InputError), open_run(parameters) as engine:
        Stage(engine.run, "retrieve").begin({})
        raise InputError("a bad row")
    assert sorted(list_runs(held)) == ["broken", "held"]


def test_the_latest_run_is_one_that_holds_what_is_asked_for(held: Path) -> None:
    run = RunFolder(held, "zz-evaluated")
    with run.hold():
        run.begin({})
        Stage(run, "evaluate/report").begin({})
    assert pick_run(None, "synthesize") == "held"
    assert pick_run(None) == "zz-evaluated"
    assert pick_run(None, "release") == "zz-evaluated", "no run holds it: the last one says what it lacks"


def test_a_run_that_failed_or_came_to_nothing_is_not_the_latest(home: Path) -> None:
    made = Counts.model_validate({"in": 3, "out": 3})
    for name, took in (("whole", made), ("zy-empty", Counts()), ("zz-failed", None)):
        run = RunFolder(home, name)
        with run.hold():
            run.begin({})
            for stage in ("filter", "review", "release"):
                begun = Stage(run, stage)
                begun.begin({})
                if took is not None:
                    begun.finish(counts=took)
    assert list_runs(home) == ["whole", "zy-empty", "zz-failed"]
    for stage in ("filter", "review", "release", ""):
        assert pick_run(None, stage) == "whole"
    assert pick_run("zz-failed", "release") == "zz-failed"
    with RunFolder(home, "whole").hold():
        RunFolder(home, "whole").remove()
    assert pick_run(None, "release") == "zz-failed", "it says what it lacks"


def test_a_start_over_is_checked_before_anything_is_removed(held: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.models.read_secret", lambda _: "")
    run = RunFolder(held, "held")
    for stage in ("synthesize", "filter", "rewrite", "release"):
        with run.hold():
            begun = Stage(run, stage)
            begun.begin({})
            begun.finish()
    values = {"run": "held", "rewrite": {"passages": "corpus", "corpus": "/no/corpus"}}
    check_build(run, load_parameters(values, BuildParameters))  # what is finished needs nothing
    with pytest.raises(InputError, match="/no/corpus does not exist"):
        check_build(run, load_parameters({**values, "fresh": True}, BuildParameters))
    assert (run.path / "rewrite").is_dir()


def test_a_release_before_that_is_none_is_refused_before_the_present_one_is_removed(held: Path, tmp_path: Path) -> None:
    run = RunFolder(held, "held")
    with run.hold():
        for stage in ("rewrite/passages", "rewrite", "release"):
            begun = Stage(run, stage)
            begun.begin({})
            begun.finish()
    (tmp_path / "manifest.json").write_text('{"sets": {"../../x": {}}}')
    values = {"run": "held", "release": {"previous": str(tmp_path)}, "fresh": True, "workers": 1}
    parameters = load_parameters(values, BuildParameters)
    refusal = r"is not a release: no readable manifest\.json"
    with pytest.raises(InputError, match=refusal):
        check_build(run, parameters)
    with pytest.raises(InputError, match=refusal), open_run(parameters) as engine:
        make_release(engine, narrow(parameters, ReleaseRun), lambda _: {})
    assert Stage(run, "release").find_finished() is not None


def write_unusable(folder: Path) -> list[Path]:
    """Files of questions that cannot be compared with."""
    rows = b"".join(b'{"question": "Who wrote what no %d told?"}\n' % number for number in range(500))
    contents = {"damaged.json": b'[{"question": "Who"}, {"quest', "cut.jsonl": rows[:-9], "other.json": b'{"rows": []}',
                "image.jsonl": b"\x89PNG\r\n\x1a\n\x00", "cut.jsonl.gz": gzip.compress(rows)[:-20],
                "no.jsonl.gz": rows, "empty.jsonl": b""}  # fmt: skip
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    os.mkfifo(folder / "pipe")
    return [*(folder / name for name in contents), folder / "pipe", Path("/dev/zero"), folder]


def test_a_file_to_compare_with_is_read_before_anything_is_removed(held: Path, tmp_path: Path) -> None:
    run = RunFolder(held, "held")
    with run.hold():
        for stage in ("retrieve", "rewrite/passages", "rewrite", "release"):
            begun = Stage(run, stage)
            begun.begin({"corpus": "", "anchors": ""})
            begun.finish()
    (tmp_path / "files").mkdir()
    for path in write_unusable(tmp_path / "files"):
        for fresh in (True, False):
            values = {"run": "held", "release": {"against": [str(path)]}, "fresh": fresh, "workers": 1}
            parameters = load_parameters(values, BuildParameters)
            with pytest.raises((InputError, RunError)) as caught, open_run(parameters) as engine:
                make_release(engine, narrow(parameters, ReleaseRun), lambda _: {})
            assert "\n" not in str(caught.value)
            assert str(path) in str(caught.value) or not fresh
            assert Stage(run, "release").find_finished() is not None
        with pytest.raises(InputError, match=re.escape(str(path))):
            check_build(run, load_parameters({**values, "fresh": True}, BuildParameters))


def test_show_says_that_there_is_no_such_item(held: Path, call) -> None:  # type: ignore[no-untyped-def]
    result = call("show", "hw-000")
    assert result.code == 1
    assert "no item 'hw-000' in the runs of" in result.err
