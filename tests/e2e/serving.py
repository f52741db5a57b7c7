"""Model servers of the tests as processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def serve(module: str, *options: str) -> Iterator[str]:
    """Run a module that prints its address as one line of JSON and serves until it is ended; yields the address."""
    server = subprocess.Popen([sys.executable, "-m", module, *options], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["url"]
    finally:
        server.terminate()
        server.wait()


def read_stats(url: str) -> dict[str, Any]:
    """What a server has counted."""
    with urllib.request.urlopen(url + "/stats", timeout=10) as reply:
        found: dict[str, Any] = json.loads(reply.read())
        return found
