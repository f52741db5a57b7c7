"""Episodes at once: steps a second, and how long a search step takes beside a bare query of the index.

    python bench/environment.py                      2,000 episodes over HTTP, on a corpus of 20,000 passages
    python bench/environment.py --episodes 200 --passages 2000

Every episode searches three times and answers. They are stepped (a) as a trainer does, all in one request after the
other, and (b) by as many clients as are given, each with one episode at a time, which shows the time of a single step;
a bare query is the same search in a process of its own without a server. In the middle of (a) the server is killed and
started again: the turn that was lost is sent once more, and what it costs to play the open episodes again is told.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "hopwright" / "exports" / "templates" / "agents"))

from hopwright_client import Environment, ServerError  # noqa: E402

from hopwright.environments.task import GoldPlace, Task, TaskHop  # noqa: E402
from hopwright.knowledge.documents.adding import add_source  # noqa: E402
from hopwright.knowledge.documents.index import Retriever, build_index  # noqa: E402
from hopwright.settings import CorpusAddParameters, CorpusIndexParameters  # noqa: E402
from hopwright.training.task_files import TaskLine, write_tasks  # noqa: E402

HOPS = 3
TASKS = 500
ROW = 2_000
"""Steps of one request, at most."""


def main() -> None:
    """Make the corpus, serve it, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=2000)
    parser.add_argument("--passages", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=2, help="clients that step one episode at a time")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        figures = measure(Path(name), given)
    if given.json:
        print(json.dumps(figures, indent=1))
        return
    for what, value in figures.items():
        print(f"{what:<52} {value:,.1f}" if isinstance(value, float) else f"{what:<52} {value}")


def measure(home: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Every figure."""
    lines = make_world(home, given.passages)
    figures: dict[str, Any] = {"episodes": given.episodes, "passages": given.passages}
    retriever = Retriever.open(home / "corpora" / "bench")
    queries = [line.hops[hop].question for line in lines for hop in range(HOPS)]
    bare = []
    for query in queries:
        began = time.perf_counter()
        retriever.search(query, 3)
        bare.append(time.perf_counter() - began)
    figures |= describe("bare query", bare)
    figures["bare queries a second, one thread"] = len(bare) / sum(bare)
    server = Server(home)
    client = Environment(server.url)
    try:
        single, alone = step_singly(client, lines, given.clients)
        figures |= describe(f"search step over HTTP, {given.clients} clients", single)
        figures |= step_together(client, server, lines, given.episodes, alone)
    finally:
        server.kill()
    return figures


def make_world(home: Path, passages: int) -> list[TaskLine]:
    """Passages of invented words, three of which state the hops of each task."""
    draw = random.Random(0)
    words = ["".join(draw.choice("bcdfghklmnprstvw") + draw.choice("aeiou") for _ in range(3)) for _ in range(4000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    filler = iter(draw.choices(words, weights, k=passages * 60))
    rows = []
    for number in range(passages):
        text = " ".join(next(filler) for _ in range(60))
        task, hop = divmod(number, HOPS)
        if task < TASKS:
            text = f"{name(task, hop)}, then {name(task, hop + 1)}. {text}"
        rows.append({"id": f"p{number}", "title": f"Page {number}", "text": text})
    (home / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus = home / "corpora" / "bench"
    add_source(home / "pages.jsonl", corpus, CorpusAddParameters(near_duplicates=0), lambda _: None)
    build_index(corpus, CorpusIndexParameters(workers=2))
    retriever = Retriever.open(corpus)
    lines = []
    for task in range(TASKS):
        hops = []
        for hop in range(HOPS):
            document, _, _ = retriever.store.find(f"p{task * HOPS + hop}")
            gold = ((GoldPlace(document.id, 0, 20),),)
            question = f"{name(task, hop)} {' '.join(draw.choices(words, k=3))}"
            hops.append(TaskHop(hop + 1, question, (name(task, hop + 1),), (hop,) if hop else (), gold))
        answer = name(task, HOPS)
        lines.append(
            TaskLine.from_task(Task(f"t{task}", f"Where does {name(task, 0)} end?", (answer,), "text", tuple(hops)))
        )
    (home / "tasks.jsonl").write_bytes(write_tasks(lines))
    return lines


def name(task: int, place: int) -> str:
    """A word that occurs nowhere else."""
    return f"x{task}y{place}z"


def say(line: TaskLine, turn: int) -> dict[str, Any]:
    """A turn of an agent that searches hop after hop and answers."""
    found = f"It is {line.hops[turn - 1].answers[0]}." if turn else "I begin."
    if turn == HOPS:
        return {"text": f"{found}\nFINAL ANSWER: {line.answers[0]}"}
    arguments = json.dumps({"query": line.hops[turn].question})
    return {"text": found, "calls": [{"id": f"c{turn}", "name": "search", "arguments": arguments}]}


class Server:
    """A server of episodes that can be killed and started again."""

    def __init__(self, home: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self._home = home
        self._process = self._start()

    def restart(self) -> float:
        """Kill it and start it; the seconds until it answers."""
        self.kill()
        began = time.monotonic()
        self._process = self._start()
        return time.monotonic() - began

    def kill(self) -> None:
        """As `kill -9` does."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [
            sys.executable, "-m", "flows.cli", "environment", "serve", str(self._home / "tasks.jsonl"), "--corpus",
            "bench", "--journal", str(self._home / "journal"), "--port", str(self._port),
        ]  # fmt: skip
        environment = {**os.environ, "HOPWRIGHT_HOME": str(self._home)}
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        client = Environment(self.url)
        for _ in range(60):
            try:
                client.get("health")
                return process
            except ServerError:
                time.sleep(0.1)
        sys.exit("the server of episodes does not answer")


def step_singly(
    client: Environment, lines: list[TaskLine], clients: int
) -> tuple[list[float], dict[str, dict[str, float]]]:
    """Seconds of each search step where every client has one episode at a time, and what each task was worth."""
    seconds: list[float] = []
    worth: dict[str, dict[str, float]] = {}

    def play(number: int) -> None:
        for place in range(number, TASKS, clients):
            id = f"single-{place}"
            client.reset(episodes=[{"episode": id, "task": lines[place].id}])
            for turn in range(HOPS + 1):
                began = time.perf_counter()
                (reply,) = client.step([{"episode": id, "turn": turn, **say(lines[place], turn)}])
                if turn < HOPS:
                    seconds.append(time.perf_counter() - began)
            worth[lines[place].id] = reply["rewards"]

    threads = [threading.Thread(target=play, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seconds, worth


def step_together(
    client: Environment, server: Server, lines: list[TaskLine], episodes: int, alone: dict[str, dict[str, float]]
) -> dict[str, Any]:
    """All episodes at once, turn after turn; a kill before the third turn is answered."""
    tasks = {f"all-{number}": lines[number % TASKS] for number in range(episodes)}
    began = time.monotonic()
    for first in range(0, episodes, ROW):
        some = list(tasks.items())[first : first + ROW]
        client.reset(episodes=[{"episode": id, "task": line.id} for id, line in some])
    resets = time.monotonic() - began
    seconds, steps, worth = 0.0, 0, []
    restarted = replayed = 0.0
    for turn in range(HOPS + 1):
        rows = [{"episode": id, "turn": turn, **say(line, turn)} for id, line in tasks.items()]
        if turn == 2:
            client.step(rows[: len(rows) // 2])  # taken, and never heard
            restarted = server.restart()
        began = time.monotonic()
        replies: list[dict[str, Any]] = []
        for first in range(0, len(rows), ROW):
            replies += client.step(rows[first : first + ROW])
        spent = time.monotonic() - began
        if turn == 2:
            replayed = spent
        else:
            seconds, steps = seconds + spent, steps + len(rows)
        assert not any("error" in one for one in replies)
        worth += [one["rewards"] for one in replies if one["done"]]
    assert worth == [alone[line.id] for line in tasks.values()], "an episode was lost or changed"
    return {
        "begun a second": episodes / resets,
        "steps a second, all at once": steps / seconds,
        "seconds until a killed server answers": restarted,
        "seconds of its next turn of all episodes": replayed,
        "episodes that ended as without the kill": len(worth),
    }


def describe(what: str, seconds: list[float]) -> dict[str, float]:
    """Median and 99th percentile in milliseconds."""
    ordered = sorted(1000 * one for one in seconds)
    return {
        f"{what}, median ms": ordered[len(ordered) // 2],
        f"{what}, p99 ms": ordered[int(len(ordered) * 0.99)],
    }


if __name__ == "__main__":
    main()
