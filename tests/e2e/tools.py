"""The environment of tools that tests drive from outside (`make tools`), and S3 as one of them serves it."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".venvs" / "tools"


def make_tools() -> Path:
    """The folder of the tools' commands."""
    return make_environment("tools")


def make_environment(name: str) -> Path:
    """The commands of an environment of `.venvs`; made where it is missing, by one test process while others wait."""
    TOOLS.parent.mkdir(exist_ok=True)
    with (TOOLS.parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "--no-print-directory", name], cwd=ROOT, check=True, timeout=1500, capture_output=True)
    return TOOLS.parent / name / "bin"


@contextmanager
def serve_s3(log: Path) -> Iterator[dict[str, str]]:
    """moto's server with a bucket `runs`; yields the environment by which it is reached."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
    environment = {**os.environ, **keys}
    command = [str(make_tools() / "moto_server"), "-H", "127.0.0.1", "-p", str(port)]
    with log.open("wb") as output:
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + 180
        while not _make_bucket(f"{url}/runs"):
            assert server.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield {**keys, "AWS_ENDPOINT_URL": url}
    finally:
        server.terminate()
        server.wait(timeout=120)


def _make_bucket(url: str) -> bool:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method="PUT"), timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
