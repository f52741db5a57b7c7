"""Filling draft slots with plans: each slot's brief, the anchors that it may take, and what could not be had.

What a slot gives depends on the seed, the graph, the list of anchors and the slot's number, never on other slots, so
shards and workers do not matter. Where a brief cannot be met, it is relaxed one wish at a time; which wish was given
up, and where planning failed, travels with the plan.
"""

from __future__ import annotations

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hopwright.knowledge.source import FactGraph
from hopwright.planning.anchor_resolution import AnchorResolver, ResolvedAnchorHop
from hopwright.planning.coherence import Coherence, CoherenceScorer, rate_difficulty
from hopwright.planning.dead_ends import DeadEnd
from hopwright.planning.plan import Plan, entities_of, named_entities
from hopwright.planning.planner import NoPlanError, Planner
from hopwright.planning.programs import load_sequence_index
from hopwright.planning.quotas import QuotaController, ThemeIndex
from hopwright.planning.target_distribution import (
    SamplingPreferences,
    SlotSpec,
    TargetDistribution,
    chance,
    draw_slot_spec,
)
from hopwright.records import Anchor, Compute
from hopwright.topologies import Topology, topology

_ANCHORS = 2
_TRIES = 3
_STRIDE = 11
_PILOTS = 24
_ROUNDS = 2
_SAMPLED = 60
_MOST_ASKED = 1.6
_NO_WEIGHTS: Mapping[str, float] = {}
_WIDE = 0.15
"""The share of the slots of which the plan is to span three domains."""


@dataclass(frozen=True, slots=True)
class SampledPlan:
    """A plan, what it was grown from, and how far it meets its slot's brief.

    `anchor`: None for a chain of the graph alone. `kept`: for each of the anchor's own single hops in the plan, the hop
    (from 1) and the hop's id in MuSiQue. `missed`: the wish that was given up → what was asked, and the steps at which
    planning failed, in counts.
    """

    plan: Plan
    spec: SlotSpec
    anchor: Anchor | None
    kept: tuple[tuple[int, str], ...] = ()
    missed: Mapping[str, tuple[str, Counter[str]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _SlotAttempt:
    """One way to fill a slot: what is asked of the plan, how often it is tried, and what it starts from.

    `domain`: what it begins with belongs to it; empty for any. `topology`: another one than the slot's, which could
    not be had.
    """

    name: str
    kind: str
    answer: str
    tries: int
    anchor: Anchor | None = None
    hops: tuple[ResolvedAnchorHop, ...] = ()
    claimed: bool = False
    topology: str = ""
    domain: str = ""
    open: bool = False
    """Also to properties and themes that are over their share."""


class PlanSampler:
    """Draws the plan of each slot. `distribution` says what the set shall be like."""

    def __init__(self, planner: Planner, distribution: TargetDistribution, seed: int, graph: FactGraph) -> None:
        self._planner = planner
        self._mix = distribution
        self._wishes = distribution
        self._seed = seed
        self._graph = graph
        self._reader = AnchorResolver(planner.traversals)
        self._bounds = _find_bounds(planner)
        self._themes = ThemeIndex(planner.traversals)
        self._shares = QuotaController(planner.traversals, self._themes, distribution, seed)
        self._domains: Mapping[str, float] = distribution.domains
        self._deck: _AnchorPool | None = None
        self._coherence = CoherenceScorer(planner.traversals, planner.relations)

    def draw(
        self,
        anchors: Sequence[Anchor],
        slot: int,
        is_had: Callable[[Plan], bool] = lambda _: False,
        part: tuple[int, int] = (0, 1),
    ) -> SampledPlan:
        """The plan of a slot. Raises NoPlanError when not even the bare topology could be planned.

        is_had: whether a plan is of no more use, since what it asks is asked already. part: which of so many parts of
        all makers of works it begins with.
        """
        if self._deck is None or self._deck.anchors is not anchors:
            self._deck = _AnchorPool(anchors, self.band_of, self._graph)
            self._wishes, self._shares = (
                self._mix,
                QuotaController(self._planner.traversals, self._themes, self._mix, self._seed),
            )
            self._domains = self._mix.domains
            self._calibrate()
        return self._fill(slot, is_had, part)

    def sketch(self, slot: int) -> Plan:
        """A plan of the graph alone, at once: without pilots, so that shares are not kept. Raises NoPlanError."""
        if self._deck is None:
            self._deck = _AnchorPool((), self.band_of, self._graph)
        return self._fill(slot).plan

    def band_of(self, degree: int) -> str:
        """The popularity band of a degree: the thirds of the entities of which something can be asked."""
        low, high = self._bounds
        return "tail" if degree <= low else "middle" if degree <= high else "head"

    def popularity(self, plan: Plan) -> str:
        """The band of a plan: that of the median of what its look-ups name, from which a solver has to start."""
        named = {
            entity
            for step in plan.steps
            if not isinstance(step.derivation, Compute)
            for entity in named_entities(step.derivation)
        }
        degrees = sorted(self._graph.degree(entity) for entity in named or entities_of(plan))
        return self.band_of(degrees[len(degrees) // 2]) if degrees else ""

    def difficulty(self, plan: Plan) -> str:
        """How hard a plan is, by the facts that it needs and the band of the rarest thing that they are about."""
        degrees = [self._graph.degree(entity) for entity in entities_of(plan)]
        return rate_difficulty(plan, self.band_of(min(degrees)) if degrees else "")

    def coherence(self, plan: Plan) -> Coherence:
        """How well the parts of a plan belong together."""
        return self._coherence.score(plan)

    def describe(self, drawn: SampledPlan) -> dict[str, frozenset[str]]:
        """What a drawn plan is, by the dimensions of a brief."""
        last = drawn.plan.steps[-1]
        return {
            "topology": frozenset({drawn.plan.topology}),
            "kind": frozenset(s.derivation.kind for s in drawn.plan.steps if isinstance(s.derivation, Compute)),
            "answer": frozenset({"year" if last.unit == "year" else str(last.answer_type)}),
            "band": frozenset({self.popularity(drawn.plan)}),
            "anchoring": frozenset({str(len(drawn.kept)) if drawn.anchor is not None else "none"}),
            "difficulty": frozenset({self.difficulty(drawn.plan)}),
            "domain": frozenset(str(one.domain) for one in self._planner.domains.of_steps(drawn.plan.steps)),
        }

    def themes(self, plan: Plan) -> frozenset[str]:
        """What a plan touches: see `ThemeIndex`."""
        return self._themes.of_plan(plan)

    def _fill(
        self, slot: int, is_had: Callable[[Plan], bool] = lambda _: False, part: tuple[int, int] = (0, 1)
    ) -> SampledPlan:
        odds = self._shares.odds(slot)
        wish = draw_slot_spec(self._wishes, self._seed, slot, lambda name: _compare_cells(topology(name), odds))
        if wish.anchoring == "2" and not load_sequence_index(topology(wish.topology)).keeps_pairs:
            wish = replace(wish, anchoring="1")
        preferences = replace(self._prefer(slot, wish), part=part)
        reasons: Counter[str] = Counter()
        for attempt in self._attempts(wish, slot, preferences):
            found = self._try(slot, wish, attempt, preferences, reasons, is_had)
            if found is not None:
                anchor, hops = attempt.anchor, attempt.hops
                drawn = SampledPlan(found, wish, anchor, _locate(found, hops))
                return replace(drawn, missed=self._compare(slot, drawn, reasons))
        raise NoPlanError(reasons)

    def _attempts(self, wish: SlotSpec, slot: int, preferences: SamplingPreferences) -> Iterator[_SlotAttempt]:
        """What to try in turn: with the anchors of the slot, then without; what is asked for, then less of it."""
        assert self._deck is not None
        if self.wants_claim(slot):
            yield from self._attempts_on_claims(wish, slot, preferences)
        for number in range(_ANCHORS if wish.anchoring in ("0", "1", "2") else 0):
            anchor = self._deck.pick(
                slot, wish.band, number, functools.partial(self._can_keep, slot, wish, preferences)
            )
            if anchor is None:
                break
            hops = _keep(self._reader.read(anchor), wish.anchoring)
            for kind, answer in ((wish.kind, wish.answer), ("", "")):
                tries = _TRIES if kind else 2 * _TRIES
                yield _SlotAttempt(f"{number}:{kind}:{answer}", kind, answer, tries, anchor, hops)
            if hops:  # rather the anchor's answer alone than nothing of it
                yield _SlotAttempt(f"{number}:answer", "", "", 2 * _TRIES, anchor)
        yield _SlotAttempt("graph", wish.kind, wish.answer, 2 * _TRIES, domain=wish.domain)
        yield _SlotAttempt("graph:any", "", "", 10 * _TRIES, domain=wish.domain)
        # Rather something over its share than a slot without a plan.
        for name in (wish.topology, *self._mix.topologies):
            if name == wish.topology or self._mix.topologies[name] > 0:
                yield _SlotAttempt(f"graph:free:{name}", "", "", 10 * _TRIES, topology=name, open=True)

    def wants_claim(self, slot: int) -> bool:
        """Whether a slot may rest on a claim; pilots never do, so that a bank moves no other slot."""
        share = self._mix.claim_share
        return share > 0 and slot >= 0 and bool(self._planner.claims) and chance(self._seed, slot, "claim") < share

    def _attempts_on_claims(
        self, wish: SlotSpec, slot: int, preferences: SamplingPreferences
    ) -> Iterator[_SlotAttempt]:
        """What a slot that may rest on a claim tries first, its anchor and its computation kept where that can be."""
        assert self._deck is not None
        if wish.anchoring in ("0", "1", "2"):
            fits = functools.partial(self._can_keep, slot, wish, preferences)
            if (anchor := self._deck.pick(slot, wish.band, 0, fits)) is not None:
                hops = _keep(self._reader.read(anchor), wish.anchoring)
                yield _SlotAttempt("claim:0", "", "", 2 * _TRIES, anchor, hops, claimed=True)
        for kind in (wish.kind, "") if wish.kind else ("",):
            yield _SlotAttempt(f"claim:{kind}", kind, "", 10 * _TRIES, claimed=True)

    def _can_keep(self, slot: int, wish: SlotSpec, preferences: SamplingPreferences, anchor: Anchor) -> bool:
        """Whether so many of the anchor's own hops can be kept, and a plan go on from there without what is closed."""
        hops = self._reader.read(anchor)
        if len(hops) < int(wish.anchoring):
            return False
        kept = tuple(hop.edge for hop in _keep(hops, wish.anchoring))
        named = {anchor.entity, *(end for edge in kept for end in (edge.subject, edge.object))}
        if any(self._shares.is_closed(slot, one) for one in named):
            return False
        return self._planner.can_start(topology(wish.topology), anchor.entity, kept, preferences)

    def _try(
        self,
        slot: int,
        wish: SlotSpec,
        attempt: _SlotAttempt,
        preferences: SamplingPreferences,
        reasons: Counter[str],
        is_had: Callable[[Plan], bool],
    ) -> Plan | None:
        spec = SlotSpec(attempt.topology or wish.topology, attempt.kind, attempt.answer)

        def refuses(plan: Plan) -> bool:
            if is_had(plan):
                return True
            if attempt.open:
                return self._shares.is_worn(slot, plan)
            if self._shares.is_over(slot, plan, anchored=attempt.anchor is not None):
                return True
            if attempt.kind and wish.difficulty != self.difficulty(plan):
                return True
            return self.coherence(plan).score < self._mix.min_coherence

        try:
            plan = self._planner.draw(
                topology(spec.topology),
                attempt.anchor.entity if attempt.anchor else "",
                f"{self._seed}:{slot}:{attempt.name}",
                spec,
                preferences=_open(preferences) if attempt.open else replace(preferences, focus=attempt.domain),
                kept=[hop.edge for hop in attempt.hops],
                tries=attempt.tries,
                refuse=refuses,
                claimed=attempt.claimed,
            )
        except NoPlanError as error:
            reasons.update(error.reasons)
            return None
        return plan

    def _compare(self, slot: int, drawn: SampledPlan, reasons: Counter[str]) -> dict[str, tuple[str, Counter[str]]]:
        """Which wishes a plan does not meet, with what kept the attempts at them from succeeding."""
        reached = self.describe(drawn)
        if drawn.plan.claims:
            reasons[DeadEnd.CLAIM_WANTED.value] += 1
        lacking = {"claim": ("any", reasons)} if self.wants_claim(slot) and not drawn.plan.claims else {}
        return lacking | {
            dimension: (wanted, reasons)
            for dimension in ("topology", "kind", "answer", "anchoring", "band", "difficulty", "domain")
            if (wanted := getattr(drawn.spec, dimension)) and wanted not in reached[dimension]
        }

    def _prefer(self, slot: int, spec: SlotSpec) -> SamplingPreferences:
        return SamplingPreferences(
            domains=self._domains,
            band=spec.band,
            band_of=self.band_of,
            weights=self._shares.property_weights(slot),
            odds=self._shares.odds(slot),
            closed=functools.cache(functools.partial(self._shares.is_closed, slot)),
            max_renown=self._mix.max_renown,
            scarcity=chance(self._seed, slot, "scarcity"),
            min_domains=3 if chance(self._seed, slot, "domains") < _WIDE else 0,
        )

    def _calibrate(self) -> None:
        """Draw pilots, and correct: what is over its share is admitted to fewer slots, what falls short is asked more.

        Pilots have negative slots, so that they are nobody's.
        """
        for turn in range(_ROUNDS):
            pilots = []
            for number in range(_PILOTS):
                with contextlib.suppress(NoPlanError):
                    pilots.append(self._fill(-1 - turn * _PILOTS - number))
            if not pilots:
                return
            self._shares = self._shares.learn([pilot.plan for pilot in pilots])
            self._domains = self._balance_domains([pilot.plan for pilot in pilots])
            reached = Counter(
                (dimension, name)
                for pilot in pilots
                for dimension, names in self.describe(pilot).items()
                for name in names
            )
            drawn = len(pilots)
            self._wishes = replace(
                self._wishes,
                kinds=_correct(self._mix.kinds, self._wishes.kinds, "kind", reached, drawn),
                answers=_correct(self._mix.answers, self._wishes.answers, "answer", reached, drawn),
                anchoring=_correct(self._mix.anchoring, self._wishes.anchoring, "anchoring", reached, drawn),
                bands=_correct(self._mix.bands, self._wishes.bands, "band", reached, drawn),
                domains=self._domains,
            )

    def _balance_domains(self, pilots: Sequence[Plan]) -> dict[str, float]:
        """How welcome each domain is next: those that hold more of the hops than they should become less so."""
        held = Counter(str(ruling.domain) for plan in pilots for ruling in self._planner.domains.of_steps(plan.steps))
        hops, total = sum(held.values()) or 1, sum(self._mix.domains.values()) or 1.0
        found = {}
        for name, share in self._mix.domains.items():
            change = (share / total + 0.02) / (held[str(name)] / hops + 0.02)
            found[name] = min(4.0 * share, max(0.15 * share, self._domains.get(name, 0.0) * min(2.5, max(0.4, change))))
        return found


def _open(preferences: SamplingPreferences) -> SamplingPreferences:
    """The preferences without what is closed or weighed down for the sake of shares."""
    return replace(preferences, weights=_NO_WEIGHTS, odds=(), closed=lambda _: False)


@functools.lru_cache(64)
def _compare_cells(of: Topology, odds: tuple[tuple[str, float], ...]) -> dict[str, dict[str, float]]:
    plain, rare = load_sequence_index(of).cells, load_sequence_index(of, odds).cells
    return {
        kind: {answer: rare[kind][answer] / weight for answer, weight in answers.items()}
        for kind, answers in plain.items()
    }


class _AnchorPool:
    """The anchors, by popularity band, in an order that gives each its turn."""

    def __init__(self, anchors: Sequence[Anchor], band_of: Callable[[int], str], graph: FactGraph) -> None:
        self.anchors = anchors
        self._by_band: dict[str, list[Anchor]] = {}
        for anchor in anchors:
            self._by_band.setdefault(band_of(graph.degree(anchor.entity)), []).append(anchor)

    def pick(self, slot: int, band: str, number: int, fits: Callable[[Anchor], bool]) -> Anchor | None:
        """The anchor of a slot at its so-manieth try, of the band where that has some; None when few fit."""
        pool = self._by_band.get(band) or list(self.anchors)
        if not pool:
            return None
        step = len(pool) // _STRIDE + 1
        for place in range(_STRIDE):
            anchor = pool[(slot + number * 7 * step + place * step) % len(pool)]
            if fits(anchor):
                return anchor
        return None


def _correct(
    wanted: Mapping[str, float],
    asked: Mapping[str, float],
    dimension: str,
    reached: Mapping[tuple[str, str], int],
    drawn: int,
) -> dict[str, float]:
    """Shares to ask for next, so that those reached come nearer to those wanted."""
    total, sum_asked = sum(wanted.values()) or 1.0, sum(asked.values()) or 1.0
    found = {
        name: asked[name]
        / sum_asked
        * min(2.5, max(0.4, (share / total + 0.01) / (reached.get((dimension, name), 0) / drawn + 0.01)))
        for name, share in wanted.items()
    }
    # What cannot be had is not asked for in vain: never much more often than it is wanted.
    return {name: min(share, _MOST_ASKED * wanted[name] / total) for name, share in found.items()}


def _keep(hops: tuple[ResolvedAnchorHop, ...], anchoring: str) -> tuple[ResolvedAnchorHop, ...]:
    """Which of an anchor's own hops are to be kept."""
    return hops if anchoring == "2" else hops[-1:] if anchoring == "1" else ()


def _locate(plan: Plan, hops: Sequence[ResolvedAnchorHop]) -> tuple[tuple[int, str], ...]:
    """The hops of the plan that look up the anchor's own facts, with their ids."""
    found = []
    for hop in hops:
        for index, step in enumerate(plan.steps, start=1):
            if step.value == hop.answer and getattr(step.derivation, "property", "") == hop.edge.property:
                found.append((index, hop.id))
                break
    return tuple(found)


def _find_bounds(planner: Planner) -> tuple[int, int]:
    """Degrees between the popularity bands: the thirds of the subjects of properties that can be asked for.

    Every fact counts here, whether or not it can be asked of: to find that out of each would take seconds.
    """
    graph = planner.traversals.graph
    degrees = sorted(
        graph.degree(subject)
        for name in planner.traversals.askable
        for subject, _ in graph.sample_edges(name, _SAMPLED)
    )
    if not degrees:
        return 2, 4
    low, high = degrees[len(degrees) // 3], degrees[2 * len(degrees) // 3]
    return low, max(high, low + 1)
