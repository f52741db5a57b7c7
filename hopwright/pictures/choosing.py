"""Wrong options of questions about pictures: each follows from another picture or another choice, and none stands out.

A wrong option is what the same question gives where a picture is mistaken for another one, or where a hop takes another
of its candidates: another neighbour, the other side of a comparison. Something of the losing side is always an option,
and never are the options only what the pictures show: whoever sees no picture could compare them as well. No option
is ruled out by what the question says or by lying on another continent, and none contains another.

Where something is chosen by a number, it is drawn how many of the wrong options surpass the right one, from none to as
many as there can be. So neither the most extreme of four nor any other place among them is right much more often than
another. Where nothing surpasses the answer (the largest country of a continent), there are no options.
"""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal

from hopwright.knowledge.images.store import Picture
from hopwright.planning.computation_forms import Rate, read_computation
from hopwright.planning.execution import same
from hopwright.planning.picture_plans import PicturePlan, PicturePlanner
from hopwright.planning.picture_proofs import Choice, are_distinct, find_unsound
from hopwright.records import ReverseLookup
from hopwright.records.values import Value
from hopwright.text.folding import fold

OPTIONS = 3
"""Wrong options of a question."""
_NEAREST = 24
"""So many of the pictures that look most alike are asked first."""
_FARTHEST_YEARS = 150
_LARGEST_RATIO = 8
"""A wrong number is at most so many times the right one, or the right one so many times it: else it stands out."""
_DEEPEST = 6
"""Steps that a place is followed to what it lies in."""
_WEIGHTS = {"set": (3, 3, 5, 5), "shown": (4, 3, 3)}
"""How often so many of the wrong options surpass the right one, relative to each other, where it is one of a set and
where it is one of what is shown. Not each number can be had of each question; with these weights no place among the
four is right much more often than the others (measured)."""
Run = dict[int, Value]
Names = Callable[[str], tuple[str, ...]]
ListLike = Callable[[str, str], tuple[str, ...]]


class OptionChooser:
    """Chooses wrong options over one store of pictures. The same key makes the same choices."""

    def __init__(self, planner: PicturePlanner, list_like: ListLike, names: Names) -> None:
        self._planner = planner
        self._list_like = list_like
        self._names = names
        self.list_wholes = functools.lru_cache(10_000)(self._list_wholes)

    def choose(
        self,
        plan: PicturePlan,
        shown: Sequence[Picture],
        runs: Sequence[Mapping[str, Run]],
        choice: Choice | None,
        key: str,
    ) -> list[Run]:
        """Wrong ways through all hops whose answers are the wrong options; none where there are not enough.

        One at least is the answer with other pictures: without the pictures there has to be something to choose.
        """
        chosen = self._choose(plan, shown, runs, choice, key)
        last = plan.depth
        possible = [answers[last] for of_others in runs for answers in of_others.values()]
        return chosen if any(same(run[last], one) for run in chosen for one in possible) else []

    def choose_alike(self, picture: Picture, key: str) -> list[str]:
        """Three entities whose pictures look most like one, for the question what it shows; none without so many."""
        near = list(self._list_like(picture.media, picture.kind)[:_NEAREST])
        random.Random(f"{key}:alike").shuffle(near)
        home = self._planner.find_continent(picture.entity)
        near.sort(key=lambda one: self._planner.find_continent(one) != home)
        chosen: list[str] = []
        for one in near:
            if len(chosen) < OPTIONS and self.is_apart(one, [picture.entity, *chosen]):
                chosen.append(one)
        return chosen if len(chosen) == OPTIONS else []

    def find_fault(self, plan: PicturePlan, run: Run, *, slip: bool = False, far: bool = False) -> str:
        """Why what a run gives cannot be a wrong option of a plan; empty where it can.

        `slip`: it follows from another choice among the candidates, else from another picture, whose countries have to
        lie on the continents of the plan's own, unless they may lie `far` away.
        """
        value, gold, unit = run[plan.depth], plan.answers[plan.depth], plan.steps[-1].unit
        if not are_distinct(value, gold, unit):
            return "counts as right"
        if isinstance(value, str) and not self.is_apart(value, [gold]):
            return "contains the answer, lies in it, or shares a name with it"
        if any(run[hop] in plan.pictures for hop in range(len(plan.pictures) + 1, plan.depth + 1)):
            return "is ruled out by the question: it follows from what a picture shows"
        if isinstance(value, str) and value in plan.answers.values():
            return "is a step on the way"
        if isinstance(value, dt.date) and (value.month, value.day) == (1, 1):
            return "is known to the year only"
        if not slip and (unsound := find_unsound(plan, run, self._planner)):
            return unsound
        if isinstance(value, int | Decimal) and isinstance(gold, int | Decimal):
            one, other = sorted((Decimal(value), Decimal(gold)))
            if unit == "year" and other - one > _FARTHEST_YEARS:
                return "is of another age"
            if unit not in ("", "year") and other > _LARGEST_RATIO * one:
                return "is of another order of magnitude"
            if _is_ratio(plan) and Decimal(value) <= 1:
                return "is ruled out by the question"
        if not slip and not far and not self._list_continents(run) <= self._list_continents(plan.answers):
            return "lies on another continent"
        return ""

    def list_faults(
        self, plan: PicturePlan, values: Sequence[Value], runs: Sequence[Mapping[str, Run]], choice: Choice | None
    ) -> Iterator[str]:
        """What is wrong with the wrong options of a plan, given what `list_other_runs` and `list_choice` give."""
        last = plan.depth
        losers: list[Value] = []
        if choice is not None and choice.shown:
            losers = [choice.others[one][last] for one in plan.pictures if one in choice.others]
            if not any(same(one, other) for one in losers for other in values):
                yield "what the losing side gives is no option"
            if all(any(same(one, other) for other in losers) for one in values):
                yield "the options are only what the pictures show: they can be compared without these"
        for value in (one for one in values if not any(same(one, loser) for loser in losers)):
            slips = choice.others.values() if choice is not None and not choice.shown else ()
            faults = [self.find_fault(plan, run, slip=True) for run in slips if same(run[last], value)]
            faults += [
                self.find_fault(plan, run, far=may_lie_far(plan))
                for of_others in runs
                for run in of_others.values()
                if same(run[last], value)
            ]
            if all(faults):
                yield f"the option {value} {next(iter(faults), 'follows from no other picture and no other choice')}"
        for one, other in itertools.combinations([plan.answers[last], *values], 2):
            if not are_distinct(one, other, plan.steps[-1].unit) or not self.is_apart(one, [other]):
                yield f"the options {one} and {other} are not apart"

    def read_measure(self, entity: str, property: str) -> int | Decimal | None:
        """The number by which an entity is chosen; of independence the year."""
        if (independence := self._planner.read_independence(entity)) and independence[0] == property:
            return independence[1]
        return self._planner.read_number(entity, property)

    def are_near(self, plan: PicturePlan, values: Sequence[Value]) -> bool:
        """Whether all states among some values lie on the continents of a plan's own."""
        return self._list_continents(dict(enumerate(values))) <= self._list_continents(plan.answers)

    def is_apart(self, value: Value, others: Sequence[Value]) -> bool:
        """Whether an entity shares no name with any of the others, and none lies in or contains the other."""
        if not isinstance(value, str):
            return True
        names = [fold(one) for one in self._names(value)]
        if not names[0]:
            return False
        for other in (one for one in others if isinstance(one, str)):
            theirs = [fold(one) for one in self._names(other)]
            if names[0] in theirs[0] or theirs[0] in names[0] or set(names) & set(theirs):
                return False
            if any(_holds(one, theirs[0]) for one in names) or any(_holds(one, names[0]) for one in theirs):
                return False
            if value in self.list_wholes(other) or other in self.list_wholes(value):
                return False
        return True

    def _choose(
        self,
        plan: PicturePlan,
        shown: Sequence[Picture],
        runs: Sequence[Mapping[str, Run]],
        choice: Choice | None,
        key: str,
    ) -> list[Run]:
        rng = random.Random(f"{key}:options")
        mistaken = list(self._list_mistaken(plan, shown, runs, rng))
        if choice is not None:
            return self._weigh(plan, choice, mistaken, rng)
        chosen: list[Run] = []
        self._fill_up(plan, chosen, mistaken, OPTIONS)
        return chosen if len(chosen) == OPTIONS else []

    def _weigh(self, plan: PicturePlan, choice: Choice, mistaken: Sequence[Run], rng: random.Random) -> list[Run]:
        """Options of a hop that takes one of several: from other pictures one at least, others from the several."""
        passed = [choice.others[one] for one in sorted(choice.others)]
        rng.shuffle(passed)
        begun: list[Run] = []
        if choice.shown:
            if len(passed) < len(plan.pictures) - 1:
                return []
            begun, passed = passed[:1], passed[1:]
            if not self.is_apart(begun[0][plan.depth], [plan.answers[plan.depth]]):
                return []
            mistaken = [run for run in mistaken if run[choice.hop] not in plan.pictures]
        more = [run for run in mistaken if self._goes_further(run, plan, choice)]
        less = [run for run in mistaken if run not in more]
        found: dict[int, list[Run]] = {}
        for surpassing in range(OPTIONS - len(begun) + 1) if choice.property else [0]:
            chosen = list(begun)
            self._fill_up(plan, chosen, more, len(begun) + surpassing)
            if len(chosen) < len(begun) + surpassing:
                break
            if not surpassing:
                self._fill_up(plan, chosen, less, len(begun) + 1)
            self._fill(plan, chosen, passed, OPTIONS, slips=True)
            self._fill_up(plan, chosen, less, OPTIONS)
            if len(chosen) == OPTIONS:
                found[surpassing] = chosen
        # With one number only, the answer would have the same place among the options for certain.
        if len(found) <= bool(choice.property):
            return []
        weights = [_WEIGHTS["shown" if choice.shown else "set"][number] for number in found]
        return found[rng.choices(list(found), weights)[0]]

    def _fill_up(self, plan: PicturePlan, chosen: list[Run], runs: Sequence[Run], most: int) -> None:
        """Take what may be taken of these runs with other pictures, those of the question's own continents first."""
        self._fill(plan, chosen, runs, most)
        # Nobody tells by a person's life on which continent the picture's country lies.
        self._fill(plan, chosen, runs if may_lie_far(plan) else (), most, far=True)

    def _fill(
        self,
        plan: PicturePlan,
        chosen: list[Run],
        runs: Sequence[Run],
        most: int,
        *,
        slips: bool = False,
        far: bool = False,
    ) -> None:
        last, unit = plan.depth, plan.steps[-1].unit
        for run in runs:
            if len(chosen) >= most:
                return
            held = [one[last] for one in chosen]
            if any(not are_distinct(run[last], one, unit) for one in held) or not self.is_apart(run[last], held):
                continue
            if not self.find_fault(plan, run, slip=slips, far=far):
                chosen.append(run)

    def _list_mistaken(
        self, plan: PicturePlan, shown: Sequence[Picture], runs: Sequence[Mapping[str, Run]], rng: random.Random
    ) -> Iterator[Run]:
        """Where it leads to take a picture for another: those that look most alike first."""
        near: list[Run] = []
        later: list[Run] = []
        for picture, of_others in zip(shown, runs, strict=True):
            like = self._list_like(picture.media, picture.kind)
            near += [of_others[one] for one in like[:_NEAREST] if one in of_others]
            later += [of_others[one] for one in like[_NEAREST:] if one in of_others]
        rng.shuffle(near)
        if len(shown) > 1:
            rng.shuffle(later)
        yield from (*near, *later)

    def _goes_further(self, run: Run, plan: PicturePlan, choice: Choice) -> bool:
        """Whether what a run chooses has more (or less, where that is asked) than what the plan chooses."""
        if not choice.property:
            return False
        one, gold = (self.read_measure(str(held[choice.hop]), choice.property) for held in (run, plan.answers))
        if one is None or gold is None:
            return False
        return Decimal(one) > Decimal(gold) if choice.largest else Decimal(one) < Decimal(gold)

    def _list_continents(self, run: Mapping[int, Value]) -> set[str]:
        states = {self._planner.find_continent(one) for one in run.values() if isinstance(one, str)}
        return states - {""}

    def _list_wholes(self, entity: str) -> frozenset[str]:
        """What an entity lies in or is a part of, directly or not."""
        facts, roles = self._planner.traversals.facts, self._planner.traversals.table.roles
        found: set[str] = set()
        edge = [entity]
        for _ in range(_DEEPEST):
            edge = [
                whole
                for one in edge
                for property in sorted(roles.within | roles.containment)
                for whole in facts.objects(one, property)
                if whole not in found
            ]
            found |= set(edge)
        return frozenset(found - {entity})


def may_lie_far(plan: PicturePlan) -> bool:
    """Whether options may follow from pictures of other continents: a holder of an office stands in between."""
    return any(
        isinstance(step.derivation, ReverseLookup) and not step.derivation.constraints for step in plan.steps
    )


def _is_ratio(plan: PicturePlan) -> bool:
    return isinstance(read_computation(plan.steps[-1].derivation), Rate)


def _holds(name: str, part: str) -> bool:
    """Whether a name holds another one as words of its own: `New York City` holds `New York`."""
    return f" {part} " in f" {name} "
