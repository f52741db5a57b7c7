"""From reviews to decisions: what of an item is agreed, what has to be settled, and whether the item is good enough.

A unit is what one task asks about: a hop, a whole question, a twin. An item is decided when all of its units are.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from annotation.corrections import corrections_of, list_changes
from annotation.schema import TITLES, ReviewTaskKind, criteria_of
from hopwright.records import Item, Review, ReviewKind, Score

ReviewUnit = tuple[str, ReviewKind, int | None]
"""Item, kind, hop."""

ReviewKey = tuple[str, int, int]
"""`Review.key`."""

UnitState = Literal["agreed", "waiting", "returned", "conflict"]
ItemState = Literal["accepted", "rejected", "open"]

DISCARDED, BELOW_MEAN, BELOW_FLOOR, BROKEN = "discarded", "below_mean", "below_floor", "broken_correction"
WAITING, RETURNED, CONFLICT = "waiting_for_reviews", "returned_to_annotator", "in_adjudication"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When an item is good enough, and when reviewers are too far apart.

    `min_mean`: the least mean over all criteria; `floor`: the least mean of any one criterion of any unit;
    `score_gap`: scores of one criterion further apart than this are settled by an adjudicator; `settle_returned`:
    so are corrections whose authors have not answered a question yet.
    """

    min_mean: float = 4.0
    floor: float = 3.0
    score_gap: int = 2
    settle_returned: bool = False


@dataclass(frozen=True, slots=True)
class UnitDecision:
    """What the reviews of one unit come to.

    `verdict` and `corrections` (those that change something) are set once it is agreed; `scores` are means over
    reviewers. `counted` tells whether the scores are of the text as it will be released: those of a text that was
    corrected afterwards are not, an adjudicator's always are.
    """

    unit: ReviewUnit
    state: UnitState
    reason: str = ""
    verdict: str = ""
    reviews: tuple[Review, ...] = ()
    corrections: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    settled: bool = False

    @property
    def counted(self) -> bool:
        """Whether the scores are of the text as it will be released."""
        return self.settled or self.verdict == "Retain"


@dataclass(frozen=True, slots=True)
class ItemDecision:
    """What an item's units come to; `check` and `reason` say why it is not accepted."""

    item_id: str
    state: ItemState
    check: str = ""
    reason: str = ""
    units: tuple[UnitDecision, ...] = ()
    mean: float | None = None


def latest_reviews(reviews: Iterable[Review]) -> list[Review]:
    """One review for each person and unit, the last that they gave; skipped tasks say nothing and are left out."""
    latest: dict[tuple[ReviewUnit, str, str], Review] = {}
    for review in reviews:
        if review.skipped:
            continue
        key = (review.unit, review.kind, review.annotator)
        if key not in latest or _age(latest[key]) < _age(review):
            latest[key] = review
    return sorted(latest.values(), key=lambda one: (order_unit(one.unit), one.kind, one.annotator))


def order_unit(unit: ReviewUnit) -> tuple[str, str, int]:
    """What units are sorted by."""
    return unit[0], unit[1], unit[2] or 0


def decide_unit(
    unit: ReviewUnit,
    reviews: Sequence[Review],
    item: Item,
    wanted: int,
    thresholds: Thresholds,
    problems: Mapping[ReviewKey, str],
) -> UnitDecision:
    """What the reviews of one unit come to; `problems` maps annotations to why their corrections do
    not hold.

    An adjudicator's word settles it. Without one, `wanted` reviewers must agree on the verdict, on the corrections
    and, but for `score_gap` points, on every score of what they would keep.
    """
    hop = unit[2] if unit[1] == "single_hop" else None
    judges = [review for review in reviews if review.kind == "adjudication"]
    if judges:
        last = max(judges, key=_age)
        if last.key in problems:
            return UnitDecision(unit, "returned", problems[last.key], reviews=(last,))
        return _agree(unit, [last], item, hop, settled=True)
    if len(reviews) < wanted:
        return UnitDecision(unit, "waiting", f"{len(reviews)} of {wanted} reviews", reviews=tuple(reviews))
    reason = _find_conflict(reviews, item, hop, thresholds)
    if reason:
        return UnitDecision(unit, "conflict", reason, reviews=tuple(reviews))
    broken = [problems[review.key] for review in reviews if review.key in problems]
    if broken:
        state: UnitState = "conflict" if thresholds.settle_returned else "returned"
        return UnitDecision(unit, state, broken[0], reviews=tuple(reviews))
    return _agree(unit, reviews, item, hop, settled=False)


def decide_item(item_id: str, units: Sequence[UnitDecision], thresholds: Thresholds) -> ItemDecision:
    """What the units of one item come to. Whether its corrections hold together is checked after this."""
    units = tuple(sorted(units, key=lambda one: order_unit(one.unit)))
    dropped = [one for one in units if one.verdict == "Discard"]
    if dropped:
        return ItemDecision(item_id, "rejected", DISCARDED, _tell_discard(dropped[0]), units)
    for state, check in (("conflict", CONFLICT), ("returned", RETURNED), ("waiting", WAITING)):
        unfinished = [one for one in units if one.state == state]
        if unfinished:
            return ItemDecision(item_id, "open", check, f"{_call(unfinished[0].unit)}: {unfinished[0].reason}", units)
    counted = [one for one in units if one.counted]
    for one in counted:
        low = [(value, name) for name, value in one.scores.items() if value < thresholds.floor]
        if low:
            value, name = min(low)
            reason = f"{_call(one.unit)}: {TITLES[name].lower()} {value:.2f}, below {thresholds.floor:g}"
            return ItemDecision(item_id, "rejected", BELOW_FLOOR, reason, units)
    mean = find_mean(counted)
    if mean is None:
        reason = "everything was corrected, and nobody scored what it reads now"
        return ItemDecision(item_id, "open", CONFLICT, reason, units)
    if mean < thresholds.min_mean:
        reason = f"mean of the criteria {mean:.2f}, below {thresholds.min_mean:g}"
        return ItemDecision(item_id, "rejected", BELOW_MEAN, reason, units, mean)
    return ItemDecision(item_id, "accepted", "", "", units, mean)


def find_means(units: Iterable[UnitDecision]) -> dict[tuple[ReviewKind, str], float]:
    """Kind and criterion → the mean over an item's units of that kind."""
    values: dict[tuple[ReviewKind, str], list[float]] = {}
    for one in units:
        for name, value in one.scores.items():
            values.setdefault((one.unit[1], name), []).append(value)
    return {key: statistics.fmean(found) for key, found in values.items()}


def find_mean(units: Iterable[UnitDecision]) -> float | None:
    """The mean over the criteria, each counted once however many hops were scored; None without scores."""
    means = find_means(units)
    return statistics.fmean(means.values()) if means else None


def _find_conflict(reviews: Sequence[Review], item: Item, hop: int | None, thresholds: Thresholds) -> str:
    verdicts = sorted({str(review.verdict) for review in reviews})
    if len(verdicts) > 1:
        return f"verdicts differ: {', '.join(verdicts)}"
    if verdicts == ["Discard"]:  # how bad it is need not be agreed
        return ""
    spread: dict[str, list[int]] = {}
    for review in reviews:
        for score in review.scores:
            spread.setdefault(score.criterion, []).append(score.value)
    for name, values in spread.items():
        if max(values) - min(values) > thresholds.score_gap:
            return f"scores of {TITLES[name].lower()} are {min(values)} and {max(values)}"
    if verdicts == ["Fix"]:
        wordings = {tuple(sorted(list_changes(item, hop, corrections_of(review)).items())) for review in reviews}
        if len(wordings) > 1:
            return "corrections differ"
    return ""


def _agree(unit: ReviewUnit, reviews: Sequence[Review], item: Item, hop: int | None, *, settled: bool) -> UnitDecision:
    verdict = str(reviews[0].verdict)
    return UnitDecision(
        unit,
        "agreed",
        verdict=verdict,
        reviews=tuple(reviews),
        corrections=list_changes(item, hop, corrections_of(reviews[0])) if verdict == "Fix" else {},
        scores=_average([review.scores for review in reviews], unit[1]),
        settled=settled,
    )


def _average(scores: Sequence[tuple[Score, ...]], kind: ReviewKind) -> dict[str, float]:
    """Criterion → mean over reviewers, in the rubric's order; one that nobody scored is left out."""
    found: dict[str, list[int]] = {name: [] for name in criteria_of(ReviewTaskKind(kind))}
    for score in (one for given in scores for one in given):
        found[score.criterion].append(score.value)
    return {name: statistics.fmean(values) for name, values in found.items() if values}


def _tell_discard(decision: UnitDecision) -> str:
    tags = sorted({tag for review in decision.reviews for tag in review.errors})
    comments = [review.comment for review in decision.reviews if review.comment]
    said = "; ".join([*([", ".join(tags)] if tags else []), *comments[:1]])
    return f"{_call(decision.unit)}{': ' + said if said else ''}"


def _call(unit: ReviewUnit) -> str:
    if unit[1] == "single_hop":
        return f"hop {unit[2]}"
    return "the twin" if unit[1] == "twin" else "the question"


def _age(review: Review) -> tuple[str, int]:
    return review.updated, review.annotation
