"""Plans over the facts that documents state: chains that bridge from fact to fact, and comparisons of two branches.

The facts are few enough to be walked through, so that nothing is left to luck: every chain is found. What may be
asked at all is what the source behind the documents lets be asked: the relation has one value there, too.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from hopwright.knowledge.source import FactGraph
from hopwright.planning.plan import Plan, PlanStep
from hopwright.planning.traversals import Edge, GraphTraversals, UsableLiteral
from hopwright.records import Compute, Lookup

ChainKind = Literal["inference", "comparison"]
INFERENCE = {2: "chain-2", 3: "chain-3", 4: "chain", 5: "chain-5"}
"""Number of hops → the topology of an inference."""
COMPARISON = {3: "converging-3", 4: "bridge"}
"""Number of hops → the topology of a comparison: the branches are of one hop each, or of two and one."""
_Path = tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class FactChain:
    """A plan with its number of hops and how its hops go together."""

    kind: ChainKind
    plan: Plan

    @property
    def hops(self) -> int:
        """How many hops there are."""
        return len(self.plan.steps)


class ChainFinder:
    """Finds the plans whose facts a graph of stated facts holds; `traversals` are those of the whole source."""

    def __init__(self, traversals: GraphTraversals, stated: FactGraph, subjects: Sequence[str]) -> None:
        """`subjects` are the entities that chains may start from or come by."""
        self._traversals = traversals
        self._stated = stated
        self._edges = {one: found for one in subjects if (found := self._list_edges(one))}

    def find_inferences(self, hops: int) -> Iterator[FactChain]:
        """Every chain of so many look-ups, the last of which may read a number, a year or a date."""
        for path in self._walk(hops - 1):
            end = path[-1].object
            for edge in self._edges.get(end, ()):
                if self._goes_on(path, edge):
                    yield self._make(INFERENCE[hops], "inference", _look_up((*path, edge)))
            for measure in self._list_measures(end):
                if (step := _read(f"hop{len(path)}", measure)) is not None:
                    yield self._make(INFERENCE[hops], "inference", [*_look_up(path), step])

    def draw_comparisons(self, hops: int, seed: int) -> Iterator[FactChain]:
        """Pairs of branches that end in things of one sort, compared by what both are stated to have.

        Pairs are far too many to list: each branch meets the next two, in an order that the seed draws.
        """
        alike: dict[tuple[str, str, str], list[tuple[_Path, UsableLiteral]]] = {}
        lengths = (1,) if hops == 3 else (1, 2)
        for path in (path for length in lengths for path in self._walk(length)):
            end = path[-1].object
            for measure in self._list_measures(end):
                if measure.entry.is_comparable(self._traversals.kinds.kind(end)) and not measure.entry.axis:
                    key = (measure.property, self._traversals.kinds.sort(end), path[-1].property)
                    alike.setdefault(key, []).append((path, measure))
        for key in sorted(alike):
            rng = random.Random(f"{seed}:compare:{hops}:{':'.join(key)}")
            branches = alike[key]
            rng.shuffle(branches)
            first = [one for one in branches if len(one[0]) == lengths[-1]]
            other = [one for one in branches if len(one[0]) == 1]
            for place, one in enumerate(first):
                for step in (1, 2):
                    if other and (made := self._compare(hops, one, other[(place + step) % len(other)], rng)):
                        yield made

    def _compare(
        self, hops: int, one: tuple[_Path, UsableLiteral], other: tuple[_Path, UsableLiteral], rng: random.Random
    ) -> FactChain | None:
        (path, measure), (branch, rival) = one, other
        differs = self._traversals.differ(measure.property, measure.value, rival.value)
        if not differs or not _ends(path).isdisjoint(_ends(branch)):
            return None
        steps = _look_up(path)
        refs = [f"hop{len(steps)}", f"hop{len(steps) + 1}"]
        steps += _look_up(branch)
        largest = rng.random() < 0.5
        ahead = (measure.value > rival.value) == largest  # type: ignore[operator]
        function = "argmax" if largest else "argmin"
        derivation = Compute(expression=f"{function}({measure.property}, {', '.join(refs)})", kind="comparison")
        steps.append(PlanStep(derivation, measure.entity if ahead else rival.entity, "entity"))
        return self._make(COMPARISON[hops], "comparison", steps)

    def _walk(self, length: int) -> Iterator[_Path]:
        """Every path of so many stated facts, in a fixed order."""
        paths: Iterator[_Path] = ((edge,) for subject in sorted(self._edges) for edge in self._edges[subject])
        for _ in range(length - 1):
            paths = self._lengthen(paths)
        return paths

    def _lengthen(self, paths: Iterator[_Path]) -> Iterator[_Path]:
        for path in paths:
            for edge in self._edges.get(path[-1].object, ()):
                if self._goes_on(path, edge):
                    yield (*path, edge)

    def _goes_on(self, path: _Path, edge: Edge) -> bool:
        """Whether a fact leads to something new. A place in a place in a place makes no question."""
        within = self._traversals.roles.within
        return edge.object not in _ends(path) and not (edge.property in within and path[-1].property in within)

    def _list_edges(self, subject: str) -> tuple[Edge, ...]:
        if not self._traversals.nameable(subject):
            return ()
        stated = set(self._stated.out_edges(subject))
        return tuple(one for one in self._traversals.lookups_from(subject) if (one.property, one.object) in stated)

    def _list_measures(self, entity: str) -> list[UsableLiteral]:
        held = {literal.property for literal in self._stated.literals(entity)}
        return [one for one in self._traversals.measures(entity) if one.property in held]

    def _make(self, topology: str, kind: ChainKind, steps: Sequence[PlanStep]) -> FactChain:
        return FactChain(kind, Plan(topology, tuple(_number(steps))))


def _number(steps: Sequence[PlanStep]) -> Iterator[PlanStep]:
    """The steps with their references counted from the plan's first, where a branch counts from its own."""
    for index, step in enumerate(steps, start=1):
        derivation = step.derivation
        if isinstance(derivation, Lookup) and derivation.subject.startswith("hop"):
            derivation = Lookup(subject=f"hop{index - 1}", property=derivation.property)
        yield PlanStep(derivation, step.value, step.answer_type, step.unit)


def _look_up(path: _Path) -> list[PlanStep]:
    subjects = [path[0].subject, *(f"hop{index}" for index in range(1, len(path)))]
    derivations = [Lookup(subject=one, property=edge.property) for one, edge in zip(subjects, path, strict=True)]
    return [PlanStep(one, edge.object, "entity") for one, edge in zip(derivations, path, strict=True)]


def _read(reference: str, measure: UsableLiteral) -> PlanStep | None:
    """The step that reads a number, a date to the day, or else its year; None for what nobody asks for so."""
    derivation = Lookup(subject=reference, property=measure.property)
    entry, value = measure.entry, measure.value
    if not isinstance(value, dt.date):
        return PlanStep(derivation, value, "number", entry.unit) if entry.ask and entry.stable else None
    if entry.value == "date" and entry.ask and (value.month, value.day) != (1, 1):
        return PlanStep(derivation, value, "date")
    return PlanStep(derivation, value.year, "number", "year") if entry.year_ask else None


def _ends(path: _Path) -> frozenset[str]:
    return frozenset({path[0].subject, *(edge.object for edge in path)})
