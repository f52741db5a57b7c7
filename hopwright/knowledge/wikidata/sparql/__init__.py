"""Literals, names and look-ups from any SPARQL 1.1 endpoint (`docs/literals.md`)."""

from hopwright.knowledge.wikidata.sparql.cache import AnswerCache
from hopwright.knowledge.wikidata.sparql.client import SparqlClient
from hopwright.knowledge.wikidata.sparql.export import write_literals
from hopwright.knowledge.wikidata.sparql.literals import (
    FetchedLiteral,
    LiteralSource,
    known_literal_properties,
)
from hopwright.knowledge.wikidata.sparql.names import count_namesakes, list_namesakes
from hopwright.knowledge.wikidata.sparql.settings import SparqlSettings
from hopwright.knowledge.wikidata.sparql.verify import (
    FactCheck,
    verify_facts,
    verify_items,
    verify_lookup,
    verify_reverse,
)

__all__ = [
    "AnswerCache",
    "FactCheck",
    "FetchedLiteral",
    "LiteralSource",
    "SparqlClient",
    "SparqlSettings",
    "count_namesakes",
    "known_literal_properties",
    "list_namesakes",
    "verify_facts",
    "verify_items",
    "verify_lookup",
    "verify_reverse",
    "write_literals",
]
