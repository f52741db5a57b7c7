"""Closed-book checks: the question without its options, and every hop asked alone.

They part an item's difficulty for a model in two. Whoever cannot look up some hop alone lacks knowledge; whoever can
look up all of them and still misses the question lacks reasoning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, Protocol

import pyarrow as pa

from hopwright.difficulty.voters import MissingVote
from hopwright.records import Compute, Item, Rejected
from hopwright.records.arrow import read_parquet
from hopwright.scoring.answers import score_text

Difficulty = Literal["solved", "guessed", "missing reasoning", "missing knowledge"]
"""guessed: the question was answered although some hop was not."""

CLOSED_BOOK_SCHEMA = pa.schema(
    [
        ("item", pa.string()),
        ("voter", pa.string()),
        ("hop", pa.int8()),
        ("computes", pa.bool_()),
        ("answer", pa.string()),
        ("exact", pa.bool_()),
        ("f1", pa.float64()),
    ]
)


class OpenAnswerVoter(Protocol):
    """A voter that can also answer in words."""

    name: str

    def answer(self, questions: Sequence[tuple[str, str]]) -> Sequence[str | MissingVote]:
        """The answers to (key, question) pairs, in order."""
        ...


@dataclass(frozen=True, slots=True)
class ClosedBookAnswer:
    """One open answer. hop: its index, 0 for the question as a whole. exact, f1: against the best of gold answer and
    aliases, after normalisation. computes: the hop is a computation, which asks for no knowledge."""

    item: str
    voter: str
    hop: int
    computes: bool
    answer: str
    exact: bool
    f1: float


def ask_closed_book(voter: OpenAnswerVoter, items: Sequence[Item]) -> tuple[list[ClosedBookAnswer], list[Rejected]]:
    """Ask a model every item without options, and every hop alone. Questions asked = probes + rejected."""
    asked: list[tuple[Item, int, str]] = []
    for item in items:
        asked.append((item, 0, item.question))
        asked += [(item, hop.index, hop.question) for hop in item.hops]
    answers = voter.answer([(item.id, question) for item, _, question in asked])
    probes: list[ClosedBookAnswer] = []
    unanswered: list[Rejected] = []
    for (item, index, _), answer in zip(asked, answers, strict=True):
        if isinstance(answer, MissingVote):
            reason = f"{voter.name}, {f'hop {index}' if index else 'question'}: {answer.reason}"
            unanswered.append(Rejected(key=item.id, check=answer.kind, reason=reason))
        else:
            probes.append(judge(item, index, answer, voter.name))
    return probes, unanswered


def judge(item: Item, index: int, answer: str, voter: str) -> ClosedBookAnswer:
    """Hold an open answer against gold; `index` 0 is the question as a whole."""
    hop = item.hops[index - 1] if index else None
    gold = [hop.answer, *hop.answer_aliases] if hop else [item.answer, *item.answer_aliases]
    score = score_text(answer, gold)
    return ClosedBookAnswer(
        item=item.id,
        voter=voter,
        hop=index,
        computes=hop is not None and isinstance(hop.derivation, Compute),
        answer=answer,
        exact=bool(score.em),
        f1=round(score.f1, 6),
    )


def classify(probes: Iterable[ClosedBookAnswer], hops: int) -> Difficulty | None:
    """What an item of so many hops was too difficult for, from one model's probes of it.

    A computing hop asks for no knowledge: failing at it is failing to reason. None when a probe is missing, for a
    missing answer is no wrong one.
    """
    by_hop = {probe.hop: probe for probe in probes}
    whole = by_hop.pop(0, None)
    if whole is None or len(by_hop) != hops:
        return None
    knows = all(probe.exact for probe in by_hop.values() if not probe.computes)
    if whole.exact:
        return "solved" if knows else "guessed"
    return "missing reasoning" if knows else "missing knowledge"


def closed_book_answers_to_table(probes: Iterable[ClosedBookAnswer]) -> pa.Table:
    """Probes as a table of `CLOSED_BOOK_SCHEMA`."""
    return pa.Table.from_pylist([asdict(probe) for probe in probes], schema=CLOSED_BOOK_SCHEMA)


def read_closed_book_answers(path: Path) -> list[ClosedBookAnswer]:
    """The probes of one Parquet file. Raises InputError when it is none."""
    return [ClosedBookAnswer(**row) for row in read_parquet(path, CLOSED_BOOK_SCHEMA).to_pylist()]
