"""`make serve`: ports, a second one, and how it ends what it started."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import pytest

from flows.flow_runs import cancel_runs
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


class _Prefect(http.server.BaseHTTPRequestHandler):
    """As much of Prefect's API as cancelling asks: runs end at the second look after they were told to."""

    runs: ClassVar[dict[str, dict[str, Any]]] = {}
    looks: ClassVar[Counter[str]] = Counter()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/filter"):
            assert body["flow_runs"]["state"]["type"]["any_"] == ["PENDING", "RUNNING"]
            self._answer(list(self.runs.values()))
            return
        self.runs[self.path.split("/")[-2]]["state"] = body["state"]
        self._answer({})

    def do_GET(self) -> None:
        id = self.path.rsplit("/", 1)[-1]
        self.looks[id] += 1
        if self.looks[id] == 2 and self.runs[id]["name"] != "stubborn":
            self.runs[id]["state"] = {"type": "CANCELLED"}
        self._answer(self.runs[id])

    def _answer(self, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return


def test_only_runs_of_our_own_workers_are_cancelled_and_those_that_stay_are_named() -> None:
    ours, stubborn = start_child("time.sleep(60)"), start_child("time.sleep(60)")
    pids = {"ours": ours.pid, "stubborn": f"host:{stubborn.pid}", "theirs": os.getppid(), "unborn": None}
    runs = {name: {"id": name, "name": name, "infrastructure_pid": pid, "state": {}} for name, pid in pids.items()}
    handler = type("Handler", (_Prefect,), {"runs": runs, "looks": Counter()})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        assert cancel_runs(f"http://127.0.0.1:{server.server_port}/api", {os.getpid()}, 1.5) == ["stubborn"]
        states = {name: run["state"].get("type") for name, run in runs.items()}
        assert states == {"ours": "CANCELLED", "stubborn": "CANCELLING", "theirs": None, "unborn": None}
    finally:
        end(ours, stubborn)
        server.shutdown()
    assert cancel_runs("http://127.0.0.1:9/api", {os.getpid()}, 1.0) == [], "without its server nobody can"
