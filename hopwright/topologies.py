"""Reasoning graphs as data: a name, the published motif's name, and which hops each hop depends on."""

from __future__ import annotations

from dataclasses import dataclass

from hopwright.registry import Registry


@dataclass(frozen=True, slots=True)
class Topology:
    """A directed acyclic graph over hops 1…n; `depends_on[i]` lists the hops that hop i + 1 needs."""

    name: str
    motif: str
    depends_on: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.depends_on)


# The three 4-hop graphs of MuSiQue (figure 2) and Omanic (figure 6), and the shorter ones.
_BUILT_IN = (
    Topology("chain", "Chain", ((), (1,), (2,), (3,))),
    Topology("converging", "Converging", ((), (), (1, 2), (3,))),
    Topology("bridge", "Bridge", ((), (1,), (), (2, 3))),
    Topology("chain-2", "Chain", ((), (1,))),
    Topology("chain-3", "Chain", ((), (1,), (2,))),
    Topology("converging-3", "Converging", ((), (), (1, 2))),
    Topology("chain-5", "Chain", ((), (1,), (2,), (3,), (4,))),
    Topology("tree-7", "Converging", ((), (1,), (), (3,), (), (5,), (2, 4, 6))),
)
TOPOLOGIES = Registry[Topology]("hopwright.topologies", "topology", {one.name: one for one in _BUILT_IN})
"""Name → topology. Another package adds one as an entry point of this group, under the topology's name."""


def topology(name: str) -> Topology:
    """Return the topology of that name. Raises InputError naming the known ones."""
    return TOPOLOGIES.find(name)

PICTURE_TOPOLOGIES: dict[str, Topology] = {
    one.name: one
    for one in (
        *(TOPOLOGIES.find(name) for name in ("chain-3", "chain", "chain-5", "converging-3", "converging")),
        Topology("converging-5", "Converging", ((), (), (1, 2), (3,), (4,))),
        Topology("triple", "Converging", ((), (), (), (1, 2, 3))),
        Topology("triple-5", "Converging", ((), (), (), (1, 2, 3), (4,))),
    )
}
"""The graphs of questions about pictures: a chain from one picture, or two or three pictures that meet."""
