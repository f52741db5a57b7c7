"""Proof that memory does not help: the same voters on originals and their twins, closed-book.

A voter that knows the real world does better on the originals than on the twins; one that can only reason or guess
does as well on both. The gap is the share of originals that it gets right less that of the twins, over pairs, with a
bootstrap interval over the pairs. Votes that already decided which originals were kept say little here: what was kept
was kept because they were wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hopwright.difficulty.voters import Voter, pick, view
from hopwright.records import LABELS, Item
from hopwright.scoring.intervals import MeanEstimate, resample_mean

_DRAWS = 2_000


@dataclass(frozen=True, slots=True)
class PairVotes:
    """What the voters made of one pair: voter → (original right, twin right); only voters that answered both."""

    item: str
    twin: str
    right: Mapping[str, tuple[bool, bool]]

    @property
    def gap(self) -> float:
        """Share of its voters that saw through the original, less that of those who saw through the twin."""
        votes = self.right.values()
        return sum(one - other for one, other in votes) / len(votes) if votes else 0.0


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """The gap of every voter, of all together, and pair by pair.

    accuracy: voter → shares right on originals and on twins. unanswered: voter → pairs that it left a side of open.
    """

    pairs: tuple[PairVotes, ...]
    accuracy: dict[str, tuple[float, float]]
    gaps: dict[str, MeanEstimate]
    overall: MeanEstimate
    unanswered: dict[str, int]


def measure_memory(
    voters: Sequence[Voter], pairs: Sequence[tuple[Item, Item]], *, seed: int, draws: int = _DRAWS
) -> MemoryReport:
    """Let every voter answer every original and every twin without any passage, and compare.

    pairs: (original, twin). A pair of which a voter answered one side only counts for neither.
    """
    rights = {
        voter.name: list(
            zip(_ask(voter, [one for one, _ in pairs]), _ask(voter, [two for _, two in pairs]), strict=True)
        )
        for voter in voters
    }
    rows = tuple(
        PairVotes(
            item.id,
            twin.id,
            {
                name: (one, other)
                for name, column in rights.items()
                for one, other in [column[row]]
                if one is not None and other is not None
            },
        )
        for row, (item, twin) in enumerate(pairs)
    )
    accuracy: dict[str, tuple[float, float]] = {}
    gaps: dict[str, MeanEstimate] = {}
    for name in rights:
        both = [row.right[name] for row in rows if name in row.right]
        accuracy[name] = (_mean([float(one) for one, _ in both]), _mean([float(other) for _, other in both]))
        gaps[name] = resample_mean([float(one - other) for one, other in both], seed=seed, key=name, draws=draws)
    together = [row.gap for row in rows if row.right]
    return MemoryReport(
        rows,
        accuracy,
        gaps,
        resample_mean(together, seed=seed, key="overall", draws=draws),
        {name: sum(name not in row.right for row in rows) for name in rights},
    )


def _ask(voter: Voter, items: Sequence[Item]) -> list[bool | None]:
    """Whether the voter was right, by item; None where it gave no vote."""
    rights: list[bool | None] = []
    for item, answer in zip(items, voter.choose([view(item) for item in items]), strict=True):
        if isinstance(answer, tuple):
            rights.append(pick(answer) == item.label)
        else:
            place = getattr(answer, "index", None)
            rights.append(None if place is None else LABELS[place] == item.label)
    return rights


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0
