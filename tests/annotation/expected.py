"""What must come of a simulated review, worked out apart from the code that is tested."""

from __future__ import annotations

from collections.abc import Iterable

import krippendorff
import numpy as np

from annotation.decisions import Thresholds
from annotation.schema import CRITERIA, VERDICT, VERDICTS, Kind
from tests.annotation.rounds import Work
from tests.annotation.simulated import CLICKED, QUALITY, RIGHT, SPREAD, TEN


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


def expect_outcome(work: Iterable[Work], id: str, thresholds: Thresholds) -> str:
    """An item's outcome by the rules as the docs tell them, in the plainest way: two reviewers a unit, none settled."""
    units: dict[tuple[Kind, int | None], list[Work]] = {}
    for one in work:
        if one.job.item_id == id and one.job.gold is None:
            units.setdefault((one.job.kind, one.job.hop), []).append(one)
    assert len(units) == 5
    conflict = discarded = False
    means: dict[tuple[Kind, str], list[float]] = {}
    lowest = 5.0
    for (kind, _), (one, other) in units.items():
        same = one.given.verdict == other.given.verdict and one.given.fixes == other.given.fixes
        gaps = [abs(one.given.scores[name] - other.given.scores[name]) for name in CRITERIA[kind]]
        if same and one.given.verdict == "Discard":
            discarded = True
        elif not same or max(gaps) > thresholds.score_gap:
            conflict = True
        elif one.given.verdict == "Retain":
            for name in CRITERIA[kind]:
                mean = (one.given.scores[name] + other.given.scores[name]) / 2
                means.setdefault((kind, name), []).append(mean)
                lowest = min(lowest, mean)
    if discarded:
        return "discarded"
    if conflict or not means:
        return "in_adjudication"
    if lowest < thresholds.floor:
        return "below_floor"
    whole = sum(sum(values) / len(values) for values in means.values()) / len(means)
    return "accepted" if whole >= thresholds.min_mean else "below_mean"


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
