"""Models of known behaviour: as a function for unit tests, and behind a server that speaks both wire formats.

As a program (`python -m tests.evaluation.simulated DATA --knows 0.8`) it prints its address as one line of JSON and
stops when its parent process ends or nothing has called for `--idle` seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from hopwright.evaluation.items import EvalHop, EvalItem, read_items
from hopwright.llm.types import Outcome, Request, Response, TokenUsage, key_of
from tests.llm.wire_answers import draw
from tests.llm.wire_server import Faults, WireServer

_QUESTION = re.compile(r"^Question: (.*)$", re.MULTILINE)
_OPTION = re.compile(r"^([A-D])\. (.*)$", re.MULTILINE)
_STEP = re.compile(r"^- (Which .*\?) (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Skill:
    """Shares from 0 to 1. What is not known or not reasoned out ends in a wrong answer, never in a lucky guess.

    `knows`: single hops that the model knows. `reasons`: whole questions that it composes rightly at once, all facts
    known; `reasons_aloud`: the same with a chain of thought. `shortcut`: whole questions that it gets right although a
    fact is missing. `carries`: whether a wrong earlier answer makes the next hop wrong. `mumbles`: answers that are
    right but not in the form asked for.
    """

    knows: float = 0.8
    reasons: float = 0.6
    reasons_aloud: float = 0.9
    shortcut: float = 0.0
    carries: bool = True
    mumbles: float = 0.0
    seed: int = 0


class Model:
    """Answers prompts about the items of one dataset."""

    def __init__(self, items: Sequence[EvalItem], skill: Skill) -> None:
        self._skill = skill
        self._whole = {item.question: item for item in items}
        self._hops = {hop.question: (item, hop) for item in items for hop in item.hops}
        self._firsts = {item.hops[0].question: item for item in items}

    def answer(self, prompt: str) -> str:
        """What the model writes for the user turn of a prompt."""
        question = _QUESTION.search(prompt)
        assert question is not None, prompt
        options = dict(_OPTION.findall(prompt))
        aloud = "(aloud)" in prompt
        part, right = self._judge(question.group(1), prompt, aloud)
        text = part.answer if right else "Nothing"
        if options:
            wrong = next(letter for letter in "ABCD" if letter != part.label)
            text = part.label if right else wrong
        if draw(prompt, f"mumble{self._skill.seed}") < self._skill.mumbles:
            return f"Some would say {text}.\nOthers would not."
        if not aloud:
            return text
        return f"First one thing, then another.\n{f'The answer is {text}.' if options else f'FINAL ANSWER: {text}'}"

    def knows(self, item: EvalItem, hop: EvalHop) -> bool:
        """Whether the model knows one hop of an item."""
        return draw(f"{item.id}:{hop.index}", f"knows{self._skill.seed}") < self._skill.knows

    def _judge(self, question: str, prompt: str, aloud: bool) -> tuple[EvalItem | EvalHop, bool]:
        if question in self._whole:
            item = self._whole[question]
            if not all(self.knows(item, hop) for hop in item.hops):
                return item, draw(item.id, f"shortcut{self._skill.seed}") < self._skill.shortcut
            share = self._skill.reasons_aloud if aloud else self._skill.reasons
            return item, draw(item.id, f"reasons{self._skill.seed}") < share
        if question in self._hops:
            item, hop = self._hops[question]
            return hop, self.knows(item, hop)
        # A hop that goes on from a wrong answer: the steps before it tell which item it is of.
        first = _STEP.search(prompt)
        assert first is not None, prompt
        item = self._firsts[first.group(1)]
        number = re.search(r"is step (\d+) of", question)
        assert number is not None, question
        hop = item.hop(int(number.group(1)))
        return hop, not self._skill.carries and self.knows(item, hop)


def read_prompt(messages: Sequence[Any]) -> str:
    """The user turn, marked where the system turn asks to reason first."""
    texts = [message["content"] for message in messages]
    return str(texts[-1]) + ("\n(aloud)" if any("step by step" in text for text in texts) else "")


def complete(model: Model, requests: Sequence[Request]) -> list[Outcome]:
    """The model without a server in between."""
    outcomes: list[Outcome] = []
    for request in requests:
        turns = [{"role": message.role, "content": message.content} for message in request.messages]
        text = model.answer(read_prompt(turns))
        outcomes.append(
            Response(
                key_of(request), request.provider, request.model, "v1", text, "stop", TokenUsage(50, 0, 0, 7, 0), 0.001
            )
        )
    return outcomes


class SimulatedServer(WireServer):
    """The wire server, with a model of known behaviour behind each model name."""

    def __init__(self, models: dict[str, Model], faults: Faults | None = None) -> None:
        super().__init__(faults)
        self._models = models

    async def _answer(self, request: web.Request, body: dict[str, Any], prompt: str, reply: Any) -> web.StreamResponse:
        if self.faults.latency_s:
            await asyncio.sleep(self.faults.latency_s)
        self.answered[prompt] += 1
        self.counts["answered"] += 1
        system = body.get("system") or ""
        turns = [{"content": system if isinstance(system, str) else system[0]["text"]}] if system else []
        text = self._models[body["model"]].answer(read_prompt([*turns, *body["messages"]]))
        answer = reply(body, prompt, "")
        if "choices" in answer:
            answer["choices"][0]["message"]["content"] = text
        else:
            answer["content"] = [{"type": "text", "text": text}]
        return web.json_response(answer)


def main() -> None:
    """Serve one model, called `simulated`; every field of `Skill` is an option."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--idle", type=float, default=120)
    parser.add_argument("--latency", type=float, default=0.0)
    for field in dataclasses.fields(Skill):
        kind = type(field.default)
        options = {"action": "store_false"} if kind is bool else {"type": kind, "default": field.default}
        name = f"--no-{field.name}" if kind is bool else f"--{field.name.replace('_', '-')}"
        parser.add_argument(name, dest=field.name, **options)
    given = vars(parser.parse_args())
    data, idle_s, latency = given.pop("data"), given.pop("idle"), given.pop("latency")
    model = Model(read_items(data).items, Skill(**given))
    asyncio.run(SimulatedServer({"simulated": model}, Faults(latency_s=latency)).serve(idle_s))


if __name__ == "__main__":
    main()
