"""Literals, names and look-ups from a real SPARQL server, with and without faults on the way."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hopwright.errors import ServiceError
from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.sparql import (
    AnswerCache,
    FactCheck,
    FetchedLiteral,
    LiteralSource,
    SparqlClient,
    SparqlSettings,
    count_namesakes,
    known_literal_properties,
    list_namesakes,
    verify_facts,
    verify_items,
    verify_lookup,
    verify_reverse,
    write_literals,
)
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Evidence, Hop, LiteralFact, ReverseLookup, Triplet
from tests.builders import LABEL, LITERALS, TRIPLETS, all_items, chain_item
from tests.sparql_servers import (
    FaultProxy,
    Oxigraph,
    Statements,
    describe_line,
    find_oxigraph,
    name_line,
    write_plain,
)


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


def are_comparable(one: FetchedLiteral, other: FetchedLiteral) -> bool:
    kept = not one.apart and not other.apart
    return kept and (one.fact.datatype, one.fact.unit) == (other.fact.datatype, other.fact.unit)


ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
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
AREA, BORN, BUILT, HEIGHT, PLACE = "P2046", "P569", "P571", "P2048", "P625"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> GraphStore:
    folder = tmp_path_factory.mktemp("store")
    ingest(ROOT / "data/sample", folder)
    return GraphStore.open(folder)


@pytest.fixture(scope="module")
def served_sample(store: GraphStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
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
    write_plain(store, folder / "kg.nt", extra)
    with Oxigraph(folder, folder / "kg.nt") as server:
        yield server.url


@pytest.fixture(scope="module")
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


def make_client(url: str, cache: AnswerCache | None = None, **settings: object) -> SparqlClient:
    defaults: dict[str, object] = {"endpoint": url, "first_wait_s": 0.02, "timeout_s": 20, "dialect": "truthy"}
    return SparqlClient(SparqlSettings.model_validate({**defaults, **settings}), cache)


def test_every_literal_of_the_sample_comes_back_as_it_was(
    served_sample: str, store: GraphStore, tmp_path: Path
) -> None:
    properties = known_literal_properties(store)
    ids = {id for property in properties for id in store.literal_subjects(property)}
    units = {
        fact.property: fact.unit
        for id in ids
        for fact in store.literals(id)
        if fact.datatype == "decimal"
    }  # fmt: skip
    report = write_literals(
        make_client(served_sample, truthy_units=units), ids, properties, tmp_path / "a.tsv.gz", store=store
    )
    want = gzip.decompress((ROOT / "data/sample/attribute_literals.tsv.gz").read_bytes()).decode().splitlines()
    got = gzip.decompress((tmp_path / "a.tsv.gz").read_bytes()).decode().splitlines()
    assert report.apart == {} and report.literals == len(want) > 10_000
    # The server drops plus signs and trailing zeros; everything else is the same text.
    assert sorted(map(_canonical, got)) == sorted(map(_canonical, want))


def test_a_graph_takes_in_what_was_fetched(served_sample: str, store: GraphStore, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in ("all_triplet", "entity", "relation"):
        file = f"wikidata5m_{name}.txt.gz"
        (corpus / file).write_bytes((ROOT / "data/sample" / file).read_bytes())
    dates = [p for p in known_literal_properties(store) if store.literals(store.literal_subjects(p)[0])]
    people = store.literal_subjects(BORN)
    write_literals(make_client(served_sample), people, dates, corpus / "attribute_literals.tsv", store=store)
    ingest(corpus, tmp_path / "store")
    again = GraphStore.open(tmp_path / "store")
    for id in people[:50]:
        born = [fact for fact in store.literals(id) if fact.property == BORN]
        assert [fact for fact in again.literals(id) if fact.property == BORN] == born


def test_plain_numbers_without_a_known_unit_are_kept_apart(
    served_sample: str, store: GraphStore, tmp_path: Path
) -> None:
    report = write_literals(make_client(served_sample), ["Q17", "Q183"], [AREA, BUILT], tmp_path / "a.tsv")
    assert report.apart == {"the endpoint gives no unit": report.apart["the endpoint gives no unit"]}
    assert AREA not in (tmp_path / "a.tsv").read_text() and BUILT in (tmp_path / "a.tsv").read_text()
    assert AREA in report.apart_file.read_text()


def test_statements_are_ranked_and_their_units_made_comparable(statements: str) -> None:
    client = make_client(statements, dialect="auto")
    ids = [f"Q{number}" for number in range(901, 930)]
    harvest = fetch_literals(client, ids, [AREA, HEIGHT, BORN, PLACE])
    assert harvest.origin == "endpoint" and harvest.note == ""
    by_id: dict[str, list] = {}
    for literal in harvest.literals:
        by_id.setdefault(literal.fact.subject, []).append(literal)
    km, m, hectare, odd = (by_id[id][0] for id in ("Q901", "Q902", "Q903", "Q905"))
    assert (km.fact.value, km.fact.unit) == (m.fact.value, m.fact.unit) == ("385000000", "Q25343")
    assert (km.original, km.original_unit) in (("385", "Q712226"), ("+385", "Q712226"))
    assert are_comparable(km, m)
    assert len(by_id["Q903"]) == 1 and hectare.fact.value == "1000000" and hectare.rank == "preferred"
    assert "Q904" not in by_id
    assert "unknown unit" in odd.apart and not are_comparable(odd, km) and not are_comparable(odd, odd)
    feet, cm = by_id["Q906"][0], by_id["Q907"][0]
    assert feet.fact.value == cm.fact.value == "3.048" and are_comparable(feet, cm) and not are_comparable(feet, km)


def test_dates_keep_their_precision(statements: str) -> None:
    harvest = fetch_literals(make_client(statements, dialect="statements"), [f"Q{n}" for n in range(911, 918)], [BORN])
    found = {literal.fact.subject: literal for literal in harvest.literals}
    values = {id: (literal.fact.value[:10], literal.precision) for id, literal in found.items()}
    assert values["Q911"] == ("1905-07-03", 11)
    assert values["Q912"] == ("1905-01-01", 10) and values["Q913"] == ("1905-01-01", 9)
    assert values["Q915"] == ("1609-01-01", 11)  # a day of the old calendar is nobody's gold answer
    assert "century" in found["Q914"].apart and found["Q913"].apart == ""
    assert "Q916" not in found  # the preferred value is "unknown", so no normal one may stand in
    assert found["Q917"].fact.value == "-0043-03-15T00:00:00Z"


def test_coordinates_come_in_two_parts_and_from_earth_only(statements: str) -> None:
    harvest = fetch_literals(make_client(statements, dialect="statements"), ["Q921", "Q922"], [PLACE])
    earth = {literal.fact.unit: literal.fact.value for literal in harvest.literals if not literal.apart}
    assert {unit: float(value) for unit, value in earth.items()} == {"Latitude": 51.5, "Longtiude": -0.125}
    assert all("Q111" in literal.apart for literal in harvest.literals if literal.fact.subject == "Q922")


def test_the_dialect_is_found_out(served_sample: str, statements: str) -> None:
    assert make_client(statements, dialect="auto").has_statements()
    assert not make_client(served_sample, dialect="auto").has_statements()


def test_names_are_counted_and_nothing_can_be_injected(served_sample: str, store: GraphStore) -> None:
    client = make_client(served_sample)
    counts = count_namesakes(client, ["Hancock County", "Nobody Of That Name", "Twin Peak", *HOSTILE])
    homonyms = [match for match in store.matches("Hancock County") if match.by_label]
    assert counts["Hancock County"].labelled == len(homonyms) >= 6 and counts["Hancock County"].is_ambiguous
    assert counts["Nobody Of That Name"].total == 0
    # Two by label (one of them in all languages), one by alias; the disambiguation page does not count.
    assert (counts["Twin Peak"].labelled, counts["Twin Peak"].aliased) == (2, 1)
    for number, name in enumerate(HOSTILE[:-1]):
        assert counts[name].total == 1, name
        assert list_namesakes(client, name) == {f"Q{10**9 + number}": ""}
    assert list_namesakes(client, "Japan")["Q17"] == "country in East Asia"


def test_look_ups_are_held_against_the_live_graph(statements: str) -> None:
    client = make_client(statements, dialect="auto")
    assert verify_lookup(client, "Q931", "P57", "Q932").status == "confirmed"
    several = verify_lookup(client, "Q933", "P57", "Q932")
    assert (several.status, several.values) == ("different", ("Q932", "Q934"))
    assert verify_facts(client, [check := FactCheck("Q933", "P57", "Q932", alone=False)])[check].status == "confirmed"
    assert verify_lookup(client, "Q935", "P57", "Q932").values == ("Q934",)  # the old value is deprecated
    assert verify_lookup(client, "Q936", "P57", "Q932").values == ("Q934",)  # another one is preferred
    assert verify_lookup(client, "Q937", "P57", "Q932").status == "unknown"
    assert verify_lookup(client, "Q940", "P57", "Q932").status == "unknown"
    assert verify_lookup(client, "Q938", "P57", "Q939").status == "confirmed"  # both were merged into others
    assert verify_lookup(client, "Q1x} #", "P57", "Q932").note == "no ids of Wikidata"


@pytest.mark.parametrize(
    ("subject", "property", "value", "unit", "status"),
    [
        ("Q901", AREA, "+385000000", "Q25343", "confirmed"),
        ("Q901", AREA, "385", "Q712226", "confirmed"),
        ("Q901", AREA, "385", "Q25343", "different"),
        ("Q905", AREA, "12", "Q1234567", "unknown"),
        ("Q904", AREA, "7000000", "Q25343", "unknown"),
        ("Q911", BORN, "1905-07-03T00:00:00Z", "", "confirmed"),
        ("Q911", BORN, "1905-07-04T00:00:00Z", "", "different"),
        ("Q911", BORN, "1905-01-01T00:00:00Z", "", "confirmed"),
        ("Q913", BORN, "1905-07-04T00:00:00Z", "", "confirmed"),
        ("Q913", BORN, "1906-01-01T00:00:00Z", "", "different"),
        ("Q914", BORN, "1800-01-01T00:00:00Z", "", "unknown"),
    ],
)
def test_literals_are_compared_in_one_unit_and_to_their_precision(
    statements: str, subject: str, property: str, value: str, unit: str, status: str
) -> None:
    fact = LiteralFact(
        subject=subject, property=property, value=value, unit=unit, subject_label="", property_label="",
        datatype="dateTime" if property == BORN else "decimal",
    )  # fmt: skip
    assert verify_lookup(make_client(statements, dialect="statements"), subject, property, fact).status == status


def test_items_are_verified_hop_by_hop(tmp_path: Path) -> None:
    graph = Statements()
    for subject, property, object in TRIPLETS:
        graph.entity(subject, property, object if (subject, property) != ("Q902", "P27") else "Q909")
    for subject, property, value, datatype in LITERALS:
        if datatype == "dateTime":
            graph.time(subject, property, value, 9)
        else:
            graph.quantity(subject, property, value, "Q199")
    graph.entity("Q906", "P166", "Q950")
    for film in ("Q901", "Q906"):
        graph.entity(film, "P1411", "Q951")
    (tmp_path / "kg.nt").write_text("\n".join(graph.lines) + "\n")
    made_up = chain_item().model_copy(update={"variant": "counterfactual"})
    with Oxigraph(tmp_path, tmp_path / "kg.nt") as server:
        client = make_client(server.url, dialect="auto")
        chain, converging, bridge, twin = verify_items(client, [*all_items(), made_up])
        alone = verify_reverse(client, _reverse_hop("Q906", "P166", "Q950"))
        shared = verify_reverse(client, _reverse_hop("Q906", "P1411", "Q951"))
    assert [(hop.index, hop.status) for hop in chain.hops] == [(1, "confirmed"), (2, "different"), (3, "confirmed")]
    assert chain.status == "different" and chain.hops[1].verdicts[0].values == ("Q909",)
    assert converging.status == "different" and bridge.status == "confirmed"
    assert twin.status == "skipped" and twin.hops == ()
    assert alone.status == "confirmed"
    assert (shared.status, shared.values) == ("different", ("Q901", "Q906"))


def test_facts_of_the_sample_are_confirmed_by_a_server_of_the_sample(served_sample: str, store: GraphStore) -> None:
    checks, units = [], {}
    for id in sorted({*store.literal_subjects(BORN)[:200], *store.literal_subjects(AREA)}):
        objects: dict[str, list[str]] = {}
        for property, other in store.out_edges(id):
            objects.setdefault(property, []).append(other)
        checks += [FactCheck(id, property, found[0]) for property, found in objects.items() if len(found) == 1]
        facts = [fact for fact in store.literals(id) if fact.datatype != "double"]
        held = [fact.property for fact in facts]
        checks += [FactCheck(id, fact.property, fact) for fact in facts if held.count(fact.property) == 1]
        units |= {fact.property: fact.unit for fact in facts if fact.datatype == "decimal"}
    client = make_client(served_sample, truthy_units=units)
    verdicts = verify_facts(client, checks)
    assert len(verdicts) > 3000 and client.requests < 40
    assert [str(verdict) for verdict in verdicts.values() if verdict.status != "confirmed"] == []
    wrong = FactCheck("Q17", "P36", "Q64")
    assert str(verify_facts(client, [wrong])[wrong]) == "different: P36 of Q17 is Q1490; expected Q64"


@pytest.mark.parametrize("fault", ["429 1", "503 1"])
def test_retry_after_is_obeyed_to_the_second(served_sample: str, fault: str) -> None:
    with FaultProxy(served_sample, {1: fault, 2: fault}) as proxy:
        client = make_client(proxy.url, first_wait_s=0)
        waits: list[float] = []
        client._sleep = lambda seconds: (waits.append(seconds), time.sleep(seconds))
        assert verify_lookup(client, "Q17", "P36", "Q1490").status == "confirmed"
        first, second, third = (seen.at for seen in proxy.seen[:3])
    assert waits == [1, 1]
    assert second - first >= 1.0 and third - second >= 1.0


def test_a_pause_longer_than_allowed_is_reported_at_once(served_sample: str) -> None:
    with FaultProxy(served_sample, always="429 3600") as proxy:
        with pytest.raises(ServiceError, match=r"asks to wait 3600 s.*run again later"):
            make_client(proxy.url).ask("ASK { }")
        assert len(proxy.seen) == 1


def test_faults_on_the_way_lose_and_double_nothing(served_sample: str, store: GraphStore, tmp_path: Path) -> None:
    ids = store.literal_subjects(BORN)[:60]
    calm = fetch_literals(make_client(served_sample, batch_size=10), ids, [BORN])
    faults = {1: "500", 3: "cut", 4: "drop", 6: "html", 7: "half", 9: "hang", 11: "429 0", 12: "503 0"}
    with FaultProxy(served_sample, faults) as proxy:
        cache = AnswerCache(tmp_path / "cache.db")
        client = make_client(proxy.url, cache, batch_size=10, timeout_s=4)
        stormy = fetch_literals(client, ids, [BORN])
        queries = proxy.answered()
        assert len(proxy.seen) == client.requests == 6 + len(faults)
        assert stormy == calm and len(stormy.literals) >= 60
        assert len(queries) == len(set(queries)) == len(cache) == 6
        assert fetch_literals(client, ids, [BORN]) == calm
        assert len(proxy.seen) == 6 + len(faults)  # all from the cache


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("500", r"fails \(HTTP 500: not now\) in 3 tries; run again later"),
        ("429", r"is asked too often \(HTTP 429\) in 3 tries"),
        ("hang", r"did not answer within 0.3 s in 3 tries; use a smaller batch size"),
        ("cut", r"cut the connection"),
        ("drop", r"cut the connection"),
        ("html", r"answers with a page \(text/html: .*come back later.*\).*check that the address"),
        ("half", r"sends no whole SPARQL JSON"),
    ],
)
def test_a_fault_that_stays_is_one_clear_line(served_sample: str, fault: str, words: str) -> None:
    with FaultProxy(served_sample, always=fault) as proxy:
        client = make_client(proxy.url, max_tries=3, timeout_s=0.3 if fault == "hang" else 5)
        with pytest.raises(ServiceError, match=words) as caught:
            client.select("SELECT ?s WHERE { ?s ?p ?o } LIMIT 50")
        assert len(proxy.seen) == 3
    assert proxy.url in str(caught.value) and "\n" not in str(caught.value)


def test_a_refused_query_is_not_sent_again(served_sample: str) -> None:
    client = make_client(served_sample)
    with pytest.raises(ServiceError, match=r"refuses the query \(HTTP 400"):
        client.select("SELECT nonsense")
    assert client.requests == 1


def test_an_endpoint_that_is_not_there_is_named(store: GraphStore) -> None:
    client = make_client("http://127.0.0.1:9/sparql", max_tries=2)
    with pytest.raises(ServiceError, match=r"127.0.0.1:9/sparql cannot be reached .* in 2 tries; check the address"):
        client.ask("ASK { }")


def test_the_store_stands_in_for_an_endpoint_that_fails(served_sample: str, store: GraphStore, tmp_path: Path) -> None:
    ids = store.literal_subjects(BORN)[:40]
    cache = AnswerCache(tmp_path / "cache.db")
    with FaultProxy(served_sample) as proxy:
        fetch_literals(make_client(proxy.url, cache, batch_size=10), [*ids[:10], *ids[20:30]], [BORN])
        proxy.always = "500"
        client = make_client(proxy.url, cache, batch_size=10, max_tries=2)
        harvest = fetch_literals(client, ids, [BORN], store)
        assert client.requests == 2  # it is not asked again once it has failed
        with pytest.raises(ServiceError):
            fetch_literals(client, ids, [BORN])
    assert harvest.origin == "mixed" and "the store's own literals stand in" in harvest.note
    origins = [literal.origin for literal in harvest.literals]
    assert {"endpoint", "store"} == set(origins)
    offline = fetch_literals(None, ids, [BORN], store)
    assert offline.origin == "store" and "offline" in offline.note
    assert [literal.fact for literal in offline.literals] == [literal.fact for literal in harvest.literals]


def test_long_queries_go_by_post_and_say_who_asks(served_sample: str, store: GraphStore) -> None:
    with FaultProxy(served_sample) as proxy:
        client = make_client(proxy.url, contact="maintainer@example.org", post_from=1000)
        fetch_literals(client, ["Q17"], [BORN])
        fetch_literals(client, store.literal_subjects(BORN)[:100], [BORN])
        assert [seen.method for seen in proxy.seen] == ["GET", "POST"]
        assert all("hopwright/" in seen.agent and "maintainer@example.org" in seen.agent for seen in proxy.seen)


CHILD = """
import sys
from pathlib import Path
from hopwright.knowledge.wikidata.sparql import AnswerCache, SparqlClient, SparqlSettings, write_literals
url, cache, out, property, *ids = sys.argv[1:]
settings = SparqlSettings(endpoint=url, dialect="truthy", batch_size=10, timeout_s=20)
report = write_literals(SparqlClient(settings, AnswerCache(Path(cache))), ids, [property], Path(out))
print(report.requests, report.cached)
"""


@pytest.mark.parametrize("held", [1, 5, 12])
def test_a_killed_fetch_goes_on_where_it_was(served_sample: str, store: GraphStore, tmp_path: Path, held: int) -> None:
    ids = store.literal_subjects(BORN)[:120]
    out, cache = tmp_path / "out.tsv", tmp_path / "cache.db"
    with FaultProxy(served_sample, {held: "hang"}) as proxy:
        command = [sys.executable, "-c", CHILD, proxy.url, str(cache), str(out), BORN, *ids]
        child = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
        proxy.wait_for(held)
        child.send_signal(signal.SIGKILL)
        assert child.wait(60) == -signal.SIGKILL
        proxy.let_go.set()
        assert not out.exists()
        before = proxy.answered()
        assert len(before) == held - 1
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT)})  # fmt: skip
        sent = [seen.query for seen in proxy.seen[held:]]
    assert done.stdout.split() == [str(12 - (held - 1)), str(held - 1)]
    assert not set(sent) & set(before) and len(set(sent) | set(before)) == 12
    write_literals(make_client(served_sample, batch_size=10), ids, [BORN], tmp_path / "calm.tsv")
    assert out.read_bytes() == (tmp_path / "calm.tsv").read_bytes() != b""
    assert not list(tmp_path.glob(".*"))  # nothing half-written is left behind


def test_two_processes_share_a_cache(served_sample: str, store: GraphStore, tmp_path: Path) -> None:
    ids = store.literal_subjects(BORN)[:60]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with FaultProxy(served_sample) as proxy:
        start = [sys.executable, "-c", CHILD, proxy.url, str(tmp_path / "c.db")]
        outs = [tmp_path / "1.tsv", tmp_path / "2.tsv"]
        children = [subprocess.Popen([*start, str(out), BORN, *ids], cwd=ROOT, env=env) for out in outs]
        assert [child.wait(300) for child in children] == [0, 0]
    assert (tmp_path / "1.tsv").read_bytes() == (tmp_path / "2.tsv").read_bytes() != b""
    assert len(AnswerCache(tmp_path / "c.db")) == 6


def _canonical(line: str) -> tuple[str, ...]:
    subject, property, label, unit, value, datatype = line.split("\t")
    if datatype == "dateTime":
        return subject, property, label.strip(), unit, value, datatype
    return subject, property, label.strip(), unit, f"{float(value):.12g}", datatype


def _reverse_hop(answer: str, property: str, value: str) -> Hop:
    triplet = Triplet(
        subject=answer, property=property, object=value, subject_label=LABEL[answer], property_label="",
        object_label="",
    )  # fmt: skip
    base = chain_item().hops[0]
    return base.model_copy(
        update={
            "answer_id": answer,
            "derivation": ReverseLookup(property=property, value=value),
            "evidence": Evidence.of(triplets=(triplet,)),
        }
    )
