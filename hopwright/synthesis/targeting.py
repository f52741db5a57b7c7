"""Keeping count of what slots asked for and what they got, and saying which target was missed and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hopwright.records import Compute
from hopwright.records.model import AnswerType
from hopwright.synthesis.drawing import Drawer, Drawn
from hopwright.synthesis.plan import Plan
from hopwright.synthesis.planner import NoPlanError

_MISSED = 0.03
"""A target is missed when its share among the drafts is so much off, or so much fewer than asked met it."""
_REASONS = 4


@dataclass(frozen=True, slots=True)
class TargetShare:
    """One target: the share of the slots that asked for it, and the share of the plans that have it.

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
        line = f"{self.dimension} {self.name}: {self.reached:.1%} of {self.wanted:.1%} asked for"
        if self.missed and self.reasons:
            line += "; given up because " + ", ".join(f"{reason} ({count:,})" for reason, count in self.reasons)
        return line


class Ledger:
    """Counts briefs and plans, as whole numbers that can be added up over shards (`figures`)."""

    def __init__(self, drawer: Drawer) -> None:
        self._drawer = drawer
        self.figures: Counter[str] = Counter()

    def note(self, drawn: Drawn) -> None:
        """Count one slot that gave a plan."""
        brief, plan = drawn.brief, drawn.plan
        self.figures["plans"] += 1
        reached = {
            "topology": plan.topology,
            "answer": answer_kind(plan.steps[-1].answer_type, plan.steps[-1].unit),
            "band": self._drawer.popularity(plan),
            "anchoring": str(len(drawn.kept)) if drawn.anchor is not None else "none",
        }
        for dimension, name in reached.items():
            self.figures[f"reached {dimension} {name}"] += 1
            self.figures[f"wanted {dimension} {getattr(brief, dimension)}"] += 1
        self.figures[f"wanted kind {brief.kind}"] += 1
        for kind in kinds_of(plan):
            self.figures[f"reached kind {kind}"] += 1
        for dimension, (name, reasons) in drawn.missed.items():
            for reason, count in reasons.most_common(_REASONS):
                self.figures[f"missed {dimension} {name} because {reason}"] += count

    def note_failure(self, error: NoPlanError) -> None:
        """Count one slot that gave none."""
        self.figures["slots without a plan"] += 1
        for reason, count in error.reasons.most_common(_REASONS):
            self.figures[f"missed topology any because {reason}"] += count

    def take(self) -> dict[str, int]:
        """The counts since they were last taken."""
        figures, self.figures = dict(self.figures), Counter()
        return figures


def answer_kind(answer_type: AnswerType, unit: str) -> str:
    """The type of an answer as targets name it: a year is told from other numbers by its unit."""
    return "year" if unit == "year" else str(answer_type)


def kinds_of(plan: Plan) -> frozenset[str]:
    """The computing kinds in a plan."""
    return frozenset(step.derivation.kind for step in plan.steps if isinstance(step.derivation, Compute))


def read_targets(figures: Mapping[str, object]) -> tuple[TargetShare, ...]:
    """The targets behind added-up figures (those of a drafts manifest), by dimension and name."""
    counts = {name: count for name, count in figures.items() if isinstance(count, int)}
    plans = counts.get("plans", 0)
    if not plans:
        return ()
    found = []
    for dimension, name in sorted(_names(counts)):
        reasons: Counter[str] = Counter()
        start = f"missed {dimension} {name} because "
        for key, count in counts.items():
            if key.startswith(start):
                reasons[key.removeprefix(start)] += count
        wanted = counts.get(f"wanted {dimension} {name}", 0) / plans
        reached = counts.get(f"reached {dimension} {name}", 0) / plans
        found.append(TargetShare(dimension, name, wanted, reached, tuple(reasons.most_common(_REASONS))))
    return tuple(found)


def list_missed(targets: Iterable[TargetShare]) -> list[str]:
    """One line for each target that was missed."""
    return [str(target) for target in targets if target.missed]


def _names(counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    seen = set()
    for key in counts:
        verb, _, rest = key.partition(" ")
        dimension, _, name = rest.partition(" ")
        if verb in ("wanted", "reached") and name and (dimension, name) not in seen:
            seen.add((dimension, name))
            yield dimension, name
