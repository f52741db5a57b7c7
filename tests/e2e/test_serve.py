"""`make serve` from its start to Ctrl-C while a build runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import ROOT, Home
from tests.e2e.deployed import Place, find_port
from tests.e2e.test_kill import processes_of

pytestmark = [pytest.mark.e2e, pytest.mark.servers]


def wait_for(holds: Any, seconds: float = 240) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.2)


def test_ctrl_c_cancels_the_build_that_runs_and_ends_everything(tmp_path: Path) -> None:
    port = find_port()
    api = f"http://127.0.0.1:{port}/api"
    home = Home(tmp_path / "home", api)
    home.path.mkdir()
    known = {**os.environ, "HOPWRIGHT_HOME": str(home.path), "PREFECT_PORT": str(port), "PYTHONPATH": str(ROOT)}
    known.pop("PREFECT_API_URL", None)
    output = tmp_path / "output"
    with output.open("wb") as file:
        # In a folder without an environment of Label Studio, which would take half a minute to start.
        served = subprocess.Popen(
            [sys.executable, "-m", "flows.serve"], cwd=tmp_path, env=known, stdout=file, stderr=file,
            start_new_session=True,
        )  # fmt: skip
    try:
        wait_for(lambda: b"Ctrl-C ends everything" in output.read_bytes() or served.poll() is not None)
        assert served.poll() is None, output.read_text()
        assert (home.path / "prefect/prefect.db").stat().st_mode & 0o077 == 0
        place = Place(api, home, {})
        id = place.start("build-dataset/build", run="served", synthesize={"drafts": 600})
        wait_for(lambda: (home.path / "runs/served/synthesize/drafts").exists())
        assert place.get(f"/flow_runs/{id}")["state"]["type"] == "RUNNING"
        states: list[str] = []

        def watch() -> bool:
            try:
                states.append(place.get(f"/flow_runs/{id}")["state"]["type"])
            except httpx.HTTPError:  # the server is gone
                return served.poll() is not None
            return False

        served.send_signal(signal.SIGINT)
        wait_for(watch)
        assert served.returncode == 0, output.read_text()
        assert states[-1] == "CANCELLED", states
        assert processes_of(home) == []
    finally:
        served.kill()
        served.wait()
        for process in processes_of(home):
            os.kill(process, signal.SIGKILL)
