"""Before a build spends anything: whatever would stop one of its later stages is said in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tasks.preflight
from hopwright.errors import InputError
from hopwright.runs import RunFolder, Stage
from hopwright.settings import BuildParameters, load_parameters
from tasks.preflight import check_build, list_models

PAID: dict[str, Any] = {"synthesize": {"writer": "openai", "model": "openai/gpt-5-mini"}}


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "LABEL_STUDIO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    # No Prefect server is asked for keys here.
    monkeypatch.setattr("tasks.models.read_secret", lambda _: "")
    return RunFolder(home, "r")


def check(run: RunFolder, values: dict[str, Any]) -> None:
    check_build(run, load_parameters({"run": "r", **values}, BuildParameters))


def test_an_offline_build_needs_nothing(run: RunFolder) -> None:
    check(run, {})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (PAID, "'openai' needs a key: set the environment variable OPENAI_API_KEY"),
        (
            {"rewrite": {"passages": "llm", "passage_model": "nowhere/model"}},
            "no model endpoint is called 'nowhere'",
        ),
        ({"rewrite": {"passages": "corpus", "corpus": "/no/corpus"}}, "rewrite.corpus: /no/corpus does not exist"),
        ({"rewrite": {"back_translation": "marian", "weights": ["/no/a", "/no/b"]}}, "rewrite.weights: /no/a does not"),
        ({"release": {"against": ["/no/questions"]}}, "release.against: /no/questions does not exist"),
        ({"release": {"reviewed": True}}, "release.reviewed: a new run has no reviews yet"),
        ({"review": {"url": "http://127.0.0.1:9"}}, "no access token for http://127.0.0.1:9"),
        ({"filter": {"voters": ["nowhere/model"], "max_right": 0}}, "no model endpoint is called 'nowhere'"),
    ],
)
def test_what_is_missing_is_one_line(run: RunFolder, values: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        check(run, values)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_several_things_that_are_missing_are_counted(run: RunFolder) -> None:
    with pytest.raises(InputError, match=r"rewrite\.corpus: .* \(and 2 more: .*; .*\)$"):
        check(
            run, {**PAID, "rewrite": {"passages": "corpus", "corpus": "/no"}, "review": {"url": "http://127.0.0.1:9"}}
        )


def test_a_budget_wants_a_price_before_anything_is_asked(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    check(run, {"synthesize": {"writer": "openai", "model": "openai/unheard-of"}})
    with pytest.raises(InputError, match="unheard-of"):
        check(run, {"synthesize": {"writer": "openai", "model": "openai/unheard-of"}, "models": {"budget_usd": 5}})


def test_a_stage_that_is_finished_needs_nothing_any_more(run: RunFolder) -> None:
    with run.hold():
        run.begin({})
        stage = Stage(run, "synthesize")
        stage.begin({})
        with pytest.raises(InputError, match="needs a key"):
            check(run, PAID)
        stage.finish()
    check(run, PAID)


def test_the_models_of_each_stage_are_those_that_it_will_ask() -> None:
    values = {
        "synthesize": {"writer": "anthropic", "model": "anthropic/a", "fallback_models": ["openai/b"]},
        "rewrite": {"back_translation": "llm", "translation_model": "openai/c", "passage_model": "openai/unused"},
    }
    listed = list_models(load_parameters(values, BuildParameters))
    assert listed == {"synthesize": ["anthropic/a", "openai/b"], "rewrite": ["openai/c"]}
    off = load_parameters({**values, "rewrite": {**values["rewrite"], "enabled": False}}, BuildParameters)
    assert list(list_models(off)) == ["synthesize"]


def test_a_deployment_that_the_server_does_not_know_is_said(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(name: str) -> None:
        raise tasks.preflight.ObjectNotFound(Exception(name))

    client = type("Client", (), {"read_deployment_by_name": staticmethod(read)})()
    monkeypatch.setattr(tasks.preflight, "get_client", lambda **_: client)
    with pytest.raises(InputError, match=r"no deployment 'filter/gpu'; `make deploy` makes filter/filter"):
        check(run, {"vllm": {"deployment": "filter/gpu"}})
