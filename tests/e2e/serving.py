"""Model servers of the tests, as processes of their own or in a thread, and what their models cost."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tests.llm.wire_server import WireServer

ROOT = Path(__file__).resolve().parents[2]
_Server = TypeVar("_Server", bound=WireServer)
PRICES = """dated = "2026-11-20"
[models.scribe]
input = 100.0
output = 100.0
[models.voter]
input = 50.0
output = 50.0
"""
"""Of the model that words and of the one that votes; dear, so that little work reaches a budget."""


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


@contextmanager
def serving(server: _Server) -> Iterator[_Server]:
    """Run a server in a thread of this process, where a test can look into it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(server.start(0), loop).result()
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def read_stats(url: str) -> dict[str, Any]:
    """What a server has counted."""
    with urllib.request.urlopen(url + "/stats", timeout=60) as reply:
        found: dict[str, Any] = json.loads(reply.read())
        return found


def read_settled(url: str) -> dict[str, Any]:
    """What a server has counted when nothing comes in any more."""
    before: dict[str, Any] = {}
    while (stats := read_stats(url)) != before or stats["in_flight"]:
        before = stats
        time.sleep(0.5)
    return stats
