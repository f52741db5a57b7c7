"""Which drafts of picture questions are tried, and in which order: pools that take turns, quotas, and counts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hopwright.knowledge.images.store import Picture
from hopwright.knowledge.properties import PropertyTable
from hopwright.planning.picture_plans import PicturePlan, PicturePlanner, draw_groups

_GROUPS, _FEWEST_GROUPS = 8, 300
"""Groups of pictures that are compared, for each question of a set, and at least."""
_MOST_OF_PICTURE = 12
_MOST_OF_FORM = 0.06
_MOST_OF_ANSWER = 0.03
Classes = Mapping[str, Mapping[str, Picture]]
"""Kind of picture → entity → its picture."""
Pools = dict[str, list["Draft"]]
"""Form of a question → the drafts of that form."""
Tell = Callable[[str], None]


class Draft(NamedTuple):
    """A plan and the pictures that show its entities."""

    plan: PicturePlan
    shown: tuple[Picture, ...]


@dataclass
class PictureCounts:
    """What came of the drafts: `tried = made + rejected + left_out`, by kind and number of hops."""

    tried: Counter[str] = field(default_factory=Counter)
    made: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)

    def name(self, draft: Draft) -> str:
        """The row that a draft is counted in."""
        return f"{draft.plan.kind}, {draft.plan.depth} hops"


@dataclass
class Quotas:
    """How often a picture, a form and an answer have been used."""

    items: int
    pictures: Counter[str] = field(default_factory=Counter)
    forms: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)

    def find_excess(self, draft: Draft) -> str:
        """What a further item would have too much of; empty where it is welcome."""
        if any(self.pictures[one.media] >= max(_MOST_OF_PICTURE, self.items // 60) for one in draft.shown):
            return "picture"
        if self.forms[draft.plan.form] >= max(4, round(_MOST_OF_FORM * self.items)):
            return "form"
        answer = str(draft.plan.answers[draft.plan.depth])
        return "answer" if self.answers[answer] >= max(3, round(_MOST_OF_ANSWER * self.items)) else ""

    def count(self, draft: Draft) -> None:
        """Count an item that was made."""
        self.pictures.update(one.media for one in draft.shown)
        self.forms[draft.plan.form] += 1
        self.answers[str(draft.plan.answers[draft.plan.depth])] += 1


def gather_classes(pictures: Sequence[Picture]) -> dict[str, dict[str, Picture]]:
    """Kind of picture → entity → its picture: what a picture may show when it is left open."""
    classes: dict[str, dict[str, Picture]] = {}
    for one in pictures:
        classes.setdefault(one.kind, {}).setdefault(one.entity, one)
    return classes


def pool_bridging(planner: PicturePlanner, classes: Classes, depths: Sequence[int]) -> Pools:
    """Every question that goes on from one picture."""
    pools: Pools = {}
    for pictures in classes.values():
        for entity, picture in pictures.items():
            for depth in depths:
                for plan in planner.list_bridging(entity, depth):
                    name = f"{depth}:{_name_pool(plan, planner.traversals.table)}"
                    pools.setdefault(name, []).append(Draft(plan, (picture,)))
    return pools


def pool_comparisons(
    planner: PicturePlanner, classes: Classes, depths: Sequence[int], three: float, items: int, seed: int
) -> Pools:
    """Comparisons of groups that are drawn by the seed, the share `three` of them of three pictures."""
    pools: Pools = {}
    for kind, pictures in classes.items():
        pool = sorted(pictures)
        for size in (2, 3):
            share = three if size == 3 else 1 - three
            most = round(max(_FEWEST_GROUPS, _GROUPS * items) * share)
            for group in draw_groups(pool, size, f"{seed}:{kind}:{size}", most):
                for plan in planner.list_comparisons(group):
                    if plan.depth in depths:
                        name = f"{plan.depth}:{size}:{plan.form}"
                        pools.setdefault(name, []).append(Draft(plan, tuple(pictures[one] for one in group)))
    return pools


def take_in_turn(pools: Mapping[str, list[Draft]], seed: str) -> Iterator[Draft]:
    """Drafts of all pools in turn, each pool in an order of its own: no form crowds out the others."""
    queues = []
    for name in sorted(pools):
        drafts = list(pools[name])
        random.Random(f"{seed}:{name}").shuffle(drafts)
        queues.append(iter(drafts))
    while queues:
        left = []
        for queue in queues:
            draft = next(queue, None)
            if draft is not None:
                left.append(queue)
                yield draft
        queues = left


def _name_pool(plan: PicturePlan, table: PropertyTable) -> str:
    """The forms that take turns: those of one kind of move are one pool, whichever list of years they enter."""
    moves = plan.form.split("-")
    return "-".join("list" if table.is_timeline(move) else move for move in moves)
