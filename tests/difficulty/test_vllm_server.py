"""A server's life, with a stand-in for vLLM: started, asked, ended, and never left behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hopwright.difficulty.machine import Gpu, VllmInstallation
from hopwright.difficulty.vllm_server import Placement, ServerSettings, VllmServer, explain_log, find_port, serve
from hopwright.difficulty.weights import Weights
from hopwright.errors import InputError, ServiceError

ROOT = Path(__file__).resolve().parents[2]
# As vLLM does: a server with a worker of its own, in a process group that it did not make.
SERVER = """
import http.server, os, subprocess, sys, time
folder = os.path.dirname(os.path.abspath(__file__))
mode = open(os.path.join(folder, "mode")).read()
if mode.startswith("fail"):
    print(mode.split(" ", 1)[1]); sys.exit(1)
stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", stubborn])
with open(os.path.join(folder, "pids"), "a") as file:
    file.write(f"{os.getpid()} {child.pid} ")
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
    def log_message(self, *args):
        pass
port = int(sys.argv[sys.argv.index("--port") + 1])
if mode == "slow":
    time.sleep(60)
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose `python` runs the stand-in."""
    # The stand-in's worker ignores SIGTERM.
    monkeypatch.setattr("hopwright.difficulty.vllm_server._GRACE_S", 0.2)
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "mode").write_text("serve")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path}/server.py" "$@"\n')
    python.chmod(0o755)
    return tmp_path


def make_server(folder: Path, **settings: object) -> VllmServer:
    wanted = ServerSettings(folder / "python", **{"start_s": 30.0, **settings})  # type: ignore[arg-type]
    weights = Weights(folder / "model", 1, "print")
    return VllmServer("tiny", weights, VllmInstallation(folder / "python", "0", True), (), wanted, folder / "log")


def read_pids(folder: Path) -> list[int]:
    return [int(pid) for pid in (folder / "pids").read_text().split()]


def wait_until_gone(pids: list[int], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while any(is_alive(pid) for pid in pids):
        assert time.monotonic() < deadline, f"still there: {[pid for pid in pids if is_alive(pid)]}"
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_server_answers_and_leaves_nothing_behind(fake: Path) -> None:
    with make_server(fake) as server:
        assert server.alive
        assert not server.lost
        assert server.url.startswith("http://127.0.0.1:")
        pids = read_pids(fake)
        assert len(pids) == 2
        assert all(map(is_alive, pids))
    wait_until_gone(pids)
    assert not server.alive


def test_an_error_in_the_block_ends_the_server_too(fake: Path) -> None:
    with pytest.raises(RuntimeError), make_server(fake):
        raise RuntimeError
    wait_until_gone(read_pids(fake))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_stage_that_is_killed_takes_its_server_along(fake: Path, number: int) -> None:
    code = (
        "import sys, time; from pathlib import Path; from tests.difficulty.test_vllm_server import make_server\n"
        "import hopwright.difficulty.vllm_server as module; module._GRACE_S = 0.2\n"
        "server = make_server(Path(sys.argv[1])); server.start(); server.wait(); print('up', flush=True)\n"
        "time.sleep(600)"
    )
    stage = subprocess.Popen([sys.executable, "-c", code, str(fake)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert stage.stdout is not None
    assert stage.stdout.readline() == "up\n"
    stage.send_signal(number)
    stage.wait(120)
    wait_until_gone(read_pids(fake))


def test_a_keeper_that_is_killed_leaves_no_server_that_answers(fake: Path) -> None:
    with make_server(fake) as server:
        assert server._process is not None
        os.kill(server._process.pid, signal.SIGKILL)
        wait_until_gone(read_pids(fake)[:1])
        os.kill(read_pids(fake)[1], signal.SIGKILL)
        assert not server.alive


def test_a_server_that_dies_is_noticed(fake: Path) -> None:
    with make_server(fake) as server:
        os.kill(read_pids(fake)[0], signal.SIGKILL)
        wait_until_gone(read_pids(fake))
        assert server.lost


def test_copies_get_a_server_each(fake: Path) -> None:
    gpus = (Gpu("0", "H200", 1, 1), Gpu("3", "H200", 1, 1))
    placement = Placement(VllmInstallation(fake / "python", "0", False), ((gpus[0],), (gpus[1],)))
    settings = ServerSettings(fake / "python", start_s=30)
    with serve("tiny", Weights(fake, 1, "p"), placement, settings, fake / "logs") as servers:
        assert len({server.url for server in servers}) == 2
        assert [server.list_environment()["CUDA_VISIBLE_DEVICES"] for server in servers] == ["0", "3"]
        assert len(read_pids(fake)) == 4
    wait_until_gone(read_pids(fake))
    assert sorted(path.name for path in (fake / "logs").iterdir()) == ["vllm-tiny-1.log", "vllm-tiny.log"]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("ValueError: No available memory for the cache blocks", "too little GPU memory (ValueError: No available"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried", "too little GPU memory (OutOfMemoryError"),
        ("OSError: [Errno 98] Address already in use", "the port is in use (OSError"),
        ("ValueError: Model architectures ['X'] are not supported for now", "does not know the model's architecture"),
        ("RuntimeError: something new", "RuntimeError: something new"),
        ("nothing that looks like an error", "nothing that looks like an error"),
    ],
)
def test_what_vllm_said_becomes_one_line(fake: Path, said: str, meant: str) -> None:
    (fake / "mode").write_text(f"fail {said}")
    with pytest.raises(ServiceError) as caught, make_server(fake):
        pass
    assert "vLLM ended while loading it" in str(caught.value)
    assert meant in str(caught.value)
    assert str(fake / "log") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_that_takes_too_long_is_given_up_and_ended(fake: Path) -> None:
    (fake / "mode").write_text("slow")
    with (
        pytest.raises(ServiceError, match=r"did not answer within 1 s.*vllm\.start_seconds"),
        make_server(fake, start_s=1),
    ):
        pass
    wait_until_gone(read_pids(fake))


def test_a_port_in_use_is_told_before_anything_starts(fake: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} is in use"), make_server(fake, port=port):
            pass
    assert not (fake / "pids").exists()
    with make_server(fake, port=find_port()) as server:
        assert server.alive


def test_keys_and_prefects_settings_do_not_reach_the_server(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "PREFECT_API_URL", "PYTHONPATH"):
        monkeypatch.setenv(name, "secret")
    environment = make_server(fake).list_environment()
    assert "secret" not in environment.values()
    assert environment["HF_HUB_OFFLINE"] == "1"


def test_settings_reach_the_command_line(fake: Path) -> None:
    server = VllmServer(
        "tiny", Weights(fake, 1, "p"), VllmInstallation(fake / "python", "0", False), (),
        ServerSettings(fake / "python", tensor_parallel=2, memory_share=0.5, context=2048, quantization="fp8"),
        fake / "log",
    )  # fmt: skip
    line = " ".join(server.list_command(8123))
    for part in ("--tensor-parallel-size 2", "--gpu-memory-utilization 0.5", "--max-model-len 2048",
                 "--quantization fp8", "--port 8123", "--host 127.0.0.1", "--dtype auto"):  # fmt: skip
        assert part in line
    assert "--dtype float32" in " ".join(make_server(fake).list_command(1))


def test_no_log_is_no_crash(tmp_path: Path) -> None:
    assert explain_log(tmp_path / "none") == "it left no log"
