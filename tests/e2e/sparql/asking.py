"""Asking the servers of these tests, and what is asked for."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hopwright.knowledge.wikidata.sparql import (
    AnswerCache,
    FetchedLiteral,
    LiteralSource,
    SparqlClient,
    SparqlSettings,
)
from tests.sparql_servers import find_oxigraph

MARKS = [
    pytest.mark.e2e,
    pytest.mark.skipif(find_oxigraph() is None, reason="the SPARQL server (PyPI: oxigraph) is not installed"),
]
HOSTILE = (
    'Robert"); DROP ALL; #',
    "back\\slash \\u0022 and \\U00000022 too",
    "quote ' } UNION { ?s ?p ?o } #",
    "two\nlines\tand\ra return",
    '"""',
    "\\",
    "?x $y {{ }} <http://x> @en ^^xsd:int",
    "日本 Ελλάς 🇳🇴 e\u0301",
)
"""Names of the served sample that no query may take for a part of itself."""
AREA, BORN, BUILT, HEIGHT, PLACE = "P2046", "P569", "P571", "P2048", "P625"


@dataclass(frozen=True)
class Harvest:
    literals: tuple[FetchedLiteral, ...]
    origin: str
    note: str


def fetch_literals(client, ids, properties, store=None) -> Harvest:
    """Every batch of a source at once; its origin is `mixed` when the endpoint failed on the way."""
    source = LiteralSource(client, store)
    batches = list(source.batches(ids, properties))
    origins = {batch.origin for batch in batches}
    literals = tuple(literal for batch in batches for literal in batch.literals)
    return Harvest(literals, origins.pop() if len(origins) == 1 else "mixed", source.note)


def make_client(url: str, cache: AnswerCache | None = None, **settings: object) -> SparqlClient:
    defaults: dict[str, object] = {"endpoint": url, "first_wait_s": 0.02, "timeout_s": 20, "dialect": "truthy"}
    return SparqlClient(SparqlSettings.model_validate({**defaults, **settings}), cache)
