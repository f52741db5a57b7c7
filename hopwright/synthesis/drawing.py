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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hopwright.graph.store import GraphStore
from hopwright.records import Anchor, Compute
from hopwright.synthesis.anchoring import AnchorHops, AnchorReader
from hopwright.synthesis.mix import Brief, Mix, Taste, chance, draw_brief
from hopwright.synthesis.moves import Edge
from hopwright.synthesis.moves import spread
from hopwright.synthesis.plan import Plan, named_entities, properties_of
from hopwright.synthesis.planner import NoPlanError, Planner
from hopwright.synthesis.programs import open_book
from hopwright.synthesis.topologies import topology

_ANCHORS = 5
_TRIES = 14
_PILOTS = 150
_ROUNDS = 2
_SAMPLED = 60
# A property may take part in so many items for each of its facts: four facts do not make a hundred questions.
_PER_FACT = 0.002
# What is given up first; the topology never is.
_RELAXED = ("anchoring", "answer", "kind")


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


class Drawer:
    """Draws the plan of each slot. `mix` says what the set shall be like."""

    def __init__(self, planner: Planner, mix: Mix, seed: int, graph: GraphStore) -> None:
        self._planner = planner
        self._mix = mix
        self._seed = seed
        self._graph = graph
        self._reader = AnchorReader(planner.moves)
        self._bounds = _find_bounds(planner)
        self._admitted: dict[str, float] | None = None
        self._deck: _Deck | None = None

    def draw(self, anchors: Sequence[Anchor], slot: int) -> Drawn:
        """The plan of a slot. Raises NoPlanError when not even the bare topology could be planned."""
        if self._deck is None or self._deck.anchors is not anchors:
            self._deck = _Deck(anchors, self.band_of, self._graph)
        if self._admitted is None:
            self._admitted = {}
            self._admitted = self._calibrate(anchors)
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

    def themes(self, plan: Plan) -> frozenset[str]:
        """What a plan touches: the entities themselves, and the narrow themes (leagues, races, a country's clubs)."""
        return frozenset(theme for entity in _entities_of(plan) for theme in self._themes_of(entity))

    def _fill(self, slot: int) -> Drawn:
        wish = draw_brief(self._mix, self._seed, slot, lambda name, _: open_book(topology(name)).cells)
        missed: dict[str, tuple[str, Counter[str]]] = {}
        brief = wish
        taste = self._taste(slot, wish)
        for step in ("", *_RELAXED):
            if step:
                if not getattr(brief, step) or getattr(brief, step) == "none":
                    continue
                brief = replace(brief, **{step: "none" if step == "anchoring" else ""})
            reasons: Counter[str] = Counter()
            found = self._try(slot, brief, taste, reasons, step)
            if found is not None:
                plan, anchor, kept = found
                return Drawn(plan, wish, anchor, kept, missed)
            relaxed = _RELAXED[0] if not step else _next_of(step)
            if relaxed:
                missed[relaxed] = (getattr(wish, relaxed), reasons)
        raise NoPlanError(reasons)

    def _try(
        self, slot: int, brief: Brief, taste: Taste, reasons: Counter[str], step: str
    ) -> tuple[Plan, Anchor | None, tuple[tuple[int, str], ...]] | None:
        assert self._deck is not None
        shape = topology(brief.topology)
        for number in range(_ANCHORS):
            key = f"{self._seed}:{slot}:{step}:{number}"
            anchor: Anchor | None = None
            hops: tuple[AnchorHops, ...] = ()
            if brief.anchoring in ("0", "1", "2"):
                anchor = self._deck.pick(slot, brief.band, number)
                if anchor is None:
                    break
                resolved = self._reader.read(anchor)
                if brief.anchoring == "2":
                    hops = resolved if len(resolved) == 2 else ()
                elif brief.anchoring == "1":
                    hops = resolved[-1:]
                if brief.anchoring != "0" and not hops:
                    reasons["the anchor's hops are not in the graph"] += 1
                    continue
            kept = [hop.edge for hop in hops]
            try:
                plan = self._planner.draw(
                    shape, anchor.entity if anchor else "", key, brief, taste=taste, kept=kept, tries=_TRIES
                )
            except NoPlanError as error:
                reasons.update(error.reasons)
                continue
            over = next((theme for theme in sorted(self.themes(plan)) if self._refuses(slot, theme)), None)
            if over is not None:
                reasons["its theme is over its share"] += 1
                continue
            return plan, anchor, _locate(plan, hops)
        return None

    def _taste(self, slot: int, brief: Brief) -> Taste:
        refused = functools.lru_cache(None)(functools.partial(self._refuses, slot))
        roots = [(name, weight) for name, weight in self._roots if not refused(name)]
        return Taste(
            domains=self._mix.domains,
            band=brief.band,
            band_of=self.band_of,
            refused=refused,
            roots=[name for name, _ in roots],
            root_weights=list(itertools.accumulate(weight for _, weight in roots)),
            min_domains=min(3, len(topology(brief.topology))) if chance(self._seed, slot, "domains") < 0.9 else 0,
        )

    @functools.cached_property
    def _roots(self) -> tuple[tuple[str, float], ...]:
        """The properties that a chain may begin with: every domain by its weight, its properties alike."""
        table = self._planner.table
        domains = Counter(table.entity[name].domain for name in self._planner.moves.askable)
        weights = self._mix.domains
        return tuple(
            (name, weights.get(table.entity[name].domain, 0.0) / domains[table.entity[name].domain])
            for name in self._planner.moves.askable
            if weights.get(table.entity[name].domain, 0.0) > 0
        )

    def _refuses(self, slot: int, name: str) -> bool:
        """Whether a property or a theme that would be over its share has to stay out of this slot."""
        assert self._admitted is not None
        admitted = self._admitted.get(name)
        return admitted is not None and chance(self._seed, slot, name) >= admitted

    def _calibrate(self, anchors: Sequence[Anchor]) -> dict[str, float]:
        """In what share of the slots each over-common property and theme may be used: found by drawing pilots."""
        admitted: dict[str, float] = {}
        for turn in range(_ROUNDS):
            shares: Counter[str] = Counter()
            drawn = 0
            for number in range(_PILOTS):
                try:
                    plan = self._fill(-1 - turn * _PILOTS - number).plan
                except NoPlanError:
                    continue
                drawn += 1
                shares.update(properties_of(plan))
                shares.update(self.themes(plan))
            for name, count in shares.items():
                cap = self._cap(name)
                if count / max(drawn, 1) > cap:
                    admitted[name] = admitted.get(name, 1.0) * cap / (count / drawn)
            self._admitted = dict(admitted)
        return admitted

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

    @functools.cached_property
    def _themes_of(self) -> Callable[[str], frozenset[str]]:
        return functools.lru_cache(50_000)(self._list_themes)


_PROPERTY = re.compile(r"^P\d+$")
_SERIES = ("P3450", "P361", "P664", "P118")


class _Deck:
    """The anchors, by popularity band, in an order that gives each its turn."""

    def __init__(self, anchors: Sequence[Anchor], band_of: Callable[[int], str], graph: GraphStore) -> None:
        self.anchors = anchors
        self._by_band: dict[str, list[Anchor]] = {}
        for anchor in anchors:
            self._by_band.setdefault(band_of(graph.degree(anchor.entity)), []).append(anchor)

    def pick(self, slot: int, band: str, number: int) -> Anchor | None:
        """The anchor of a slot at its so-manieth try: of the band where it has some, at last of any."""
        pool = self._by_band.get(band) if number < _ANCHORS - 2 else None
        pool = pool or list(self.anchors)
        if not pool:
            return None
        return pool[(slot + number * (len(pool) // 7 + 1)) % len(pool)]


def _next_of(step: str) -> str:
    place = _RELAXED.index(step) + 1
    return _RELAXED[place] if place < len(_RELAXED) else ""


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
