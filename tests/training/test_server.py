"""The server of episodes as a trainer meets it: over HTTP, killed in the middle, and started again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

from hopwright.environments.tools import CorpusFinder
from hopwright.knowledge.documents.index import Retriever
from hopwright.training.playing import WireTurn
from hopwright.training.server import EpisodeService, make_app
from hopwright.training.task_files import TaskLine, write_tasks
from tests.training.worlds import make_lines, open_pool, say

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "hopwright" / "exports" / "templates" / "agents"))

from hopwright_client import Environment, ServerError  # noqa: E402

World = tuple[Path, Retriever, list[TaskLine]]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    home = tmp_path_factory.mktemp("home")
    (home / "corpora").mkdir()
    retriever, _, lines = make_lines(home / "corpora", 16)
    (home / "tasks.jsonl").write_bytes(write_tasks(lines))
    return home, retriever, lines


@contextmanager
def serving(world: World, journal: Path) -> Iterator[Environment]:
    """The application in a thread of this process."""
    import uvicorn

    pool, kept = open_pool(world[1], world[2], journal)
    app = make_app(EpisodeService(pool, CorpusFinder(world[1])))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
        thread = threading.Thread(target=asyncio.run, args=(server.serve([listener]),), daemon=True)
        thread.start()
        try:
            yield Environment(f"http://127.0.0.1:{listener.getsockname()[1]}")
        finally:
            server.should_exit = True
            thread.join(20)
            kept.close()


def to_step(id: str, number: int, turn: WireTurn) -> dict[str, Any]:
    return {"episode": id, "turn": number, "text": turn.text, "calls": [one.model_dump() for one in turn.calls]}


def test_a_client_resets_steps_calls_and_scores(world: World, tmp_path: Path) -> None:
    lines = {line.id: line for line in world[2]}
    with serving(world, tmp_path) as environment:
        assert environment.get("health")["tasks"] == 16
        assert [tool["name"] for tool in environment.tools()] == ["search", "read"]
        assert len(environment.get("tasks?split=test")["tasks"]) == 4
        begun = environment.reset(count=6, seed=1, group=2)
        assert begun == environment.reset(count=6, seed=1, group=2)
        going = {one["episode"]: lines[one["task"]] for one in begun}
        messages: dict[str, list[dict[str, Any]]] = {id: [] for id in going}
        ended: dict[str, dict[str, Any]] = {}
        for number in range(5):
            open_ones = [id for id in going if id not in ended]
            replies = environment.step([to_step(id, number, say(going[id], number)) for id in open_ones])
            for id, reply in zip(open_ones, replies, strict=True):
                turn = say(going[id], number)
                calls = [
                    {"id": one.id, "function": {"name": one.name, "arguments": one.arguments}} for one in turn.calls
                ]
                messages[id].append({"role": "assistant", "content": turn.text, "tool_calls": calls})
                if reply["done"]:
                    ended[id] = reply
        assert {one["rewards"]["hops"] for one in ended.values()} == {1.5}
        for id, line in going.items():
            assert environment.score(line.id, messages[id])["rewards"] == ended[id]["rewards"]
        line = world[2][0]
        first = environment.call("search", {"query": line.hops[0].question, "k": 1}, line.id, 0)
        assert line.hops[0].answers[0] in first["text"] and not first["problem"]
        assert environment.call("search", "{", line.id, 0)["problem"].startswith("the arguments are not JSON")
        assert environment.call("search", {"query": "x"}, line.id, 10)["text"].startswith("No call is left")
        assert environment.call("search", {"query": "Thing"}, line.id, 9)["text"].endswith("answer now.")


def test_what_is_no_request_is_told_in_one_line(world: World, tmp_path: Path) -> None:
    with serving(world, tmp_path) as environment:
        for path, body, said in (
            ("step", {"steps": [{"episode": "a"}]}, "turn"),
            ("step", [], "valid dictionary"),
            ("reset", {"count": 10**9}, "less than or equal"),
            ("reset", {"count": 1, "split": "other"}, "train"),
            ("reset", {"count": 1, "spilt": "test"}, "spilt"),
        ):
            with pytest.raises(ServerError, match=f"422.*{said}"):
                environment.post(path, body)
        with pytest.raises(ServerError, match="no task 'x'"):
            environment.score("x", [])
        assert environment.get("health")["open"] == 0


def test_nonsense_in_one_rollout_leaves_the_others_scored(world: World, tmp_path: Path) -> None:
    task = world[2][0].id
    with serving(world, tmp_path) as environment:
        for calls in ("x", [{"function": 1}], [7]):
            bad = {"task": task, "messages": [{"role": "assistant", "content": "", "tool_calls": calls}]}
            good = {"task": task, "messages": [{"role": "assistant", "content": "I do not know."}]}
            first, second = environment.post("score", {"rollouts": [bad, good]})["results"]
            assert "error" in first and "rewards" in second
            call = {"name": "search", "arguments": "{}", **bad}
            (called,) = environment.post("call", {"calls": [call]})["results"]
            assert called["problem"]


def test_an_open_episode_is_not_taken_over_by_another_task(world: World, tmp_path: Path) -> None:
    one, other = (line.id for line in world[2][:2])
    with serving(world, tmp_path) as environment:
        wanted = [{"episode": "a", "task": one}, {"episode": "a", "task": other}, {"episode": "a", "task": one}]
        begun, refused, again = environment.post("reset", {"episodes": wanted})["episodes"]
        assert begun["task"] == again["task"] == one and "close it first" in refused["error"]
        drawn = {easiest: environment.reset(count=1, seed=5, easiest=easiest)[0] for easiest in (0.1, 1.0)}
        assert drawn[0.1]["episode"] != drawn[1.0]["episode"]


def test_many_clients_at_once_are_answered_in_batches(world: World, tmp_path: Path) -> None:
    lines = {line.id: line for line in world[2]}
    with serving(world, tmp_path) as environment:
        begun = environment.reset(count=48, seed=2)
        worth: list[float] = []

        def play(one: dict[str, Any]) -> None:
            line = lines[one["task"]]
            for number in range(len(line.hops) + 1):
                (reply,) = environment.step([to_step(one["episode"], number, say(line, number))])
            worth.append(reply["rewards"]["hops"])

        threads = [threading.Thread(target=play, args=(one,)) for one in begun]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert worth == [1.5] * 48


@pytest.mark.e2e
def test_a_killed_server_goes_on_with_every_episode(world: World, tmp_path: Path) -> None:
    home, _, world_lines = world
    lines = {line.id: line for line in world_lines}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [
        sys.executable, "-m", "flows.cli", "environment", "serve", str(home), "--corpus", "corpus",
        "--journal", str(tmp_path / "journal"), "--port", port,
    ]  # fmt: skip
    environment = {**os.environ, "HOPWRIGHT_HOME": str(home), "PYTHONPATH": str(ROOT)}
    client = Environment(f"http://127.0.0.1:{port}")

    def start() -> subprocess.Popen[bytes]:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        for _ in range(150):
            try:
                client.get("health")
                return server
            except ServerError:
                time.sleep(0.1)
        raise AssertionError("the server does not answer")

    client_tries = 0
    server = start()
    try:
        begun = client.reset(count=40, seed=0)
        going = {one["episode"]: lines[one["task"]] for one in begun}
        ended: dict[str, dict[str, Any]] = {}
        for number in range(5):
            open_ones = [id for id in going if id not in ended]
            steps = [to_step(id, number, say(going[id], number)) for id in open_ones]
            if number in (1, 3):
                # The turns are sent and taken; nobody hears the replies, and the server dies.
                client.step(steps[:20])
                server.send_signal(signal.SIGKILL)
                server.wait()
                server = start()
                client_tries += 1
            for id, reply in zip(open_ones, client.step(steps), strict=True):
                assert "error" not in reply, reply
                if reply["done"]:
                    ended[id] = reply
        assert client_tries == 2 and len(ended) == 40
        assert {one["rewards"]["hops"] for one in ended.values()} == {1.5}
        report = [
            sys.executable,
            "-m",
            "flows.cli",
            "environment",
            "report",
            str(tmp_path / "journal"),
            str(home),
            "--json",
        ]
        done = subprocess.run(report, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        (row,) = json.loads(done.stdout)["episodes"]
        assert (row["split"], row["length"], row["episodes"], row["right"], row["hops"]) == ("train", 4, 40, 1.0, 1.5)
    finally:
        server.kill()
        server.wait()
