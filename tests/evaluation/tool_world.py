"""A made-up world for evaluations with tools: a corpus, items over it, and agents of known skill.

Every name in it is unique. Hop k of item n asks what goes with the answer before it; a passage of its own states that.
As a program (`python -m tests.evaluation.tool_world DATA --finds 0.8`) it serves one agent, called `simulated`, prints
its address as one line of JSON, and stops when its parent process ends or nothing has called for `--idle` seconds.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hopwright.evaluation.items import EvalItem, read_items
from hopwright.knowledge.documents.index import Retriever, build_index
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.settings import CorpusIndexParameters
from hopwright.topologies import TOPOLOGIES
from tests.knowledge.documents.builders import add, write_lines
from tests.llm.tool_server import Said, ToolServer, Turn
from tests.llm.wire_answers import draw
from tests.llm.wire_server import Faults

SHAPES = ("chain", "converging", "bridge")
_LABELS = "ABCD"
Slip = Literal["not_searched", "wrong_plan", "searched_not_found", "found_unused", "over_extended", "no_answer"]


def name_answer(number: int, index: int) -> str:
    return f"Thing{number}x{index}"


def state_hop(number: int, index: int) -> str:
    """The sentence of the passage that states a hop."""
    topology = TOPOLOGIES[SHAPES[number % 3]]
    before = [name_answer(number, one) for one in topology.depends_on[index - 1]]
    return f"{' and '.join(before) or f'Item{number}'} goes with {name_answer(number, index)} as step {index}."


def make_documents(count: int) -> list[dict[str, str]]:
    """A document a hop, and as many that only look like them."""
    rows = []
    for number in range(count):
        for index in range(1, len(TOPOLOGIES[SHAPES[number % 3]].depends_on) + 1):
            text = f"This page is short. {state_hop(number, index)}"
            rows.append({"id": f"p{number}-{index}", "title": f"Page {number} {index}", "text": text})
        noise = f"Item{number} is often mentioned together with pages that say nothing of Other{number}."
        rows.append({"id": f"n{number}", "title": f"Noise {number}", "text": noise})
    return rows


def make_row(number: int, store: CorpusStore) -> dict[str, Any]:
    """An item in the release format, whose hops cite the sentences that they rest on."""
    shape = SHAPES[number % 3]
    topology = TOPOLOGIES[shape]
    hops: list[dict[str, Any]] = []
    for index, depends_on in enumerate(topology.depends_on, start=1):
        named = " and ".join(hops[one - 1]["answer"] for one in depends_on) or f"Item{number}"
        document, _, _ = store.find(f"p{number}-{index}")
        sentence = state_hop(number, index)
        start = document.text.index(sentence)
        answer = name_answer(number, index)
        hops.append(
            {
                "question": f"Which thing goes with {named} as step {index}?",
                "answer": answer,
                "multiple_choice_options": {label: answer if label == "A" else f"{answer}{label}" for label in _LABELS},
                "correct_answer_label": "A",
                "index": index,
                "answer_type": "string",
                "domain": None,
                "depends_on": list(depends_on),
                "derivation": {
                    "op": "read_span",
                    "document": document.id,
                    "start": start,
                    "end": start + len(sentence),
                },
                "evidence": {
                    "spans": [{"document": document.id, "start": start, "end": start + len(sentence), "text": sentence}]
                },
            }
        )
    last = hops[-1]
    return {
        "id": f"item-{number}",
        "single_hop": hops,
        "multi_hop_question": f"Which thing ends the {shape} of Item{number}?",
        "multi_hop_answer": last["answer"],
        "multiple_choice_options": last["multiple_choice_options"],
        "correct_answer_label": "A",
        "motif_type": topology.motif,
        "topology": shape,
    }


def build_world(folder: Path, count: int, corpus: Path | None = None) -> tuple[Path, Path]:
    """A corpus with its index and a dataset over it; returns their paths."""
    corpus = corpus or folder / "corpus"
    add(write_lines(folder / "pages.jsonl", make_documents(count)), corpus, near_duplicates=0)
    build_index(corpus, CorpusIndexParameters(workers=1))
    store = CorpusStore.open(corpus)
    return corpus, write_lines(folder / "data.jsonl", [make_row(number, store) for number in range(count)])


@dataclass(frozen=True, slots=True)
class AgentSkill:
    """`finds`: the share of hops that the agent looks up and uses, hop by hop; at the first other hop it slips.

    `slip` says how, and so the failure class; `lucky` is the share of slips after which it guesses right nevertheless.
    `pads`: useless calls before the first.
    """

    finds: float = 0.8
    slip: Slip = "not_searched"
    lucky: float = 0.0
    pads: int = 0
    seed: int = 0


class SearchingAgent:
    """An agent that plays an item by its skill; it reads what it is shown, and knows nothing else but the questions."""

    def __init__(self, items: Sequence[EvalItem], skill: AgentSkill) -> None:
        self._skill = skill
        self._items = {item.question: item for item in items}

    def finds(self, item: EvalItem, index: int) -> bool:
        """Whether the agent gets past a hop."""
        return draw(f"{item.id}:{index}", f"finds{self._skill.seed}") < self._skill.finds

    def reaches(self, item: EvalItem) -> int:
        """How many hops it gets past."""
        return next((hop.index - 1 for hop in item.hops if not self.finds(item, hop.index)), len(item.hops))

    def is_lucky(self, item: EvalItem) -> bool:
        """Whether its guess would be right."""
        return draw(item.id, f"lucky{self._skill.seed}") < self._skill.lucky

    def say(self, _: str, turns: list[Turn]) -> Said:
        """The next turn."""
        prompt = next(turn.text for turn in turns if turn.role == "user")
        item = self._items[prompt.rsplit("Question: ", 1)[1].strip()]
        done = sum(turn.role == "tool" for turn in turns)
        if done < self._skill.pads:
            return Said("", [("search", {"query": "pages that say nothing"})])
        place = done - self._skill.pads
        reach = self.reaches(item)
        known = [hop.answer for hop in item.hops[:place] if hop.index <= reach]
        said = f"I have found {', '.join(known)}." if known else "I begin."
        if place < reach:
            # More passages than one would show those of the hops that follow, too.
            return Said(said, [("search", {"query": item.hops[place].question, "k": 1})])
        if reach == len(item.hops):
            return Said(f"{said}\nFINAL ANSWER: {item.answer}")
        return self._slip(item, place - reach, item.hops[reach].question, said)

    def _slip(self, item: EvalItem, since: int, question: str, said: str) -> Said:
        guess = Said(f"{said}\nFINAL ANSWER: {item.answer if self.is_lucky(item) else 'Nothing'}")
        slip = self._skill.slip
        if slip == "not_searched":
            return guess
        if slip == "no_answer":
            return Said("I cannot say.")
        if slip == "over_extended":
            return Said(said, [("search", {"query": "pages that say nothing", "k": 1})])
        queries = {
            "wrong_plan": "pages that say nothing",
            "searched_not_found": f"thing goes step Other{item.id.removeprefix('item-')}",
            "found_unused": question,
        }
        return guess if since else Said(said, [("search", {"query": queries[slip], "k": 1})])


def open_world(folder: Path, count: int) -> tuple[Retriever, tuple[EvalItem, ...]]:
    """The world, open for searching, and its items."""
    corpus, data = build_world(folder, count)
    return Retriever.open(corpus), read_items(data).items


def main() -> None:
    """Serve one agent."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--idle", type=float, default=120)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--finds", type=float, default=0.8)
    given = parser.parse_args()
    agent = SearchingAgent(read_items(given.data).items, AgentSkill(finds=given.finds))
    asyncio.run(ToolServer(agent.say, Faults(latency_s=given.latency)).serve(given.idle))


if __name__ == "__main__":
    main()
