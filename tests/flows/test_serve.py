"""`make serve`: ports, a second one, and how it ends what it started."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flows.serve import serve_alone
from flows.server_processes import end, read_port, start
from hopwright.errors import InputError, ServiceError

ROOT = Path(__file__).resolve().parents[2]
CHILD = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); print(1, flush=True); "


def start_child(body: str) -> subprocess.Popen[bytes]:
    child = subprocess.Popen([sys.executable, "-c", CHILD + body], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    return child


@pytest.mark.parametrize("text", ["80a", "0", "65536", "-1", "4200.0"])
def test_what_is_no_port_is_said(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_PORT", text)
    with pytest.raises(InputError, match=r"^PREFECT_PORT: .* is no port; a port is a number from 1 to 65535$"):
        read_port("PREFECT_PORT", 4200)


def test_an_empty_port_is_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_PORT", " ")
    assert read_port("PREFECT_PORT", 4200) == 4200


def test_the_command_says_it_in_one_line(home: Path) -> None:
    environment = {**os.environ, "PREFECT_PORT": "80a", "HOPWRIGHT_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-m", "flows.serve"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "hopwright: PREFECT_PORT: '80a' is no port; a port is a number from 1 to 65535\n"


def test_a_second_one_says_what_runs_already(home: Path) -> None:
    with serve_alone((4200, 8080)):
        said = r"runs already: process \d+, Prefect http://127.0.0.1:4200, Label Studio http://127.0.0.1:8080; "
        with pytest.raises(ServiceError, match=said), contextlib.ExitStack() as stack:
            stack.enter_context(serve_alone((4300, 8081)))
    with serve_alone((4300, 8081)):
        assert (home / "serve.json").exists()
    assert not (home / "serve.json").exists()


def test_children_are_asked_to_end_all_at_once_and_take_their_time() -> None:
    children = [start_child("time.sleep(60)"), start_child("time.sleep(60)")]
    began = time.monotonic()
    end(*children)
    assert [child.returncode for child in children] == [7, 7], "asked, and not killed"
    assert time.monotonic() - began < 10


def test_ctrl_c_in_the_terminal_does_not_reach_a_child() -> None:
    child = start([sys.executable, "-c", "import time; time.sleep(60)"], dict(os.environ))
    try:
        assert os.getsid(child.pid) != os.getsid(0)
    finally:
        end(child)
