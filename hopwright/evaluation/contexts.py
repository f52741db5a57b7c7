"""What a model is given beside the question when it is evaluated with tools, and without them for comparison."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from typing import Literal

from hopwright.environments.task import FoundPassage, GoldFact, Task
from hopwright.environments.tools import show_passage
from hopwright.evaluation.gold import list_gold
from hopwright.knowledge.documents.index import Retriever

Mode = Literal["search", "none", "gold", "gold_minus_one", "distractors"]
"""`search`: the tools and nothing else. The others give no tools: `none` the question alone, `gold` the gold passages,
`gold_minus_one` those of all hops but one, `distractors` the gold passages among as many that only look like them."""
_LEAST_DISTRACTORS = 4
_DEPTH = 20


@dataclass(frozen=True, slots=True)
class GivenContext:
    """Passages that stand before the question; `dropped` is the hop whose gold was taken out, 0 for none."""

    passages: tuple[FoundPassage, ...] = ()
    dropped: int = 0


def draw_context(task: Task, mode: Mode, retriever: Retriever, seed: int) -> GivenContext:
    """What a mode gives with a question; the order of passages is drawn, so that it tells nothing."""
    if mode in ("search", "none"):
        return GivenContext()
    draw = random.Random(f"{seed}:{mode}:{task.id}")
    dropped = 0
    if mode == "gold_minus_one":
        stated = [hop.index for hop in task.hops if hop.gold]
        dropped = draw.choice(stated) if stated else 0
    lost = task.hop(dropped).gold if dropped else ()
    passages: dict[str, FoundPassage] = {}
    for fact in list_gold(task, dropped):
        for passage in _find_passages(fact, retriever):
            if not _holds(passage, lost):
                passages[passage.id] = passage
    if mode == "distractors":
        wanted = max(len(passages), _LEAST_DISTRACTORS)
        passages |= {one.id: one for one in _find_distractors(task, retriever, wanted)}
    given = list(passages.values())
    draw.shuffle(given)
    return GivenContext(tuple(given), dropped)


def _find_distractors(task: Task, retriever: Retriever, wanted: int) -> list[FoundPassage]:
    """What the question and its sub-questions find, in turn, that holds no gold place."""
    every = list_gold(task)
    lists = []
    for query in (task.question, *(hop.question for hop in task.hops)):
        found = [show_passage(hit.passage) for hit in retriever.search(query, wanted + _DEPTH)]
        lists.append([one for one in found if not _holds(one, every)])
    in_turn = [one for level in itertools.zip_longest(*lists) for one in level if one is not None]
    return list({one.id: one for one in in_turn}.values())[:wanted]


def _find_passages(fact: GoldFact, retriever: Retriever) -> list[FoundPassage]:
    """The passages that hold a fact at its first place; all of its parts, where it lies across a border."""
    place = fact[0]
    return [show_passage(one) for one in retriever.store.passages_at(place.document, place.start, place.end)]


def _holds(passage: FoundPassage, facts: tuple[GoldFact, ...]) -> bool:
    return any(place.is_in(passage) for fact in facts for place in fact)
