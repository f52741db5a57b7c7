"""Items drafted from the shipped sample, for tests that need real ones: one growing supply for all test processes."""

from __future__ import annotations

import contextlib
import functools
import pickle
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from hopwright.checks import run_checks
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import read_computation
from hopwright.planning.operations import OPERATIONS
from hopwright.planning.planner import NoPlanError, Planner
from hopwright.planning.target_distribution import SamplingPreferences
from hopwright.records import Anchor, Compute, Item
from hopwright.stages.drafting import Synthesizer
from hopwright.topologies import topology as find_topology
from tests.shared import locked

_Form = TypeVar("_Form")

SEED = 3
_STEP, _MOST_SLOTS = 20, 8_000
_shared: dict[GraphStore, Path] = {}


def share_drafts(graph: GraphStore, folder: Path) -> None:
    """Let the processes that have opened this graph draft each slot once for all, and keep it in this folder."""
    _shared[graph] = folder


def draft_items(graph: GraphStore, count: int = 150) -> tuple[Item, ...]:
    """The first `count` different checked items around entities from all over the sample; ten or so take a second."""
    return _get_supply(graph).take(count)


class _Supply:
    """Drafts slots only as far as somebody asks for items."""

    def __init__(self, graph: GraphStore) -> None:
        self.anchors = [
            Anchor(question_id=f"q-{id}", question="?", answer=graph.label(id), entity=id, entity_label=graph.label(id))
            for id in list(graph.entities())[::11]
            if 4 < graph.degree(id) <= 400
        ]
        self._synthesizer = Synthesizer(graph, default_table(), seed=SEED)
        self._items: dict[str, Item] = {}
        self._slots = 0
        self._folder = _shared.get(graph)

    def take(self, count: int) -> tuple[Item, ...]:
        if len(self._items) < count:
            if self._folder is None:
                self._draft(count)
            else:
                with locked(self._folder / "drafts.lock"):
                    self._share(count, self._folder / "drafts.pickle")
        return tuple(self._items.values())[:count]

    def _share(self, count: int, kept: Path) -> None:
        if kept.exists():
            self._items, self._slots = pickle.loads(kept.read_bytes())
        if len(self._items) < count:
            self._draft(count)
            kept.write_bytes(pickle.dumps((self._items, self._slots)))

    def _draft(self, count: int) -> None:
        while len(self._items) < count:
            if self._slots >= _MOST_SLOTS:
                raise AssertionError(f"only {len(self._items)} items from {self._slots} slots")
            for item in self._synthesizer.draft(self.anchors, self._slots, _STEP)[0]:
                self._items.setdefault(item.id, item)
            self._slots += _STEP


def find_computations(items: Iterable[Item], pattern: re.Pattern[str]) -> list[tuple[Item, int]]:
    """Items, and the place (from 0) of each of their hops whose expression has a pattern in it."""
    return [
        (item, hop.index - 1)
        for item in items
        for hop in item.hops
        if isinstance(hop.derivation, Compute) and pattern.search(hop.derivation.expression)
    ]


def find_forms(items: Iterable[Item], form: type[_Form]) -> list[tuple[Item, int, _Form]]:
    """Items, the place (from 0) of each of their hops that computes in a form, and what it computes."""
    return [
        (item, hop.index - 1, found)
        for item in items
        for hop in item.hops
        if isinstance(found := read_computation(hop.derivation), form)
    ]


@functools.cache
def _get_supply(graph: GraphStore) -> _Supply:
    return _Supply(graph)


@functools.cache
def draft_others(graph: GraphStore, topology: str, slots: int = 60) -> tuple[Item, ...]:
    """Checked items of another topology than the usual three, from so many slots."""
    return draft_once(graph, f"{topology}-{slots}", lambda: _draft_others(graph, topology, slots))


def draft_once(graph: GraphStore, name: str, draft: Callable[[], tuple[Item, ...]]) -> tuple[Item, ...]:
    """What `draft` gives, which one of the test processes that share the graph calls for all."""
    folder = _shared.get(graph)
    if folder is None:
        return draft()
    kept = folder / f"drafts-{name}.pickle"
    with locked(kept.with_suffix(".lock")):
        if not kept.exists():
            kept.write_bytes(pickle.dumps(draft()))
        items: tuple[Item, ...] = pickle.loads(kept.read_bytes())
    return items


def _draft_others(graph: GraphStore, topology: str, slots: int) -> tuple[Item, ...]:
    synthesizer = Synthesizer(graph, default_table(), seed=SEED, topologies=(topology,))
    return tuple(synthesizer.draft(_get_supply(graph).anchors, 0, slots)[0])


@functools.cache
def draft_ways(
    graph: GraphStore, topology: str, operations: str, draws: int = 300, focus: str = ""
) -> tuple[Item, ...]:
    """Checked items whose hops do nothing but these operations (names, apart by spaces), from so many plans drawn.

    focus: the domain in which they begin.
    """
    name = f"{topology}-{operations.replace(' ', '-')}-{draws}{focus}"
    return draft_once(graph, name, lambda: _draft_ways(graph, topology, frozenset(operations.split()), draws, focus))


def _draft_ways(
    graph: GraphStore, topology: str, operations: frozenset[str], draws: int, focus: str
) -> tuple[Item, ...]:
    assert operations <= {one.name for one in OPERATIONS}
    synthesizer = Synthesizer(graph, default_table(), seed=SEED)
    planner = Planner(WikidataSource(graph, default_table()))
    others = tuple((one.name, 0.0) for one in OPERATIONS if one.name not in operations)
    items: dict[str, Item] = {}
    for draw in range(draws):
        with contextlib.suppress(NoPlanError):
            plan = planner.draw(
                find_topology(topology), "", f"{SEED}:{draw}",
                preferences=SamplingPreferences(odds=others, focus=focus), tries=10,
            )  # fmt: skip
            item = plan.id not in items and synthesizer.compose(plan)
            if isinstance(item, Item) and all(one.outcome != "fail" for one in run_checks(item, synthesizer.context)):
                items[plan.id] = item
    return tuple(items.values())


def draft_deaths(graph: GraphStore) -> tuple[Item, ...]:
    """Checked items that choose the first or the last of a list by somebody's death: few of the usual ones do."""
    return draft_ways(graph, "bridge", "lead year date next-of-its next-of-its-in-year", 200)


def draft_numbers(graph: GraphStore) -> tuple[Item, ...]:
    """Checked items of the topologies that plan numbers; the usual three hardly do."""
    topologies = ("chain-2", "chain-3", "converging-3", "chain-5")
    return tuple(item for name in topologies for item in draft_others(graph, name))
