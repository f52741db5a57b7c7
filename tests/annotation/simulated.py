"""Annotators of known skill, bias and noise, who review items of known quality.

An item's quality on a criterion is a number around 4; an annotator sees it with his bias and his noise and gives the
nearest star. Of the verdict that is right he says so with his skill as probability, else one of the others.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from annotation.schema import CRITERIA, VERDICTS, GoldItem, ReviewTaskKind
from hopwright.records import Review, Score
from hopwright.records.review import ReviewKind

QUALITY, SPREAD = 4.1, 0.8
CLICKED = (0.7, 0.15, 0.15)
"""How a careless annotator spreads his verdicts."""
RIGHT = {"Retain": 0.8, "Fix": 0.12, "Discard": 0.08}
START = "2026-03-02T09:00:00.000000Z"


@dataclass(frozen=True)
class Annotator:
    """`skill`: how often the verdict is right and a planted fault found; `noise`: standard deviation in points;
    `drift`: points that the bias moves from the first review to the last. A `careless` one does not read: he mostly
    retains, and throws dice for the stars.
    """

    name: str
    skill: float = 0.9
    bias: float = 0.0
    noise: float = 0.4
    drift: float = 0.0
    careless: bool = False
    seconds: float = 400.0


@dataclass(frozen=True)
class Truth:
    """What is so of one unit: the right verdict, and the quality by criterion."""

    verdict: str
    quality: Mapping[str, float]


@dataclass(frozen=True)
class Job:
    """One annotator's task: which unit, and how far into his work he is (0 to 1)."""

    annotator: Annotator
    item_id: str
    kind: ReviewTaskKind
    hop: int | None = None
    progress: float = 0.0
    gold: GoldItem | None = None


@dataclass(frozen=True)
class Given:
    """What an annotator gave."""

    verdict: str
    scores: Mapping[str, int]
    errors: Sequence[str] = ()
    seconds: float = 0.0
    fixes: Mapping[str, str] = field(default_factory=dict)


TEN = (
    Annotator("anna", 0.95, 0.0, 0.3),
    Annotator("ben", 0.92, 0.1, 0.35),
    Annotator("chloe", 0.9, -0.1, 0.4),
    Annotator("dario", 0.9, 0.2, 0.4),
    Annotator("elif", 0.88, -0.2, 0.45),
    Annotator("farid", 0.9, 0.0, 0.5),
    Annotator("greta", 0.85, 0.3, 0.5),
    Annotator("hana", 0.93, -0.3, 0.35),
    Annotator("ivo", 0.9, -0.4, 0.4, drift=1.2),
    Annotator("jun", careless=True, seconds=15.0),
)
"""As many as the paper had: one of them drifts, one does not read."""


def draw_truth(item_id: str, kind: ReviewTaskKind, hop: int | None, seed: int = 0) -> Truth:
    """What is so of a unit, the same for the same seed."""
    dice = random.Random(f"truth:{seed}:{item_id}:{kind}:{hop}")
    (verdict,) = dice.choices(list(RIGHT), list(RIGHT.values()))
    return Truth(verdict, {name: dice.gauss(QUALITY, SPREAD) for name in CRITERIA[kind]})


def review(job: Job, truth: Truth, seed: int = 0) -> Given:
    """What an annotator gives, the same for the same seed."""
    who = job.annotator
    dice = random.Random(f"review:{seed}:{who.name}:{job.item_id}:{job.kind}:{job.hop}")
    seconds = round(dice.lognormvariate(0, 0.4) * who.seconds, 3)
    names = CRITERIA[job.kind]
    if who.careless:
        (verdict,) = dice.choices(VERDICTS, CLICKED)
        return Given(verdict, {name: dice.randint(1, 5) for name in names}, (), seconds)
    seen = {
        name: truth.quality[name] + who.bias + who.drift * job.progress + dice.gauss(0, who.noise) for name in names
    }
    scores = {name: min(5, max(1, round(value))) for name, value in seen.items()}
    if job.gold is not None:
        if dice.random() < who.skill:
            return Given("Discard", {**scores, job.gold.criteria[0]: 1}, (job.gold.tags[0],), seconds)
        return Given("Retain", scores, (), seconds)
    verdict = truth.verdict
    if dice.random() >= who.skill:
        verdict = dice.choice([one for one in VERDICTS if one != verdict])
    return Given(verdict, scores, (), seconds)


def hand_out(
    units: Iterable[tuple[str, ReviewTaskKind, int | None]],
    annotators: Sequence[Annotator],
    overlap: int,
    seed: int = 0,
) -> Iterator[Job]:
    """Each item's tasks to the same few annotators, drawn at random; `progress` grows from item to item."""
    units = list(units)
    items = list(dict.fromkeys(item_id for item_id, _, _ in units))
    place = {item_id: number / max(1, len(items) - 1) for number, item_id in enumerate(items)}
    for item_id, kind, hop in units:
        dice = random.Random(f"hand-out:{seed}:{item_id}")
        for annotator in dice.sample(annotators, overlap):
            yield Job(annotator, item_id, kind, hop, place[item_id])


def to_review(job: Job, given: Given, number: int, item_hash: str = "h") -> Review:
    """As a pull would have it."""
    minute = int(job.progress * 50_000)
    day, hour = divmod(minute // 60, 24)
    moment = f"2026-{3 + day // 28:02}-{1 + day % 28:02}T{hour:02}:{minute % 60:02}:00.000000Z"
    kind: ReviewKind = job.kind.value
    return Review(
        item_id=job.item_id,
        kind=kind,
        hop=job.hop,
        item_hash=item_hash,
        annotator=job.annotator.name,
        project=1 + list(ReviewTaskKind).index(job.kind),
        task=number,
        annotation=number,
        created=moment,
        updated=moment,
        seconds=given.seconds,
        verdict=given.verdict,  # type: ignore[arg-type]
        scores=tuple(Score(criterion=name, value=value) for name, value in given.scores.items()),
        errors=tuple(given.errors),
    )


def simulate(
    units: Iterable[tuple[str, ReviewTaskKind, int | None]],
    annotators: Sequence[Annotator] = TEN,
    overlap: int = 2,
    seed: int = 0,
) -> list[Review]:
    """Everybody's reviews of these units."""
    return [
        to_review(job, review(job, draw_truth(job.item_id, job.kind, job.hop, seed), seed), number)
        for number, job in enumerate(hand_out(units, annotators, overlap, seed), 1)
    ]
