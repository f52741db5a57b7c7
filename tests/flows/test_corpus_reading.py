"""`hopwright corpus read` as a user meets it: what it costs, a budget, a kill, and what it writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

from hopwright.records import Item
from tests.e2e.serving import PRICES, serving
from tests.exports.reading_model import FILMS, ReadingModel, list_passages
from tests.knowledge.documents.builders import write_lines

ROOT = Path(__file__).resolve().parents[2]
FEW = ("--kind", "inference", "--hop", "2,3")
IN_FLIGHT = 4


@pytest.fixture
def corpus(call: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with an indexed corpus."""
    monkeypatch.setenv("READING_KEY", "k")
    call("corpus", "add", write_lines(tmp_path / "a.jsonl", list_passages()), "--near-duplicates", "0")
    assert call("corpus", "index").code == 0
    return home


def write_endpoints(home: Path, url: str) -> None:
    (home / "prices.toml").write_text(PRICES)
    (home / "endpoints.toml").write_text(
        f'prices = "{home}/prices.toml"\n[endpoints.words]\nkind = "openai"\nbase_url = "{url}/v1"\n'
        f'key_env = "READING_KEY"\n[endpoints.words.limits]\nmax_concurrency = {IN_FLIGHT}\n'
    )


def start(home: Path, out: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "flows.cli", "corpus", "read", str(out), "--model", "words/scribe", *FEW, *options]
    return subprocess.Popen(
        [*command, "--json"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "HOPWRIGHT_HOME": str(home), "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "no model is named"),
        (("--model", "nowhere/x"), "nowhere"),
        (("--model", "scribe"), "a model is named as endpoint/model"),
        (("--model", "openai/gpt-5-mini", "--hop", "1"), "hop"),
        (("--model", "openai/gpt-5-mini", "--exclude", "gone.txt"), "gone.txt: cannot be read"),
        (("--model", "openai/gpt-5-mini", "--corpus", "other"), "no corpus in"),
    ],
)
def test_mistakes_are_one_line(call: Any, tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    done = call("corpus", "read", str(tmp_path / "out"), *options)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert message in done.err


def test_a_dry_run_tells_the_price_and_sends_nothing(call: Any, corpus: Path, tmp_path: Path) -> None:
    with serving(ReadingModel()) as server:
        write_endpoints(corpus, server.url)
        options = ("--model", "words/scribe", "--dry-run")
        done = call("corpus", "read", str(tmp_path / "out"), *options, "--json")
        assert done.code == 0, done.err
        estimate = json.loads(done.out)
        assert estimate["known"] == 30
        assert estimate["requests"] > 300
        assert 0 < estimate["usd"] < estimate["worst_usd"]
        fewer = json.loads(call("corpus", "read", str(tmp_path / "out"), *options, *FEW, "--json").out)
        assert fewer["usd"] < estimate["usd"]
        split = ("--judge-model", "words/voter")
        parts = json.loads(call("corpus", "read", str(tmp_path / "out"), *options, *split, "--json").out)["models"]
        assert [part["model"] for part in parts] == ["words/scribe", "words/voter"]
        said = call("corpus", "read", str(tmp_path / "out"), *options, "--budget", "0.01").out
        assert "30 are known" in said
        assert "would stop it on the way" in said
        assert not server.kinds
    assert not (tmp_path / "out").exists()


def test_a_budget_stops_it_and_a_larger_one_goes_on(call: Any, corpus: Path, tmp_path: Path) -> None:
    asked = ("corpus", "read", str(tmp_path / "out"), "--model", "words/scribe", *FEW)
    with serving(ReadingModel()) as server:
        write_endpoints(corpus, server.url)
        stopped = call(*asked, "--budget", "4")
        assert stopped.code != 0
        assert "budget" in stopped.err
        assert not (tmp_path / "out").exists()
        paid = len(server.answered)
        assert paid > 0
        done = call(*asked, "--budget", "1000", "--json")
        assert done.code == 0, done.err
        counts = json.loads(done.out)
        assert len(server.answered) == counts["requests"] > paid
        assert set(server.answered.values()) == {1}
        assert counts["cost_usd"] > 4
        assert counts["written"]["inference, 3 hops"] > 0
        told = call(*asked, "--replace")
        assert "inference, 2 hops: verification: " in told.out
        assert "rejected: " in told.out
        assert set(server.answered.values()) == {1}


def test_foreign_files_are_never_replaced(call: Any, tmp_path: Path, corpus: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("precious")
    done = call("corpus", "read", str(tmp_path / "mine"), "--model", "openai/gpt-5-mini", "--replace")
    assert done.code == 1
    assert "notes.txt" in done.err
    assert (tmp_path / "mine" / "notes.txt").read_text() == "precious"


@pytest.mark.e2e
@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_a_killed_command_continues_and_pays_for_nothing_twice(corpus: Path, tmp_path: Path, share: float) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "corpora").symlink_to(corpus / "corpora")
    with serving(ReadingModel(malformed=[FILMS[1]])) as server:
        write_endpoints(other, server.url)
        whole = start(other, tmp_path / "whole")
        wanted, complaint = whole.communicate(timeout=300)
        assert whole.returncode == 0, complaint
        once = sum(server.answered.values())
    with serving(ReadingModel(malformed=[FILMS[1]])) as server:
        server.latency_s = 0.02
        write_endpoints(corpus, server.url)
        killed = start(corpus, tmp_path / "out")
        deadline = time.monotonic() + 120
        while sum(server.answered.values()) < once * share and time.monotonic() < deadline:
            time.sleep(0.005)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        assert not (tmp_path / "out").exists()
        assert 0 < sum(server.answered.values()) < once
        again = start(corpus, tmp_path / "out")
        found, complaint = again.communicate(timeout=300)
        assert again.returncode == 0, complaint
        # What was in flight when it was killed was answered, and not yet stored.
        assert once <= sum(server.answered.values()) <= once + IN_FLIGHT
        finished = sum(server.answered.values())
        assert start(corpus, tmp_path / "out", "--replace").wait(300) == 0
        assert sum(server.answered.values()) == finished
    first, second = json.loads(wanted), json.loads(found)
    assert first.pop("folder") != second.pop("folder")
    assert first == second
    for name in ("items.jsonl", "rejected.jsonl", "counts.json", "qrels.trec"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
    lines = (tmp_path / "out" / "items.jsonl").read_text("utf-8").splitlines()
    assert all(Item.model_validate_json(line).provenance.cost_usd > 0 for line in lines)
