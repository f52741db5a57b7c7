"""The accepted set: every reviewed item decided, its corrections applied and proven again, and the table of scores."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from annotation.contradictions import find_contradiction
from annotation.corrections import apply_corrections, examine_review, recheck
from annotation.decisions import (
    BROKEN,
    CONFLICT,
    ItemDecision,
    ReviewKey,
    ReviewUnit,
    Thresholds,
    UnitDecision,
    decide_item,
    decide_unit,
    find_means,
    latest_reviews,
)
from annotation.review_collection import CollectedReviews
from annotation.schema import CRITERIA, REVIEWED, split_key
from hopwright.checks import CheckContext
from hopwright.errors import InputError
from hopwright.records import CheckResult, Item, Review, ReviewKind

REVIEW_CHECK = "expert-review"
"""The check that an accepted item carries: who looked at it, and what was corrected."""
ORPHANED = "original_not_accepted"
"""Why a twin is left out whose original is not accepted."""


@dataclass(frozen=True, slots=True)
class Decided:
    """An item with what was decided of it; `item` is the corrected one where it is accepted."""

    item: Item
    decision: ItemDecision


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One cell of the paper's table: the mean over the accepted items of an item's score, and their deviation."""

    kind: ReviewKind
    criterion: str
    items: int
    mean: float
    deviation: float


def decide_all(
    gathered: CollectedReviews, items: Mapping[str, Item], context: CheckContext, thresholds: Thresholds
) -> list[Decided]:
    """Decide every item that has a review task, in the order of ids; factual items before their twins.

    Raises InputError when a task is of an item that the run does not have.
    """
    reviews: dict[ReviewUnit, list[Review]] = {}
    for review in latest_reviews(gathered.reviews):
        reviews.setdefault(review.unit, []).append(review)
    problems = find_problems(gathered.reviews, items, context)
    planted = {(one.kind.value, one.key) for one in gathered.gold_items}
    wanted: dict[str, dict[ReviewUnit, int]] = {}
    for (kind, key), task in gathered.tasks.items():
        if (kind, key) not in planted:
            item_id, hop = split_key(key)
            wanted.setdefault(item_id, {})[item_id, kind, hop] = task.wanted
    decided: dict[str, Decided] = {}
    for item_id in sorted(wanted, key=lambda id: (_find_item(items, id).variant != "factual", id)):
        item = _find_item(items, item_id)
        units = [
            decide_unit(unit, reviews.get(unit, ()), item, count, thresholds, problems)
            for unit, count in wanted[item_id].items()
        ]
        outcome = _apply(item, decide_item(item_id, units, thresholds), context)
        if outcome.decision.state == "accepted" and item.twin is not None:
            reason = _explain_orphan(item.twin, decided.get(item.twin))
            if reason:
                outcome = Decided(item, replace(outcome.decision, state="rejected", check=ORPHANED, reason=reason))
        decided[item_id] = outcome
    return list(decided.values())


def find_problems(reviews: Iterable[Review], items: Mapping[str, Item], context: CheckContext) -> dict[ReviewKey, str]:
    """`Review.key` → why a review goes back to its author: its answers contradict each other, or its corrections
    do not hold.
    """
    problems = {}
    for review in latest_reviews(reviews):
        item = items.get(review.item_id)
        if item is None:
            continue
        if problem := find_contradiction(review, item) or examine_review(item, review, context).problem:
            problems[review.key] = problem
    return problems


def table_of_scores(decided: Iterable[Decided]) -> list[ScoreRow]:
    """Mean and standard deviation of every criterion over the accepted items (Omanic, table 3).

    An item's score is the mean over its reviewers, and over its hops. Criteria that nobody scored are left out.
    """
    values: dict[tuple[ReviewKind, str], list[float]] = {}
    for one in decided:
        if one.decision.state == "accepted":
            for key, value in find_means(unit for unit in one.decision.units if unit.counted).items():
                values.setdefault(key, []).append(value)
    return [
        ScoreRow(
            kind.value,
            criterion,
            len(found),
            statistics.fmean(found),
            statistics.stdev(found) if len(found) > 1 else 0.0,
        )
        for kind in REVIEWED
        for criterion in CRITERIA[kind]
        if (found := values.get((kind.value, criterion), []))
    ]


def list_used(decided: Iterable[Decided]) -> list[Review]:
    """The reviews that the decisions rest on, each once, in order."""
    found = {review.key: review for one in decided for unit in one.decision.units for review in unit.reviews}
    return sorted(found.values(), key=lambda review: (review.project, review.annotation, review.annotator))


def list_conflicts(decided: Iterable[Decided]) -> list[tuple[Item, UnitDecision]]:
    """The units that an adjudicator has to settle, with their items: those in conflict, and where nobody scored what
    an item reads after its corrections, those that were corrected.
    """
    found = []
    for one in decided:
        if one.decision.check == CONFLICT:
            units = [unit for unit in one.decision.units if unit.state == "conflict"]
            corrected = [unit for unit in one.decision.units if unit.verdict == "Fix" and not unit.settled]
            found += [(one.item, unit) for unit in units or corrected]
    return found


def _apply(item: Item, decision: ItemDecision, context: CheckContext) -> Decided:
    """Apply what was agreed to correct, all of it together, and prove the result."""
    if decision.state != "accepted":
        return Decided(item, decision)
    corrected = item
    changed: tuple[str, ...] = ()
    try:
        for unit in decision.units:
            hop = unit.unit[2] if unit.unit[1] == "single_hop" else None
            corrected = apply_corrections(corrected, hop, unit.corrections, context.graph)
    except InputError as error:
        return Decided(item, replace(decision, state="rejected", check=BROKEN, reason=str(error)))
    if corrected is not item:
        result = recheck(item, corrected, context)
        if result.problem:
            return Decided(item, replace(decision, state="rejected", check=BROKEN, reason=result.problem))
        corrected, changed = result.item, result.changed
    mark = CheckResult(name=REVIEW_CHECK, outcome="pass", reason=_describe(decision.units, changed))
    return Decided(corrected.model_copy(update={"checks": (*corrected.checks, mark)}), decision)


def _explain_orphan(id: str, original: Decided | None) -> str:
    """Why a twin cannot be accepted for its original's sake; empty when it can."""
    if original is None:
        return f"its original {id} is not under review"
    if original.decision.state != "accepted":
        return f"its original {id} is not accepted ({original.decision.check})"
    return ""


def _describe(units: Sequence[UnitDecision], changed: Sequence[str]) -> str:
    people = {review.annotator for unit in units for review in unit.reviews}
    said = [f"{len(people)} expert{'s' if len(people) != 1 else ''}"]
    if any(unit.settled for unit in units):
        said.append("adjudicated")
    if changed:
        said.append(f"corrected: {', '.join(changed)}")
    return "; ".join(said)


def _find_item(items: Mapping[str, Item], id: str) -> Item:
    if id not in items:
        raise InputError(f"the review tasks name item {id}, which the run does not have; run the review export again")
    return items[id]
