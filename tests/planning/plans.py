"""Real plans of the sample with natural wordings, as a good editor would write them: derivations and texts."""

from __future__ import annotations

import copy
import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from hopwright.distractors.hop_task import OptionShortage
from hopwright.distractors.maker import DistractorMaker
from hopwright.knowledge.facts import GraphFacts
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.execution import execute
from hopwright.planning.plan import Plan, PlanStep
from hopwright.records import Derivation, Distractor, Hop, Item
from hopwright.records.values import Value
from hopwright.stages.drafting import Synthesizer
from hopwright.wording.marks import read_marks

NATURAL = Path(__file__).with_name("natural.json")
RECORDED = NATURAL.parents[1] / "wording" / "recorded.json"
_READ: TypeAdapter[Any] = TypeAdapter(Derivation)


@dataclass(frozen=True)
class Told:
    """A draft in the rules' words, and the same plan in natural ones, also with its marks."""

    draft: Item
    sub_questions: tuple[str, ...]
    question: str
    marked: str


class _AnyOptions:
    """Options at any rate."""

    def __init__(self, maker: DistractorMaker) -> None:
        self._maker = maker

    def make(self, hop: Hop, *given: Any, **options: Any) -> tuple[Distractor, ...]:
        made = self._maker.make(hop, *given, **options)
        if not isinstance(made, OptionShortage):
            return made
        return tuple(Distractor(text=f"{hop.answer} {number}", kind="sibling") for number in ("X", "Y", "Z"))


def compose(graph: GraphStore, topology: str, steps: list[dict[str, Any]]) -> Item | None:
    """The draft of a plan, given as derivations with the type and unit of their answers; None without words.

    Where the sample has no wrong options that would do, it has others: a reading does not look at them.
    """
    facts, table = GraphFacts(graph, default_table()), default_table()
    answers: dict[int, Value] = {}
    done = []
    for index, step in enumerate(steps, start=1):
        derivation = _READ.validate_python(step["derivation"])
        answers[index] = execute(derivation, step["answer_type"], answers, facts, table)
        done.append(PlanStep(derivation, answers[index], step["answer_type"], step["unit"]))
    maker = copy.copy(synthesizer(graph))
    maker.distractors = _AnyOptions(maker.distractors)  # type: ignore[assignment]
    item = maker.compose(Plan(topology, tuple(done)))
    return item if isinstance(item, Item) else None


@functools.cache
def read_natural(graph: GraphStore) -> tuple[Told, ...]:
    """Every plan of `natural.json`."""
    rows = json.loads(NATURAL.read_text("utf-8"))
    return tuple(
        Told(draft, tuple(row["sub_questions"]), row["question"], row["marked"])
        for row in rows
        if row["marked"] and (draft := compose(graph, row["topology"], row["steps"])) is not None
    )


@functools.cache
def read_recorded(graph: GraphStore) -> tuple[Told, ...]:
    """Every wording of `recorded.json`: the answer to each request, then the further wordings of its question."""
    told = []
    for row in json.loads(RECORDED.read_text("utf-8"))["rows"]:
        draft = compose(graph, row["topology"], row["steps"])
        if draft is not None:
            subs, texts = tuple(row["sub_questions"]), (row["marked"], *row["variants"])
            told += [Told(draft, subs, read_marks(marked).text, marked) for marked in texts]
    return tuple(told)


@functools.cache
def synthesizer(graph: GraphStore) -> Synthesizer:
    """One for the whole session; its caches are what costs."""
    return Synthesizer(graph, default_table(), seed=1, min_domains=1)
