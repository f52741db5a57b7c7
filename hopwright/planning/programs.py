"""Programs: for a graph of hops, every sequence of operations whose types fit together and that reads well.

Small graphs are enumerated; of larger ones a seeded sample is taken. Nothing here looks at facts.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hopwright.planning.memory import Memory
from hopwright.planning.operations import OPERATIONS
from hopwright.planning.operations.base import Operation, OperationContext
from hopwright.planning.operations.claim_operations import CLAIMED
from hopwright.planning.operations.lookahead import (
    CHOOSING_FROM_LISTS,
    COUNTING_JOINT,
    JOINT_OPERATIONS,
    LIST_OPERATIONS,
    NAMED_LIST_OPERATIONS,
    OF_BOTH,
    SAME_SORT_OPERATIONS,
)
from hopwright.planning.random_draws import draw_by_cumulative_weights
from hopwright.topologies import Topology

_ENUMERATED = 4
_KEPT_CHOICES = 2_000
"""So many sets of dead ways are remembered of a place, each with what is left to choose from."""
_LIFE_OF_CHOSEN = 0.02
"""How readily a question about what is chosen from a list ends with somebody's age, or the year of their birth."""
_OF_A_LIFE = frozenset({"year", "age-at-death", "age-found"})
_AFTER_OTHER_WORK: dict[str, tuple[tuple[str, ...], ...]] = {
    "end-of-named": (("joint-with-named", "extend"),),
    "end-beside-work": (("lead", "joint-of-both"),),
}
"""Operations that find a work for the sake of somebody who had a part in it, and what follows once they are found."""
_OTHER_WORK = _AFTER_OTHER_WORK.keys()
_BESIDE_JOINT = JOINT_OPERATIONS | COUNTING_JOINT | _OTHER_WORK | {"next-after-joint", "lead", "extend"} | _OF_A_LIFE
_CHOOSING = (CHOOSING_FROM_LISTS | COUNTING_JOINT | {"end-member"}) - _OTHER_WORK
_BESIDE_SERIES = frozenset({"end-member", "named-member", "lead", "extend"})
_SAMPLED = 3000
_MOST_LIKED = 8.0
"""What of larger graphs is sampled is not drawn by greater weights than this."""
_ASKED_ALONE = frozenset({"combinatorics"})
"""Kinds of computation for the slots that ask for them: people seldom do."""
_OFTEN = 6
"""So many times more samples are taken where only those with a claim are wanted."""
_WITH_CLAIMS = (*OPERATIONS, *CLAIMED)
_OF_CLAIMS = frozenset(one.name for one in CLAIMED)
_BEFORE_CLAIMS = frozenset({"apart", "number"})
"""Elsewhere the last step of a plan: a claim's number may still be set against what they give."""
# Pairs of operation and reader that would say the same thing twice.
_INCOMPATIBLE_OPERATIONS = frozenset(
    {("most-of-all", "most-of-its"), ("first-of", "most-of-its")}
    | {(one, other) for one in CHOOSING_FROM_LISTS for other in ("year", "number")}
    | {(one, "date") for one in CHOOSING_FROM_LISTS - JOINT_OPERATIONS}
    # With whom the older of two worked is asked by nobody who does not know already who that was.
    | {(one, other) for one in SAME_SORT_OPERATIONS for other in JOINT_OPERATIONS | COUNTING_JOINT}
    # What else a composer brought out after the work that was named is the next in a list that many know.
    | {(one, other) for one in ("named-year", "named-birth", "named-date") for other in LIST_OPERATIONS}
)
_READERS: dict[str, frozenset[str]] = {
    "named-event": frozenset({"holder"}),
    "named-member": frozenset({"extend"}),
    **dict.fromkeys(_OTHER_WORK, frozenset({"extend"})),
}
"""Operations that are for certain others to read."""
_ANSWER = {"entity": "entity", "year": "year", "date": "date", "number": "number", "amount": "number", "ways": "number"}


@dataclass(frozen=True)
class OperationSequence:
    """One operation a hop. `keeps`: of the anchor question's own two hops, how many may be kept at most."""

    operations: tuple[Operation, ...]
    depends_on: tuple[tuple[int, ...], ...]
    weight: float

    @functools.cached_property
    def kinds(self) -> frozenset[str]:
        """The computing kinds in it."""
        return frozenset(one.kind for one in self.operations if one.kind)

    @functools.cached_property
    def answer(self) -> str:
        """The type of the final answer, as targets name it."""
        return _ANSWER[self.operations[-1].gives]

    @functools.cached_property
    def readers(self) -> tuple[int, ...]:
        """For each hop, the place (from 0) of the hop that reads it first; -1 for the last."""
        return tuple(
            next((place for place, needs in enumerate(self.depends_on) if index in needs), -1)
            for index in range(1, len(self.depends_on) + 1)
        )

    def names_after(self, place: int) -> tuple[str, ...]:
        """The names of the operations that read the hop at a place (from 0), and what they give, in turn."""
        return self._paths[place]

    def names_from(self, place: int) -> tuple[str, ...]:
        """The name of the operation at a place, then `names_after` it."""
        return self._names_from[place]

    @functools.cached_property
    def _names_from(self) -> tuple[tuple[str, ...], ...]:
        return tuple((one.name, *after) for one, after in zip(self.operations, self._paths, strict=True))

    @functools.cached_property
    def contexts(self) -> tuple[OperationContext, ...]:
        """For each hop where it stands in the plan, as far as that is known before any fact is."""
        branches = [
            next((one.name for one, needs in self._after(place) if not needs), "")
            for place in range(len(self.operations))
        ]
        return tuple(
            OperationContext(readers=names, branch=branch) for names, branch in zip(self._paths, branches, strict=True)
        )

    @functools.cached_property
    def partners(self) -> tuple[tuple[int, ...], ...]:
        """For each hop, the places (from 0) before it of what else its reader reads."""
        return tuple(
            tuple(need - 1 for need in self.depends_on[reader] if need - 1 < place) if reader >= 0 else ()
            for place, reader in enumerate(self.readers)
        )

    def _after(self, place: int) -> Iterator[tuple[Operation, tuple[int, ...]]]:
        return zip(self.operations[place + 1 :], self.depends_on[place + 1 :], strict=True)

    @functools.cached_property
    def keys(self) -> tuple[str, ...]:
        """For each hop what decides whether it can be had: its place, its operation and those that follow."""
        return tuple(f"{place} {' '.join(names)}" for place, names in enumerate(self._names_from))

    @functools.cached_property
    def _paths(self) -> tuple[tuple[str, ...], ...]:
        paths: list[tuple[str, ...]] = []
        for place in reversed(range(len(self.operations))):
            reader = self.readers[place]
            after = paths[len(self.operations) - 1 - reader] if reader >= 0 else ()
            paths.append((self.operations[reader].name, *after) if reader >= 0 else ())
        return tuple(reversed(paths))

    @functools.cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Places (from 0) of a root look-up and of the look-up that goes on from it, be it through a comparison."""
        found = []
        for root, operation in enumerate(self.operations):
            if operation.name != "lead":
                continue
            reader = self.readers[root]
            if reader >= 0 and self.operations[reader].name.startswith("compare"):
                reader = self.readers[reader]
            if reader >= 0 and self.operations[reader].name == "extend" and len(self.depends_on[reader]) == 1:
                found.append((root, reader))
        return tuple(found)

    def names_after_anchor(self, kept: int) -> tuple[str, ...] | None:
        """The operations that read the anchor, when so many of its own hops are kept; None where none does."""
        if kept == 2:
            return self.names_after(self.pairs[0][1])
        return self.names_after(self.roots[0]) if self.roots else None

    @property
    def roots(self) -> tuple[int, ...]:
        """Places (from 0) of the root look-ups; none where another work comes first, which an anchor has no part in."""
        if self.operations[0].name in _OTHER_WORK:
            return ()
        return tuple(place for place, one in enumerate(self.operations) if one.name == "lead")


class Branch:
    """Programs that agree up to a place (from 0), and what they may do there. What follows is worked out once."""

    def __init__(self, programs: Sequence[OperationSequence], place: int = 0) -> None:
        self.place = place
        self.last = place == len(programs[0].operations) - 1
        self._programs = programs
        self._next: dict[str, Branch] = {}
        weights: dict[str, float] = {}
        first: dict[str, OperationSequence] = {}
        for program in programs:
            key = program.keys[place]
            weights[key] = weights.get(key, 0.0) + program.weight
            first.setdefault(key, program)
        self.ways = tuple(first.values())
        """One program for each way to go on."""
        self._weights = tuple(weights.values())
        self._left = Memory(self._list_left, _KEPT_CHOICES)

    def choose(self, rng: random.Random, dead: int) -> int:
        """The number of a way, by weight; -1 when all are dead (those whose bits are set)."""
        left, reached = self._left[dead]
        return draw_by_cumulative_weights(rng, left, reached) if left else -1

    def _list_left(self, dead: int) -> tuple[list[int], list[float]]:
        """The ways that are not dead, and their cumulative weights."""
        left = [number for number in range(len(self.ways)) if not dead >> number & 1]
        return left, list(itertools.accumulate(self._weights[number] for number in left))

    def follow(self, program: OperationSequence) -> Branch:
        """The programs that do at the place what this one does."""
        operation = program.operations[self.place]
        if (branch := self._next.get(operation.key)) is None:
            alike = [one for one in self._programs if one.operations[self.place] is operation]
            branch = self._next[operation.key] = Branch(alike, self.place + 1)
        return branch


class OperationSequenceIndex:
    """The programs of a topology, by computing kind and answer type."""

    def __init__(self, topology: Topology, programs: Sequence[OperationSequence]) -> None:
        self.topology = topology
        self.programs = tuple(programs)
        self._cells: dict[tuple[str, str, str], tuple[OperationSequence, ...]] = {}
        self._roots: dict[tuple[str, str], Branch] = {}
        self._starts: dict[str, frozenset[tuple[str, ...]]] = {}

    def find(self, kind: str = "", answer: str = "", anchoring: str = "") -> tuple[OperationSequence, ...]:
        """The programs of a computing kind and an answer type that can keep so many of the anchor's hops."""
        key = (kind, answer, anchoring)
        if key not in self._cells:
            self._cells[key] = tuple(
                program
                for program in self.programs
                if (kind in program.kinds if kind else _ASKED_ALONE.isdisjoint(program.kinds))
                and (not answer or answer == program.answer)
                and (anchoring != "2" or program.pairs)
                and (anchoring not in ("1", "0") or program.roots)
            )
        return self._cells[key]

    def root(self, kind: str = "", answer: str = "") -> Branch:
        """The programs of a computing kind and an answer type that need no anchor, from their first hop on."""
        key = (kind, answer)
        if key not in self._roots:
            self._roots[key] = Branch(self.find(kind, answer))
        return self._roots[key]

    def starts(self, anchoring: str) -> frozenset[tuple[str, ...]]:
        """What may read an anchor, so many of whose own hops are kept; empty where an anchor need not be read."""
        if anchoring not in self._starts:
            found = {one.names_after_anchor(int(anchoring)) for one in self.find(anchoring=anchoring)}
            self._starts[anchoring] = frozenset() if None in found else frozenset(one for one in found if one)
        return self._starts[anchoring]

    @functools.cached_property
    def keeps_pairs(self) -> bool:
        """Whether a good part of the programs can keep both hops of an anchor question."""
        total = sum(program.weight for program in self.programs)
        return sum(program.weight for program in self.programs if program.pairs) > 0.25 * total

    @functools.cached_property
    def cells(self) -> dict[str, dict[str, float]]:
        """Computing kind → types of answers that it can end in, with the weight of the programs that do."""
        found: dict[str, dict[str, float]] = {}
        for program in self.programs:
            for kind in program.kinds:
                answers = found.setdefault(kind, {})
                answers[program.answer] = answers.get(program.answer, 0.0) + program.weight
        return found


@functools.lru_cache(128)
def load_sequence_index(
    topology: Topology, odds: tuple[tuple[str, float], ...] = (), claimed: bool = False
) -> OperationSequenceIndex:
    """The book of a topology. `odds`: operations that are chosen more seldom than others, with how readily.

    `claimed`: of the programs that take one number from a claim; else of those that take none.
    """
    if not odds:
        return OperationSequenceIndex(topology, _list_programs(topology.depends_on, claimed))
    factors = dict(odds)
    return OperationSequenceIndex(
        topology, [_weigh(one, factors) for one in load_sequence_index(topology, (), claimed).programs]
    )


def _weigh(program: OperationSequence, factors: Mapping[str, float]) -> OperationSequence:
    weight = program.weight
    for operation in program.operations:
        weight *= factors.get(operation.name, 1.0)
    return replace(program, weight=weight)


def _list_programs(depends_on: tuple[tuple[int, ...], ...], claimed: bool) -> list[OperationSequence]:
    known = _WITH_CLAIMS if claimed else OPERATIONS
    if len(depends_on) <= _ENUMERATED:
        found: Iterator[tuple[Operation, ...]] = _enumerate((), depends_on, known)
    else:
        found = _sample(depends_on, known)
    programs = {}
    for operations in found:
        if sum(one.name in _OF_CLAIMS for one in operations) == claimed and _reads_well(operations):
            weight = 1.0
            for one in operations:
                weight *= one.weight
            weight *= operations[-1].final
            if operations[-1].name in _OF_A_LIFE and any(one.name in CHOOSING_FROM_LISTS for one in operations):
                weight *= _LIFE_OF_CHOSEN
            computing = sum(bool(one.kind) for one in operations)
            programs[tuple(one.name for one in operations)] = OperationSequence(
                operations, depends_on, weight ** (4 / (3 + len(operations))) * 0.4 ** max(0, computing - 1)
            )
    return list(programs.values())


def _enumerate(
    before: tuple[Operation, ...], depends_on: tuple[tuple[int, ...], ...], known: Sequence[Operation]
) -> Iterator[tuple[Operation, ...]]:
    if len(before) == len(depends_on):
        yield before
        return
    for operation in _fitting(before, depends_on, known):
        yield from _enumerate((*before, operation), depends_on, known)


def _sample(depends_on: tuple[tuple[int, ...], ...], known: Sequence[Operation]) -> Iterator[tuple[Operation, ...]]:
    rng = random.Random(str(depends_on))
    for _ in range(_SAMPLED if known is OPERATIONS else _OFTEN * _SAMPLED):
        chosen: tuple[Operation, ...] = ()
        while len(chosen) < len(depends_on):
            options = _fitting(chosen, depends_on, known)
            if not options:
                break
            # Look-ups rather, or a long chain would be all sums, and all lists.
            likings = [min(one.weight, _MOST_LIKED) * (0.35 if one.kind else 1) for one in options]
            chosen = (*chosen, rng.choices(options, likings)[0])
        else:
            yield chosen


def _fitting(
    before: Sequence[Operation], depends_on: tuple[tuple[int, ...], ...], known: Sequence[Operation]
) -> list[Operation]:
    place = len(before)
    last = place == len(depends_on) - 1
    types = sorted(before[need - 1].gives for need in depends_on[place])
    return [
        one
        for one in known
        if sorted(one.takes) == types
        and (one.final > 0 if last else one.inner or (known is _WITH_CLAIMS and one.name in _BEFORE_CLAIMS))
        and not any((before[need - 1].name, one.name) in _INCOMPATIBLE_OPERATIONS for need in depends_on[place])
        and all(one.name in _READERS.get(before[need - 1].name, (one.name,)) for need in depends_on[place])
        and _has_reader(one, place, depends_on, known)
    ]


def _has_reader(
    operation: Operation, place: int, depends_on: tuple[tuple[int, ...], ...], known: Sequence[Operation]
) -> bool:
    """Whether some operation could read this one's result together with something else."""
    for needs in depends_on:
        if place + 1 in needs:
            return any(operation.gives in one.takes and len(one.takes) == len(needs) for one in known)
    return True


def _reads_well(operations: Sequence[Operation]) -> bool:
    names = Counter(one.name for one in operations)
    computing = sum(bool(one.kind) for one in operations)
    size = len(operations)
    if not 1 <= computing <= (1 if size <= 2 else 2 if size <= 5 else 3):
        return False
    if size - computing < (2 if size >= 4 else 1):
        return False
    roots = sum(not one.takes for one in operations)
    if roots > 1 and names["first-of"] and (operations[0].name != "first-of" or names["lead"]):
        return False  # beside a list stands an event of what those listed share
    if size == _ENUMERATED and (names["apart"] or names["age-in-year"]):
        return False  # two years that are subtracted for the sake of it
    of_two = [place for place, one in enumerate(operations) if one.name in JOINT_OPERATIONS | COUNTING_JOINT]
    if len(of_two) > 1:
        return False  # what the partner of two made with a third
    goes_on = _AFTER_OTHER_WORK.get(operations[0].name)
    if goes_on and tuple(one.name for one in operations[2:]) not in goes_on:
        return False  # who worked on somebody's first film is asked for to see what else the two made
    if not goes_on and any(before.name == "extend" for place in of_two for before in operations[:place]):
        return False  # what two made together is asked of who had a part in a named work, not in one to be found
    chosen = [place for place, one in enumerate(operations) if one.name in _CHOOSING]
    if chosen and [one.name for one in operations[chosen[0] + 1 :]][-2:] == ["extend", "extend"]:
        return False  # where whoever scored the last film of two was born is a step too many
    if any(
        one.name == "next-after-joint" and (not place or operations[place - 1].name not in JOINT_OPERATIONS)
        for place, one in enumerate(operations)
    ):
        return False  # what comes next is asked where something else has ended
    if operations[-1].name == "date" and not names.keys().isdisjoint(CHOOSING_FROM_LISTS):
        return False  # the very day on which somebody was born is of no use to who wonders what two made
    if names["first-of"] and names["holder"]:
        return False  # who was president when the youngest of four died
    if names["first-of"] and names["extend"] > 1:
        return False  # one of a list, and then places within places
    if names["first-of"] and (names["age-in-year"] or names["age-found"]):
        return False  # what is found from one of a list is often the same for all
    if names["first-of"] and not names.keys().isdisjoint(LIST_OPERATIONS):
        return False  # one of a list, and then one of another
    claimed = not names.keys().isdisjoint(_OF_CLAIMS)
    if size <= _ENUMERATED and (names["count-all"] or names["choose"]) and not claimed:
        return False  # how many pairs a country's neighbours make
    if size == _ENUMERATED and names["compare"]:
        return False  # which of two was the older is a toss of a coin, and nobody wants to know where that one died
    if size <= _ENUMERATED and names["compare"] and operations[-1].name in ("date", "year"):
        return False  # nobody wants to know when the younger of two died
    if names["extend"] and any(one in NAMED_LIST_OPERATIONS for one in names) and operations[1].name == "extend":
        return False  # the mother of a predecessor
    if names["named-event"] and (names["named-year"] or names["named-birth"] or names["named-date"]):
        return False  # who held the year of somebody's death, and how old in that of their birth
    if names["named-event"] and operations[0].name != "named-event":
        return False  # a second branch starts from what the first names
    if size == _ENUMERATED and {one.kind for one in operations} <= {"", "temporal"}:
        return False  # two dates that are subtracted, and no way
    if names["end-member"] or names["named-member"]:  # a member is found to see what recurs in its series, and once
        # In a short plan the way begins with a member of the series, not with somebody whom any fact leads to.
        begun = size > _ENUMERATED or bool(names["named-member"])
        return names["end-member"] == 1 and begun and names.keys() <= _BESIDE_SERIES
    joint = not names.keys().isdisjoint(JOINT_OPERATIONS | COUNTING_JOINT)
    if joint and size == _ENUMERATED and not names.keys() <= _BESIDE_JOINT:
        return False  # what somebody won says nothing of their other work; one choice of a list is enough
    if operations[-1].name in _OF_A_LIFE and not names.keys().isdisjoint(
        CHOOSING_FROM_LISTS if size == _ENUMERATED else JOINT_OPERATIONS
    ):
        return False  # when the editor of what two made was born, or the loser of somebody's last final
    if not names.keys().isdisjoint(OF_BOTH) and names["most-of-all"]:
        return False  # whoever makes films is no member of a set that is known to the last
    if names["named-holder"] and names["named-holder"] != roots and names.keys().isdisjoint(OF_BOTH):
        return False  # two holders are compared with each other
    joined = names["compare"] or not names.keys().isdisjoint(OF_BOTH)
    if names["named-holder"] and (names["holder"] or (roots > 1 and not joined)):
        return False  # a laureate's age when another of that list died is nothing that anybody asks
    if size <= _ENUMERATED and (names["holder"] or names["most-of-its"]):
        return False  # everybody dies while somebody is in office; nobody asks for a country's smallest neighbour
    if names["neighbour-of-both"] and roots > 1 and len({one.name for one in operations if not one.takes}) > 1:
        return False  # of two countries that are found in different ways nobody asks what lies between them
    if operations[0].name in ("named-year", "named-birth", "named-date"):
        return False  # the year of what no step has named yet
    # A plain graph of named numbers asks for nothing but arithmetic.
    entities = sum(one.gives == "entity" for one in operations)
    return size <= 3 or entities >= 1
