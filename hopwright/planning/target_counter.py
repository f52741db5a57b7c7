"""Keeping count of what slots asked for and what they got, and saying which target was missed and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from hopwright.planning.dead_ends import describe_dead_end
from hopwright.planning.plan_sampler import PlanSampler, SampledPlan
from hopwright.planning.planner import NoPlanError
from hopwright.planning.target_distribution import TargetDistribution

_MISSED = 0.03
"""A target is missed when its share among the drafts is so much off, or so much fewer than asked met it."""
_REASONS = 4


class TargetCode(StrEnum):
    """What a slot did with a target: it asked for it, its plan reached it, or its plan missed it."""

    ASKED = "asked"
    REACHED = "reached"
    MISSED = "missed"


@dataclass(frozen=True, slots=True)
class TargetFigure:
    """What one figure of a drafts manifest counts: a code with its parameters. `reason` is given for MISSED only."""

    code: TargetCode
    dimension: str
    name: str
    reason: str = ""

    @property
    def key(self) -> str:
        """The name of the figure in manifests; no dimension has a blank, and no name has ` because `."""
        because = f" because {self.reason}" if self.code is TargetCode.MISSED else ""
        return f"{self.code} {self.dimension} {self.name}{because}"

    @classmethod
    def read(cls, key: str) -> TargetFigure | None:
        """Return what a figure of this name counts; None for figures about something else."""
        code, _, rest = key.partition(" ")
        if code not in {one.value for one in TargetCode}:
            return None
        dimension, _, rest = rest.partition(" ")
        name, _, reason = rest.partition(" because ") if code == TargetCode.MISSED else (rest, "", "")
        return cls(TargetCode(code), dimension, name, reason)


@dataclass(frozen=True, slots=True)
class TargetShare:
    """One target: the share of the items that it should have, and the share of the plans that have it.

    `reasons`: why it was given up where it was, the commonest first; empty where it was met.
    """

    dimension: str
    name: str
    wanted: float
    reached: float
    reasons: tuple[tuple[str, int], ...] = ()

    @property
    def missed(self) -> bool:
        """Whether the plans fall short of it."""
        return self.wanted - self.reached > _MISSED

    def __str__(self) -> str:
        line = f"{self.dimension} {self.name}: {self.reached:.1%} of {self.wanted:.1%} wanted"
        if self.missed and self.reasons:
            line += "; planning failed where: " + ", ".join(
                f"{describe_dead_end(reason)} ({count:,})" for reason, count in self.reasons
            )
        return line


class TargetCounter:
    """Counts briefs and plans, as whole numbers that can be added up over shards (`figures`)."""

    def __init__(self, sampler: PlanSampler) -> None:
        self._drawer = sampler
        self.figures: Counter[str] = Counter()

    def note(self, drawn: SampledPlan) -> None:
        """Count one slot that gave a plan."""
        self.figures["plans"] += 1
        for dimension, names in self._drawer.describe(drawn).items():
            self._count(TargetFigure(TargetCode.ASKED, dimension, getattr(drawn.spec, dimension)))
            for name in names:
                self._count(TargetFigure(TargetCode.REACHED, dimension, name))
        self.figures["plans on a claim"] += bool(drawn.plan.claims)
        self.figures["slots for a claim"] += bool(drawn.plan.claims) or "claim" in drawn.missed
        for dimension, (name, reasons) in drawn.missed.items():
            for reason, count in reasons.most_common(_REASONS):
                self._count(TargetFigure(TargetCode.MISSED, dimension, name, reason), count)

    def note_failure(self, error: NoPlanError) -> None:
        """Count one slot that gave none."""
        self.figures["slots without a plan"] += 1
        for reason, count in error.reasons.most_common(_REASONS):
            self._count(TargetFigure(TargetCode.MISSED, "topology", "any", reason), count)

    def take(self) -> dict[str, int]:
        """The counts since they were last taken."""
        figures, self.figures = dict(+self.figures), Counter()
        return figures

    def _count(self, figure: TargetFigure, count: int = 1) -> None:
        self.figures[figure.key] += count


def read_targets(figures: Mapping[str, object], distribution: TargetDistribution) -> tuple[TargetShare, ...]:
    """How far the plans behind added-up figures (those of a drafts manifest) meet a mix, by dimension and name."""
    counts = {name: count for name, count in figures.items() if isinstance(count, int)}
    plans = counts.get("plans", 0)
    if not plans:
        return ()
    reached = Counter[tuple[str, str]]()
    missed: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for key, count in counts.items():
        figure = TargetFigure.read(key)
        if figure is None:
            continue
        if figure.code is TargetCode.REACHED:
            reached[figure.dimension, figure.name] += count
        elif figure.code is TargetCode.MISSED:
            missed[figure.dimension, figure.name][figure.reason] += count
    found = []
    for dimension, shares in distribution.dimensions().items():
        for name, share in shares.items():
            wanted = share / (sum(shares.values()) or 1.0)
            reasons = tuple(missed[dimension, name].most_common(_REASONS))
            found.append(TargetShare(dimension, name, wanted, reached[dimension, name] / plans, reasons))
    return tuple(found)


def list_missed(targets: Iterable[TargetShare]) -> list[str]:
    """One line for each target that was missed, the one that fell shortest first."""
    missed = sorted((one for one in targets if one.missed), key=lambda one: one.reached - one.wanted)
    return [str(target) for target in missed]
