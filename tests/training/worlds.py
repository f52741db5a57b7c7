"""The world of the evaluations with tools as tasks, and a pool of episodes over them."""

from __future__ import annotations

import json
from pathlib import Path

from hopwright.environments.tools import CorpusFinder
from hopwright.evaluation.gold import GoldFinder
from hopwright.evaluation.items import EvalItem
from hopwright.knowledge.documents.index import Retriever
from hopwright.training.episodes import EpisodePool
from hopwright.training.journal import Journal
from hopwright.training.playing import WireTurn
from hopwright.training.task_files import TaskLine
from tests.evaluation.tool_world import open_world

BASIS = {"tasks": "t", "corpus": "c"}
PROMPT = {"tools": ({"role": "system", "content": "Search."}, {"role": "user", "content": "?"})}


def make_lines(folder: Path, count: int) -> tuple[Retriever, tuple[EvalItem, ...], list[TaskLine]]:
    """A corpus, its items, and their tasks, every fourth of which is for testing."""
    retriever, items = open_world(folder, count)
    gold = GoldFinder(retriever)
    lines = [
        TaskLine.from_task(
            gold.make_task(item), order=place, split="test" if place % 4 == 3 else "train", prompts=PROMPT
        )
        for place, item in enumerate(items)
    ]
    return retriever, items, lines


def open_pool(retriever: Retriever, lines: list[TaskLine], folder: Path) -> tuple[EpisodePool, Journal]:
    journal = Journal(folder, BASIS)
    return EpisodePool(lines, CorpusFinder(retriever), journal), journal


def say(line: TaskLine, number: int) -> WireTurn:
    """The turn of an agent that searches hop after hop and answers."""
    found = f"It is {line.hops[number - 1].answers[0]}." if number else "I begin."
    if number == len(line.hops):
        return WireTurn(text=f"{found}\nFINAL ANSWER: {line.answers[0]}")
    arguments = json.dumps({"query": line.hops[number].question, "k": 1})
    return WireTurn.model_validate(
        {"text": found, "calls": [{"id": f"c{number}", "name": "search", "arguments": arguments}]}
    )


def play_on(pool: EpisodePool, going: dict[str, tuple[str, int]], rounds: int = 20) -> dict[str, dict[str, object]]:
    """Step episodes (their tasks and next turns) to their ends, or for so many rounds; the replies that ended them."""
    ended: dict[str, dict[str, object]] = {}
    for _ in range(rounds):
        steps = [(id, turn, say(pool.lines[task], turn)) for id, (task, turn) in going.items() if id not in ended]
        if not steps:
            break
        for (id, turn, _said), reply in zip(steps, pool.step(steps), strict=True):
            assert "error" not in reply, reply
            going[id] = (going[id][0], turn + 1)
            if reply["done"]:
                ended[id] = reply
    return ended
