from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer
import typer.core
import typer.main
from pydantic import BaseModel, Field

from flows.cli import app
from flows.commands.options import takes
from flows.console.doctor import check_packages, check_python
from flows.console.options import merge_options
from hopwright.errors import InputError, ServiceError
from hopwright.records import Item
from hopwright.records.arrow import items_to_table
from hopwright.runs import RunFolder, ShardOutput, Stage
from hopwright.settings import BuildParameters, RunParameters, sample_folder
from hopwright.settings.base import Cli, Parameters
from tests.builders import all_items
from tests.stage_runs import run_stage

ROOT = Path(__file__).resolve().parents[2]
VERBS = [
    ["build"], ["audit"], ["filter"], ["rewrite"], ["release"], ["evaluate"], ["export"], ["publish"], ["show"],
    ["explain"], ["doctor"], ["cache"], ["cache", "stats"], ["cache", "prune"], ["graph", "literals"],
    ["review", "export"], ["review", "push"], ["review", "pull"], ["review", "listen"], ["review", "agreement"],
    ["review", "adjudicate"],
    ["preview"], ["claims", "propose"], ["claims", "check"],
    ["corpus", "add"], ["corpus", "index"], ["corpus", "info"], ["corpus", "search"], ["corpus", "show"],
    ["corpus", "serve"], ["corpus", "retain"], ["environment", "serve"], ["environment", "report"],
    ["images", "fetch"], ["images", "info"], ["images", "questions"], ["images", "audit"], ["images", "evaluate"],
    ["images", "export"], ["images", "tasks"],
    ["novels", "add"], ["novels", "info"], ["novels", "questions"], ["novels", "audit"], ["novels", "evaluate"],
    ["novels", "tasks"], ["novels", "star"], ["novels", "ask"], ["novels", "export"],
    ["graph", "verify"], ["graph", "ingest"], ["graph", "info"], ["graph", "find"], ["graph", "show"],
]  # fmt: skip


@pytest.fixture
def run_of_three(home: Path) -> list[str]:
    items = all_items()
    run = RunFolder(home, "three")
    run.begin({"seed": 0})
    run_stage(Stage(run, "filter"), [0], lambda _: ShardOutput(items_to_table(items), [], taken=3), parameters={})
    return [item.id for item in items]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_verb_has_help(verb: list[str], call) -> None:  # type: ignore[no-untyped-def]
    result = call(*verb, "--help")
    assert result.code == 0
    assert "Usage:" in result.out
    assert all(f"hopwright {' '.join(verb)}" in line for line in result.out.splitlines() if "Usage:" in line)


def test_the_command_line_has_these_verbs_and_no_others() -> None:
    command = typer.main.get_command(app)
    assert isinstance(command, typer.core.TyperGroup)
    assert set(command.commands) == {verb[0] for verb in VERBS}


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import atexit, sys; from flows.cli import app\n"
        "atexit.register(lambda: print([m for m in ('prefect', 'pyarrow', 'polars', 'numpy') if m in sys.modules]))\n"
        "app(['--help'])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "--drafts", "0"], "hopwright: --drafts: "),
        (["build", "--run", "../up"], "hopwright: --run: '../up' does not fit (a name has 1 to 64 letters, digits, "),
        (["build", "--writer", "openai"], "the writer openai needs a model: give --model as endpoint/model"),
        (["build", "--evidence-passages", "llm"], "hopwright: --evidence-passages llm needs --passage-model"),
        (["build", "--shard-size", "7"], "hopwright: --shard-size: "),
        (["build", "--topology", "ring"], "hopwright: --topology: should be one of chain, "),
        (["build", "--parameters", "absent.json"], "absent.json: cannot be read"),
        (["filter"], "no runs in "),
        (["filter", "--run", "absent"], "no run 'absent'"),
        (["rewrite", "--run", "absent"], "no run 'absent'"),
        (["release", "--run", "absent"], "no run 'absent'"),
        (["review", "push", "--run", "absent"], "which Label Studio?"),
        (["review", "export", "--run", "absent"], "no run 'absent'"),
        (["show"], "no runs in "),
        (["audit", "absent.jsonl"], "absent.jsonl"),
        (["graph", "info"], "no graph store in "),
        (["graph", "find", "Paris", "--store", "absent"], "absent"),
        (["graph", "ingest", "absent"], "absent"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_users_mistake_is_one_line(arguments: list[str], message: str, call) -> None:  # type: ignore[no-untyped-def]
    result = call(*arguments)
    assert result.code == 1
    assert result.out == ""
    assert len(result.err.strip().splitlines()) == 1
    assert result.err.startswith("hopwright: ")
    assert message in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "--sede", "3"], "no such option: --sede"),
        (["build", "--drafts", "many"], "'--drafts'"),
        (["build", "--back-translation", "telepathy"], "'auto', 'apertium', 'llm', 'marian', 'off'"),
        (["frobnicate"], "no such command 'frobnicate'"),
        (["audit"], "missing argument 'file'"),
        (["audit", "one.jsonl", "another.jsonl"], "another.jsonl"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_line_that_makes_no_sense_is_one_line(arguments: list[str], message: str, call) -> None:  # type: ignore[no-untyped-def]
    result = call(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("hopwright: ")
    assert message in result.err
    assert len(result.err.splitlines()) == 1


@pytest.mark.parametrize("arguments", [[], ["graph"], ["review"]], ids=" ".join)
def test_a_bare_command_shows_its_help(arguments: list[str], call) -> None:  # type: ignore[no-untyped-def]
    result = call(*arguments)
    assert result.code == 2
    assert "Commands:" in result.out + result.err
    assert (result.out + result.err).count("Usage:") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON: Expecting property name enclosed in double quotes at line 1"),
        ("[]", "JSON object"),
        ('{"sede": 1}', "sede: "),
        ('{"filter": 3}', "filter: "),
    ],
)
def test_a_bad_parameter_file_is_one_line(text: str, message: str, call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "parameters.json"
    path.write_text(text)
    result = call("build", "--parameters", path)
    assert (result.code, result.out) == (1, "")
    assert message in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_a_prefect_server_that_is_down_is_one_line(call, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    result = call("build", "--run", "x")
    assert result.code == 1
    assert "no Prefect server answers" in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_a_home_that_cannot_be_made_is_one_line(call, home: Path) -> None:  # type: ignore[no-untyped-def]
    home.write_text("a file")
    result = call("build", "--run", "x")
    assert result.code == 1
    assert "a file stands where a folder should be" in result.err
    assert len(result.err.strip().splitlines()) == 1


class _Group(Parameters):
    letter: Literal["a", "b"] = Field(default="a", description="Which letter.")
    shares: list[float] = Field(default=[], description="Some shares.")
    table: dict[str, float] = Field(default={}, description="For a file only.")
    size: Annotated[int, Cli(("--extent",))] = Field(default=3, ge=1, le=9, description="How large.")


class _Run(RunParameters):
    group: _Group = Field(default_factory=_Group)


def test_a_new_parameter_is_an_option_without_a_second_declaration(capsys: pytest.CaptureFixture[str]) -> None:
    got: list[dict[str, object]] = []
    app = typer.Typer(add_completion=False, rich_markup_mode=None)

    @app.command()
    @takes(_Run, leaving_out=("cluster",))
    def verb(*, run: str = "r", options: dict[str, object], loud: bool = False) -> None:
        got.append({**options, "run": run, "loud": loud})

    app(["--extent", "4", "--letter", "b", "--share", "0.5", "--share", "1", "--run", "x"], standalone_mode=False)
    app(["--seed", "7", "--loud"], standalone_mode=False)
    nothing = dict.fromkeys(("letter", "shares", "size"))
    assert got == [
        {"group": {"letter": "b", "shares": [0.5, 1.0], "size": 4}, "seed": None, "workers": None, "run": "x",
         "loud": False},
        {"group": nothing, "seed": 7, "workers": None, "run": "r", "loud": True},
    ]  # fmt: skip
    app(["--help"], standalone_mode=False)
    shown = capsys.readouterr().out
    assert all(part in shown for part in ("--extent 1..9", "How large.", "<a|b>", "Which letter.", "--workers 0..64"))
    assert "--table" not in shown and "--cluster" not in shown


def test_build_takes_every_parameter_of_the_stages_but_tables() -> None:
    command = typer.main.get_command(app).commands["build"]  # type: ignore[attr-defined]
    taken = {parameter.name for parameter in command.params}
    for name, field in BuildParameters.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            tables = {"targets"} if name == "synthesize" else set()
            assert {f"{name}__{one}" for one in field.annotation.model_fields} - taken == {
                f"{name}__{one}" for one in tables
            }


def test_options_go_before_the_file_and_leave_the_rest() -> None:
    file = {"seed": 1, "filter": {"max_right": 2}, "synthesize": {"drafts": 5, "min_domains": 3}}
    options = {"seed": None, "run": "r", "synthesize": {"drafts": 9, "min_domains": None}, "review": {"url": None}}
    assert merge_options(file, options) == {
        "seed": 1, "run": "r", "filter": {"max_right": 2}, "synthesize": {"drafts": 9, "min_domains": 3},
    }  # fmt: skip
    assert merge_options({"filter": 3}, {"filter": {"max_right": 1}}) == {"filter": 3}


def test_show_prints_every_hop_and_the_same_sample_for_a_seed(run_of_three: list[str], call) -> None:  # type: ignore[no-untyped-def]
    text = call("show", "--sample", "3").out
    for item in all_items():
        assert item.id in text
        for hop in item.hops:
            assert hop.question in text
    few = json.loads(call("show", "three", "--sample", "2", "--json").out)
    assert len(few) == 2, "so many items in all"
    assert len({item["topology"] for item in few}) == 2, "of as many topologies as there are"
    drawn = [[item["id"] for item in json.loads(call("show", "three", "--sample", "2", "--json").out)] for _ in "ab"]
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) <= set(run_of_three)


def test_show_names_every_line_and_entity_of_a_twin(capsys: pytest.CaptureFixture[str]) -> None:
    from flows.console.show import print_item
    from tests.counterfactual.conftest import make_maker

    twin = make_maker(3).make_twin(all_items()[0])
    assert isinstance(twin, Item)
    print_item(twin)
    said = capsys.readouterr().out
    assert "QX" not in said
    lines = [line.split(":")[0].strip() for line in said.splitlines() if line.startswith("     ")]
    assert lines == ["answer", "wrong options", "domain", "derivation"] * len(twin.hops)


def test_show_of_a_stage_that_is_not_there_is_one_line(run_of_three: list[str], call) -> None:  # type: ignore[no-untyped-def]
    result = call("show", "three", "--stage", "rewrite")
    assert (result.code, result.out) == (1, "")
    assert "no finished stage rewrite" in result.err


def test_graph_verbs_on_the_sample(call, home: Path) -> None:  # type: ignore[no-untyped-def]
    made = json.loads(call("graph", "ingest", sample_folder(), "--json").out)
    assert made["counts"]["triplets"] > 10_000
    assert str(home) in made["folder"]
    assert json.loads(call("graph", "ingest", sample_folder(), "--json").out)["reused"]
    assert json.loads(call("graph", "info", "--json").out)["entities"] == made["counts"]["entities"]
    found = json.loads(call("graph", "find", "Germany", "--json").out)
    assert any(one["id"] == "Q183" for one in found)
    shown = json.loads(call("graph", "show", "Q183", "--most", "3", "--json").out)
    assert shown["label"] == "Germany"
    for verb in (["info"], ["find", "Germany"], ["show", "Q183"]):
        assert "Q183" in call("graph", *verb).out or verb == ["info"]
    assert json.loads(call("graph", "show", "Germany", "--most", "3", "--json").out) == shown
    for name, said in (
        ("Q0", "no entity has the id or the name 'Q0'"), ("Germony", "is one of these meant? Q183 (Germany)"),
        ("Emma", "3 entities are called 'Emma': Q"),
    ):  # fmt: skip
        unknown = call("graph", "show", name)
        assert (unknown.code, len(unknown.err.strip().splitlines())) == (1, 1)
        assert said in unknown.err


def test_audit_exits_with_one_when_something_is_wrong(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "data.jsonl"
    path.write_text('{"id": "x"}\nno json\n')
    result = call("audit", path, "--json")
    assert result.code == 1
    report = json.loads(result.out)
    assert report["items"] == 2
    assert {violation["line"] for violation in report["violations"]} == {1, 2}
    assert call("audit", path).code == 1


def test_audit_takes_a_releases_folder_and_refuses_what_is_no_dataset(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "release"
    folder.mkdir()
    for name in ("data.jsonl", "counterfactual.jsonl"):
        (folder / name).write_text('{"id": "x"}\n')
    result = call("audit", folder, "--json")
    assert result.code == 1
    assert [Path(report["file"]).name for report in json.loads(result.out)] == ["data.jsonl", "counterfactual.jsonl"]
    for name, text in (("README.md", "# Words\n\nonly\n"), ("other.jsonl", '{"question": "?"}\n'), ("n.json", "[1]")):
        (tmp_path / name).write_text(text)
        refused = call("audit", tmp_path / name)
        assert (refused.code, refused.out) == (1, "")
        assert len(refused.err.strip().splitlines()) == 1
        assert f"{name}: no dataset in the release format" in refused.err
    (tmp_path / "bare").mkdir()
    assert "give a release's folder" in call("audit", tmp_path / "bare").err


def test_doctor_says_what_to_do_and_prints_no_key(call, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("LABEL_STUDIO_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "secret-key")
    result = call("doctor", "--json")
    findings = json.loads(result.out)
    assert result.code == 1, "a server that is named but down is bad"
    assert {"python", "packages", "apertium", "sample", "disk", "prefect"} <= {one["what"] for one in findings}
    assert all(one["advice"] for one in findings if one["state"] == "bad")
    assert "secret-key" not in result.out
    assert "secret-key" not in call("doctor").out


def test_doctor_finds_this_python_in_order() -> None:
    assert [one.state for one in check_python()] == ["ok"]
    assert check_packages()[0].what == "packages"


def test_errors_of_all_kinds_reach_the_user_as_lines(call, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    for error in (InputError("one"), ServiceError("two")):
        monkeypatch.setattr("flows.console.doctor.examine", _raiser(error))
        result = call("doctor")
        assert (result.code, result.err) == (1, f"hopwright: {error}\n")


def _raiser(error: Exception) -> object:
    def fail(**_: object) -> None:
        raise error

    return fail


def test_the_environment_of_the_tests_is_not_a_users(home: Path) -> None:
    assert os.environ["HOPWRIGHT_HOME"] == str(home)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("build", "--preset", "oflfine"), "'oflfine' is not one of 'none', 'offline'"),
        (("build", "--drafts", "0"), "--drafts: at least 1 is wanted, not 0"),
    ],
)
def test_wrong_values_are_told_without_the_words_of_a_validator(home: Path, words: tuple[str, ...], said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "flows.cli", *words], capture_output=True, text=True, check=False,
        env={**os.environ, "HOPWRIGHT_HOME": str(home)},
    )  # fmt: skip
    assert done.returncode != 0
    assert said in done.stderr
    assert "Value error" not in done.stderr and "Input should" not in done.stderr


@pytest.mark.parametrize(("verb", "lacking"), [("novels", "books/"), ("images", "images/")])
def test_a_set_of_another_kind_is_told_as_one(tmp_path: Path, call, verb: str, lacking: str) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "items.jsonl").write_text("{}\n")
    said = call(verb, "audit", str(tmp_path)).err
    assert f"it lacks {lacking}" in said
    assert f"`hopwright {verb} questions` writes one" in said


def test_the_version_is_printed(call) -> None:  # type: ignore[no-untyped-def]
    import hopwright

    done = call("--version")
    assert (done.code, done.out) == (0, f"hopwright {hopwright.__version__}\n")
