"""A model that grades the final answers of episodes: 2 the same as the gold one, 1 in part, 0 wrong (AgenticRAGTracer).

It works on episodes that have ended, so that another judge replays none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from hopwright.evaluation.evaluation_queries import Ask, ask_once
from hopwright.evaluation.items import EvalItem
from hopwright.evaluation.tool_runner import EPISODE_SCHEMA
from hopwright.llm.answers import BEST_SCORE, GradedAnswer
from hopwright.llm.asking import NO_COSTS, RequestCosts
from hopwright.llm.prompts import Prompt
from hopwright.llm.types import ModelRef, Request, key_of

JUDGING = "grade-answer"
_COLUMN = "judge_score"


@dataclass(frozen=True, slots=True)
class JudgedEpisodes:
    """Episodes with their scores: a table of EPISODE_SCHEMA.

    `asked` answers were put to the judge, `failed` of them got no score; equal requests are one, and cost once.
    """

    table: pa.Table
    asked: int
    failed: int
    spent: RequestCosts


def judge_episodes(
    episodes: pa.Table, items: Sequence[EvalItem], judge: ModelRef, prompt: Prompt, complete: Ask
) -> JudgedEpisodes:
    """Let a model grade every answer that is no gold answer by the letter; those that are count as the same, unasked.

    An episode without an answer has no score; nor has an answer on which the judge failed or left the scale.
    """
    by_id = {item.id: item for item in items}
    rows = episodes.select(["item", "outcome", "given", "em"]).to_pylist()
    scores: list[int | None] = [None] * len(rows)
    wanted: dict[int, Request] = {}
    for number, row in enumerate(rows):
        if row["outcome"] != "answered":
            continue
        if row["em"] == 1.0:
            scores[number] = BEST_SCORE
        else:
            wanted[number] = _make_request(by_id[row["item"]], row["given"], judge, prompt)
    outcomes = ask_once(wanted.values(), complete)
    for number, request in wanted.items():
        outcome = outcomes[key_of(request)]
        said = outcome.parsed if outcome.ok else None
        scores[number] = said.score if isinstance(said, GradedAnswer) else None
    spent = NO_COSTS
    for outcome in outcomes.values():
        spent += RequestCosts((outcome.key,), "", outcome.usage.input, outcome.usage.output, outcome.cost_usd)
    place = EPISODE_SCHEMA.get_field_index(_COLUMN)
    table = episodes.set_column(place, EPISODE_SCHEMA.field(place), pa.array(scores, EPISODE_SCHEMA.field(place).type))
    return JudgedEpisodes(table, len(wanted), sum(scores[number] is None for number in wanted), spent)


def _make_request(item: EvalItem, given: str, judge: ModelRef, prompt: Prompt) -> Request:
    # A list of names alone would read as an answer of several parts.
    gold = f"{item.answer} (other names: {'; '.join(item.aliases)})" if item.aliases else item.answer
    return prompt.request({"question": item.question, "gold": gold, "given": given}, judge, item=item.id)
