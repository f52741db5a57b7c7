"""Literals, names and look-ups from any SPARQL 1.1 endpoint (`docs/literals.md`)."""

from hopwright.graph.sparql.cache import AnswerCache
from hopwright.graph.sparql.client import SparqlClient
from hopwright.graph.sparql.export import LiteralReport, write_literals
from hopwright.graph.sparql.literals import (
    Batch,
    FetchedLiteral,
    Harvest,
    LiteralSource,
    are_comparable,
    fetch_literals,
    known_literal_properties,
)
from hopwright.graph.sparql.names import Namesakes, count_namesakes, describe_entities, list_namesakes
from hopwright.graph.sparql.settings import WIKIDATA, SparqlSettings
from hopwright.graph.sparql.verify import (
    Check,
    HopVerdict,
    ItemVerdict,
    Verdict,
    verify_facts,
    verify_items,
    verify_lookup,
    verify_reverse,
)

__all__ = [
    "WIKIDATA",
    "AnswerCache",
    "Batch",
    "Check",
    "FetchedLiteral",
    "Harvest",
    "HopVerdict",
    "ItemVerdict",
    "LiteralReport",
    "LiteralSource",
    "Namesakes",
    "SparqlClient",
    "SparqlSettings",
    "Verdict",
    "are_comparable",
    "count_namesakes",
    "describe_entities",
    "fetch_literals",
    "known_literal_properties",
    "list_namesakes",
    "verify_facts",
    "verify_items",
    "verify_lookup",
    "verify_reverse",
    "write_literals",
]
