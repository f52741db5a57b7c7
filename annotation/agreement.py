"""How far annotators agree: every criterion and the verdict, over all, by reasoning graph, by pair of annotators.

Where tasks are answered before they are verified, so do the answers: with each other, and with what is stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from annotation.decisions import ReviewUnit, latest_reviews, order_unit
from annotation.schema import CRITERIA, OWN_ANSWER, OWN_ANSWERS, REVIEWED, VERDICT, VERDICTS, ReviewTaskKind
from hopwright.records import Item, Review
from hopwright.scoring.agreement import Level, Reliability, count_values, measure
from hopwright.scoring.answers import normalise
from hopwright.scoring.intervals import IntervalEstimate, find_share

Scope = Literal["all", "topology", "pair"]
Rating = tuple[str, int]
"""Who, and what as a code from 0."""

_POINTS = 5
LEAST_SHARED = 10
"""Units that two annotators must share before their agreement is worth a line."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """One line of the report. `criterion` is `verdict`, `own_answer` or a score's; `name` the graph's or the pair's."""

    kind: str
    criterion: str
    scope: Scope
    name: str
    reliability: Reliability


@dataclass(frozen=True, slots=True)
class BlindAnswers:
    """What annotators of one kind of task answered before they saw the stated answer.

    `right`: the share that is the stated answer; `kept_right` and `kept_wrong`: the share of the verdict Retain among
    those whose own answer was the stated one, and among the others.
    """

    kind: str
    answers: int
    right: IntervalEstimate
    kept_right: IntervalEstimate
    kept_wrong: IntervalEstimate


def measure_blind_answers(reviews: Iterable[Review], items: Mapping[str, Item]) -> list[BlindAnswers]:
    """Own answers against the stated ones, for each kind of task that asked for any; adjudications do not ask."""
    given = [one for one in latest_reviews(reviews) if one.own_answer is not None and one.item_id in items]
    found = []
    for kind in REVIEWED:
        judged = [(is_own_answer_right(one, items[one.item_id]), one) for one in given if one.kind == kind.value]
        if not judged:
            continue
        kept = {right: [one.verdict == "Retain" for was, one in judged if was is right] for right in (True, False)}
        found.append(
            BlindAnswers(
                kind=kind,
                answers=len(judged),
                right=find_share(len(kept[True]), len(judged)),
                kept_right=find_share(sum(kept[True]), len(kept[True])),
                kept_wrong=find_share(sum(kept[False]), len(kept[False])),
            )
        )
    return found


def is_own_answer_right(review: Review, item: Item) -> bool:
    """Whether an own answer is the stated one: the option, or in own words its text or another name of it."""
    asked = item if review.hop is None else next((hop for hop in item.hops if hop.index == review.hop), item)
    if review.own_answer in asked.options:
        return review.own_answer == asked.label
    names = (asked.answer, *asked.answer_aliases)
    return bool(review.own_words) and normalise(review.own_words) in {normalise(name) for name in names}


def measure_agreement(
    reviews: Iterable[Review], topologies: Mapping[str, str], *, seed: int = 0, pairs: bool = True
) -> list[Agreement]:
    """Every line of the report, in the order of kinds and criteria. `topologies` maps items to their graphs.

    Adjudications say nothing about agreement and are left out, and of each person's reviews of a unit all but the
    last. Scores are ordered from 1 to 5, verdicts are not ordered; a score that somebody left out is missing.
    """
    usable = [review for review in latest_reviews(reviews) if review.kind != "adjudication"]
    lines: list[Agreement] = []
    for kind in REVIEWED:
        judged = [review for review in usable if review.kind == kind.value]
        if not judged:
            continue
        blind = (OWN_ANSWER,) if any(review.own_answer for review in judged) else ()
        for criterion in (*blind, VERDICT, *CRITERIA[kind]):
            table = list_ratings(judged, criterion)
            lines += _measure_all(kind, criterion, table, topologies, seed, pairs=pairs)
    return lines


def list_ratings(reviews: Iterable[Review], criterion: str) -> dict[ReviewUnit, list[Rating]]:
    """Unit → who gave what, as codes: scores less one, verdicts and own answers by their place."""
    table: dict[ReviewUnit, list[Rating]] = {}
    for review in reviews:
        if criterion == VERDICT:
            code = None if review.verdict is None else VERDICTS.index(review.verdict)
        elif criterion == OWN_ANSWER:
            code = None if review.own_answer is None else OWN_ANSWERS.index(review.own_answer)
        else:
            code = next((score.value - 1 for score in review.scores if score.criterion == criterion), None)
        if code is not None:
            table.setdefault(review.unit, []).append((review.annotator, code))
    return table


def _measure_all(
    kind: ReviewTaskKind,
    criterion: str,
    table: Mapping[ReviewUnit, Sequence[Rating]],
    topologies: Mapping[str, str],
    seed: int,
    *,
    pairs: bool,
) -> list[Agreement]:
    lines = [Agreement(kind, criterion, "all", "", _measure(criterion, table, seed))]
    for name in sorted({topologies[unit[0]] for unit in table if unit[0] in topologies}):
        part = {unit: given for unit, given in table.items() if topologies.get(unit[0]) == name}
        lines.append(Agreement(kind, criterion, "topology", name, _measure(criterion, part, seed)))
    for (one, other), shared in _split_pairs(table).items() if pairs else ():
        if len(shared) >= LEAST_SHARED:
            lines.append(Agreement(kind, criterion, "pair", f"{one} × {other}", _measure(criterion, shared, seed)))
    return lines


def _split_pairs(table: Mapping[ReviewUnit, Sequence[Rating]]) -> dict[tuple[str, str], dict[ReviewUnit, list[Rating]]]:
    """Pair of annotators → the units that both rated, with their two ratings."""
    found: dict[tuple[str, str], dict[ReviewUnit, list[Rating]]] = {}
    for unit, given in table.items():
        for one, other in combinations(sorted(given), 2):
            found.setdefault((one[0], other[0]), {})[unit] = [one, other]
    return dict(sorted(found.items()))


def _measure(criterion: str, table: Mapping[ReviewUnit, Sequence[Rating]], seed: int) -> Reliability:
    units = sorted(table, key=order_unit)
    items = {item: number for number, item in enumerate(sorted({unit[0] for unit in units}))}
    values, level = _describe(criterion)
    counts = count_values([[code for _, code in table[unit]] for unit in units], values)
    return measure(counts, level, [items[unit[0]] for unit in units], seed=seed)


def _describe(criterion: str) -> tuple[int, Level]:
    match criterion:
        case "verdict":
            return len(VERDICTS), "nominal"
        case "own_answer":
            return len(OWN_ANSWERS), "nominal"
    return _POINTS, "ordinal"
