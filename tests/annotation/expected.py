"""What must come of a simulated review, worked out apart from the code that is tested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import krippendorff
import numpy as np

from annotation.decisions import Thresholds
from annotation.schema import CRITERIA, VERDICT, VERDICTS, GoldItem, ReviewTaskKind
from tests.annotation.rounds import Work
from tests.annotation.simulated import CLICKED, QUALITY, RIGHT, SPREAD, TEN, Annotator, Given


def expect_alpha(criterion: str, units: int = 60_000) -> float:
    """The alpha that the ten have in the long run: the same model, drawn afresh, for many more units."""
    rng = np.random.default_rng(11)
    first = rng.integers(0, len(TEN), units)
    pairs = (first, (first + rng.integers(1, len(TEN), units)) % len(TEN))
    if criterion == VERDICT:
        truth = rng.choice(3, units, p=[RIGHT[name] for name in VERDICTS])
        rows = [_judge(rng, truth, chosen) for chosen in pairs]
        return float(krippendorff.alpha(rows, level_of_measurement="nominal", value_domain=[0, 1, 2]))
    quality, progress = rng.normal(QUALITY, SPREAD, units), rng.random(units)
    rows = [_rate(rng, quality, progress, chosen) for chosen in pairs]
    return float(krippendorff.alpha(rows, level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5]))


@dataclass(frozen=True)
class Long:
    """What an annotator's profile shows in the long run: of the scores less the other's of the same unit their mean,
    their standard deviation, and how far the mean moves from the first fifth of the work to the last.
    """

    bias: float
    noise: float
    drift: float


def expect_profile(place: int, units: int = 100_000) -> Long:
    """The profile of one of the ten who reviews each unit with one of the nine others."""
    rng = np.random.default_rng(12 + place)
    own = np.full(units, place)
    other = (own + rng.integers(1, len(TEN), units)) % len(TEN)
    quality, progress = rng.normal(QUALITY, SPREAD, units), rng.random(units)
    less = _rate(rng, quality, progress, own) - _rate(rng, quality, progress, other)
    drift = less[progress >= 0.8].mean() - less[progress < 0.2].mean()
    return Long(float(less.mean()), float(less.std()), float(drift))


def expect_caught(annotator: Annotator, gold: Sequence[GoldItem]) -> float:
    """The share of planted faults that an annotator finds in the long run: his skill, or what dice find."""
    if not annotator.careless:
        return annotator.skill
    by_dice = [1 - (1 - one.ceiling / 5) ** len(one.criteria) for one in gold]
    return (1 - CLICKED[0]) * sum(by_dice) / len(by_dice)


Unit = tuple[ReviewTaskKind, int | None]


def expect_outcome(
    work: Iterable[Work], id: str, thresholds: Thresholds, settled: Mapping[Unit, Given] | None = None
) -> str:
    """An item's outcome by the rules as the docs tell them, in the plainest way: two reviewers a unit, and of those
    that are `settled` the adjudicator's word.
    """
    units = _list_units(work, id)
    means: dict[tuple[ReviewTaskKind, str], list[float]] = {}
    lowest = 5.0
    states = set()
    for unit, pair in units.items():
        given = [settled[unit]] if settled and unit in settled else pair
        state = "kept" if settled and unit in settled and given[0].verdict == "Fix" else _compare(given, thresholds)
        states.add(state)
        for name in CRITERIA[unit[0]] if state == "kept" else ():
            mean = sum(one.scores[name] for one in given) / len(given)
            means.setdefault((unit[0], name), []).append(mean)
            lowest = min(lowest, mean)
    if "discarded" in states:
        return "discarded"
    if "conflict" in states or not means:
        return "in_adjudication"
    if lowest < thresholds.floor:
        return "below_floor"
    whole = sum(sum(values) / len(values) for values in means.values()) / len(means)
    return "accepted" if whole >= thresholds.min_mean else "below_mean"


def expect_disputes(work: Iterable[Work], id: str, thresholds: Thresholds) -> set[Unit]:
    """What of an item an adjudicator gets: what two reviewers differ on; without that, what both corrected and nobody
    scored, where it leaves the item without any score.
    """
    work = list(work)
    if expect_outcome(work, id, thresholds) != "in_adjudication":
        return set()
    states = {unit: _compare(pair, thresholds) for unit, pair in _list_units(work, id).items()}
    wanted = "conflict" if "conflict" in states.values() else "corrected"
    return {unit for unit, state in states.items() if state == wanted}


def _list_units(work: Iterable[Work], id: str) -> dict[Unit, list[Given]]:
    units: dict[Unit, list[Given]] = {}
    for one in work:
        if one.job.item_id == id and one.job.gold is None:
            units.setdefault((one.job.kind, one.job.hop), []).append(one.given)
    assert len(units) == 5
    assert all(len(given) == 2 for given in units.values())
    return units


def _compare(given: Sequence[Given], thresholds: Thresholds) -> str:
    """What several say of one unit: conflict, discarded, corrected (by all alike), or kept."""
    verdicts = {one.verdict for one in given}
    gaps = [max(stars) - min(stars) for stars in zip(*(one.scores.values() for one in given), strict=True)]
    if len(verdicts) > 1 or any(one.fixes != given[0].fixes for one in given):
        return "conflict"
    if verdicts == {"Discard"}:
        return "discarded"
    if max(gaps) > thresholds.score_gap:
        return "conflict"
    return "kept" if verdicts == {"Retain"} else "corrected"


def _judge(rng: np.random.Generator, truth: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Verdicts: the truth with the annotator's skill, else one of the two others; clicks where he is careless."""
    skill = np.array([one.skill for one in TEN])[chosen]
    wrong = (truth + rng.integers(1, 3, len(truth))) % 3
    read = np.where(rng.random(len(truth)) < skill, truth, wrong)
    careless = np.array([one.careless for one in TEN])[chosen]
    return np.where(careless, rng.choice(3, len(truth), p=CLICKED), read)


def _rate(rng: np.random.Generator, quality: np.ndarray, progress: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Scores: what is seen, as the nearest star; dice where the annotator is careless."""
    bias, noise, drift = (np.array([getattr(one, name) for one in TEN])[chosen] for name in ("bias", "noise", "drift"))
    seen = quality + bias + drift * progress + rng.normal(0, 1, len(quality)) * noise
    careless = np.array([one.careless for one in TEN])[chosen]
    return np.where(careless, rng.integers(1, 6, len(quality)), np.clip(np.round(seen), 1, 5)).astype(int)
