"""Plans whose first hops are pictures: what follows from one (bridging), or how two or three compare (comparison).

MMhops (Data construction): a bridging question goes on from one picture by facts, a comparison sets an attribute of
what several pictures show side by side. Hops 1 … n are the pictures; the steps after them are lookups and computations
over `hop1` … as in any plan. A plan with its pictures left open is a *recipe*: it can be run on other pictures of the
same class, which is how the need of each picture is proven and where wrong options come from.
"""

from __future__ import annotations

import datetime as dt
import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from hopwright.errors import ExpressionError
from hopwright.planning.computation_forms import Extreme, read_computation
from hopwright.planning.execution import execute
from hopwright.planning.expressions import count_full_years
from hopwright.planning.plan import PlanStep
from hopwright.planning.traversals import Edge, GraphTraversals
from hopwright.records import AnswerType, Compute, Constraint, GraphDerivation, Lookup, ReverseLookup
from hopwright.records.values import EntityKind, Scalar, Value

PictureQuestionKind = Literal["bridging", "comparison"]
APART = Decimal("0.2")
"""Compared numbers lie at least so far apart, relative to the larger, whatever their property's own margin is."""
_FARTHEST = 6
"""One of two compared numbers is at most so many times the other: else nobody has to look anything up."""
_FEWEST_NEIGHBOURS = 3
_YEARS_APART = 2
_MOST_YEARS = 60
"""Years between two events whose order or distance is asked for, at least and at most."""
_LARGEST_RATIO = 20
_MOST_FULL_AGE = 110


@dataclass(frozen=True, slots=True)
class RecipeStep:
    """One step after the pictures, whatever they show."""

    derivation: GraphDerivation
    answer_type: AnswerType
    unit: str = ""


@dataclass(frozen=True, slots=True)
class PicturePlan:
    """`pictures` are the entities shown, hop 1 first; `steps` are the hops that follow. `form` names the recipe."""

    kind: PictureQuestionKind
    form: str
    topology: str
    pictures: tuple[str, ...]
    steps: tuple[PlanStep, ...]

    @property
    def depth(self) -> int:
        """The number of hops, those of the pictures included."""
        return len(self.pictures) + len(self.steps)

    @property
    def recipe(self) -> tuple[RecipeStep, ...]:
        """The steps without what they give."""
        return tuple(RecipeStep(step.derivation, step.answer_type, step.unit) for step in self.steps)

    @property
    def answers(self) -> dict[int, Value]:
        """Hop → value, pictures included."""
        values = (*self.pictures, *(step.value for step in self.steps))
        return dict(enumerate(values, start=1))


class PicturePlanner:
    """Lists what can be asked of pictures over one source. Deterministic: the seed decides what is drawn."""

    def __init__(self, traversals: GraphTraversals) -> None:
        self.traversals = traversals
        self._table = traversals.table
        self._facts = traversals.facts

    # ------------------------------------------------------------ bridging

    def list_bridging(self, entity: str, depth: int) -> list[PicturePlan]:
        """Every plan of so many hops (the picture's is one) that goes on from one entity, in a fixed order."""
        found: list[PicturePlan] = []
        self._extend([], [], entity, depth, found)
        return found

    def _extend(
        self, names: list[str], steps: list[PlanStep], entity: str, depth: int, found: list[PicturePlan]
    ) -> None:
        last = len(steps) + 2 == depth
        at: Value = steps[-1].value if steps else entity
        year = bool(steps) and steps[-1].unit == "year"
        for name, step in self._list_next(f"hop{len(steps) + 1}", at, year, steps, last):
            if step.value == entity or any(step.value == one.value for one in steps):
                continue
            if last:
                chain = {3: "chain-3", 4: "chain", 5: "chain-5"}[depth]
                plan = PicturePlan("bridging", "-".join([*names, name]), chain, (entity,), (*steps, step))
                found.append(plan)
            else:
                self._extend([*names, name], [*steps, step], entity, depth, found)

    def _list_next(
        self, ref: str, at: Value, year: bool, steps: Sequence[PlanStep], last: bool
    ) -> Iterator[tuple[str, PlanStep]]:
        """What can follow on a value: name of the move, and the step."""
        if year and isinstance(at, int):
            yield from self._list_holders(ref, at)
            return
        if not isinstance(at, str):
            return
        kind = self.traversals.kinds.kind(at)
        if kind == "country":
            yield from self._list_of_country(ref, at, steps, last)
        elif kind == "person":
            yield from self._list_of_person(ref, at, last)
        yield from ((name, step) for name, step in self._list_lookups(ref, at))

    def _list_of_country(
        self, ref: str, country: str, steps: Sequence[PlanStep], last: bool
    ) -> Iterator[tuple[str, PlanStep]]:
        chosen_by = {
            form.property
            for step in steps
            if isinstance(form := read_computation(step.derivation), Extreme)
        }
        if not chosen_by:
            yield from self._list_extreme_neighbours(ref, country)
        if (capital := self._find_capital(country)) and (last or not steps):
            yield "capital", PlanStep(Lookup(subject=ref, property=capital.property), capital.object, "entity")
        if last:
            borders = next(iter(self._table.closed), "")
            if len(neighbours := self.list_neighbours(country)) >= _FEWEST_NEIGHBOURS:
                yield (
                    "neighbours",
                    PlanStep(
                        Compute(expression=f"size(all({borders}, {ref}))", kind="counting"), len(neighbours), "number"
                    ),
                )
            for property, entry in self._table.literal.items():
                if entry.stable and entry.ask and entry.value == "number" and property not in chosen_by:
                    value = self.read_number(country, property)
                    if value is not None and entry.unit:
                        unit = entry.unit
                        yield "number", PlanStep(Lookup(subject=ref, property=property), value, "number", unit)
        if (independence := self.read_independence(country)) is not None:
            property, when = independence
            yield "year", PlanStep(Lookup(subject=ref, property=property), when, "number", "year")

    def _list_extreme_neighbours(self, ref: str, country: str) -> Iterator[tuple[str, PlanStep]]:
        borders = next(iter(self._table.closed), "")
        members = self.list_neighbours(country)
        if len(members) < _FEWEST_NEIGHBOURS:
            return
        for property in self.list_comparable("country"):
            if any(phrase.startswith("the one") for phrase in self._table.literal[property].worded("country").last[:1]):
                continue  # `the one with the longest coastline of the countries bordering …`
            values = [(self.read_number(one, property), one) for one in members]
            if any(value is None for value, _ in values):
                continue
            ranked = sorted((Decimal(value), one) for value, one in values if value is not None)
            for function, (first, second) in (("argmin", ranked[:2]), ("argmax", ranked[:-3:-1])):
                if self.are_apart(property, first[0], second[0]):
                    expression = f"{function}({property}, all({borders}, {ref}))"
                    step = PlanStep(Compute(expression=expression, kind="comparison"), first[1], "entity")
                    yield f"{function}-{property}-neighbour", step

    def _list_holders(self, ref: str, year: int) -> Iterator[tuple[str, PlanStep]]:
        """Who was in office then; of other lists the year would be a mere coincidence."""
        for timeline, holders in self.traversals.timelines.items():
            if year in holders and self._table.literal[timeline].holder_when:
                yield timeline, PlanStep(ReverseLookup(property=timeline, value=ref), holders[year], "entity")

    def _list_of_person(self, ref: str, person: str, last: bool) -> Iterator[tuple[str, PlanStep]]:
        roles = self._table.roles
        dates = {
            one.property: one.value
            for one in self.traversals.measures(person)
            if isinstance(one.value, dt.date) and (one.value.month, one.value.day) != (1, 1) and one.entry.ask
        }
        if not last:
            return
        for property, value in sorted(dates.items()):
            if property in (roles.birth, roles.death):
                yield property, PlanStep(Lookup(subject=ref, property=property), value, "date")
        if roles.birth in dates and roles.death in dates:
            born, died = dates[roles.birth], dates[roles.death]
            age = count_full_years(born, died)
            if 0 < age < _MOST_FULL_AGE:
                expression = f"age(value({roles.birth}, {ref}), value({roles.death}, {ref}))"
                yield "age", PlanStep(Compute(expression=expression, kind="temporal"), age, "number", "years")

    def _list_lookups(self, ref: str, entity: str) -> Iterator[tuple[str, PlanStep]]:
        """What is asked of an entity outright: where somebody was born or died, who made a work, where a firm sits."""
        roles, kind = self._table.roles, self.traversals.kinds.kind(entity)
        for edge in self.traversals.lookups_from(entity):
            entry, trust = self._table.entity[edge.property], self._table.trust.get(edge.property)
            if trust is None or trust.dated:
                continue
            fits = {
                "person": edge.property in roles.event_places.values(),
                "work": bool(entry.role) and edge.property not in roles.seldom | roles.adapted,
                "organization": edge.property in roles.within - roles.trivial,
            }
            if fits.get(kind, False):
                yield edge.property, PlanStep(Lookup(subject=ref, property=edge.property), edge.object, "entity")

    # ------------------------------------------------------------ comparison

    def list_comparisons(self, pictures: Sequence[str]) -> list[PicturePlan]:
        """Every comparison of these two or three entities, in a fixed order: what they share decides."""
        if len(set(pictures)) != len(pictures) or any(self.traversals.kinds.kind(one) != "country" for one in pictures):
            return []
        found = list(self._list_extremes(pictures))
        if len(pictures) == 2:
            one, other = pictures
            found += self._list_distances(one, other)
            found += self._list_common(one, other)
        return found

    def _list_extremes(self, pictures: Sequence[str]) -> Iterator[PicturePlan]:
        refs = [f"hop{place}" for place in range(1, len(pictures) + 1)]
        flat, deep = ("converging-3", "converging") if len(pictures) == 2 else ("triple", "triple-5")
        for property in self.list_comparable("country"):
            values = [self.read_number(one, property) for one in pictures]
            if any(value is None for value in values):
                continue
            numbers = [Decimal(value) for value in values if value is not None]
            if not all(self.are_apart(property, a, b) for a, b in itertools.combinations(numbers, 2)):
                continue
            if max(numbers) > _FARTHEST * min(numbers):
                continue
            for function, best in (("argmax", max(numbers)), ("argmin", min(numbers))):
                winner = pictures[numbers.index(best)]
                expression = f"{function}({property}, {', '.join(refs)})"
                step = PlanStep(Compute(expression=expression, kind="comparison"), winner, "entity")
                name = f"{function}-{property}"
                yield PicturePlan("comparison", name, flat, tuple(pictures), (step,))
                for more, further in self._list_of_winner(f"hop{len(pictures) + 1}", winner, property):
                    if further.value not in pictures:
                        steps = (step, further)
                        yield PicturePlan("comparison", f"{name}-{more}", deep, tuple(pictures), steps)

    def _list_of_winner(self, ref: str, winner: str, property: str) -> Iterator[tuple[str, PlanStep]]:
        stub = PlanStep(Compute(expression=f"argmax({property}, hop1, hop2)", kind="comparison"), winner, "entity")
        yield from self._list_of_country(ref, winner, [stub], True)

    def _list_distances(self, one: str, other: str) -> Iterator[PicturePlan]:
        for property, entry in self._table.literal.items():
            if not (entry.stable and entry.value == "number" and entry.differ):
                continue
            a, b = self.read_number(one, property), self.read_number(other, property)
            if a is None or b is None or not self.are_apart(property, Decimal(a), Decimal(b)):
                continue
            first, second = f"value({property}, hop1)", f"value({property}, hop2)"
            apart = _tidy(abs(Decimal(a) - Decimal(b)))
            expression = f"abs({first} - {second})"
            step = PlanStep(Compute(expression=expression, kind="arithmetic"), apart, "number", entry.unit)
            yield PicturePlan("comparison", f"difference-{property}", "converging-3", (one, other), (step,))
            ratio = Decimal(a) / Decimal(b)
            if entry.ratio and Decimal("1.5") <= ratio <= _LARGEST_RATIO:
                rounded = ratio.quantize(Decimal("0.1"), rounding="ROUND_HALF_UP")
                expression = f"round({first} / {second}, 1)"
                step = PlanStep(Compute(expression=expression, kind="arithmetic"), rounded, "number")
                yield PicturePlan("comparison", f"ratio-{property}", "converging-3", (one, other), (step,))
        here, there = self.read_independence(one), self.read_independence(other)
        if here and there and _YEARS_APART <= abs(here[1] - there[1]) <= _MOST_YEARS:
            property = here[0]
            expression = f"abs(year(value({property}, hop1)) - year(value({property}, hop2)))"
            step = PlanStep(Compute(expression=expression, kind="temporal"), abs(here[1] - there[1]), "number", "years")
            yield PicturePlan("comparison", "years-between", "converging-3", (one, other), (step,))
            for function in ("argmin", "argmax"):
                earlier = here[1] < there[1]
                winner = one if earlier == (function == "argmin") else other
                expression = f"{function}({property}, hop1, hop2)"
                step = PlanStep(Compute(expression=expression, kind="comparison"), winner, "entity")
                yield PicturePlan("comparison", f"{function}-year", "converging-3", (one, other), (step,))
                if capital := self._find_capital(winner):
                    further = PlanStep(Lookup(subject="hop3", property=capital.property), capital.object, "entity")
                    steps = (step, further)
                    yield PicturePlan("comparison", f"{function}-year-capital", "converging", (one, other), steps)
        borders = next(iter(self._table.closed), "")
        mine, theirs = len(self.list_neighbours(one)), len(self.list_neighbours(other))
        if mine and theirs and mine - theirs >= 1 and Decimal(mine - theirs) / mine >= APART:
            expression = f"size(all({borders}, hop1)) - size(all({borders}, hop2))"
            step = PlanStep(Compute(expression=expression, kind="counting"), mine - theirs, "number")
            yield PicturePlan("comparison", "more-neighbours", "converging-3", (one, other), (step,))

    def _list_common(self, one: str, other: str) -> Iterator[PicturePlan]:
        """The only country that borders both."""
        borders = next(iter(self._table.closed), "")
        mine, theirs = self.list_neighbours(one), self.list_neighbours(other)
        common = [country for country in mine if country in theirs]
        if len(common) != 1 or one in theirs:
            return
        both = ReverseLookup(property=borders, value="hop1", constraints=(Constraint(property=borders, value="hop2"),))
        step = PlanStep(both, common[0], "entity")
        yield PicturePlan("comparison", "common-neighbour", "converging-3", (one, other), (step,))
        for name, further in self._list_of_country("hop3", common[0], [step], True):
            if further.value not in (one, other):
                steps = (step, further)
                yield PicturePlan("comparison", f"common-neighbour-{name}", "converging", (one, other), steps)

    # ------------------------------------------------------------ what the source says

    def list_comparable(self, kind: EntityKind) -> list[str]:
        """Numbers by which things of a kind may be compared and about which a choice can be worded."""
        return sorted(
            property
            for property, entry in self._table.literal.items()
            if entry.value == "number" and not entry.axis and kind in entry.subject
            and entry.worded(kind).first and entry.worded(kind).last
        )  # fmt: skip

    def list_neighbours(self, country: str) -> tuple[str, ...]:
        """All that a country borders, where the list is that of a work of reference; else nothing."""
        borders = next(iter(self._table.closed), "")
        if self.find_dispute(borders, country):
            return ()
        listed = self._table.closed.get(borders, {}).get(country, frozenset())
        held = tuple(dict.fromkeys(self._facts.objects(country, borders)))
        return held if listed and listed == set(held) else ()

    def read_number(self, entity: str, property: str) -> int | Decimal | None:
        """The one number that an entity has of a property, where nothing speaks against it."""
        entry = self._table.literal[property]
        values = self._facts.scalars(entity, property)
        if len(values) != 1 or isinstance(values[0], dt.date) or entity in entry.avoid:
            return None
        if self.find_dispute(property, entity):
            return None
        if property in self._table.roles.doubtful or self.traversals.kinds.kind(entity) not in entry.subject:
            return None
        return values[0] if values[0] > 0 else None

    def read_independence(self, country: str) -> tuple[str, int] | None:
        """The property and the year of a state's independence, where one year is undisputed."""
        kind = self.traversals.kinds.kind(country)
        for property, kinds in sorted(self._table.roles.doubtful_of.items()):
            entry = self._table.literal.get(property)
            if kind not in kinds or entry is None or property not in self._table.roles.closed_dates:
                continue
            values = [one for one in self._facts.scalars(country, property) if isinstance(one, dt.date)]
            if self.find_dispute(property, country):
                continue
            if len(values) == 1 and self._table.is_settled(property, country, kind) and country not in entry.avoid:
                return property, values[0].year
        return None

    def find_dispute(self, property: str, entity: str) -> str:
        """Why no one value that an entity has of a property would be accepted by all; empty where one would."""
        return self._table.disputed.get(property, {}).get(entity, "")

    def find_continent(self, entity: str) -> str:
        """The continent of a state; empty for what is none."""
        return self._table.continents.get(entity, "")

    def are_apart(self, property: str, one: Decimal, other: Decimal) -> bool:
        """Whether two numbers lie so far apart that their order stays true: a fifth, or the property's own margin."""
        return abs(one - other) >= APART * max(one, other) and self._table.differ(property, one, other)

    def _find_capital(self, country: str) -> Edge | None:
        if self.traversals.kinds.kind(country) != "country":
            return None
        found = [
            edge
            for edge in self.traversals.lookups_from(country)
            if self._table.entity[edge.property].reverse == "alone" and edge.property in self._table.roles.trivial
            and not self.find_dispute(edge.property, country)
        ]  # fmt: skip
        return found[0] if len(found) == 1 else None

    # ------------------------------------------------------------ running recipes

    def run(
        self, recipe: Sequence[RecipeStep], pictures: Sequence[str], taken: Mapping[int, Value] | None = None
    ) -> dict[int, Value] | None:
        """Hop → value of a recipe on other pictures; None where it has no answer, or not one only.

        A hop of `taken` is not run: its value is taken to be the one stated there.
        """
        answers: dict[int, Value] = dict(enumerate(pictures, start=1))
        for index, step in enumerate(recipe, start=len(pictures) + 1):
            if taken and index in taken:
                answers[index] = taken[index]
                continue
            try:
                value = execute(step.derivation, step.answer_type, answers, self._facts, self._table)
            except ExpressionError:
                return None
            if isinstance(value, int | Decimal) and value <= 0:
                return None
            answers[index] = value
        return answers


def draw_groups(pool: Sequence[str], size: int, seed: str, most: int) -> Iterator[tuple[str, ...]]:
    """At most so many different ordered groups of `size` members of the pool, drawn by the seed."""
    rng = random.Random(seed)
    seen: set[tuple[str, ...]] = set()
    for _ in range(most if len(pool) >= size else 0):
        group = tuple(rng.sample(pool, size))
        if group not in seen:
            seen.add(group)
            yield group


def _tidy(number: Decimal) -> Scalar:
    return int(number) if number == number.to_integral_value() else number.normalize()
