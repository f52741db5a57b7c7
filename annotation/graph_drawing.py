"""The picture of an item's reasoning graph: hops as boxes in columns of equal depth, dependencies as arrows.

Any acyclic graph of 1 to 8 hops is drawn; texts are shortened to fit their box and escaped by the template.
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from hopwright.records import Compute, Item
from hopwright.reporting.rendering import load_template

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _EDGE = 164, 46, 32, 10, 4
_CHARACTERS = 19
_FILL = {"look-up": ("#e8f1fb", "#3f7fbf"), "computation": ("#fdf0d9", "#c07a00")}


@dataclass(frozen=True, slots=True)
class HopBox:
    """One hop's box: place and size in pixels, and its two lines of text."""

    index: int
    x: float
    y: float
    caption: str
    text: str
    fill: str
    stroke: str
    strong: bool
    width: int = _WIDTH
    height: int = _HEIGHT


@dataclass(frozen=True, slots=True)
class DependencyArrow:
    """One dependency: the curve and the arrow head, as SVG paths."""

    source: int
    target: int
    path: str
    head: str


def draw_graph(item: Item, strong: int | None = None) -> Markup:
    """The graph as an `<svg>` element that scales to the width that it is given.

    The box of hop `strong` has a strong border; by default the last one's.
    """
    nodes, edges = lay_out(item, strong)
    return Markup(  # safe: the template escapes every text
        load_template("annotation", "graph.svg.j2").render(
            nodes=nodes,
            edges=edges,
            width=max(node.x + node.width for node in nodes) + _EDGE,
            height=max(node.y + node.height for node in nodes) + _EDGE,
        )
    )


def lay_out(item: Item, strong: int | None = None) -> tuple[list[HopBox], list[DependencyArrow]]:
    """Place every hop in the column of its depth, columns centred on one another."""
    depth: dict[int, int] = {}
    for hop in item.hops:
        depth[hop.index] = 1 + max((depth[needed] for needed in hop.depends_on), default=-1)
    _push_late(item, depth)
    columns: dict[int, list[int]] = {}
    for index in sorted(depth):
        columns.setdefault(depth[index], []).append(index)
    tallest = max(len(column) for column in columns.values())
    nodes: dict[int, HopBox] = {}
    for hop in item.hops:
        column = columns[depth[hop.index]]
        above = (tallest - len(column)) / 2 + column.index(hop.index)
        kind = "computation" if isinstance(hop.derivation, Compute) else "look-up"
        fill, stroke = _FILL[kind]
        nodes[hop.index] = HopBox(
            index=hop.index,
            x=_EDGE + depth[hop.index] * (_WIDTH + _GAP_X),
            y=_EDGE + above * (_HEIGHT + _GAP_Y),
            caption=f"hop {hop.index} · {kind}",
            text=_shorten(hop.answer),
            fill=fill,
            stroke=stroke,
            strong=hop.index == (strong or item.hops[-1].index),
        )
    edges = [_connect(nodes[needed], nodes[hop.index]) for hop in item.hops for needed in sorted(hop.depends_on)]
    return [nodes[hop.index] for hop in item.hops], edges


def _push_late(item: Item, depth: dict[int, int]) -> None:
    """Move a hop that starts a branch next to the hop that needs it, so that no arrow runs behind a box."""
    for hop in item.hops:
        users = [other.index for other in item.hops if hop.index in other.depends_on]
        if not hop.depends_on and users:
            depth[hop.index] = min(depth[user] for user in users) - 1


def _connect(source: HopBox, target: HopBox) -> DependencyArrow:
    x1, y1 = source.x + source.width, source.y + source.height / 2
    x2, y2 = target.x, target.y + target.height / 2
    bend = (x2 - x1) / 2
    return DependencyArrow(
        source=source.index,
        target=target.index,
        path=f"M{x1:g},{y1:g} C{x1 + bend:g},{y1:g} {x2 - bend - 6:g},{y2:g} {x2 - 6:g},{y2:g}",
        head=f"M{x2 - 8:g},{y2 - 4.5:g} L{x2:g},{y2:g} L{x2 - 8:g},{y2 + 4.5:g} Z",
    )


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _CHARACTERS else line[: _CHARACTERS - 1].rstrip() + "…"
