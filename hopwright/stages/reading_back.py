"""Having a model read the questions of a dataset back, whoever wrote them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from hopwright.knowledge.properties import PropertyTable
from hopwright.llm.answers import AnsweredBack, ReadQuestion
from hopwright.llm.asking import RequestSender, ask_until_accepted
from hopwright.llm.types import Failure, Outcome, Request
from hopwright.records import Item
from hopwright.stages.wording import make_reader
from hopwright.wording.llm.reading_back import QuestionReader
from hopwright.wording.llm.text_constraints import TextConstraintBuilder, TextConstraints
from hopwright.wording.llm.vocabulary import Vocabulary


@dataclass(slots=True)
class ReadItem:
    """What a reader made of one item: what it understands otherwise, or why it could not be read; both may be empty."""

    item: Item
    places: tuple[TextConstraints, ...]
    differs: str = ""
    unread: str = ""
    cost_usd: float = 0.0


def read_back(items: Sequence[Item], model: str, sender: RequestSender, table: PropertyTable) -> list[ReadItem]:
    """Read every question back, in the order of the items, which state their plans.

    Steps are asked for first, from the bare question; where they agree with the plan, the answer from its facts.
    """
    reader = make_reader(model, table)
    places = TextConstraintBuilder(Vocabulary(table), None)
    rows = [ReadItem(item, places.lay_out(item)) for item in items]
    judges = [functools.partial(_take, reader, row) for row in rows]
    ask_until_accepted(sender, [(reader.ask_steps(row.item), judge) for row, judge in zip(rows, judges, strict=True)])
    return rows


def _take(reader: QuestionReader, row: ReadItem, outcome: Outcome) -> Request | None:
    row.cost_usd += outcome.cost_usd
    if isinstance(outcome, Failure):
        row.unread = f"{outcome.kind}: {outcome.reason}"
    elif isinstance(outcome.parsed, ReadQuestion):
        row.differs = reader.compare(row.item, outcome.parsed, row.places)
        return None if row.differs else reader.ask_answer(row.item)
    else:
        assert isinstance(outcome.parsed, AnsweredBack)
        row.differs = reader.judge(row.item, outcome.parsed)
    return None
