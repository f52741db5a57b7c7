"""Filling draft slots with plans: each slot's brief, the anchors that it may take, and what could not be had.

What a slot gives depends on the seed, the graph, the list of anchors and the slot's number, never on other slots, so
shards and workers do not matter. Where a brief cannot be met, it is relaxed one wish at a time; which wish was given
up, and where planning failed, travels with the plan.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hopwright.graph.store import GraphStore
from hopwright.records import Anchor, Compute, Derivation, Lookup
from hopwright.synthesis.anchoring import AnchorHops, AnchorReader
from hopwright.synthesis.mix import Brief, Mix, Taste, chance, draw_brief
from hopwright.synthesis.moves import spread
from hopwright.synthesis.plan import Plan, named_entities, properties_of, properties_of_step
from hopwright.synthesis.planner import NoPlanError, Planner
from hopwright.synthesis.programs import open_book
from hopwright.synthesis.topologies import Topology, topology

_ANCHORS = 2
_TRIES = 3
_STRIDE = 11
_PILOTS = 120
_ROUNDS = 3
_TELLING = 6
_SAMPLED = 60
_OF_LOOK_UPS = ("year", "named-year", "date")
_OF_COMPUTATIONS = ("later", "between", "between-two", "apart-named", "age")
_OF_TARGETS = ("dated", "dated-by-amount", "dated-stated", "dated-among", "dated-by-both")
_LEAST_ODDS = 0.05
"""An operation is not made rarer than this, however far over its share what it needs is."""
_MOST_ASKED = 1.6
# A property may take part in so many items for each of its facts: four facts do not make a hundred questions.
_PER_FACT = 0.002


@dataclass(frozen=True, slots=True)
class Drawn:
    """A plan, what it was grown from, and how far it meets its slot's brief.

    `anchor`: None for a chain of the graph alone. `kept`: for each of the anchor's own single hops in the plan, the hop
    (from 1) and the hop's id in MuSiQue. `missed`: the wish that was given up → what was asked, and the steps at which
    planning failed, in counts.
    """

    plan: Plan
    brief: Brief
    anchor: Anchor | None
    kept: tuple[tuple[int, str], ...] = ()
    missed: Mapping[str, tuple[str, Counter[str]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One way to fill a slot: what is asked of the plan, how often it is tried, and what it starts from."""

    name: str
    kind: str
    answer: str
    tries: int
    anchor: Anchor | None = None
    hops: tuple[AnchorHops, ...] = ()
    claimed: bool = False


class Drawer:
    """Draws the plan of each slot. `mix` says what the set shall be like."""

    def __init__(self, planner: Planner, mix: Mix, seed: int, graph: GraphStore) -> None:
        self._planner = planner
        self._mix = mix
        self._wishes = mix
        self._seed = seed
        self._graph = graph
        self._reader = AnchorReader(planner.moves)
        self._bounds = _find_bounds(planner)
        self._weights: dict[str, float] = {}
        self._uses: list[tuple[tuple[str, ...], str]] = []
        self._deck: _Deck | None = None
        self._capped_themes_of = functools.lru_cache(200_000)(self._list_capped)
        self._closed_in = functools.lru_cache(8)(self._list_closed)
        self._roots = functools.cache(self._list_roots)
        self._odds = functools.lru_cache(64)(self._find_odds)
        self._shaded = functools.lru_cache(64)(self._shade)

    def draw(self, anchors: Sequence[Anchor], slot: int) -> Drawn:
        """The plan of a slot. Raises NoPlanError when not even the bare topology could be planned."""
        if self._deck is None or self._deck.anchors is not anchors:
            self._deck = _Deck(anchors, self.band_of, self._graph)
            self._weights, self._uses, self._wishes = {}, [], self._mix
            self._renew()
            self._calibrate()
        return self._fill(slot)

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
        degrees = sorted(self._graph.degree(entity) for entity in named or _entities_of(plan))
        return self.band_of(degrees[len(degrees) // 2]) if degrees else ""

    def describe(self, drawn: Drawn) -> dict[str, frozenset[str]]:
        """What a drawn plan is, by the dimensions of a brief."""
        last = drawn.plan.steps[-1]
        return {
            "topology": frozenset({drawn.plan.topology}),
            "kind": frozenset(s.derivation.kind for s in drawn.plan.steps if isinstance(s.derivation, Compute)),
            "answer": frozenset({"year" if last.unit == "year" else str(last.answer_type)}),
            "band": frozenset({self.popularity(drawn.plan)}),
            "anchoring": frozenset({str(len(drawn.kept)) if drawn.anchor is not None else "none"}),
        }

    def themes(self, plan: Plan) -> frozenset[str]:
        """What a plan touches: the entities themselves, and the narrow themes (leagues, races, a country's clubs)."""
        return frozenset(theme for entity in _entities_of(plan) for theme in self._themes_of(entity))

    def _fill(self, slot: int) -> Drawn:
        odds = self._odds_of(slot)
        wish = draw_brief(self._wishes, self._seed, slot, lambda name: _compare_cells(topology(name), odds))
        if wish.anchoring == "2" and not open_book(topology(wish.topology)).keeps_pairs:
            wish = replace(wish, anchoring="1")
        taste = self._taste(slot, wish.band)
        reasons: Counter[str] = Counter()
        for attempt in self._attempts(wish, slot, taste):
            found = self._try(slot, attempt, taste, reasons)
            if found is not None:
                anchor, hops = attempt.anchor, attempt.hops
                drawn = Drawn(found, wish, anchor, _locate(found, hops))
                return replace(drawn, missed=self._compare(slot, drawn, reasons))
        raise NoPlanError(reasons)

    def _attempts(self, wish: Brief, slot: int, taste: Taste) -> Iterator[_Attempt]:
        """What to try in turn: with the anchors of the slot, then without; what is asked for, then less of it."""
        assert self._deck is not None
        if self.wants_claim(slot):
            yield from self._attempts_on_claims(wish, slot, taste)
        for number in range(_ANCHORS if wish.anchoring in ("0", "1", "2") else 0):
            anchor = self._deck.pick(slot, wish.band, number, functools.partial(self._can_keep, slot, wish, taste))
            if anchor is None:
                break
            hops = _keep(self._reader.read(anchor), wish.anchoring)
            for kind, answer in ((wish.kind, wish.answer), ("", "")):
                tries = _TRIES if kind else 2 * _TRIES
                yield _Attempt(f"{number}:{kind}:{answer}", kind, answer, tries, anchor, hops)
            if hops:  # rather the anchor's answer alone than nothing of it
                yield _Attempt(f"{number}:answer", "", "", 2 * _TRIES, anchor)
        yield _Attempt("graph", wish.kind, wish.answer, 2 * _TRIES)
        yield _Attempt("graph:any", "", "", 6 * _TRIES)
        yield _Attempt("graph:open", "", "", 20 * _TRIES)

    def wants_claim(self, slot: int) -> bool:
        """Whether a slot may rest on a claim; pilots never do, so that a bank moves no other slot."""
        share = self._mix.claim_share
        return share > 0 and slot >= 0 and bool(self._planner.claims) and chance(self._seed, slot, "claim") < share

    def _attempts_on_claims(self, wish: Brief, slot: int, taste: Taste) -> Iterator[_Attempt]:
        """What a slot that may rest on a claim tries first, its anchor and its computation kept where that can be."""
        assert self._deck is not None
        if wish.anchoring in ("0", "1", "2"):
            fits = functools.partial(self._can_keep, slot, wish, taste)
            if (anchor := self._deck.pick(slot, wish.band, 0, fits)) is not None:
                hops = _keep(self._reader.read(anchor), wish.anchoring)
                yield _Attempt("claim:0", "", "", 2 * _TRIES, anchor, hops, claimed=True)
        for kind in (wish.kind, "") if wish.kind else ("",):
            yield _Attempt(f"claim:{kind}", kind, "", 10 * _TRIES, claimed=True)

    def _can_keep(self, slot: int, wish: Brief, taste: Taste, anchor: Anchor) -> bool:
        """Whether so many of the anchor's own hops can be kept, and a plan go on from there without what is closed."""
        hops = self._reader.read(anchor)
        if len(hops) < int(wish.anchoring):
            return False
        kept = tuple(hop.edge for hop in _keep(hops, wish.anchoring))
        named = {anchor.entity, *(end for edge in kept for end in (edge.subject, edge.object))}
        if any(self._is_closed(slot, one) for one in named):
            return False
        return self._planner.can_start(topology(wish.topology), anchor.entity, kept, taste)

    def _try(self, slot: int, attempt: _Attempt, taste: Taste, reasons: Counter[str]) -> Plan | None:
        brief = Brief(self._topology_of(slot), attempt.kind, attempt.answer)
        try:
            plan = self._planner.draw(
                topology(brief.topology),
                attempt.anchor.entity if attempt.anchor else "",
                f"{self._seed}:{slot}:{attempt.name}",
                brief,
                taste=taste,
                kept=[hop.edge for hop in attempt.hops],
                tries=attempt.tries,
                # At last rather something over its share than a slot without a plan.
                refuse=None
                if attempt.name == "graph:open"
                else functools.partial(self._is_over, slot, attempt.anchor is not None),
                claimed=attempt.claimed,
            )
        except NoPlanError as error:
            reasons.update(error.reasons)
            return None
        return plan

    def _is_over(self, slot: int, anchored: bool, plan: Plan) -> bool:
        """Whether a plan touches what would be over its share; an anchor's plans have little choice of properties."""
        closed = self._closed_in(slot)
        if not anchored and not closed.isdisjoint(properties_of(plan)):
            return True
        return any(self._is_closed(slot, entity) for entity in _entities_of(plan))

    def _is_closed(self, slot: int, entity: str) -> bool:
        capped = self._capped_themes_of(entity)
        return bool(capped) and not self._closed_in(slot).isdisjoint(capped)

    def _list_closed(self, slot: int) -> frozenset[str]:
        """The properties and the themes over their share that have to stay out of this slot."""
        return frozenset(name for name, share in self._weights.items() if chance(self._seed, slot, name) >= share)

    def _topology_of(self, slot: int) -> str:
        return draw_brief(self._wishes, self._seed, slot).topology

    def _compare(self, slot: int, drawn: Drawn, reasons: Counter[str]) -> dict[str, tuple[str, Counter[str]]]:
        """Which wishes a plan does not meet, with what kept the attempts at them from succeeding."""
        reached = self.describe(drawn)
        if drawn.plan.claims:
            reasons["the slot was to rest on a claim"] += 1
        lacking = {"claim": ("any", reasons)} if self.wants_claim(slot) and not drawn.plan.claims else {}
        return lacking | {
            dimension: (wanted, reasons)
            for dimension in ("kind", "answer", "anchoring", "band")
            if (wanted := getattr(drawn.brief, dimension)) and wanted not in reached[dimension]
        }

    def _taste(self, slot: int, band: str) -> Taste:
        names, reached = self._roots()
        return Taste(
            domains=self._mix.domains,
            band=band,
            band_of=self.band_of,
            weights=self._leanings(slot),
            odds=self._odds_of(slot),
            closed=functools.partial(self._is_closed, slot),
            roots=names,
            root_weights=reached,
            min_domains=3 if chance(self._seed, slot, "domains") < 0.9 else 0,
        )

    def _list_roots(self) -> tuple[list[str], list[float]]:
        """The properties that a chain may begin with: every domain by its weight, its properties alike."""
        table = self._planner.table
        domains = Counter(table.entity[name].domain for name in self._planner.moves.askable)
        weights = self._mix.domains
        roots = {
            name: weights[domain] / domains[domain] * self._weights.get(name, 1.0)
            for name in self._planner.moves.askable
            if weights.get(domain := table.entity[name].domain, 0.0) > 0
        }
        return list(roots), list(itertools.accumulate(roots.values()))

    def _calibrate(self) -> None:
        """Draw pilots, and correct: what is over its share is admitted to fewer slots, what falls short is asked more.

        Pilots have negative slots, so that they are nobody's.
        """
        for turn in range(_ROUNDS):
            shares: Counter[str] = Counter()
            reached: Counter[tuple[str, str]] = Counter()
            uses: list[tuple[tuple[str, ...], str]] = []
            drawn = 0
            for number in range(_PILOTS):
                try:
                    pilot = self._fill(-1 - turn * _PILOTS - number)
                except NoPlanError:
                    continue
                drawn += 1
                shares.update(properties_of(pilot.plan))
                shares.update(self.themes(pilot.plan))
                uses += [use for step in pilot.plan.steps for use in self._find_uses(step.derivation)]
                reached.update((dimension, name) for dimension, names in self.describe(pilot).items() for name in names)
            if not drawn:
                return
            for name, count in shares.items():
                # A few pilots prove little: what is only just over its share is left alone.
                if count > max(_TELLING, 1.2 * drawn * (cap := self._cap(name))):
                    self._weights[name] = self._weights.get(name, 1.0) * cap * drawn / count
            self._uses = uses
            self._renew()
            self._wishes = replace(
                self._wishes,
                kinds=_correct(self._mix.kinds, self._wishes.kinds, "kind", reached, drawn),
                answers=_correct(self._mix.answers, self._wishes.answers, "answer", reached, drawn),
                anchoring=_correct(self._mix.anchoring, self._wishes.anchoring, "anchoring", reached, drawn),
                bands=_correct(self._mix.bands, self._wishes.bands, "band", reached, drawn),
            )

    def _find_uses(self, derivation: Derivation) -> Iterator[tuple[tuple[str, ...], str]]:
        """The dated properties that a step rests on, each with the operations that it may come from."""
        dated = [name for name in properties_of_step(derivation) if name in self._dates]
        group = (
            _OF_COMPUTATIONS if isinstance(derivation, Compute)
            else _OF_LOOK_UPS if isinstance(derivation, Lookup)
            else _OF_TARGETS
        )  # fmt: skip
        yield from ((group, name) for name in dated)

    @functools.cached_property
    def _dates(self) -> frozenset[str]:
        return frozenset(name for name, entry in self._planner.table.literal.items() if entry.value != "number")

    def _odds_of(self, slot: int) -> tuple[tuple[str, float], ...]:
        return self._odds(self._find_closed(slot))

    def _leanings(self, slot: int) -> Mapping[str, float]:
        return self._shaded(self._find_closed(slot))

    def _find_closed(self, slot: int) -> frozenset[str]:
        """The dates that would be over their share, and that this slot is to do without."""
        return self._closed_in(slot) & self._dates

    def _shade(self, closed: frozenset[str]) -> Mapping[str, float]:
        return {**self._weights, **dict.fromkeys(closed, _LEAST_ODDS)}

    def _find_odds(self, closed: frozenset[str]) -> tuple[tuple[str, float], ...]:
        """Operations become as much rarer as, in the pilots, they rested on dates that are closed now."""
        held: dict[tuple[str, ...], list[bool]] = {}
        for group, name in self._uses if closed else ():
            held.setdefault(group, []).append(name not in closed)
        return tuple(
            (operation, max(_LEAST_ODDS, sum(open) / len(open)))
            for group, open in sorted(held.items())
            for operation in group
        )

    def _cap(self, name: str) -> float:
        """The largest share of the items that a property or a theme may have."""
        if not _PROPERTY.match(name):
            return self._mix.theme_share
        table, classes = self._planner.table, self._planner.moves.classes
        facts = next((one.subjects for one in classes if one.property == name), 0) if name in table.literal else 0
        return min(self._mix.property_share, max(facts * _PER_FACT, 0.004)) if facts else self._mix.property_share

    def _list_themes(self, entity: str) -> frozenset[str]:
        moves = self._planner.moves
        kind = moves.kinds.kind(entity)
        if kind not in ("team", "competition", "event"):
            return frozenset({f"entity:{entity}"})
        found = {f"series:{one}" for property in _SERIES for one in self._graph.objects(entity, property)}
        if kind == "team":
            found |= {f"clubs:{moves.kinds.sort(entity)}:{one}" for one in self._graph.objects(entity, "P17")}
        return frozenset({f"entity:{entity}", *found})

    def _renew(self) -> None:
        """Forget what rests on the weights."""
        self._capped_themes_of.cache_clear()
        self._closed_in.cache_clear()
        self._roots.cache_clear()

    def _list_capped(self, entity: str) -> tuple[str, ...]:
        return tuple(theme for theme in self._themes_of(entity) if theme in self._weights)

    @functools.cached_property
    def _themes_of(self) -> Callable[[str], frozenset[str]]:
        return functools.lru_cache(50_000)(self._list_themes)


_PROPERTY = re.compile(r"^P\d+$")
_SERIES = ("P3450", "P361", "P664", "P118")


@functools.lru_cache(64)
def _compare_cells(of: Topology, odds: tuple[tuple[str, float], ...]) -> dict[str, dict[str, float]]:
    plain, rare = open_book(of).cells, open_book(of, odds).cells
    return {
        kind: {answer: rare[kind][answer] / weight for answer, weight in answers.items()}
        for kind, answers in plain.items()
    }


class _Deck:
    """The anchors, by popularity band, in an order that gives each its turn."""

    def __init__(self, anchors: Sequence[Anchor], band_of: Callable[[int], str], graph: GraphStore) -> None:
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


def _keep(hops: tuple[AnchorHops, ...], anchoring: str) -> tuple[AnchorHops, ...]:
    """Which of an anchor's own hops are to be kept."""
    return hops if anchoring == "2" else hops[-1:] if anchoring == "1" else ()


def _locate(plan: Plan, hops: Sequence[AnchorHops]) -> tuple[tuple[int, str], ...]:
    """The hops of the plan that look up the anchor's own facts, with their ids."""
    found = []
    for hop in hops:
        for index, step in enumerate(plan.steps, start=1):
            if step.value == hop.answer and getattr(step.derivation, "property", "") == hop.edge.property:
                found.append((index, hop.id))
                break
    return tuple(found)


def _entities_of(plan: Plan) -> tuple[str, ...]:
    """What the plan's steps name, and their entity answers."""
    found = [entity for step in plan.steps for entity in named_entities(step.derivation)]
    found += [step.value for step in plan.steps if isinstance(step.value, str)]
    return tuple(dict.fromkeys(found))


def _find_bounds(planner: Planner) -> tuple[int, int]:
    """Degrees between the popularity bands: the thirds of the subjects that questions may be asked of."""
    moves = planner.moves
    degrees = sorted(
        moves.graph.degree(edge.subject) for name in moves.askable for edge in spread(moves.facts_of(name), _SAMPLED)
    )
    if not degrees:
        return 2, 4
    low, high = degrees[len(degrees) // 3], degrees[2 * len(degrees) // 3]
    return low, max(high, low + 1)
