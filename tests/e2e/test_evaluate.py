"""`hopwright evaluate` as a user runs it, against a model behind a server: report, kill, mistakes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hopwright.llm.store import Store
from tests.e2e.serving import read_settled, read_stats, serve
from tests.evaluation.datasets import write_rows

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.e2e, pytest.mark.servers]
SIMULATED = "tests.evaluation.simulated"


def write_endpoints(folder: Path, url: str) -> Path:
    path = folder / "endpoints.toml"
    path.write_text(
        f'[endpoints.local]\nkind = "compatible"\nbase_url = "{url}/v1"\nfree = true\n'
        f'[endpoints.sdk]\nkind = "anthropic"\nbase_url = "{url}"\nkey_env = "SIMULATED_KEY"\nfree = true\n'
    )
    return path


def command(home: Path, *arguments: str) -> tuple[list[str], dict[str, str]]:
    environment = {
        **os.environ, "HOPWRIGHT_HOME": str(home), "PYTHONPATH": str(ROOT), "SIMULATED_KEY": "k", "COLUMNS": "200",
    }  # fmt: skip
    return [sys.executable, "-m", "flows.cli", "evaluate", *arguments, "--workers", "2"], environment


def evaluate(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    line, environment = command(home, *arguments)
    return subprocess.run(line, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)


def read_bytes(home: Path) -> dict[str, bytes]:
    folder = home / "runs" / "data" / "evaluate"
    kept = [path for path in folder.rglob("*") if path.is_file() and path.name != "manifest.json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in kept}


def test_two_models_one_report_and_a_kill_in_between(tmp_path: Path) -> None:
    data = write_rows(tmp_path / "data.jsonl", 120)
    with serve(SIMULATED, str(data), "--knows", "0.9", "--latency", "0.01") as url:
        endpoints = write_endpoints(tmp_path, url)
        asked = [str(data), "--endpoints", str(endpoints), "--model", "local/simulated"]
        asked += ["--form", "mcq", "--form", "open", "--prompting", "direct"]
        whole = evaluate(tmp_path / "whole", *asked, "--model", "sdk/simulated", "--json")
        assert whole.returncode == 0, whole.stderr
        result = json.loads(whole.stdout)
        assert {entry["model"] for entry in result["leaderboard"]} == {"local/simulated", "sdk/simulated"}
        assert result["questions"] == 2 * 120 * 2 * (1 + 3 * 4)
        first, second = result["leaderboard"]
        assert first["mcq"]["accuracy"] == second["mcq"]["accuracy"], "the same model behind both wire formats"
        folder = Path(result["folder"])
        assert (folder / "report.html").stat().st_size > 50_000
        assert "Error rate by step" in (folder / "report.md").read_text()
    with serve(SIMULATED, str(data), "--knows", "0.9", "--latency", "0.2") as url:
        write_endpoints(tmp_path, url)
        line, environment = command(tmp_path / "killed", *asked)
        killed = subprocess.Popen(
            line,
            env=environment,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 300
        while read_stats(url)["answered"] < 300 and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
        before = read_settled(url)
        assert before["answered"] >= 300
        with Store(tmp_path / "killed" / "llm.sqlite") as store:
            ((stored,),) = store.read("SELECT count(*) FROM responses")
        # What was under way at the kill is lost: two workers', each with a few more requests than may be in flight.
        assert 0 < stored <= before["received"] <= stored + 2 * 328
        again = evaluate(tmp_path / "killed", *asked)
        assert again.returncode == 0, again.stderr
        assert "multiple choice" in again.stdout
        after = read_stats(url)
        assert after["received"] - before["received"] == after["prompts"] - stored, "asked again although it was stored"
        assert evaluate(tmp_path / "killed", *asked).returncode == 0
        assert read_stats(url)["received"] == after["received"]
    own = {name: content for name, content in read_bytes(tmp_path / "whole").items() if name.startswith("local-")}
    same = {name: content for name, content in read_bytes(tmp_path / "killed").items() if name.startswith("local-")}
    assert own == same


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    data = write_rows(tmp_path / "data.jsonl", 3)
    for arguments, said in (
        ([str(data)], "no model to evaluate"),
        ([str(tmp_path / "none.jsonl"), "--model", "anthropic/x"], "no such file"),
        ([str(data), "--model", "nowhere/x"], "nowhere"),
        ([str(data), "--model", "sdk/x", "--passages", "own"], "no passages"),
        ([str(data), "--model", "sdk/x", "--form", "essay"], "--form"),
    ):
        done = evaluate(
            tmp_path / "home", *arguments, "--endpoints", str(write_endpoints(tmp_path, "http://127.0.0.1:9"))
        )
        assert done.returncode == 1, done.stderr
        errors = [line for line in done.stderr.splitlines() if line.startswith("hopwright:")]
        assert len(errors) == 1, done.stderr
        assert said in errors[0]
        assert "Traceback" not in done.stderr


def test_without_its_key_no_run_is_begun(tmp_path: Path) -> None:
    data, home = write_rows(tmp_path / "data.jsonl", 3), tmp_path / "home"
    endpoints = write_endpoints(tmp_path, "http://127.0.0.1:9")
    asked, environment = command(home, str(data), "--model", "sdk/x", "--endpoints", str(endpoints))
    environment.pop("SIMULATED_KEY")
    done = subprocess.run(asked, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "SIMULATED_KEY" in done.stderr
    assert not (home / "runs" / "data").exists()
