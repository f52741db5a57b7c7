"""A SPARQL service does not decide how much of its answer is read."""

from __future__ import annotations

import pytest

from hopwright.errors import ServiceError
from hopwright.foreign import BODY_VARIABLE
from hopwright.knowledge.wikidata.sparql.client import SparqlClient
from hopwright.knowledge.wikidata.sparql.settings import SparqlSettings
from tests.hostile_servers import MANNERS, Manner, serve_hostile

MIB = 1 << 20


def ask(url: str) -> str:
    client = SparqlClient(SparqlSettings(endpoint=url, max_tries=1, timeout_s=20), sleep=lambda _: None)
    with pytest.raises(ServiceError) as caught:
        client.select("SELECT * { ?s ?p ?o }")
    return str(caught.value)


@pytest.mark.parametrize("manner", MANNERS)
def test_an_answer_is_read_up_to_the_limit(manner: Manner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BODY_VARIABLE, "1")
    with serve_hostile(manner) as server:
        said = ask(server.url)
    assert ("was not asked for" if manner == "unknown packing" else "longer than 1 MiB") in said
    assert "\n" not in said and server.sent < 16 * MIB


@pytest.mark.parametrize("status", [400, 401, 404, 414, 429, 500, 503])
def test_of_an_error_only_the_beginning_is_read(status: int) -> None:
    with serve_hostile("endless", status=status) as server:
        said = ask(server.url)
    assert f"HTTP {status}" in said and len(said) < 500
    assert server.sent < 16 * MIB
