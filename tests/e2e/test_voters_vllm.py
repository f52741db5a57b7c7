"""The filter with real vLLM servers on the CPU: four tiny random models of the four families' architectures.

`make test-vllm` runs it (some minutes: every model is loaded by vLLM); it needs the environment that `make vllm-env`
makes, or `HOPWRIGHT_VLLM_VENV`, and torch and transformers beside Hopwright for the comparison.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hopwright.difficulty.ballots import Ballot, read_ballots
from hopwright.difficulty.report import DifficultyReport
from hopwright.runs import RunFolder, Stage
from tests.difficulty.runs import begin_run
from tests.e2e.conftest import ROOT, Home

VENV = Path(os.environ.get("HOPWRIGHT_VLLM_VENV", ROOT / ".venvs" / "vllm"))
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(2400),
    pytest.mark.skipif(not (VENV / "bin" / "python").exists(), reason=f"no vLLM in {VENV}: make vllm-env"),
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no torch here: pip install '.[local]'"),
]
FAMILIES = ("llama", "qwen3", "mistral", "gemma3")
COUNT = 250


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the four models."""
    folder = tmp_path_factory.mktemp("models")
    for family in FAMILIES:
        subprocess.run(
            [str(VENV / "bin/python"), str(ROOT / "tests/e2e/tiny_model.py"), str(folder / f"tiny-{family}"), family],
            check=True, env={**os.environ, "HF_HUB_OFFLINE": "1"}, capture_output=True,
        )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home with runs of the same items."""
    folder = tmp_path_factory.mktemp("home")
    for name in ("vllm", "local", "killed"):
        begin_run(folder, name, COUNT, 50)
    yield Home(folder)


def parameters(run: str, backend: str, models: Path, families: tuple[str, ...] = FAMILIES) -> str:
    return json.dumps({
        "run": run, "workers": 2, "vllm": {"python": str(VENV / "bin/python")},
        "filter": {"voters": [f"{backend}:{models / f'tiny-{family}'}" for family in families], "all_votes": True,
                   "context": 2048},
    })  # fmt: skip


def start(home: Home, text: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.filter_flows", text], cwd=ROOT, env=home.environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finish(child: subprocess.Popen[str]) -> Any:
    out, err = child.communicate(timeout=1800)
    assert child.returncode == 0, err
    (result,) = json.loads(out)
    assert isinstance(result, dict), result
    return result


def find_processes(word: str) -> list[int]:
    """The processes whose command line or environment names this."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                text = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if word.encode() in text and b"filter_flows" not in text:
                found.append(int(folder.name))
    return found


def wait_until(condition: Any, child: subprocess.Popen[str], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def read_all(home: Home, run: str, family: str, number: int) -> dict[str, Ballot]:
    stage = Stage(RunFolder(home.path, run), f"filter/votes-{number}-tiny-{family}")
    return {ballot.item: ballot for part in stage.parts() for ballot in read_ballots(part)}


def test_four_families_vote_like_transformers_though_a_server_is_killed(home: Home, models: Path) -> None:
    child = start(home, parameters("vllm", "vllm", models))
    log = home.path / "logs/vllm/vllm-tiny-llama.log"
    wait_until(lambda: log.exists() and b"POST /v1/chat/completions" in log.read_bytes(), child, 600)
    servers = [pid for pid in find_processes("api_server") if b"process_supervisor" not in _read_command(pid)]
    assert servers
    for pid in servers:
        os.kill(pid, signal.SIGKILL)
    voted = finish(child)
    assert voted["notes"]["votes_asked"] == 4 * COUNT
    assert voted["counts"]["in"] == COUNT
    assert find_processes(str(models)) == []
    assert find_processes("EngineCore") == []
    local = finish(start(home, parameters("local", "transformers", models)))
    assert local["counts"] == voted["counts"]
    for number, family in enumerate(FAMILIES, start=1):
        served, own = read_all(home, "vllm", family, number), read_all(home, "local", family, number)
        assert served.keys() == own.keys()
        same = sum(served[id].option == own[id].option for id in own)
        furthest = max(
            abs(one - other)
            for id in own
            for one, other in zip(served[id].probabilities, own[id].probabilities, strict=True)
        )
        sys.stdout.write(f"{family}: {same} of {COUNT} votes equal, probabilities within {furthest:.6f}\n")
        assert same >= 0.99 * COUNT
        assert furthest < 0.01
        # Not one and the same letter for everything: that would be no comparison.
        assert len({ballot.option for ballot in own.values()}) == 4
    report = (home.path / "runs/vllm/filter/report/report.json").read_bytes()
    assert len(DifficultyReport.model_validate_json(report).voters) == 4


def test_a_stage_that_is_killed_leaves_no_server(home: Home, models: Path) -> None:
    child = start(home, parameters("killed", "vllm", models, ("gemma3", "llama")))
    wait_until(lambda: len(find_processes(str(models))) > 1, child, 300)
    time.sleep(3)
    child.send_signal(signal.SIGKILL)
    child.wait()
    deadline = time.monotonic() + 30
    while find_processes(str(models)):
        assert time.monotonic() < deadline, find_processes(str(models))
        time.sleep(0.1)


def _read_command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
