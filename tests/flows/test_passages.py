"""`hopwright rewrite --passages` as a user meets it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hopwright.counterfactual.passage_questions import PassageQuestionSet
from hopwright.llm.store import Store
from tests.counterfactual.test_per_passage import TEXT, TITLE, Asking
from tests.e2e.serving import PRICES, serving

COUNT = 6


@pytest.fixture
def server(home: Path) -> Iterator[Asking]:
    """Every passage's first answers fail a check; its model is the dear one of the price list."""
    with serving(Asking(good_from=1)) as server:
        home.mkdir(parents=True)
        (home / "prices.toml").write_text(PRICES, "utf-8")
        (home / "endpoints.toml").write_text(
            f'prices = "{home}/prices.toml"\n[endpoints.local]\nbase_url = "{server.url}/v1"\n'
            "limits = { max_concurrency = 2 }\n",
            "utf-8",
        )
        yield server


@pytest.fixture
def asked(sample_folder: Path, tmp_path: Path) -> list[Any]:
    """The command's arguments but for --out: passages that differ by a sentence."""
    rows = [{"title": TITLE, "text": f"{TEXT} It was shown {number} times."} for number in range(11, 11 + COUNT)]
    file = tmp_path / "passages.json"
    file.write_text(json.dumps(rows), "utf-8")
    given = ["--store", sample_folder, "--back-translation", "off", "--question-model", "local/scribe", "--json"]
    return ["rewrite", "--passages", file, *given]


def read_sets(file: Path) -> list[PassageQuestionSet]:
    return [PassageQuestionSet.model_validate_json(line) for line in file.read_text("utf-8").splitlines()]


def test_each_passage_gets_its_questions_in_both_worlds(call: Any, server: Asking, asked: list[Any]) -> None:
    out = asked[2].with_name("questions.jsonl")
    done = call(*asked, "--out", out)
    assert done.code == 0, done.err
    report = json.loads(done.out)
    sets = read_sets(out)
    assert (report["passages"], report["twins"], report["out"]) == (COUNT, COUNT, str(out))
    assert [one.variant for one in sets] == ["factual", "counterfactual"] * COUNT
    assert report["requests"] == server.seen.total() > 0
    assert {question.hops for one in sets for question in one.questions} == {2, 3}
    for factual, twin in zip(sets[::2], sets[1::2], strict=True):
        assert len(factual.questions) == len(twin.questions) == 2
        assert "steps, not 4" in factual.missing["4"]


def test_a_budget_stops_it_and_a_higher_one_continues(call: Any, server: Asking, asked: list[Any], home: Path) -> None:
    out, whole = (asked[2].with_name(name) for name in ("questions.jsonl", "whole.jsonl"))
    stopped = call(*asked, "--out", out, "--budget", "0.8")
    assert stopped.code == 1
    line = stopped.err.splitlines()[-1]
    assert line.startswith("hopwright: stopped before the budget of 0.80 dollars is exceeded: ")
    assert not out.exists()
    begun = server.seen.total()
    done = call(*asked, "--out", out, "--budget", "500")
    assert done.code == 0, done.err
    answered = server.seen.total()
    assert 0 < begun < answered
    again = call(*asked, "--out", whole, "--budget", "500")
    assert again.code == 0, again.err
    assert server.seen.total() == answered, "what was answered is asked again"
    assert whole.read_bytes() == out.read_bytes()
    with Store(home / "llm.sqlite") as store:
        ((spent,),) = store.read("SELECT total(spent) FROM leases")
    assert spent == pytest.approx(json.loads(done.out)["cost_usd"], abs=1e-3), "what was paid is what is told"


@pytest.mark.parametrize(
    ("passages", "options", "says"),
    [
        ('[{"title": "Zorin Vale", "text": "A film."}]', [], "--passages needs --out FILE"),
        ('{"title": "Zorin Vale", "text": "A film."}\n{"title": ', ["--out", "q.jsonl"], "line 2: not JSON"),
        ('[{"title": "Zorin Vale"}]', ["--out", "q.jsonl"], "entry 1: text: "),
        ("[]", ["--out", "q.jsonl"], "no passages in it"),
    ],
)
def test_bad_input_is_one_line(
    call: Any, sample_folder: Path, tmp_path: Path, passages: str, options: list[str], says: str
) -> None:
    file = tmp_path / "passages.json"
    file.write_text(passages, "utf-8")
    done = call("rewrite", "--passages", file, "--store", sample_folder, *options)
    assert done.code == 1
    assert says in done.err.splitlines()[-1]
    assert "Traceback" not in done.err
