"""A model on 127.0.0.1 that proposes claims, and errs at known rates: OpenAI's and Anthropic's wire formats.

Which of its claims goes wrong, and how, is drawn from the prompt, so the same request meets the same faults whatever
the order. It counts the faults that it gave. As a program it prints its address as one line of JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.llm.wire_answers import draw
from tests.llm.wire_server import Faults, WireServer

SHARED = "the number of beads on the string called common"
"""What every domain claims, each with a value of its own."""


@dataclass(frozen=True, slots=True)
class Slips:
    """Shares (0 to 1) of claims that go wrong in each way, and of requests that are refused or answered in half."""

    no_source: float = 0.0
    a_site: float = 0.0
    no_number: float = 0.0
    number_in_phrase: float = 0.0
    so_far: float = 0.0
    repeated: float = 0.0
    contradiction: float = 0.0
    refusal: float = 0.0
    broken_json: float = 0.0


class ClaimModel(WireServer):
    """The server. `given` counts what was wrong with the claims of its answers, by the field of `Slips`."""

    def __init__(self, slips: Slips, faults: Faults | None = None) -> None:
        super().__init__(faults)
        self.slips = slips
        self.keep_bodies = False
        self.given: Counter[str] = Counter()

    async def _answer(self, request: web.Request, body: dict[str, Any], prompt: str, reply: Any) -> web.StreamResponse:
        if self.faults.latency_s:
            await asyncio.sleep(self.faults.latency_s * (0.5 + draw(prompt, "latency")))
        self.answered[prompt] += 1
        point = draw(prompt, "request")
        if point < self.slips.refusal:
            self.given["refusal"] += 1
            return web.json_response(reply(body, prompt, "refusal"))
        asked = sum(message["role"] == "user" for message in body["messages"])
        if point < self.slips.refusal + self.slips.broken_json and asked == 1:
            self.given["broken_json"] += 1
            text = '{"claims": [{"statement": "The string called'
        else:
            text = json.dumps({"claims": self.propose(prompt)}, ensure_ascii=False)
        answer = reply(body, prompt, "")
        put(answer, text)
        return web.json_response(answer)

    def propose(self, prompt: str) -> list[dict[str, Any]]:
        """As many claims as the prompt asks for, none of them among those that it says are there."""
        domain = re.search(r"Domain: (.*)", prompt)
        number = re.search(r"Give (\d+) facts", prompt)
        assert domain and number
        taken = set(re.findall(r"^- (.*)$", prompt, re.MULTILINE))
        claims: list[dict[str, Any]] = []
        place = 0
        while len(claims) < int(number[1]):
            place += 1
            claim = state(domain[1], place)
            if claim["phrase"] not in taken:
                claims.append(self._spoil(claim, f"{prompt} {place}", domain[1], claims))
        return claims

    def _spoil(self, claim: dict[str, Any], key: str, domain: str, before: list[dict[str, Any]]) -> dict[str, Any]:
        point = draw(key, "slip")
        for field in dataclasses.fields(Slips)[:7]:
            share = getattr(self.slips, field.name)
            if point < share:
                changed = spoil(claim, field.name, domain, before)
                self.given[field.name] += changed is not claim
                return changed
            point -= share
        return claim

    def stats(self) -> dict[str, Any]:
        """Also the faults given."""
        return {**super().stats(), "given": dict(self.given)}


def state(domain: str, place: int) -> dict[str, Any]:
    """The claim at a place of a domain's endless list."""
    name = "".join("abcdefghij"[int(digit)] for digit in f"{place:03}") + domain.split()[0].lower()
    value = 13 + int(draw(f"{domain} {place}", "value") * 900)
    return {
        "statement": f"The string called {name} has {value} beads.",
        "phrase": f"the number of beads on the string called {name}", "value": f"{value}", "unit": "",
        "source_title": "A catalogue of strings", "source_url": f"https://strings.example.org/{name}", "names": [],
    }  # fmt: skip


def spoil(claim: dict[str, Any], how: str, domain: str, before: list[dict[str, Any]]) -> dict[str, Any]:
    """A claim gone wrong; itself where it has no place for that."""
    value = claim["value"]
    if how == "repeated":
        return dict(before[0]) if before else claim
    if how == "contradiction":
        beads = 20 + len(domain)
        return claim | {
            "phrase": SHARED, "value": f"{beads}", "statement": f"The string called common has {beads} beads.",
        }  # fmt: skip
    return claim | {
        "no_source": {"source_url": ""},
        "a_site": {"source_url": "https://strings.example.org/"},
        "no_number": {"value": f"about {value}"},
        "number_in_phrase": {"phrase": f"the number of the {value} beads on {claim['phrase'][31:]}"},
        "so_far": {"phrase": f"{claim['phrase']} so far"},
    }[how]  # fmt: skip


def put(answer: dict[str, Any], text: str) -> None:
    """Make a text the content of a reply."""
    if "choices" in answer:
        answer["choices"][0]["message"]["content"] = text
    else:
        answer["content"] = [{"type": "text", "text": text}]


def main() -> None:
    """Serve until the parent ends; every share is an option."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    for field in dataclasses.fields(Slips):
        parser.add_argument(f"--{field.name}", type=float, default=0.0)
    options = vars(parser.parse_args())
    latency_s = options.pop("latency")
    asyncio.run(ClaimModel(Slips(**options), Faults(latency_s=latency_s)).serve(300))


if __name__ == "__main__":
    main()
