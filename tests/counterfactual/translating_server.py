"""A wire-format server that translates as it is told: faithfully, or dropping, doubling or translating masks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tests.llm.wire_server import WireServer

MASK = re.compile(r"\[N\d+\]")
_LEG = re.compile(r"Translate from (\w+) into (\w+):\s*\n\s*(.*)", re.DOTALL)
Fault = Callable[[str, str], str]


def drop(text: str, _: str) -> str:
    return MASK.sub("", text, count=1)


def double(text: str, _: str) -> str:
    return MASK.sub(lambda match: f"{match[0]} {match[0]}", text, count=1)


def translate_mask(text: str, target: str) -> str:
    return MASK.sub("诺伦德" if target == "Chinese" else "Norlund", text, count=1)


def renumber(text: str, _: str) -> str:
    return MASK.sub("[N77]", text, count=1)


def break_mask(text: str, _: str) -> str:
    return MASK.sub(lambda match: match[0].replace("[N", "[ N"), text, count=1)


def leave_pivot(text: str, target: str) -> str:
    return text if target == "Chinese" else text.replace("?", " 吗?")


def say_nothing_new(text: str, _: str) -> str:
    return text


FAULTS: dict[str, Fault] = {
    one.__name__: one for one in (drop, double, translate_mask, renumber, break_mask, leave_pivot, say_nothing_new)
}


class TranslatingServer(WireServer):
    """Into the pivot it marks the text, back it takes other words; `fault` then spoils what it says.

    once: the fault goes away at the second try, as with another sample. verdict: what it says as a judge.
    """

    def __init__(self, fault: Fault | None = None, *, once: bool = False, verdict: bool = True) -> None:
        super().__init__()
        self._fault = fault
        self._once = once
        self._verdict = verdict
        self.legs: list[tuple[str, str]] = []

    async def _answer(self, request: web.Request, body: dict[str, Any], prompt: str, reply: Any) -> web.StreamResponse:
        self.answered[prompt] += 1
        self.counts["answered"] += 1
        content = str(body["messages"][-1]["content"])
        leg = _LEG.search(content)
        if leg is None:
            said: dict[str, Any] = {
                "original_entails_reworded": self._verdict, "reworded_entails_original": True, "fluent": True,
                "problem": "" if self._verdict else "it says something else",
            }  # fmt: skip
        else:
            said = {"text": self._translate(*leg.groups(), seed=body.get("seed") or 0)}
        answer = reply(body, prompt, "")
        answer["choices"][0]["message"]["content"] = json.dumps(said, ensure_ascii=False)
        return web.json_response(answer)

    def _translate(self, source: str, target: str, text: str, seed: int) -> str:
        self.legs.append((source, target))
        done = text.strip()
        if target == "English":
            done = done.removeprefix("译: ").replace("In what year", "During which year").replace("Which", "What")
            done = done.replace("How many years", "What number of years")
            done = done.replace(" is ", " was always ").replace("What country", "Which country")
        elif source == "English":
            done = f"译: {done}"
        spoiled = self._fault is not None and not (self._once and seed % 2)
        return self._fault(done, target) if spoiled and self._fault is not None else done
