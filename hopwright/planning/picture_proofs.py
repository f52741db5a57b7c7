"""What is proven of a plan over pictures: its answers, that no hop can be skipped, and that every picture is needed.

Need of a choice: where a hop chooses one of several (the largest neighbour, the one of two pictures with the longer
coastline), those that it does not choose lead to other answers, all of them where they are shown, else most.

Need of a picture: with the others as they are, and what it shows free over all entities that have a picture of that
kind, the rest of the plan has at least two different answers. So nothing but the picture decides.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from hopwright.errors import ExpressionError
from hopwright.planning.computation_forms import Extreme, read_computation, read_form
from hopwright.planning.execution import execute, same
from hopwright.planning.necessity import find_shortcut
from hopwright.planning.picture_plans import PicturePlan, PicturePlanner, RecipeStep
from hopwright.records import Compute, GraphDerivation, Lookup, ReadRegion, ReverseLookup
from hopwright.records.values import Value

_READ = re.compile(r"(?:value|all)\((P\d+), (\w+)\)")
_LISTED = re.compile(r"all\(P\d+, (\w+)\)")
_APART = Decimal("0.15")
"""Numbers lie so far apart, relative to the larger, that neither counts as right for the other: a tenth does."""
_CLOSEST_DAYS = 366
_CLOSEST_YEARS = 1
"""Dates and years lie more than a year apart: one year off counts as right."""


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
        if dispute := find_dispute(step.derivation, answers, planner):
            return Refuted("disputed", dispute)
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


def find_dispute(derivation: GraphDerivation, answers: Mapping[int, Value], planner: PicturePlanner) -> str:
    """Why what a step reads is disputed; empty where it is not."""
    read: list[tuple[str, Value]] = []
    if isinstance(derivation, Lookup):
        read = [(derivation.property, _resolve(derivation.subject, answers))]
    elif isinstance(derivation, Compute):
        for property, reference in _READ.findall(derivation.expression):
            read.append((property, _resolve(reference, answers)))
        form = read_form(derivation.expression)
        if isinstance(form, Extreme):
            read += [(form.property, one) for one in _list_members(form, answers, planner)]
    disputes = (planner.find_dispute(property, entity) for property, entity in read if isinstance(entity, str))
    return next((dispute for dispute in disputes if dispute), "")


class Choice(NamedTuple):
    """A hop that takes one of several: its number, and for each of the others the hops' values if it were taken.

    `property` is what decides, empty where it is not a number; `others` lacks those that lead to no one answer.
    `shown`: they are what the pictures show.
    """

    hop: int
    property: str
    largest: bool
    shown: bool
    others: Mapping[str, dict[int, Value]]


def list_choice(plan: PicturePlan, planner: PicturePlanner) -> Choice | None:
    """The last hop that chooses, and where its other candidates lead; None where no hop does."""
    answers = plan.answers
    for index in range(plan.depth, len(plan.pictures), -1):
        step = plan.steps[index - 1 - len(plan.pictures)]
        property, largest, shown = "", False, False
        if isinstance(form := read_computation(step.derivation), Extreme):
            candidates = _list_members(form, answers, planner)
            property, largest, shown = form.property, form.largest, form.members is None
        elif isinstance(step.derivation, ReverseLookup) and step.derivation.constraints:
            # Who borders one of the two only.
            bordering = [one for picture in plan.pictures for one in planner.list_neighbours(picture)]
            candidates = tuple(one for one in dict.fromkeys(bordering) if one not in plan.pictures)
        else:
            continue
        others = {}
        for one in candidates:
            led = planner.run(plan.recipe, plan.pictures, {index: one}) if one != answers[index] else None
            if led and not find_unsound(plan, led, planner):
                others[one] = led
        return Choice(index, property, largest, shown, others)
    return None


def refute_choice(plan: PicturePlan, choice: Choice | None) -> Refuted | None:
    """Why it does not matter which of several a hop takes; None where it does, or nothing is chosen."""
    if choice is None or choice.hop == plan.depth:
        return None
    unit, gold = plan.steps[-1].unit, plan.answers[plan.depth]
    alike = sum(not are_distinct(led[plan.depth], gold, unit) for led in choice.others.values())
    if alike > (0 if choice.shown else len(choice.others) // 2):
        return Refuted("choice", "what is not chosen leads to the same answer")
    return None


def find_unsound(plan: PicturePlan, run: Mapping[int, Value], planner: PicturePlanner) -> str:
    """What of a run with other values rests on a disputed value or on a list that is not whole; empty where nothing.

    It gives an answer, but nobody could be told that it is what the same question gives there.
    """
    for hop, step in enumerate(plan.steps, start=len(plan.pictures) + 1):
        derivation = step.derivation
        if isinstance(derivation, Lookup):
            subject = str(_resolve(derivation.subject, run))
            if step.unit == "year" and planner.read_independence(subject) is None:
                return f"hop {hop}: the year is not settled"
            counted = derivation.property in planner.traversals.table.literal and step.unit != "year"
            if counted and step.answer_type == "number" and planner.read_number(subject, derivation.property) is None:
                return f"hop {hop}: the number is not settled"
        elif isinstance(derivation, Compute):
            listed = [str(_resolve(one, run)) for one in _LISTED.findall(derivation.expression)]
            if not all(planner.list_neighbours(one) for one in listed):
                return f"hop {hop}: the list may not be whole"
        if dispute := find_dispute(derivation, run, planner):
            return f"hop {hop}: {dispute}"
    return ""


def are_distinct(one: Value, other: Value, unit: str) -> bool:
    """Whether two answers are so far apart that nobody who means one is counted right by the other."""
    if same(one, other):
        return False
    if isinstance(one, dt.date) and isinstance(other, dt.date):
        return abs((one - other).days) > _CLOSEST_DAYS
    if isinstance(one, int | Decimal) and isinstance(other, int | Decimal):
        apart, larger = abs(Decimal(one) - Decimal(other)), max(abs(Decimal(one)), abs(Decimal(other)))
        return apart > _CLOSEST_YEARS if unit == "year" else apart >= _APART * larger
    return type(one) is type(other)


def _list_members(form: Extreme, answers: Mapping[int, Value], planner: PicturePlanner) -> tuple[str, ...]:
    if form.members is not None:
        return planner.list_neighbours(str(_resolve(form.members.shared, answers)))
    return tuple(str(_resolve(one, answers)) for one in form.entities)


def _resolve(reference: str, answers: Mapping[int, Value]) -> Value:
    return answers.get(int(reference[3:]), "") if reference.startswith("hop") else reference
