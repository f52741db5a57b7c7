"""Literals, names and look-ups from any SPARQL 1.1 endpoint (`docs/literals.md`)."""

from hopwright.knowledge.wikidata.sparql.cache import AnswerCache
from hopwright.knowledge.wikidata.sparql.client import SparqlClient
from hopwright.knowledge.wikidata.sparql.export import LiteralReport, write_literals
from hopwright.knowledge.wikidata.sparql.literals import (
    Batch,
    FetchedLiteral,
    Harvest,
    LiteralSource,
    are_comparable,
    fetch_literals,
    known_literal_properties,
)
from hopwright.knowledge.wikidata.sparql.names import Namesakes, count_namesakes, describe_entities, list_namesakes
from hopwright.knowledge.wikidata.sparql.settings import WIKIDATA, SparqlSettings
from hopwright.knowledge.wikidata.sparql.verify import (
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
