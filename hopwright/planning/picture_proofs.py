"""What is proven of a plan over pictures: its answers, that no hop can be skipped, and that every picture is needed.

Need of a picture: with the others as they are, and what it shows free over all entities that have a picture of that
kind, the rest of the plan has at least two different answers. So nothing but the picture decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hopwright.errors import ExpressionError
from hopwright.planning.execution import execute, same
from hopwright.planning.necessity import find_shortcut
from hopwright.planning.picture_plans import PicturePlan, PicturePlanner, RecipeStep
from hopwright.records import ReadRegion
from hopwright.records.values import Value


class Refuted(NamedTuple):
    """Which proof failed, and why."""

    proof: str
    reason: str


def refute_plan(plan: PicturePlan, planner: PicturePlanner) -> Refuted | None:
    """Why a plan is not exactly what it says it is; None where it is proven against the source."""
    traversals = planner.traversals
    answers: dict[int, Value] = dict(enumerate(plan.pictures, start=1))
    for index, step in enumerate(plan.steps, start=len(plan.pictures) + 1):
        try:
            value = execute(step.derivation, step.answer_type, answers, traversals.facts, traversals.table)
        except ExpressionError as error:
            return Refuted("answer", str(error))
        if not same(value, step.value):
            return Refuted("answer", f"hop {index} gives another value")
        if doubt := traversals.open_world.find_doubt(step.derivation, answers, value):
            return Refuted("open-world", doubt)
        answers[index] = value
    # A picture stands for a place that is read: it has no input, and nothing of it is named.
    read = [ReadRegion(document="picture", left=0, top=0, width=1, height=1) for _ in plan.pictures]
    derivations = [*read, *(step.derivation for step in plan.steps)]
    if shortcut := find_shortcut(derivations, answers, traversals.graph, traversals.table, traversals.facts):
        return Refuted("shortcut", f"hop {shortcut.hop}: {shortcut.kind}")
    return None


def list_other_runs(
    recipe: Sequence[RecipeStep], pictures: Sequence[str], place: int, others: Sequence[str], planner: PicturePlanner
) -> dict[str, dict[int, Value]]:
    """Entity → hop → value with another entity in the picture at `place` (from 0), wherever that has an answer."""
    found = {}
    for other in others:
        if other in pictures:
            continue
        shown = [*pictures[:place], other, *pictures[place + 1 :]]
        if answers := planner.run(recipe, shown):
            found[other] = answers
    return found


def refute_need(plan: PicturePlan, runs: Sequence[Mapping[str, Mapping[int, Value]]]) -> Refuted | None:
    """Why a picture is not needed; `runs` holds for each picture what `list_other_runs` gives."""
    last, gold = plan.depth, plan.answers[plan.depth]
    for place, of_others in enumerate(runs, start=1):
        if not any(not same(answers[last], gold) for answers in of_others.values()):
            return Refuted("need", f"whatever picture {place} shows, the answer is the same")
    return None
