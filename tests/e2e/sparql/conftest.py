"""The servers that these tests ask: one holds the sample, one a small graph in Wikidata's statement model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hopwright.knowledge.wikidata.store import GraphStore
from tests.e2e.sparql.asking import AREA, BORN, HEIGHT, HOSTILE, PLACE
from tests.sparql_servers import Oxigraph, Statements, describe_line, name_line, write_plain


@pytest.fixture(scope="package")
def served_sample(sample: GraphStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The sample as plain triples, with hostile names; the server's address."""
    folder = tmp_path_factory.mktemp("sample")
    extra = [name_line(f"Q{10**9 + number}", name) for number, name in enumerate(HOSTILE)]
    extra += [name_line("Q1000000000", "Robert", alias=True), describe_line("Q17", "country in East Asia")]
    extra += [name_line("Q1000000101", "Twin Peak"), name_line("Q1000000102", "Twin Peak", language="mul")]
    extra += [name_line("Q1000000103", "Twin Peak", alias=True), name_line("Q1000000104", "Twin Peak")]
    extra += [
        "<http://www.wikidata.org/entity/Q1000000104> <http://www.wikidata.org/prop/direct/P31> "
        "<http://www.wikidata.org/entity/Q4167410> ."
    ]
    write_plain(sample, folder / "kg.nt", extra)
    with Oxigraph(folder, folder / "kg.nt") as server:
        yield server.url


@pytest.fixture(scope="package")
def statements(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A small graph in Wikidata's statement model; the server's address."""
    graph = Statements()
    graph.quantity("Q901", AREA, "+385", "Q712226")
    graph.quantity("Q902", AREA, "+385000000", "Q25343")
    graph.quantity("Q903", AREA, "+100", "Q35852", rank="Preferred")
    graph.quantity("Q903", AREA, "+999", "Q712226")
    graph.quantity("Q903", AREA, "+5", "Q712226", rank="Deprecated")
    graph.quantity("Q904", AREA, "+7", "Q712226", rank="Deprecated")
    graph.quantity("Q905", AREA, "+12", "Q1234567")
    graph.quantity("Q906", HEIGHT, "+10", "Q3710")
    graph.quantity("Q907", HEIGHT, "+304.8", "Q174728")
    graph.time("Q911", BORN, "1905-07-03T00:00:00Z", 11)
    graph.time("Q912", BORN, "1905-07-01T00:00:00Z", 10)
    graph.time("Q913", BORN, "1905-01-01T00:00:00Z", 9)
    graph.time("Q914", BORN, "1800-01-01T00:00:00Z", 7)
    graph.time("Q915", BORN, "1609-03-14T00:00:00Z", 11, calendar="Q1985786")
    graph.time("Q916", BORN, "1700-01-01T00:00:00Z", 9)
    graph.nothing("Q916", BORN, rank="Preferred")
    graph.time("Q917", BORN, "-0043-03-15T00:00:00Z", 11)
    graph.point("Q921", PLACE, "51.5", "-0.125")
    graph.point("Q922", PLACE, "-4.5", "137.4", globe="Q111")
    graph.entity("Q931", "P57", "Q932")
    graph.entity("Q933", "P57", "Q932")
    graph.entity("Q933", "P57", "Q934")
    graph.entity("Q935", "P57", "Q932", rank="Deprecated")
    graph.entity("Q935", "P57", "Q934")
    graph.entity("Q936", "P57", "Q932")
    graph.entity("Q936", "P57", "Q934", rank="Preferred")
    graph.nothing("Q937", "P57")
    graph.same("Q938", "Q931")
    graph.same("Q939", "Q932")
    folder = tmp_path_factory.mktemp("statements")
    (folder / "kg.nt").write_text("\n".join(graph.lines) + "\n")
    with Oxigraph(folder, folder / "kg.nt") as server:
        yield server.url
