"""What a run would ask and cost, before anything is sent: the whole line rehearsed on a few drafts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tasks.cost_estimates
from hopwright.settings import BuildParameters, RewriteRun, load_parameters, narrow
from tasks.cost_estimates import estimate_build, without_models

PAID: dict[str, Any] = {
    "workers": 1,
    "synthesize": {"writer": "anthropic", "model": "anthropic/claude-haiku-4-5", "drafts": 600},
    "filter": {"voters": ["shortcuts", "openai/gpt-5-mini"], "max_right": 2},
    "rewrite": {"back_translation": "llm", "translation_model": "openai/gpt-5-mini"},
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rehearsal")


@pytest.fixture(autouse=True)
def small(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWRIGHT_HOME", str(home))
    monkeypatch.setattr(tasks.cost_estimates, "DRAFTS", 40)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "PREFECT_API_URL"):
        monkeypatch.delenv(name, raising=False)


def test_a_run_by_rules_asks_nothing_and_is_not_rehearsed(home: Path) -> None:
    estimate = estimate_build(BuildParameters())
    assert (estimate.requests, estimate.usd, estimate.models) == (0, 0.0, ())
    assert not (home / "stores").exists()


def test_every_stage_that_asks_is_estimated_without_a_key_and_nothing_is_left(home: Path) -> None:
    told: list[str] = []
    estimate = estimate_build(load_parameters(PAID, BuildParameters), told.append)
    assert told[0] == "rehearsing step 1 of 7: retrieve" and told[-1] == "rehearsing step 7 of 7: back-translation"
    parts = {part.stage: part for part in estimate.models}
    assert set(parts) == {"synthesize/worded", "filter/votes-1-gpt-5-mini", "rewrite"}
    words, votes, twins = parts["synthesize/worded"], parts["filter/votes-1-gpt-5-mini"], parts["rewrite"]
    assert (words.model, votes.model, twins.model) == (
        "anthropic/claude-haiku-4-5", "openai/gpt-5-mini", "openai/gpt-5-mini",
    )  # fmt: skip
    # Of 600 drafts, a quarter to nine tenths are worded; each that is kept is voted on, and has texts to translate.
    assert 150 < words.requests < 600
    assert words.requests % 15 == 0, "fifteen times the sample's"
    assert votes.requests == words.requests
    assert twins.requests > 5 * votes.requests
    assert words.usd is not None
    assert words.worst_usd is not None
    assert 0 < words.usd < words.worst_usd
    assert estimate.usd == pytest.approx(sum(part.usd or 0 for part in estimate.models))
    assert estimate.minutes > 0
    assert {path.name for path in home.iterdir()} == {"stores"}


def test_a_relative_path_is_no_model(home: Path) -> None:
    rewrite = {"passages": "corpus", "corpus": "corpora/wiki.jsonl"}
    by_rules = load_parameters({"workers": 1, "rewrite": rewrite}, BuildParameters)
    assert estimate_build(by_rules).requests == 0
    paid = load_parameters({**PAID, "rewrite": {**PAID["rewrite"], **rewrite}}, BuildParameters)
    free = without_models(paid)
    assert (free.rewrite.passages, free.rewrite.corpus) == ("corpus", "corpora/wiki.jsonl")
    assert narrow(free, RewriteRun).rewrite == free.rewrite


def test_without_models_only_what_asks_goes_back_to_its_default() -> None:
    paid = load_parameters({**PAID, "filter": {"voters": ["vllm:Qwen/Qwen3-8B"], "max_right": 0}}, BuildParameters)
    free = without_models(paid)
    assert (free.synthesize.writer, free.synthesize.model) == ("rules", "")
    assert free.synthesize.drafts == 600
    assert free.filter.voters == [], "the profile's own: shortcuts"
    assert free.filter.max_right == 0
    assert free.rewrite.translation_model == ""
    assert free.rewrite.back_translation == "auto"
