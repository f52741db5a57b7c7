"""Seeded kills of whatever a paid build is made of: the flow, its workers, Prefect's server, its database connections.

Two models answer behind real HTTP servers that count what was asked of them. After every end of the build the request
store is read: what stands there is paid for, answers of no use too, and must never be asked again.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hopwright.llm.conversations import UNUSABLE, read_said
from hopwright.llm.judging import continue_messages
from hopwright.llm.store import Store, unpack_request
from hopwright.llm.types import Attempt, Message, Request
from tests.e2e.conftest import Home
from tests.e2e.prefect_database import Database
from tests.e2e.prefect_server import PrefectServer
from tests.e2e.serving import PRICES, serve
from tests.llm.wire_server import name_messages

VICTIMS = ("flow", "worker", "server", "connections")
_ENDPOINT = """[endpoints.{name}]
base_url = "{url}/v1"
key_env = "CHAOS_KEY"
limits = {{ max_concurrency = 8, start_concurrency = 8 }}
"""
_RATES = ("--wrong_entity", "0.05", "--broken_json", "0.05", "--refusal", "0.03", "--leaked_answer", "0.05")


@dataclass
class Course:
    """What became of a build: kills by victim, starts of the command, and what was asked again though it was paid."""

    kills: Counter[str] = field(default_factory=Counter)
    starts: int = 0
    paid_twice: int = 0
    lost_in_flight: int = 0
    said: list[str] = field(default_factory=list)
    """The last lines of starts that ended with an error."""


@dataclass
class Stock:
    """What the store held at some moment: how many answers to each request, by key, and what the models had heard."""

    answers: dict[str, int]
    heard: Counter[str]


@contextmanager
def serve_models(latency_s: float) -> Iterator[tuple[str, str]]:
    """The addresses of a model that words, with faults, and of one that votes."""
    words = ("tests.wording.fallible_model", *_RATES, "--latency", str(latency_s), "--idle", "900")
    votes = ("tests.llm.wire_server", "--latency", str(latency_s), "--idle", "900")
    with serve(*words) as writer, serve(*votes) as voter:
        yield writer, voter


def prepare(home: Home, models: tuple[str, str], drafts: int) -> tuple[str, ...]:
    """Write what the build reads; returns its command."""
    home.path.mkdir(parents=True, exist_ok=True)
    named = zip(("words", "votes"), models, strict=True)
    text = "".join(_ENDPOINT.format(name=name, url=url) for name, url in named)
    (home.path / "prices.toml").write_text(PRICES, "utf-8")
    (home.path / "endpoints.toml").write_text(f'prices = "{home.path}/prices.toml"\n{text}', "utf-8")
    parameters = {
        "shard_size": 50,
        "workers": 2,
        "synthesize": {"drafts": drafts, "writer": "openai", "model": "words/scribe"},
        "filter": {"voters": ["shortcuts", "votes/voter"], "max_right": 3, "all_votes": True},
        "rewrite": {"back_translation": "off"},
        "review": {"items": 4},
    }
    path = home.path / "parameters.json"
    path.write_text(json.dumps(parameters), "utf-8")
    return "build", "--parameters", str(path), "--json"


def disturb(
    home: Home,
    command: tuple[str, ...],
    models: tuple[str, str],
    server: PrefectServer,
    database: Database | None,
    *,
    kills: int,
    answers: int,
    seed: int = 0,
) -> Course:
    """Run the build to its end through so many kills, spread over the `answers` that an undisturbed one takes.

    Raises AssertionError when it does not end.
    """
    draw = random.Random(f"{seed}:chaos")
    course, stocks = Course(), list[Stock]()
    deadline = time.monotonic() + 300 + 120 * kills
    child = home.start(*command)
    course.starts = 1
    try:
        for number in range(kills):
            victim = VICTIMS[number % len(VICTIMS)] if number < len(VICTIMS) else draw.choice(VICTIMS)
            _wait_for(models, child, answers * (number + draw.random()) / kills, draw.uniform(0, 0.3))
            if child.poll() is not None:
                # What was killed before has ended it, or it was too quick for us.
                stocks.append(_take_stock(home, models, child, course))
                child = home.start(*command)
                course.starts += 1
                time.sleep(draw.uniform(0, 4))
            assert time.monotonic() < deadline, course
            _kill(victim, child, server, database, course)
            if victim == "flow":
                stocks.append(_take_stock(home, models, child, course))
                child = home.start(*command)
                course.starts += 1
        while True:
            stocks.append(_take_stock(home, models, child, course))
            if child.returncode == 0:
                break
            assert time.monotonic() < deadline, course
            child = home.start(*command)
            course.starts += 1
    finally:
        child.kill()
        child.wait()
    turns, last = read_turns(home), stocks[-1]
    again = Counter[str]()
    for stock in stocks:
        paid = [name for key, count in stock.answers.items() for name in turns[key][:count]]
        again |= Counter({name: last.heard[name] - stock.heard[name] for name in paid})
    course.paid_twice = again.total()
    course.lost_in_flight = last.heard.total() - sum(last.answers.values())
    return course


def read_heard(models: tuple[str, str]) -> Counter[str]:
    """How often the models took up each conversation."""
    heard = Counter[str]()
    for url in models:
        with urllib.request.urlopen(url + "/heard", timeout=60) as reply:
            heard.update(json.loads(reply.read()))
    return heard


def _wait_for(models: tuple[str, str], child: subprocess.Popen[str], answers: float, later: float) -> None:
    """Until so many conversations were taken up, or the build has ended, and then a little."""
    while child.poll() is None and len(read_heard(models)) < answers:
        time.sleep(0.02)
    time.sleep(later)


def _kill(
    victim: str, child: subprocess.Popen[str], server: PrefectServer, database: Database | None, course: Course
) -> None:
    workers = _wait_for_workers(child) if victim == "worker" else []
    if workers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(workers[course.starts % len(workers)], signal.SIGKILL)
    elif victim == "server" or (victim == "connections" and database is None):
        server.kill()
        server.start()
        victim = "server"
    elif victim == "connections":
        assert database is not None
        database.cut_connections()
    else:
        child.send_signal(signal.SIGKILL)
        victim = "flow"
    course.kills[victim] += 1


def _wait_for_workers(child: subprocess.Popen[str]) -> list[int]:
    """The worker processes of a build; they come with its first work, so there may be none when it is about to end."""
    deadline = time.monotonic() + 30
    while not (found := _list_workers(child.pid)) and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _list_workers(parent: int) -> list[int]:
    """The processes that were forked for a build's work, by another process beside it, which has the same command."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if b"multiprocessing.forkserver" in (path.parent / "cmdline").read_bytes():
                parents[int(path.parent.name)] = int(path.read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
    return sorted(pid for pid, forker in parents.items() if parents.get(forker) == parent)


def _take_stock(home: Home, models: tuple[str, str], child: subprocess.Popen[str], course: Course) -> Stock:
    """Wait for the build to end; what is paid for by now, and how often everything had been asked for until then."""
    _, said = child.communicate(timeout=600)
    if child.returncode > 0:
        course.said.append(said.strip().splitlines()[-1])
    heard = read_heard(models)
    path = home.path / "llm.sqlite"
    if not path.exists():
        return Stock({}, heard)
    answers = {key: len(names) for key, names in read_turns(home).items()}
    with Store(path) as store:
        for key, run, said in store.read("SELECT key, run, said FROM conversations"):
            answers[key.hex()] = read_said(run, said).answers
    return Stock(answers, heard)


def read_turns(home: Home) -> dict[str, list[str]]:
    """What a model heard for each request that has come to its end, by key: the request, then its repairs."""
    with Store(home.path / "llm.sqlite") as store:
        rows = store.read("SELECT key, request, response FROM responses")
        rows += store.read("SELECT key, request, failure FROM exchanges WHERE failure IS NOT NULL")
    return {key.hex(): _name_turns(packed, json.loads(outcome)) for key, packed, outcome in rows}


def _name_turns(packed: str | bytes, outcome: dict[str, Any]) -> list[str]:
    record = unpack_request(packed)
    request = Request(tuple(Message(*pair) for pair in record["messages"]), "", "", choices=tuple(record["choices"]))
    answers = [Attempt(**one) for one in outcome.get("attempts", ()) if one["kind"] in UNUSABLE]
    # An answer of use comes after the others; a failure has none.
    count = len(answers) + ("text" in outcome)
    turns = [continue_messages(request, last) for last in [None, *answers][:count]]
    return [name_messages([[message.role, message.content] for message in turn]) for turn in turns]
