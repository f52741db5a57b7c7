"""Claims as the planner takes them: with the entities of the graph that they mention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hopwright.knowledge.source import FactGraph
from hopwright.records import Claim
from hopwright.text.matching import telling_words


@dataclass(frozen=True, slots=True)
class LinkedClaim:
    """A claim, what its names may mean in the graph, and the telling words of those names."""

    claim: Claim
    entities: frozenset[str]
    words: frozenset[str]

    @property
    def reference(self) -> str:
        """How an expression refers to it."""
        return f'claim("{self.claim.id}")'


def link_claims(claims: Sequence[Claim], graph: FactGraph) -> tuple[LinkedClaim, ...]:
    """Claims in the order of their ids, so that the order of a bank's lines does not matter.

    A name that several entities bear means all of them: none may be in a plan beside the claim.
    """
    return tuple(link_claim(claim, graph) for claim in sorted(claims, key=lambda one: one.id))


def link_claim(claim: Claim, graph: FactGraph) -> LinkedClaim:
    """One claim with what its names may mean."""
    entities = frozenset(id for name in claim.names for id in graph.bearers(name))
    return LinkedClaim(claim, entities, frozenset(word for name in claim.names for word in telling_words(name)))
