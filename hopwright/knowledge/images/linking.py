"""From what a source calls a thing to the entity of the graph; where that is not certain, to none.

A code or a name is never trusted by itself: the graph has to know exactly one living entity of the right kind by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hopwright.knowledge.images.pictures import PictureName
from hopwright.knowledge.source import EntityKinds, FactGraph
from hopwright.text.matching import fold


class LinkingSource(Protocol):
    """What linking asks of a source of facts."""

    @property
    def graph(self) -> FactGraph:
        """Entities and their names."""
        ...

    @property
    def kinds(self) -> EntityKinds:
        """What entities are."""
        ...


@dataclass(frozen=True, slots=True)
class Linked:
    """The entity of a picture, or why there is none: `reason` is empty where there is one."""

    entity: str = ""
    reason: str = ""


_FORMER = ("former", "historical", "colony", "empire")


def link_picture(name: PictureName, source: LinkingSource) -> Linked:
    """The one entity that a picture's name means.

    A given id counts where the graph knows it. Of names, the first that any entity of the kind has as its label
    decides; else the first by which the graph knows anybody. Several, or none, are no link.
    """
    if name.entity:
        known = name.entity in source.graph and source.graph.label(name.entity)
        return Linked(name.entity) if known else Linked(reason="the graph does not know the entity")
    if not name.names:
        return Linked(reason="the source says of nothing in the graph that it is shown")
    for by_label in (True, False):
        for one in _usable(name.names):
            found = _list_bearers(one, name.kind, source, by_label=by_label)
            if len(found) > 1:
                return Linked(reason=f"{len(found)} entities are called {one!r}")
            if found:
                return Linked(found[0])
        # A brand's mark is linked by its label alone: by a nickname, `MTA` is an academy of sciences.
        if name.kind == "organization":
            break
    return Linked(reason="the graph knows nobody of that name")


def _usable(names: Sequence[str]) -> list[str]:
    """Names that say enough: a code of two or three letters is anybody's alias."""
    return [one for one in names if len(one) > 3 and not one.isdigit()]


def _list_bearers(name: str, kind: str, source: LinkingSource, *, by_label: bool) -> list[str]:
    found = []
    for one in source.graph.bearers(name, by_label=by_label):
        noun = source.kinds.noun(one)
        if (kind and source.kinds.kind(one) != kind) or any(word in noun for word in _FORMER):
            continue
        if by_label and fold(source.graph.label(one)) != fold(name):
            continue
        found.append(one)
    return found
