"""`kill -9` half-way, then again: no more sent again than was in flight, the same rows, no second batch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.serving import read_stats, serve

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "HOPWRIGHT_BENCH_KEY": "k"}
IN_FLIGHT = 48
WIRE = "tests.llm.wire_server"


def start(url: str, folder: Path, rows: int, kind: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(ROOT / "bench/llm_peers/hopwright_client.py"), "--url", url, "--rows", str(rows),
         "--concurrency", str(IN_FLIGHT), "--state", str(folder), "--out", str(folder / "rows.jsonl"), "--kind", kind],
        env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.e2e
@pytest.mark.servers
@pytest.mark.parametrize(
    ("kind", "share"),
    [("compatible", 0.02), ("compatible", 0.5), ("compatible", 0.9), ("openai", 0.5), ("anthropic", 0.5)],
)
def test_a_killed_run_sends_again_at_most_what_was_in_flight(tmp_path: Path, kind: str, share: float) -> None:
    rows = 600
    with serve(WIRE, "--latency", "0.05") as url:
        undisturbed = tmp_path / "undisturbed"
        undisturbed.mkdir()
        assert start(url, undisturbed, rows, kind).wait(300) == 0
        wanted = (undisturbed / "rows.jsonl").read_bytes()
        assert len(wanted.splitlines()) == rows
        assert b"rejected" not in wanted
    with serve(WIRE, "--latency", "0.05") as url:
        folder = tmp_path / "killed"
        folder.mkdir()
        killed = start(url, folder, rows, kind)
        deadline = time.monotonic() + 180
        while read_stats(url)["answered"] < rows * share and time.monotonic() < deadline:
            time.sleep(0.005)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert not (folder / "rows.jsonl").exists()
        before = read_stats(url)["received"]
        assert 0 < before < rows
        assert start(url, folder, rows, kind).wait(300) == 0
        assert (folder / "rows.jsonl").read_bytes() == wanted
        after = read_stats(url)
        assert after["prompts"] == rows
        assert after["received"] - rows <= IN_FLIGHT
        assert start(url, folder, rows, kind).wait(300) == 0
        assert read_stats(url)["received"] == after["received"]


BATCH = """
import sys
from pathlib import Path
from hopwright.llm.session import Session
from tests.llm.builders import rows, settings
with Session(settings(sys.argv[1], kind=sys.argv[2]), Path(sys.argv[3]) / "llm.sqlite") as session:
    outcomes = session.complete_batch(rows(40), poll_s=0.1)
    (Path(sys.argv[3]) / "rows.txt").write_text("".join(outcome.text + "\\n" for outcome in outcomes))
"""


@pytest.mark.e2e
@pytest.mark.servers
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_killed_batch_run_finds_its_batch_again(tmp_path: Path, kind: str) -> None:
    environment = {**ENVIRONMENT, "HOPWRIGHT_TEST_KEY": "k"}
    with serve(WIRE, "--polls", "10") as url:
        command = [sys.executable, "-c", BATCH, url, kind, str(tmp_path)]
        killed = subprocess.Popen(command, env=environment, cwd=ROOT)
        deadline = time.monotonic() + 180
        while not read_stats(url)["counts"].get("batches") and time.monotonic() < deadline:
            time.sleep(0.01)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        again = subprocess.run(command, env=environment, cwd=ROOT, timeout=300, check=False)
        assert again.returncode == 0
        assert len((tmp_path / "rows.txt").read_text().splitlines()) == 40
        assert read_stats(url)["counts"]["batches"] == 1
