"""The list of faults, and what those of every family are planted with."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Item
from hopwright.release.format import to_release

Row = dict[str, Any]
_PLANTERS: dict[str, tuple[Callable[[Row, GraphStore], Iterator[Row]], tuple[str, ...], bool]] = {}


@dataclass(frozen=True)
class Fault:
    """A faulty row; at least one of `checks` must name it, and without a graph too unless `needs_graph`."""

    kind: str
    row: Row
    checks: tuple[str, ...]
    needs_graph: bool


def kinds(family: str = "") -> tuple[str, ...]:
    """The names of all kinds of faults, or of those of a family: a module beside this one."""
    return tuple(kind for kind, (planter, *_) in _PLANTERS.items() if planter.__module__.endswith(family))


def plant_faults(item: Item, graph: GraphStore) -> Iterator[Fault]:
    """Every fault that can be planted in an item, one at a time."""
    row = to_release(item)
    for kind, (planter, checks, needs_graph) in _PLANTERS.items():
        for faulty in planter(copy.deepcopy(row), graph):
            yield Fault(kind, copy.deepcopy(faulty), checks, needs_graph)


def fault(*checks: str, needs_graph: bool = False):
    """Puts a planter on the list: from a row to its faulty copies, and the checks of which one must notice."""

    def register(planter):
        _PLANTERS[planter.__name__] = (planter, checks, needs_graph)
        return planter

    return register


def each_hop(row: Row) -> Iterator[tuple[Row, Row]]:
    """(a copy of the row, one of its hops), hop by hop."""
    for position in range(len(row["single_hop"])):
        faulty = copy.deepcopy(row)
        yield faulty, faulty["single_hop"][position]


def copy_to_item(row: Row) -> Row:
    """The row, with what its question takes over from its last hop."""
    last = row["single_hop"][-1]
    row["multiple_choice_options"] = dict(last["multiple_choice_options"])
    row["correct_answer_label"] = last["correct_answer_label"]
    row["multi_hop_answer"] = last["answer"]
    return row


def swap_option(row: Row, hop: Row, old: str, new: str) -> Row:
    """Replace the text of a distractor and of its option."""
    for distractor in hop["distractors"]:
        if distractor["text"] == old:
            distractor.update(text=new, id=None)
    options = hop["multiple_choice_options"]
    hop["multiple_choice_options"] = {label: new if text == old else text for label, text in options.items()}
    return copy_to_item(row)
