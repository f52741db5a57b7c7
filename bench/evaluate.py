"""967 items, asked hop by hop in four modes and two protocols: planned, priced, run at 256 in flight, killed half-way.

    python bench/evaluate.py                # 3 repeats, the floor in between
    python bench/evaluate.py -n 100 -r 1

Modes: multiple choice and open-ended, each directly and with a chain of thought. Protocols: independent and chain. The
model is simulated, behind a server that speaks OpenAI's wire format with 200 ms of latency. The floor is bare aiohttp
with the requests that the plan lists, none of which waits for an answer; a chain waits for up to three. `asking` is the
stage as its manifest has it, `process` all of the command, Prefect and the report included.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import aiohttp  # noqa: E402

from hopwright.evaluation.evaluation_queries import EvaluationRunner, PromptSetting  # noqa: E402
from hopwright.evaluation.items import read_items  # noqa: E402
from hopwright.llm.estimate import ApproximateRequest  # noqa: E402
from hopwright.llm.prompts import load_prompts  # noqa: E402
from hopwright.llm.types import parse_model  # noqa: E402
from tests.e2e.serving import read_settled, read_stats, serve  # noqa: E402
from tests.evaluation.datasets import write_rows  # noqa: E402

SETTINGS = [PromptSetting(form, prompting) for form in ("mcq", "open") for prompting in ("direct", "cot")]  # type: ignore[arg-type]
ASKED = ["--form", "mcq", "--form", "open", "--prompting", "direct", "--prompting", "cot",
         "--protocol", "independent", "--protocol", "chain", "--model", "local/simulated"]  # fmt: skip
PRICES = {"input": 1.0, "cached": 0.1, "output": 5.0}


@dataclass
class Figures:
    """What was measured; one entry a repeat."""

    planned: int = 0
    planned_usd: float = 0.0
    planning_s: float = 0.0
    floor_per_s: list[float] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)
    asking_s: list[float] = field(default_factory=list)
    process_s: list[float] = field(default_factory=list)
    most_in_flight: list[int] = field(default_factory=list)
    spent_usd: float = 0.0
    killed_after: int = 0
    sent_again: int = 0
    in_flight_at_kill: int = 0
    sent_by_third_start: int = 0
    same_bytes: bool = False


def serve_simulated(data: Path) -> AbstractContextManager[str]:
    """The simulated model as a process of its own; gives its address."""
    return serve("tests.evaluation.simulated", str(data), "--latency", "0.2", "--idle", "900")


def write_endpoints(folder: Path, url: str) -> Path:
    """An endpoint with a price, so that the run is estimated and counted in dollars."""
    prices = "".join(f"{name} = {price}\n" for name, price in PRICES.items())
    (folder / "prices.toml").write_text(f'dated = "2026-11-21"\n[models."simulated"]\n{prices}')
    path = folder / "endpoints.toml"
    path.write_text(
        f'prices = "{folder / "prices.toml"}"\n[endpoints.local]\nkind = "compatible"\nbase_url = "{url}/v1"\n'
        'key_env = "SIMULATED_KEY"\n'
    )
    return path


def start(home: Path, data: Path, endpoints: Path, *extra: str) -> subprocess.Popen[str]:
    """`hopwright evaluate` as a process group of its own."""
    environment = {**os.environ, "HOPWRIGHT_HOME": str(home), "PYTHONPATH": str(ROOT), "SIMULATED_KEY": "k"}
    command = [sys.executable, "-m", "flows.cli", "evaluate", str(data), "--endpoints", str(endpoints), *ASKED,
               "--json", *extra]  # fmt: skip
    return subprocess.Popen(
        command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The result of a run that must succeed."""
    out, err = process.communicate()
    if process.returncode:
        raise SystemExit(f"the run ended with {process.returncode}: {err[-2000:]}")
    result: dict[str, Any] = json.loads(out)
    return result


def list_bodies(data: Path) -> list[bytes]:
    """The requests of the plan as they go over the wire."""
    interviewer = EvaluationRunner(parse_model("local/simulated"), load_prompts(), SETTINGS, ("independent", "chain"))
    bodies: dict[bytes, None] = {}
    for one in interviewer.list_requests(read_items(data).items):
        request = one.request if isinstance(one, ApproximateRequest) else one
        turns = [{"role": turn.role, "content": turn.content} for turn in request.messages]
        body = {"model": "simulated", "messages": turns, "max_tokens": request.sampling.max_tokens}
        bodies[json.dumps(body).encode()] = None
    return list(bodies)


async def ask_barely(url: str, bodies: Sequence[bytes], concurrency: int) -> float:
    """Requests a second of bare aiohttp."""
    left = iter(bodies)

    async def work(session: aiohttp.ClientSession) -> None:
        for body in left:
            headers = {"Content-Type": "application/json"}
            async with session.post(f"{url}/v1/chat/completions", data=body, headers=headers) as reply:
                await reply.json()

    began = time.monotonic()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(work(session) for _ in range(concurrency)))
    return len(bodies) / (time.monotonic() - began)


def run_whole(figures: Figures, folder: Path, data: Path, concurrency: int) -> dict[str, bytes]:
    """One floor and one run, each on a fresh server; returns the run's files."""
    with serve_simulated(data) as url:
        figures.floor_per_s.append(asyncio.run(ask_barely(url, list_bodies(data), concurrency)))
    home = folder / f"whole-{len(figures.requests)}"
    with serve_simulated(data) as url:
        began = time.monotonic()
        finish(start(home, data, write_endpoints(folder, url)))
        figures.process_s.append(time.monotonic() - began)
        stats = read_stats(url)
        figures.requests.append(stats["received"])
        figures.most_in_flight.append(stats["max_in_flight"])
    manifest = json.loads((home / "runs/data/evaluate/local-simulated/manifest.json").read_text())
    figures.asking_s.append(manifest["seconds"])
    figures.spent_usd = manifest["usage"]["cost_usd"]
    return read_parts(home)


def run_killed(figures: Figures, folder: Path, data: Path) -> dict[str, bytes]:
    """`kill -9` once half of the requests are answered, then the same command twice."""
    half, home = statistics.median_low(figures.requests) // 2, folder / "killed"
    with serve_simulated(data) as url:
        endpoints = write_endpoints(folder, url)
        first = start(home, data, endpoints)
        while first.poll() is None and read_stats(url)["answered"] < half:
            time.sleep(0.05)
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate()
        before = read_settled(url)
        figures.killed_after, figures.in_flight_at_kill = before["answered"], before["max_in_flight"]
        finish(start(home, data, endpoints))
        after = read_stats(url)
        figures.sent_again = after["received"] - statistics.median_low(figures.requests)
        finish(start(home, data, endpoints))
        figures.sent_by_third_start = read_stats(url)["received"] - after["received"]
    return read_parts(home)


def read_parts(home: Path) -> dict[str, bytes]:
    """The answers of a run."""
    folder = home / "runs/data/evaluate/local-simulated"
    return {path.name: path.read_bytes() for path in sorted(folder.glob("part-*.parquet"))}


def render(figures: Figures, items: int) -> str:
    """The figures as Markdown."""
    middle = statistics.median
    rates = [requests / seconds for requests, seconds in zip(figures.requests, figures.asking_s, strict=True)]
    rows = [
        ("planned", f"at most {figures.planned:,} requests in {figures.planning_s:.1f} s"),
        ("priced", f"{figures.planned_usd:,.2f} dollars expected before any answer is known"),
        ("asked", f"{middle(figures.requests):,.0f} requests, {figures.spent_usd:,.2f} dollars"),
        ("asking", f"{middle(figures.asking_s):.1f} s, {middle(rates):,.0f} requests/s"),
        ("the whole command", f"{middle(figures.process_s):.1f} s"),
        ("floor, bare aiohttp", f"{middle(figures.floor_per_s):,.0f} requests/s"),
        ("asking against the floor", f"{middle(figures.floor_per_s) / middle(rates):.2f} times as long a request"),
        ("most in flight", f"{max(figures.most_in_flight)}"),
        ("killed after", f"{figures.killed_after:,} answers; {figures.sent_again} requests sent again, "
                         f"at most {figures.in_flight_at_kill} in flight"),
        ("a third start sends", f"{figures.sent_by_third_start} requests"),
        ("answers of the killed run", "the same bytes" if figures.same_bytes else "OTHER BYTES"),
    ]  # fmt: skip
    head = f"{items:,} items × 4 modes × 2 protocols, {len(figures.requests)} repeats, medians"
    return "\n".join([f"| {head} | |", "|---|---|", *(f"| {name} | {text} |" for name, text in rows)])


def main() -> None:
    """Run, print, and keep every single figure where `--json` says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--items", type=int, default=967)
    parser.add_argument("-r", "--repeats", type=int, default=3)
    parser.add_argument("--concurrency", type=int, default=256, help="of the floor; the run has its default, 256")
    parser.add_argument("--json", type=Path, help="write every single figure here")
    options = parser.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="bench-evaluate-") as name:
        folder = Path(name)
        data = write_rows(folder / "data.jsonl", options.items)
        began = time.monotonic()
        estimate = finish(start(folder / "plan", data, write_endpoints(folder, "http://127.0.0.1:9"), "--dry-run"))
        figures.planning_s = time.monotonic() - began
        figures.planned, figures.planned_usd = estimate["requests"] - estimate["repeated"], estimate["usd"]
        whole: dict[str, bytes] = {}
        for repeat in range(options.repeats):
            whole = run_whole(figures, folder, data, options.concurrency)
            print(f"{repeat + 1}/{options.repeats}: {figures.process_s[-1]:.1f} s", file=sys.stderr)
        figures.same_bytes = run_killed(figures, folder, data) == whole
    print(f"load at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(render(figures, options.items))
    if options.json:
        options.json.write_text(json.dumps(asdict(figures), indent=1))


if __name__ == "__main__":
    main()
