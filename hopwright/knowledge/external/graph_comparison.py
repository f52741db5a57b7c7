"""What a graph says about a claim: whom its names may mean, and whether it holds the number already."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from hopwright.knowledge.external.linking import link_claim
from hopwright.knowledge.facts import GraphFacts
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.source import FactGraph
from hopwright.records import Claim, Rejected

CHECK = "claim_in_graph"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ClaimEntities:
    """A claim, and the entities that its names may mean, as `Q43653 (Apollo program)`."""

    claim: Claim
    entities: tuple[str, ...]


def compare_claims_with_graph(
    claims: Iterable[Claim], graph: FactGraph, table: PropertyTable
) -> tuple[list[ClaimEntities], list[Rejected]]:
    """Link every claim to the graph, and refuse those whose number is a literal there of something that they name.

    Whether a count is among the graph's facts, a machine cannot tell: the links show an expert where to look.
    """
    facts = GraphFacts(graph, table)
    links, refused = [], []
    for claim in claims:
        entities = sorted(link_claim(claim, graph).entities, key=lambda id: (-graph.degree(id), id))
        held = next((text for id in entities if (text := _find_literal(claim, id, graph, facts, table))), "")
        if held:
            refused.append(Rejected(key=claim.id, check=CHECK, reason=held, row=claim.model_dump_json()))
        links.append(ClaimEntities(claim, tuple(f"{id} ({graph.label(id)})" for id in entities[:_SHOWN])))
    return links, refused


def _find_literal(claim: Claim, id: str, graph: FactGraph, facts: GraphFacts, table: PropertyTable) -> str:
    """The literal of an entity that is the claim's number in its unit; empty without one."""
    for literal in graph.literals(id):
        entry = table.literal.get(literal.property)
        if entry is None or entry.value != "number" or entry.unit != claim.unit:
            continue
        for value in facts.scalars(id, literal.property):
            if not isinstance(value, dt.date) and Decimal(value) == Decimal(claim.number):
                return f"the graph holds it: {literal.property_label} of {graph.label(id)} ({id}) is {claim.value}"
    return ""
