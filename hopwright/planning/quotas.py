"""The largest shares of a set that one property, one frame and one narrow theme may have, and how they are kept.

What pilots showed to be over its share is closed to so many slots, drawn by slot and name, and chosen more seldom in
the others. Dates are in so many questions that steering is not enough: the operations that rest on them become rarer.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence

from hopwright.planning.plan import Plan, entities_of, properties_of_step
from hopwright.planning.target_distribution import TargetDistribution, chance
from hopwright.planning.traversals import GraphTraversals
from hopwright.records import Compute, Derivation, Lookup, ReverseLookup
from hopwright.records.values import BROUGHT_OUT

_TELLING = 6
_TELLING_OF_ONE = 2
_ENTITY_SHARE = 0.01
"""One person or work may take part in so many of the items."""
_OF_LOOK_UPS = ("year", "named-year", "named-birth", "named-date", "date")
_OF_TARGETS = ("holder", "named-holder", "named-event")
_LEAST_ODDS = 0.05
"""An operation is not made rarer than this, however far over its share what it needs is."""
# A property may take part in so many hops for each of its facts: four facts do not make a hundred questions.
_PER_FACT = 0.0005
_LEAST_SHARE = 0.001
_FRAME_SHARE = 0.12
"""Questions that differ in their names and direction only, such as a director's age at a release, may be so many."""
_FRAME = "frame:"
_ENDING_SHARE = 0.2
"""Questions that end with the same look-up may be so many: a birthplace can be asked for wherever a person is found."""
_ENDING = "ending:"
HELD = "timeline by hop"
"""How frames name who held a year that was worked out."""
_PROPERTY = re.compile(r"^P\d+$")
_PARTED = re.compile(r"\b(?:after|before|having)\(")
DIRECTION = re.compile(r"argmin|argmax|first_with|last_with")
"""What says in an expression which way is chosen; two that differ in it alone are the same question."""
_WORD = re.compile(r"\w+(?:, )?")
OperationOdds = tuple[tuple[str, float], ...]
_Use = tuple[tuple[str, ...], str]


class ThemeIndex:
    """What plans touch: the entities themselves, and the narrow themes (leagues, races, a country's clubs)."""

    def __init__(self, traversals: GraphTraversals) -> None:
        self._moves = traversals
        self._roles = traversals.table.roles
        self.of_entity = functools.lru_cache(50_000)(self._list)

    def of_plan(self, plan: Plan) -> frozenset[str]:
        """The themes of all that a plan names, or has as an answer."""
        return frozenset(theme for entity in entities_of(plan) for theme in self.of_entity(entity))

    def _list(self, entity: str) -> frozenset[str]:
        kind = self._moves.kinds.kind(entity)
        member = {f"series:{name}" for name in self._moves.places.get(entity, ())}
        if kind not in ("team", "competition", "event"):
            return frozenset({f"entity:{entity}", *member})
        found = member | {
            f"series:{one}" for property in self._roles.series for one in self._moves.graph.objects(entity, property)
        }
        if kind == "team":
            sort, countries = self._moves.kinds.sort(entity), self._moves.graph.objects(entity, self._roles.country)
            found |= {f"clubs:{sort}:{one}" for one in countries}
        return frozenset({f"entity:{entity}", *found})


class QuotaController:
    """What is over its share, by how much, and what that means for each slot. Begins with nothing; see `learn`."""

    def __init__(
        self,
        traversals: GraphTraversals,
        themes: ThemeIndex,
        distribution: TargetDistribution,
        seed: int,
        weights: Mapping[str, float] | None = None,
        uses: Sequence[_Use] = (),
    ) -> None:
        self._moves = traversals
        self._themes = themes
        self._mix = distribution
        self._seed = seed
        self.weights: Mapping[str, float] = weights or {}
        """Property or theme → the share of the slots that it is still open to; what is not in it is open to all."""
        self._uses = uses
        self._dates = frozenset(name for name, entry in traversals.table.literal.items() if entry.value != "number")
        self._closed_in = functools.lru_cache(8)(self._list_closed)
        self._capped_themes_of = functools.lru_cache(200_000)(self._list_capped)
        self._odds_without = functools.lru_cache(64)(self._find_odds)
        self._shaded = functools.lru_cache(64)(self._shade)

    def learn(self, pilots: Sequence[Plan]) -> QuotaController:
        """The shares with what these pilots, drawn under the old ones, have more of than they may."""
        counts: Counter[str] = Counter()
        for plan in pilots:
            counts.update(name for step in plan.steps for name in _list_looked_up(step.derivation))
            counts.update(self._themes.of_plan(plan))
            counts.update((self._find_frame(plan), *_find_ending(plan)))
        hops = sum(len(plan.steps) for plan in pilots)
        weights = dict(self.weights)
        for name, count in counts.items():
            # A few pilots prove little: what is only just over its share is left alone.
            of_one = name.startswith((_FRAME, _ENDING)) or self._is_person_or_work(name)
            least = _TELLING_OF_ONE if of_one else _TELLING
            total = hops if _PROPERTY.match(name) else len(pilots)
            if count > max(least, 1.2 * total * (cap := self._cap(name))):
                weights[name] = weights.get(name, 1.0) * cap * total / count
        uses = [use for plan in pilots for step in plan.steps for use in self._find_uses(step.derivation)]
        return QuotaController(self._moves, self._themes, self._mix, self._seed, weights, uses)

    def is_over(self, slot: int, plan: Plan, *, anchored: bool) -> bool:
        """Whether a plan touches what is closed to a slot; an anchor's plans have little choice of properties."""
        if self.is_worn(slot, plan) or (
            not anchored
            and any(not self._closed_in(slot).isdisjoint(_list_looked_up(step.derivation)) for step in plan.steps)
        ):
            return True
        return any(self.is_closed(slot, entity) for entity in entities_of(plan))

    def is_worn(self, slot: int, plan: Plan) -> bool:
        """Whether there are enough questions of a plan's frame, or with its ending, as far as a slot is concerned."""
        return not self._closed_in(slot).isdisjoint((self._find_frame(plan), *_find_ending(plan)))

    def is_closed(self, slot: int, entity: str) -> bool:
        """Whether a theme of an entity is closed to a slot."""
        capped = self._capped_themes_of(entity)
        return bool(capped) and not self._closed_in(slot).isdisjoint(capped)

    def odds(self, slot: int) -> OperationOdds:
        """The operations that are chosen more seldom in a slot, with how readily."""
        return self._odds_without(self._closed_dates(slot))

    def property_weights(self, slot: int) -> Mapping[str, float]:
        """How readily a slot takes each property or theme that is over its share."""
        return self._shaded(self._closed_dates(slot))

    def _closed_dates(self, slot: int) -> frozenset[str]:
        """The dates that this slot is to do without."""
        return self._closed_in(slot) & self._dates

    def _list_closed(self, slot: int) -> frozenset[str]:
        return frozenset(name for name, share in self.weights.items() if chance(self._seed, slot, name) >= share)

    def _list_capped(self, entity: str) -> tuple[str, ...]:
        return tuple(theme for theme in self._themes.of_entity(entity) if theme in self.weights)

    def _shade(self, closed: frozenset[str]) -> Mapping[str, float]:
        return {**self.weights, **dict.fromkeys(closed, _LEAST_ODDS)}

    def _find_uses(self, derivation: Derivation) -> Iterator[_Use]:
        """The dated properties that a step rests on, each with the operations that it may come from."""
        group = _OF_LOOK_UPS if isinstance(derivation, Lookup) else _OF_TARGETS
        yield from ((group, name) for name in _list_looked_up(derivation) if name in self._dates)

    def _find_odds(self, closed: frozenset[str]) -> OperationOdds:
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
        """The largest share that a property may have of the hops, or a frame, an ending or a theme of the items."""
        if name.startswith((_FRAME, _ENDING)):
            return _FRAME_SHARE if name.startswith(_FRAME) else _ENDING_SHARE
        if not _PROPERTY.match(name):
            return min(_ENTITY_SHARE, self._mix.theme_share) if self._is_person_or_work(name) else self._mix.theme_share
        graph, table = self._moves.graph, self._moves.table
        facts = len(graph.literal_subjects(name)) if name in table.literal else 0
        return (
            min(self._mix.property_share, max(facts * _PER_FACT, _LEAST_SHARE)) if facts else self._mix.property_share
        )

    def _find_frame(self, plan: Plan) -> str:
        """What a plan shares with those that differ in names, in the list of years, or in which of somebody's kin."""
        steps = [self._find_step_frame(step.derivation) for step in plan.steps]
        return f"{_FRAME}{plan.topology} {' '.join(shorten_frame(steps, self._moves.table.entity))}"

    def _find_step_frame(self, derivation: Derivation) -> str:
        if isinstance(derivation, Compute):
            return DIRECTION.sub("chosen", _WORD.sub(_leave_out_name, derivation.expression))
        table = self._moves.table
        names = sorted(properties_of_step(derivation))
        if isinstance(derivation, ReverseLookup) and derivation.value.startswith("hop") and table.is_timeline(names[0]):
            return HELD
        kin = table.roles.kinship
        return ",".join("timeline" if table.is_timeline(one) else "kin" if one in kin else one for one in names)

    def _is_person_or_work(self, theme: str) -> bool:
        return theme.startswith("entity:") and self._moves.kinds.kind(theme[7:]) in BROUGHT_OUT | {"person"}


def _leave_out_name(match: re.Match[str]) -> str:
    word = match[0].removesuffix(", ")
    return "" if word.startswith("Q") or word.isdigit() else match[0]


def _list_looked_up(derivation: Derivation) -> frozenset[str]:
    """The properties that a step looks up; what a computation takes besides is no hop of its own."""
    return frozenset() if isinstance(derivation, Compute) else properties_of_step(derivation)


def _find_ending(plan: Plan) -> tuple[str, ...]:
    """The look-up that a plan ends with, if it ends with one."""
    last = plan.steps[-1].derivation
    return (f"{_ENDING}{last.property}",) if isinstance(last, Lookup) else ()


def shorten_frame(steps: Sequence[str], entity: Container[str]) -> Sequence[str]:
    """The steps of a frame without what makes no other question of it; `entity` holds the properties of entities."""
    return _leave_out_parts(_leave_out_way(steps), entity)


def _leave_out_parts(steps: Sequence[str], entity: Container[str]) -> Sequence[str]:
    """The steps of a frame without what part people had in a work, where all that is asked for is an age.

    How old a director was when the composer died is the same question as how old an author was when an actor did.
    """
    if not steps[-1].startswith("age(") or any("chosen" in step for step in steps):
        return steps
    return ["part" if step in entity else step for step in steps]


def _leave_out_way(steps: Sequence[str]) -> Sequence[str]:
    """The steps of a frame without those that lead to a year that somebody held, or to the owner of a whole set.

    Whichever way it is arrived at, how many neighbours a country has is the same question. A set that a moment parts,
    or a partner, is asked about because of the way.
    """
    last = [
        place
        for place, step in enumerate(steps)
        if step == HELD or ("all(" in step and not _PARTED.search(step))
    ]
    return steps[last[-1] :] if last else steps
