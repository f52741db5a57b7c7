"""`hopwright corpus serve` under 200 clients at once: throughput, times and errors, and a kill in the middle.

    python bench/retrieve_server.py --corpus FOLDER --queries FILE          our server, on an indexed corpus
    python bench/retrieve_server.py --queries FILE --url http://HOST:PORT   any other server of the same requests

FILE is a JSON array of queries, as `bench/corpus.py --work` leaves it (`queries.json`). Every client has a connection
of its own and sends one query after the other, three passages and their scores wanted, as Search-R1's environments do.
Clients and server share the processors of one machine. In the middle of a second round our server is killed (SIGKILL)
and started again; clients send what was not answered once more, and every answer has to equal the one of the first.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import aiohttp

ROOT = Path(__file__).resolve().parents[1]
TOP = 3


def main() -> None:
    """Serve and ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--url", default="", help="a server that runs already; nothing is killed then")
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--requests", type=int, default=2000, help="in all")
    options = parser.parse_args()
    if options.queries is None or not (options.corpus or options.url):
        print("needs --queries, and --corpus or --url")
        return
    known = json.loads(options.queries.read_text("utf-8"))
    queries = [known[number % len(known)] for number in range(options.requests)]
    if options.url:
        asyncio.run(ask_all(options.url, queries[: options.clients], options.clients))
        tell("other server", asyncio.run(ask_all(options.url, queries, options.clients)))
        return
    with tempfile.TemporaryDirectory() as name:
        server = Server(Path(name), options.corpus.absolute())
        try:
            asyncio.run(ask_all(server.url, queries[: options.clients], options.clients))
            first = asyncio.run(ask_all(server.url, queries, options.clients))
            tell("hopwright", first)
            print(f"  memory {server.read_memory() >> 10} MiB")
            second = asyncio.run(ask_through_a_kill(server, queries, options.clients))
        finally:
            server.stop()
    tell("hopwright, killed in the middle", second)
    same = first["answers"] == second["answers"]
    print(f"  answers equal those without the kill: {same}")
    if not same or first["errors"]:
        raise SystemExit(1)


class Server:
    """Our server in a process of its own."""

    def __init__(self, home: Path, corpus: Path) -> None:
        (home / "corpora").mkdir(parents=True)
        (home / "corpora" / "bench").symlink_to(corpus)
        self._home = home
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = int(free.getsockname()[1])
        self.url = f"http://127.0.0.1:{self._port}"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        environment = {**os.environ, "HOPWRIGHT_HOME": str(self._home), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "flows.cli", "corpus", "serve", "--corpus", "bench", "--port", str(self._port)]
        null = subprocess.DEVNULL
        self._process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=null, stderr=null)
        until = time.monotonic() + 120
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=5):
                    return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("the server does not answer")

    def kill(self) -> None:
        """End it as a crash would."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait()

    def read_memory(self) -> int:
        """Its proportional set size in KiB, pages of mapped files included."""
        lines = Path(f"/proc/{self._process.pid}/smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


async def ask_all(
    url: str, queries: list[str], clients: int, answers: dict[int, Any] | None = None, *, patient: bool = False
) -> dict[str, Any]:
    """Send every query; what came of it. Answers go into `answers`; `patient` clients send again what has none."""
    waiting = list(enumerate(queries))[::-1]
    answers = {} if answers is None else answers
    times: list[float] = []
    errors: list[str] = []
    began = time.perf_counter()
    connector = aiohttp.TCPConnector(limit=clients)
    timeout = aiohttp.ClientTimeout(300)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session, asyncio.TaskGroup() as group:
        for _ in range(clients):
            group.create_task(_ask(session, url, waiting, answers, times, errors, patient=patient))
    wall = time.perf_counter() - began
    return {"answers": answers, "times": times, "errors": errors, "wall": wall}


async def _ask(
    session: aiohttp.ClientSession,
    url: str,
    waiting: list[tuple[int, str]],
    answers: dict[int, Any],
    times: list[float],
    errors: list[str],
    *,
    patient: bool,
) -> None:
    while waiting:
        number, query = waiting.pop()
        began = time.perf_counter()
        try:
            body = {"queries": [query], "topk": TOP, "return_scores": True}
            async with session.post(f"{url}/retrieve", json=body) as response:
                response.raise_for_status()
                answers[number] = (await response.json())["result"][0]
            times.append(time.perf_counter() - began)
        except (aiohttp.ClientError, TimeoutError) as error:
            errors.append(f"{type(error).__name__}: {error}")
            if patient:
                waiting.append((number, query))
                await asyncio.sleep(0.2)


async def ask_through_a_kill(server: Server, queries: list[str], clients: int) -> dict[str, Any]:
    """Ask while the server is killed and started again."""
    answers: dict[int, Any] = {}
    asking = asyncio.create_task(ask_all(server.url, queries, clients, answers, patient=True))
    while len(answers) < len(queries) // 3:
        await asyncio.sleep(0.01)
    server.kill()
    await asyncio.to_thread(server.start)
    return await asking


def tell(who: str, figures: dict[str, Any]) -> None:
    """Two lines."""
    times = sorted(figures["times"])
    places = {share: 1000 * times[int(share * (len(times) - 1))] for share in (0.5, 0.95, 0.99)}
    shown = ", ".join(f"{share:.0%} within {milliseconds:,.0f} ms" for share, milliseconds in places.items())
    print(
        f"{who}: {len(times):,} answers in {figures['wall']:.1f} s, {len(times) / figures['wall']:,.0f} a second; "
        f"{shown}; {len(figures['errors'])} errors {sorted(set(figures['errors']))[:2] or ''}",
        flush=True,
    )


if __name__ == "__main__":
    main()
