"""What a set of items shall be like, and what that asks of one draft slot.

Every slot gets its own brief: topology, computing kind, type of the answer, popularity, how many of the anchor's own
hops to keep, difficulty, and the domain that it begins in. The seven are taken from a low-discrepancy sequence (the
generalised golden ratio), so that any stretch of slots has the shares wanted, and a slot's brief does not depend on the
slots before it.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from hopwright.records import Domain
from hopwright.settings import TargetParameters

ComputeKind = Literal["comparison", "counting", "arithmetic", "temporal", "combinatorics"]

_DIMENSIONS = ("topology", "kind", "answer", "band", "anchoring", "difficulty", "domain")


@dataclass(frozen=True)
class TargetDistribution:
    """Shares by name, in any scale (they are normalised); what is left out is not planned.

    `anchoring`: how many of the anchor question's own two hops an item keeps: "2", "1", "0" (its answer only), or
    "none" (a pure chain of the graph). `property_share`, `theme_share`: the largest share of the hops that one
    property, and of the items that one narrow theme (a league, a race, a club's country), may have.
    """

    topologies: Mapping[str, float]
    kinds: Mapping[str, float] = field(default_factory=lambda: _read_default("kinds"))
    answers: Mapping[str, float] = field(default_factory=lambda: _read_default("answers"))
    bands: Mapping[str, float] = field(default_factory=lambda: _read_default("popularity"))
    anchoring: Mapping[str, float] = field(default_factory=lambda: _read_default("anchoring"))
    difficulty: Mapping[str, float] = field(default_factory=lambda: _read_default("difficulty"))
    domains: Mapping[str, float] = field(default_factory=lambda: {domain.value: 1.0 for domain in Domain})
    property_share: float = TargetParameters().property_share
    theme_share: float = TargetParameters().theme_share
    min_domains: int = 2
    min_coherence: float = 0.5
    """Plans whose parts belong together less than this (see `coherence`) are drawn again."""
    max_renown: float = TargetParameters().renown
    """What is rated better known than this (see `GraphTraversals.renown`) has no part in a plan."""
    claim_share: float = 0.0
    """The share of the slots that may rest on a claim, where there is a bank of them."""

    def dimensions(self) -> dict[str, Mapping[str, float]]:
        """The shares of every dimension of a brief."""
        return {
            "topology": self.topologies,
            "kind": self.kinds,
            "answer": self.answers,
            "band": self.bands,
            "anchoring": self.anchoring,
            "difficulty": self.difficulty,
            "domain": self.domains,
        }


@dataclass(frozen=True, slots=True)
class SlotSpec:
    """What one slot asks for; empty where nothing is asked."""

    topology: str
    kind: str = ""
    answer: str = ""
    band: str = ""
    anchoring: str = ""
    difficulty: str = ""
    domain: str = ""


@dataclass(frozen=True)
class SamplingPreferences:
    """What one plan prefers and refuses on its way.

    `ceiling`: entities of a larger degree are passed by; so are those that are `closed`. `weights`: properties that
    are chosen more seldom than others, with how readily, from 0 to 1.
    """

    domains: Mapping[str, float] = field(default_factory=dict)
    band: str = ""
    band_of: Callable[[int], str] = field(default=lambda degree: "")
    weights: Mapping[str, float] = field(default_factory=dict)
    closed: Callable[[str], bool] = field(default=lambda entity: False)
    odds: tuple[tuple[str, float], ...] = ()
    """Operations that are chosen more seldom, because what they need is over its share."""
    ceiling: float = float("inf")
    focus: str = ""
    """The domain of what the plan begins with; empty for any."""
    max_renown: float = float("inf")
    """What is rated better known than this is passed by."""
    scarcity: float = 0.0
    """From 0 to 1: the larger, the more facts there must be with which such a plan could begin. Drawn once a slot, so
    that the few of a rare kind do not come back in slot after slot."""
    min_domains: int = 0
    """How many domains a plan has to span, for as long as most of the tries last."""
    part: tuple[int, int] = (0, 1)
    """Which of so many parts of all makers a plan begins with, so that shards do not draw the same plans."""


def draw_slot_spec(
    distribution: TargetDistribution,
    seed: int,
    slot: int,
    feasible: Callable[[str], Mapping[str, Mapping[str, float]]] | None = None,
) -> SlotSpec:
    """The brief of a slot.

    `feasible(topology)` maps the computing kinds that a topology allows to answer types, each with how readily it is
    had there, from 0 to 1.
    """
    place = dict(zip(_DIMENSIONS, _point(seed, slot), strict=True))
    topology = pick(distribution.topologies, place["topology"])
    allowed = feasible(topology) if feasible is not None else None
    kinds = distribution.kinds
    if allowed is not None:
        kinds = {
            kind: share * max(allowed[kind].values()) for kind, share in distribution.kinds.items() if allowed.get(kind)
        }
    kind = pick(kinds, place["kind"])
    answers = distribution.answers
    if allowed is not None and kind:
        ready = allowed[kind]
        answers = {answer: weight * ready[answer] for answer, weight in distribution.answers.items() if answer in ready}
    return SlotSpec(
        topology,
        kind,
        pick(answers, place["answer"]),
        pick(distribution.bands, place["band"]),
        pick(distribution.anchoring, place["anchoring"]),
        pick(distribution.difficulty, place["difficulty"]),
        pick(distribution.domains, place["domain"]),
    )


def pick(shares: Mapping[str, float], place: float) -> str:
    """The name at a place from 0 to 1 of the shares laid end to end; empty when there are none."""
    total = sum(shares.values())
    if total <= 0:
        return ""
    reached = 0.0
    last = ""
    for name, share in shares.items():
        if share <= 0:
            continue
        last = name
        reached += share / total
        if place < reached:
            return name
    return last


def chance(seed: int, slot: int, name: str) -> float:
    """A uniform number from 0 to 1 that belongs to a name in a slot, whatever else is drawn there."""
    digest = hashlib.blake2b(f"{seed}:{slot}:{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def _read_default(dimension: str) -> dict[str, float]:
    """The shares that the settings name for a dimension."""
    return {str(name): share for name, share in getattr(TargetParameters(), dimension).items()}


def _point(seed: int, slot: int) -> tuple[float, ...]:
    return tuple((chance(seed, -1, name) + slot * step) % 1.0 for name, step in zip(_DIMENSIONS, _steps(), strict=True))


@functools.cache
def _steps() -> tuple[float, ...]:
    """The generalised golden ratio's steps: x is the root of x^(d + 1) = x + 1."""
    size = len(_DIMENSIONS)
    root = 1.5
    for _ in range(60):
        root = (1 + root) ** (1 / (size + 1))
    return tuple(root ** -(place + 1) % 1.0 for place in range(size))
