"""Each annotator by himself: against gold, against the machine's checks, against the others; pace and drift."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.decisions import ReviewKey, ReviewUnit, latest_reviews
from annotation.schema import GoldItem, split_key
from hopwright.checks.findings import describe, read_findings
from hopwright.records import Item, Review
from hopwright.scoring.agreement import find_cohen
from hopwright.scoring.intervals import IntervalEstimate, find_share

_BLOCKS = 5
_LEAST_FOR_DRIFT = 25
_LEAST_GOLD = 5
_SURE = 0.01


@dataclass(frozen=True, slots=True)
class Limits:
    """When an annotator is named for a closer look.

    `min_gold`: the planted faults that a careful reader finds, as a share; `hurried_seconds`: a review faster than
    this cannot have been read; `max_hurried`: the share of such reviews; `max_drift`: points that scores may move,
    against those of the others, from the first to the last review.
    """

    min_gold: float = 0.8
    hurried_seconds: float = 10.0
    max_hurried: float = 0.2
    max_drift: float = 0.5


@dataclass(frozen=True, slots=True)
class Profile:
    """What one annotator's reviews show. Shares and seconds are None where there is nothing to tell them from.

    `gold`: planted faults found, with Wilson's interval; `machine`: Cohen's kappa between objections (a verdict other
    than Retain) and those of the checks; `bias` and `noise`: mean and standard deviation of the scores less the mean
    of the others' on the same unit; `drift`: that difference in fifths of the time; `trend`: its change from first to
    last by Theil and Sen over the fifths, `trend_p` the p of Spearman's test of it.
    """

    name: str
    reviews: int
    skipped: int
    gold_seen: int
    gold: IntervalEstimate
    machine: float | None
    median_seconds: float | None
    tenth_seconds: float | None
    ninetieth_seconds: float | None
    hurried: float | None
    bias: float | None
    noise: float | None
    drift: tuple[float, ...]
    trend: float | None
    trend_p: float | None
    concerns: tuple[str, ...] = ()


def profile_annotators(
    reviews: Iterable[Review], items: Mapping[str, Item], gold: Sequence[GoldItem] = (), limits: Limits | None = None
) -> list[Profile]:
    """A profile of everybody who reviewed, by pseudonym. Adjudications are left out."""
    everything = [review for review in reviews if review.kind != "adjudication"]
    usable = latest_reviews(everything)
    keys = {(one.kind.value, *split_key(one.key)): one for one in gold}
    golden = [review for review in usable if (review.kind, review.item_id, review.hop) in keys]
    plain = [review for review in usable if (review.kind, review.item_id, review.hop) not in keys]
    differences = _find_differences(plain)
    profiles = []
    for name in sorted({review.annotator for review in everything}):
        own = sorted((one for one in plain if one.annotator == name), key=lambda one: (one.created, one.annotation))
        seen = [one for one in golden if one.annotator == name]
        caught = sum(is_caught(one, keys[one.kind, one.item_id, one.hop]) for one in seen)
        seconds = [one.seconds for one in (*own, *seen) if one.seconds is not None]
        profiles.append(
            _judge(
                name,
                len(own) + len(seen),
                sum(one.skipped for one in everything if one.annotator == name),
                find_share(caught, len(seen)),
                len(seen),
                find_machine_kappa(own, items),
                seconds,
                [differences[one.key] for one in own if one.key in differences],
                limits or Limits(),
            )
        )
    return profiles


def is_caught(review: Review, gold: GoldItem) -> bool:
    """Whether a review found the fault that was planted."""
    if review.verdict in (None, "Retain"):
        return False
    tagged = not set(gold.tags).isdisjoint(review.errors)
    low = any(score.value <= gold.ceiling for score in review.scores if score.criterion in gold.criteria)
    return tagged or low


def find_machine_kappa(reviews: Iterable[Review], items: Mapping[str, Item]) -> float | None:
    """Cohen's kappa between a reviewer's objections and the checks'; None where one of them never objects."""
    pairs = [
        (review.verdict != "Retain", find_objection(item, review.unit) != "")
        for review in reviews
        if (item := items.get(review.item_id)) is not None
    ]
    varied = all(len(set(side)) == 2 for side in zip(*pairs, strict=True)) if pairs else False
    return find_cohen(pairs) if varied else None


def find_objection(item: Item, unit: ReviewUnit) -> str:
    """What the checks say against a unit, failures and warnings alike: a hop's own, or any for a whole question."""
    for check in item.checks:
        findings = [one for one in read_findings(check) if unit[2] in (None, one[0])]
        if findings:
            shown = findings if unit[2] is None else findings[:1]
            return f"{check.name}: {'; '.join(map(describe, shown))}"
    return ""


def _find_differences(reviews: Iterable[Review]) -> dict[ReviewKey, tuple[str, list[float]]]:
    """Annotation → when, and its scores less the mean of the others' of the same unit and criterion."""
    by_unit: dict[ReviewUnit, list[Review]] = {}
    for review in reviews:
        by_unit.setdefault(review.unit, []).append(review)
    found = {}
    for together in by_unit.values():
        for review in together:
            less = []
            for score in review.scores:
                others = [
                    one.value
                    for other in together
                    if other is not review
                    for one in other.scores
                    if one.criterion == score.criterion
                ]
                if others:
                    less.append(score.value - statistics.fmean(others))
            if less:
                found[review.key] = (review.created, less)
    return found


def _judge(
    name: str,
    reviews: int,
    skipped: int,
    gold: IntervalEstimate,
    gold_seen: int,
    machine: float | None,
    seconds: Sequence[float],
    differences: Sequence[tuple[str, list[float]]],
    limits: Limits,
) -> Profile:
    scores = [value for _, less in differences for value in less]
    means = [statistics.fmean(less) for _, less in differences]
    drift, trend, trend_p = _find_drift(means)
    hurried = sum(one < limits.hurried_seconds for one in seconds) / len(seconds) if seconds else None
    concerns = []
    if gold_seen >= _LEAST_GOLD and gold.high is not None and gold.high < limits.min_gold:
        concerns.append(f"found {gold.value:.0%} of {gold_seen} planted faults")
    if hurried is not None and hurried > limits.max_hurried:
        concerns.append(f"{hurried:.0%} of the reviews took less than {limits.hurried_seconds:g} s")
    if trend is not None and trend_p is not None and trend_p < _SURE and abs(trend) > limits.max_drift:
        concerns.append(f"scores moved by {trend:+.2f} points against the others' over time")
    return Profile(
        name=name,
        reviews=reviews,
        skipped=skipped,
        gold_seen=gold_seen,
        gold=gold,
        machine=machine,
        median_seconds=statistics.median(seconds) if seconds else None,
        tenth_seconds=float(np.percentile(seconds, 10)) if seconds else None,
        ninetieth_seconds=float(np.percentile(seconds, 90)) if seconds else None,
        hurried=hurried,
        bias=statistics.fmean(scores) if scores else None,
        noise=statistics.stdev(scores) if len(scores) > 1 else None,
        drift=drift,
        trend=trend,
        trend_p=trend_p,
        concerns=tuple(concerns),
    )


def _find_drift(means: Sequence[float]) -> tuple[tuple[float, ...], float | None, float | None]:
    """Differences in order of time: their means by fifths, the change from first to last, and its p."""
    if len(means) < _LEAST_FOR_DRIFT:
        return (), None, None
    from scipy import stats

    blocks = tuple(float(block.mean()) for block in np.array_split(np.asarray(means), _BLOCKS))
    if len(set(means)) == 1:
        return blocks, 0.0, 1.0
    # Between single reviews most differences are ties, whose median slope is 0: the slope is that of the fifths.
    slope = stats.theilslopes(blocks, np.linspace(0, 1, _BLOCKS)).slope
    return blocks, float(slope), float(stats.spearmanr(np.arange(len(means)), means).pvalue)
