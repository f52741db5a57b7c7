"""One hop that options are made for: what it asks, what stands before it in the plan, and what reads its answer."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

from hopwright.distractors.list_slips import draw_number
from hopwright.knowledge.wikidata.confusions import PLAYED
from hopwright.knowledge.wikidata.roles import ROLES
from hopwright.planning.execution import hops_used
from hopwright.records import AnswerType, Claim, Compute, Derivation, Distractor, Hop, Lookup
from hopwright.records.values import Value

_IDS = re.compile(r"\bQ[0-9A-Za-z_]+\b")
_EXTREME = re.compile(r"^arg(?:max|min)\((P\d+),")


class Reader(NamedTuple):
    """The computation or look-up that reads a hop's answer, and what it gives; `others`: the answers of all hops."""

    derivation: Derivation
    answer_type: AnswerType
    value: Value
    claims: Sequence[Claim] = ()
    others: Mapping[int, Value] = MappingProxyType({})


def find_reader(index: int, later: Iterable[Reader]) -> Reader | None:
    """The first of the later hops that reads the answer of a hop; None for the last."""
    return next((one for one in later if index in hops_used(one.derivation)), None)


ShortageReason = Literal[
    "comparison", "losers", "conditions", "slips", "numbers", "counts", "dates", "series", "form", "value"
]


class OptionShortage(NamedTuple):
    """Why a hop gets no three wrong options.

    `comparison`: fewer than four things are compared at the end of a plan. `losers`: what was not chosen on the way
    gives too few other answers, so that choosing would not matter. `conditions`: fewer than three others meet what the
    question states. `slips`: too few of them are what a slip yields. `numbers`, `counts`, `dates`: too few
    others of the same form. `series`: too few stand near the answer in its series. `form`: the right one would stand
    out. `value`: the answer is nothing that has rivals.
    """

    reason: ShortageReason
    detail: str


@dataclass(frozen=True, eq=False)
class HopTask:
    """One hop that options are made for, and what stands before it in the plan."""

    hop: Hop
    answers: Mapping[int, Value]
    earlier: Sequence[Hop]
    asked: str
    rng: random.Random
    reader: Reader | None
    loosely: bool

    @functools.cached_property
    def can_read(self) -> bool:
        """Whether all that the next hop rests on is known once this one's answer is."""
        if self.reader is None:
            return False
        return {*self.reader.others, *self.answers, self.hop.index} >= {*hops_used(self.reader.derivation)}

    @functools.cached_property
    def on_the_way(self) -> tuple[str, ...]:
        """The entities that the plan names or finds before and in this hop, in the order in which they come."""
        told = (reference for hop in (*self.earlier, self.hop) for reference in hop.derivation.references())
        found = [one for reference in told for one in _IDS.findall(reference)]
        return tuple(dict.fromkeys((*(one for one in self.answers.values() if isinstance(one, str)), *found)))

    @property
    def following(self) -> Value | None:
        """What the next hop leads to."""
        return self.reader.value if self.reader is not None else None

    def hides_following(self, answer: str) -> bool:
        """Whether what the next hop leads to shall not be offered here, drawn by the answer.

        What comes after the last that two made is taken for it. Were it always offered, the final answer would be
        what stands among the options of the hop before.
        """
        return draw_number(f"{answer}:{self.following}", 3) > 0

    def list_offered(self) -> list[str]:
        """The entities that stand beside the right answers of the earlier hops."""
        return [one.id for other in self.earlier for one in other.distractors if one.id]

    def list_used(self) -> set[str]:
        """The entities that the plan names or passes through: on the way to the answer, not beside it."""
        return set(self.on_the_way)

    def find_source(self, reference: str = "") -> Hop | None:
        """The earlier hop that a look-up starts from, where it starts from one."""
        derivation = self.hop.derivation
        name = reference or (derivation.subject if isinstance(derivation, Lookup) else "")
        return next((one for one in self.earlier if f"hop{one.index}" == name), None)


def asks_birth(hop: Hop) -> bool:
    """Whether a hop asks when somebody was born."""
    return isinstance(hop.derivation, Lookup) and hop.derivation.property == ROLES.birth


def asks_player(derivation: Derivation) -> bool:
    """Whether a look-up asks who played or sang a part."""
    return isinstance(derivation, Lookup) and derivation.property in PLAYED


def find_compared(derivation: Derivation) -> str:
    """The property by whose largest or smallest value a computation chooses; empty for any other derivation."""
    match = _EXTREME.match(derivation.expression) if isinstance(derivation, Compute) else None
    return match[1] if match else ""


def join_three(distractors: Iterable[Distractor]) -> tuple[Distractor, ...]:
    """Three distractors as a tuple. Raises ValueError where they are not three."""
    one, two, three = distractors
    return one, two, three


def count_needed(losers: Sequence[str]) -> int:
    """How many answers of losers must be offered: that of the only one, those of two of several."""
    return min(2, max(1, len(losers)))
