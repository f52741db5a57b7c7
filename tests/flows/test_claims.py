"""`hopwright claims` as a user meets it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hopwright.knowledge.external.bank import read_bank, write_bank
from hopwright.records import Rejected
from tests.e2e.serving import read_stats, serve
from tests.sample_claims import APOLLO, BANK

ROOT = Path(__file__).resolve().parents[2]
SLIPS = ("--no_source", "0.1", "--repeated", "0.1", "--contradiction", "0.1", "--refusal", "0.1")


@pytest.fixture
def model(home: Path) -> Iterator[str]:
    with serve("tests.knowledge.external.claims_model", "--latency", "0.15", *SLIPS) as url:
        write_endpoints(home, url)
        yield url


def write_endpoints(home: Path, url: str) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "endpoints.toml").write_text(
        f'[endpoints.local]\nkind = "compatible"\nbase_url = "{url}/v1"\nfree = true\n'
    )


def propose(home: Path, out: Path, number: int = 60) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "flows.cli", "claims", "propose", "--model", "local/some", "--out", str(out)]
    return subprocess.Popen(
        [*command, "--number", str(number), "--json"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "HOPWRIGHT_HOME": str(home), "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


@pytest.mark.e2e
def test_a_killed_command_continues_and_pays_for_nothing_twice(home: Path, model: str, tmp_path: Path) -> None:
    undisturbed = tmp_path / "undisturbed"
    write_endpoints(undisturbed, model)
    whole = propose(undisturbed, tmp_path / "whole.jsonl")
    wanted, complaint = whole.communicate(timeout=600)
    assert whole.returncode == 0, complaint.decode()
    once = read_stats(model)["answered"]
    killed = propose(home, tmp_path / "claims.jsonl")
    deadline = time.monotonic() + 300
    while read_stats(model)["answered"] < once + 5 and time.monotonic() < deadline:
        time.sleep(0.005)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not (tmp_path / "claims.jsonl").exists()
    time.sleep(0.5)  # what was in flight is answered to nobody
    begun = read_stats(model)["answered"] - once
    assert begun < once
    continued = propose(home, tmp_path / "claims.jsonl")
    said, complaint = continued.communicate(timeout=600)
    assert continued.returncode == 0, complaint.decode()
    assert (tmp_path / "claims.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    report = json.loads(said)
    assert report["from_cache"] > 0
    asked_again = read_stats(model)["answered"] - 2 * once
    assert asked_again <= 8, "at most what was in flight, one request a domain"
    assert {**report, "out": "", "rejected": "", "from_cache": 0, "requests": 0} | spent() == {
        **json.loads(wanted), "out": "", "rejected": "", "from_cache": 0, "requests": 0,
    } | spent()  # fmt: skip


def spent() -> dict[str, int]:
    """What differs when a part was paid for before."""
    return {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0, "without_answer": 0}


@pytest.mark.e2e
def test_the_bank_grows_and_what_was_refused_is_kept(home: Path, model: str, tmp_path: Path) -> None:
    out = tmp_path / "claims.jsonl"
    write_bank([APOLLO], out)
    done = propose(home, out, 24)
    said, complaint = done.communicate(timeout=600)
    assert done.returncode == 0, complaint.decode()
    report = json.loads(said)
    bank = read_bank(out)
    assert APOLLO in bank and len(bank) == report["claims"] == report["new"] + 1
    assert report["missing"] == 24 - report["new"]
    lines = (tmp_path / "claims.rejected.jsonl").read_text().splitlines()
    assert (
        len(lines) == sum(report["refused"].values()) == report["proposed"] - report["new"] + report["without_answer"]
    )
    assert all(Rejected.model_validate_json(line).reason for line in lines)


class TestCheck:
    def test_a_good_bank(self, call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
        path = tmp_path / "claims.jsonl"
        write_bank(BANK, path)
        result = call("claims", "check", path)
        assert result.code == 0 and "9 claims that can be used, 0 refused" in result.out
        assert not (tmp_path / "claims.rejected.jsonl").exists()

    def test_a_bad_one(self, call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
        path = tmp_path / "claims.jsonl"
        path.write_text(f"{APOLLO.model_dump_json()}\nnothing\n{APOLLO.model_dump_json()}\n")
        result = call("claims", "check", path, "--out", tmp_path / "fit.jsonl", "--json")
        assert result.code == 1
        report = json.loads(result.out)
        assert report["claims"] == 1 and report["refused"] == {"claim_duplicate": 1, "claim_schema": 1}
        assert read_bank(tmp_path / "fit.jsonl") == (APOLLO,)
        kept = (tmp_path / "fit.rejected.jsonl").read_text().splitlines()
        assert [json.loads(line)["key"] for line in kept] == ["line 2", "line 3"]

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("check", "/no/such/file"), "cannot be read"),
            (("propose", "--model", "nobody", "--out", "x.jsonl"), "write it as endpoint/model"),
            (("propose", "--model", "nobody/some", "--out", "x.jsonl"), "nobody"),
            (("propose", "--model", "openai/gpt-5-mini", "--out", "x.jsonl", "--domain", "sport"), "no domain 'sport'"),
            (("propose", "--model", "openai/gpt-5-mini", "--out", "x.jsonl"), "OPENAI_API_KEY"),
            (("propose", "--out", "x.jsonl"), "--model"),
            (("propose", "--model", "openai/gpt-5-mini", "--out", "x.jsonl", "--number", "0"), "--number"),
        ],
    )  # fmt: skip
    def test_a_mistake_is_one_line(self, call, monkeypatch, arguments, said) -> None:  # type: ignore[no-untyped-def]
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        result = call("claims", *arguments)
        assert result.code in (1, 2) and said in result.err
        assert len(result.err.strip().splitlines()) == 1

    def test_a_rehearsal_says_the_price_and_asks_nothing(self, call, home: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
        out = tmp_path / "claims.jsonl"
        result = call("claims", "propose", "--model", "openai/gpt-5-mini", "--out", out, "--dry-run", "--json")
        assert result.code == 0 and json.loads(result.out)["requests"] == 16
        assert not out.exists()
